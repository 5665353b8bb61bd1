"""Accounts and passwords that people make, confirm, change and delete themselves; avatars."""

from typing import Any

import graphene

from app.domain.values.inputs import ABSENT, Absent, Upload
from app.graphql.context import Info
from app.graphql.root_fields import payloads
from app.graphql.root_fields.addresses import CUSTOMER_ID, AddressInput, sent_address
from app.graphql.root_fields.metadata import MetadataInput, pairs
from app.services.accounts import account_details
from app.services.accounts.email_changes import (
    confirm_account,
    confirm_email_change,
    request_email_change,
)
from app.services.accounts.password_changes import change_password, set_password
from app.services.accounts.password_resets import request_password_reset
from app.services.accounts.registration import NewAccount, register_account, send_confirmation
from app.services.second_factors.challenges import SecondFactorRequired

_USER = "app.graphql.types.users.User"
_LANGUAGE = "app.graphql.types.languages.LanguageCodeEnum"
_UNUSED = "Accepted but ignored."


class AccountRegisterInput(graphene.InputObjectType):
    """The customer account to register."""

    first_name = graphene.String()
    last_name = graphene.String()
    language_code = graphene.InputField(
        _LANGUAGE, description="The user's language; by default the shop's."
    )
    email = graphene.NonNull(graphene.String)
    password = graphene.NonNull(graphene.String)
    redirect_url = graphene.String(
        description="URL of the confirmation page. Required if the shop confirms accounts "
        "by email."
    )
    channel = graphene.String(description=_UNUSED)
    metadata = graphene.List(
        graphene.NonNull(MetadataInput), description="Public metadata of the new account."
    )


class AccountInput(graphene.InputObjectType):
    """Details to update. Omitted details keep their values."""

    first_name = graphene.String()
    last_name = graphene.String()
    language_code = graphene.InputField(_LANGUAGE, description="The user's language.")
    default_shipping_address = graphene.InputField(
        AddressInput, description="Changes the default shipping address, or adds it."
    )
    default_billing_address = graphene.InputField(
        AddressInput, description="Changes the default billing address, or adds it."
    )
    metadata = graphene.List(
        graphene.NonNull(MetadataInput), description="Keys of public metadata to set."
    )


class AccountRegister(payloads.AccountPayload):
    """The result of a registration, the same for new and existing emails."""

    user = graphene.Field(
        _USER,
        description="What was registered, the same if the email has an account.",
        deprecation_reason="`user.id` is always empty: the response doesn't tell whether the "
        "email had an account.",
    )
    requires_confirmation = graphene.Boolean(
        description="Whether a confirmation link is sent by email."
    )


class ConfirmAccount(payloads.UserPayload):
    """The confirmed account. No session is started."""


class SendConfirmationEmail(payloads.MutationPayload):
    """The result. A link was emailed to the signed-in user."""

    errors = payloads.errors_of("problems.SendConfirmationEmailError")


class AccountUpdate(payloads.UserPayload):
    """The updated account."""


class RequestEmailChange(payloads.UserPayload):
    """The unchanged account. A link was sent to the new email."""


class ConfirmEmailChange(payloads.UserPayload):
    """The account with its new email."""


class AccountRequestDeletion(payloads.AccountPayload):
    """The result of a deletion request. A link was emailed to the customer."""


class AccountDelete(payloads.UserPayload):
    """The deleted account."""


class AccountMutations(graphene.ObjectType):
    """What people do with their own accounts."""

    @payloads.mutation(
        "Registers a customer account. Anyone can call it. The response is the same if "
        "the email already has an account. Doesn't start a session.",
        input=graphene.NonNull(AccountRegisterInput),
    )
    def account_register(_root: object, info: Info, input: dict[str, Any]) -> AccountRegister:
        new = NewAccount(
            email=input["email"],
            password=input["password"],
            first_name=input.get("first_name") or "",
            last_name=input.get("last_name") or "",
            redirect_url=input.get("redirect_url") or "",
            metadata=pairs(input.get("metadata")),
            language_code=language(input),
        )
        registered = register_account(*info.context.caller, new)
        info.context.loaders(info).accounts.keep_registered(registered.user, dict(new.metadata))
        return AccountRegister(
            user=registered.user, requires_confirmation=registered.needs_confirmation
        )

    @payloads.mutation(
        "Confirms an account with the token of an emailed link. Anyone with "
        "the token can call it.",
        email=graphene.NonNull(graphene.String),
        password=graphene.String(
            description="Ignored, as in Saleor: the account keeps its password."
        ),
        token=graphene.NonNull(graphene.String),
    )
    def confirm_account(
        _root: object, info: Info, email: str, token: str, password: str | None = None
    ) -> ConfirmAccount:
        user = confirm_account(*info.context.caller, email=email, token=token)
        return ConfirmAccount(user=info.context.proven(user))

    @payloads.mutation(
        "Emails the signed-in user, whose account isn't confirmed, another link to confirm "
        "it. Not available to dashboard extensions.",
        channel=graphene.NonNull(graphene.String, description=_UNUSED),
        redirect_url=graphene.NonNull(
            graphene.String,
            description="URL of the link; `email` and `token` are added to its query.",
        ),
    )
    def send_confirmation_email(
        _root: object, info: Info, redirect_url: str, channel: str
    ) -> SendConfirmationEmail:
        send_confirmation(*info.context.caller, redirect_url)
        return SendConfirmationEmail()

    @payloads.mutation(
        "Updates details of the signed-in user, or of the customer an app with "
        "IMPERSONATE_USER acts for. Not available to dashboard extensions.",
        customer_id=graphene.ID(description=CUSTOMER_ID),
        input=graphene.NonNull(AccountInput),
    )
    def account_update(
        _root: object, info: Info, input: dict[str, Any], customer_id: str | None = None
    ) -> AccountUpdate:
        details = account_details.Details(
            _name(input, "first_name"),
            _name(input, "last_name"),
            sent_address(input, "default_shipping_address"),
            sent_address(input, "default_billing_address"),
            pairs(input.get("metadata")),
            language(input),
        )
        user = account_details.update_account(*info.context.caller, details, customer_id)
        return AccountUpdate(user=info.context.proven(user, is_owner=False))

    @payloads.mutation(
        "Sends a confirmation link to a new email. The email changes once "
        "the link is used. For signed-in users, with their password. Not "
        "available to dashboard extensions.",
        channel=graphene.String(description=_UNUSED),
        new_email=graphene.NonNull(graphene.String),
        password=graphene.NonNull(graphene.String),
        redirect_url=graphene.NonNull(
            graphene.String, description="URL of the link; `token` is added to its query."
        ),
    )
    def request_email_change(
        _root: object,
        info: Info,
        new_email: str,
        password: str,
        redirect_url: str,
        channel: str | None = None,
    ) -> RequestEmailChange:
        user = request_email_change(
            *info.context.caller, new_email=new_email, password=password, redirect_url=redirect_url
        )
        return RequestEmailChange(user=user)

    @payloads.mutation(
        "Changes the signed-in user's email with the token of the emailed "
        "link. Not available to dashboard extensions.",
        channel=graphene.String(description=_UNUSED),
        token=graphene.NonNull(graphene.String),
    )
    def confirm_email_change(
        _root: object, info: Info, token: str, channel: str | None = None
    ) -> ConfirmEmailChange:
        user = confirm_email_change(*info.context.caller, token=token)
        return ConfirmEmailChange(user=user)

    @payloads.mutation(
        "Emails the signed-in customer a link that deletes their account. "
        "The account is deleted once the link is used. Not available to "
        "dashboard extensions.",
        redirect_url=graphene.NonNull(
            graphene.String, description="URL of the link; `token` is added to its query."
        ),
        channel=graphene.String(description=_UNUSED),
    )
    def account_request_deletion(
        _root: object, info: Info, redirect_url: str, channel: str | None = None
    ) -> AccountRequestDeletion:
        account_details.request_account_deletion(*info.context.caller, redirect_url=redirect_url)
        return AccountRequestDeletion()

    @payloads.mutation(
        "Deletes the signed-in customer's account immediately, with the "
        "token of the emailed link. Not available to dashboard extensions.",
        token=graphene.NonNull(graphene.String),
    )
    def account_delete(_root: object, info: Info, token: str) -> AccountDelete:
        keep = info.context.loaders(info).accounts.keep
        user = account_details.delete_account(*info.context.caller, token=token, before=keep)
        return AccountDelete(user=user)


def language(input: dict[str, Any]) -> str | Absent:
    """A language that was sent; null leaves it as it is."""
    code = input.get("language_code")
    return ABSENT if code is None else code.value


def _name(input: dict[str, Any], field: str) -> str | Absent:
    """A name that was sent, null clearing it; or that it was left out."""
    return input[field] or "" if field in input else ABSENT


class UserAvatarUpdate(payloads.UserPayload):
    """The user with the new picture."""


class UserAvatarDelete(payloads.UserPayload):
    """The user without a picture."""


class AvatarMutations(graphene.ObjectType):
    """Everybody's own picture."""

    @payloads.mutation(
        "Replaces the signed-in user's picture. Accepts PNG, JPEG, WebP and GIF; the "
        "picture is cropped to a square and its metadata is removed. Not available to "
        "dashboard extensions.",
        image=graphene.Argument("app.graphql.root_fields.products.Upload", required=True),
    )
    def user_avatar_update(_root: object, info: Info, image: Upload) -> UserAvatarUpdate:
        return UserAvatarUpdate(user=account_details.update_avatar(*info.context.caller, image))

    @payloads.mutation(
        "Removes the signed-in user's picture. Not available to dashboard extensions."
    )
    def user_avatar_delete(_root: object, info: Info) -> UserAvatarDelete:
        return UserAvatarDelete(user=account_details.delete_avatar(*info.context.caller))


class PasswordChange(payloads.UserPayload):
    """The user whose password was changed. Their other sessions have ended."""


class RequestPasswordReset(payloads.AccountPayload):
    """The result of a password reset request, the same for every email."""


class SetPassword(payloads.TokenPayload):
    """The tokens of the new session. All earlier sessions have ended."""

    second_factor_challenge = payloads.challenge_field()


class PasswordMutations(graphene.ObjectType):
    """Passwords; all three refuse while the password login mode is DISABLED."""

    @payloads.mutation(
        "Emails a password reset link if an active account has the email. The response "
        "doesn't reveal whether it does. Anyone can call it. Refused while the password "
        "login mode is DISABLED.",
        channel=graphene.String(description="Accepted but ignored."),
        email=graphene.NonNull(graphene.String),
        redirect_url=graphene.NonNull(
            graphene.String,
            description="URL of the link; `email` and `token` are added to its query.",
        ),
    )
    def request_password_reset(
        _root: object, info: Info, email: str, redirect_url: str, channel: str | None = None
    ) -> RequestPasswordReset:
        request_password_reset(*info.context.caller, email=email, redirect_url=redirect_url)
        return RequestPasswordReset()

    @payloads.mutation(
        "Sets a password with the token of an emailed link, ends all sessions and signs "
        "in. Anyone with the token can call it. Refused while the password login mode "
        "is DISABLED. For an account with a second factor, sets the password and returns "
        "the error SECOND_FACTOR_REQUIRED and `secondFactorChallenge`.",
        email=graphene.NonNull(graphene.String),
        password=graphene.NonNull(graphene.String),
        token=graphene.NonNull(graphene.String),
    )
    def set_password(
        _root: object, info: Info, email: str, password: str, token: str
    ) -> SetPassword:
        try:
            pair = set_password(*info.context.caller, email=email, password=password, token=token)
        except SecondFactorRequired as required:
            return SetPassword(**payloads.challenge_values(required))
        return SetPassword(**payloads.token_values(info.context, pair))

    @payloads.mutation(
        "Changes the signed-in user's password and ends their other sessions. Not "
        "available to dashboard extensions. Refused while the password login mode is "
        "DISABLED.",
        new_password=graphene.NonNull(graphene.String),
        old_password=graphene.String(),
    )
    def password_change(
        _root: object, info: Info, new_password: str, old_password: str | None = None
    ) -> PasswordChange:
        user = change_password(
            *info.context.caller, old_password=old_password, new_password=new_password
        )
        return PasswordChange(user=user)
