"""Accounts that people make, confirm, change, move and delete themselves."""

from typing import Any

import graphene
from graphql import GraphQLResolveInfo

from app.domain.values.unset import ABSENT, Absent
from app.graphql.context import RequestContext
from app.graphql.mutations.payloads import AccountPayload, answers
from app.services.accounts.account_confirmation import confirm_account
from app.services.accounts.account_deletions import delete_account, request_account_deletion
from app.services.accounts.account_details import Details, update_account, update_customer_account
from app.services.accounts.email_changes import confirm_email_change, request_email_change
from app.services.accounts.registration import NewAccount, register_account

_USER = "app.graphql.types.users.User"
_UNUSED = "Accepted and not used."


class AccountRegisterInput(graphene.InputObjectType):
    """Somebody new."""

    first_name = graphene.String()
    last_name = graphene.String()
    email = graphene.NonNull(graphene.String)
    password = graphene.NonNull(graphene.String)
    redirect_url = graphene.String(
        description="Where the confirmation leads; needed where accounts are confirmed by mail."
    )
    channel = graphene.String(description=_UNUSED)


class AccountInput(graphene.InputObjectType):
    """Names to change; what is left out stays as it is."""

    first_name = graphene.String()
    last_name = graphene.String()


class AccountRegister(AccountPayload):
    """The same answer for new addresses and for those that have an account."""

    requires_confirmation = graphene.Boolean(
        description="Whether a mail with a link follows, which confirms the account."
    )


class ConfirmAccount(AccountPayload):
    """The account, confirmed; no session begins."""

    user = graphene.Field(_USER)


class AccountUpdate(AccountPayload):
    """The account as it is now."""

    user = graphene.Field(_USER)


class RequestEmailChange(AccountPayload):
    """The account as it still is; a link has been mailed to the new address."""

    user = graphene.Field(_USER)


class ConfirmEmailChange(AccountPayload):
    """The account at its new address."""

    user = graphene.Field(_USER)


class AccountRequestDeletion(AccountPayload):
    """A link that deletes the account has been mailed to its owner."""


class AccountDelete(AccountPayload):
    """The account as it was."""

    user = graphene.Field(_USER)


class AccountMutations(graphene.ObjectType):
    """What people do with their own accounts."""

    account_register = graphene.Field(
        AccountRegister,
        description=(
            "Adds a customer; anybody may. The answer is the same where the address has an "
            "account already, and no session begins."
        ),
        input=graphene.NonNull(AccountRegisterInput),
    )
    confirm_account = graphene.Field(
        ConfirmAccount,
        description="Confirms an account by the token of a mailed link; anybody who has it may.",
        email=graphene.NonNull(graphene.String),
        password=graphene.String(description="Becomes the account's password, if given."),
        token=graphene.NonNull(graphene.String),
    )
    account_update = graphene.Field(
        AccountUpdate,
        description=(
            "Changes the caller's own names, for signed-in people through no dashboard extension; "
            "or a customer's, with MANAGE_USERS."
        ),
        customer_id=graphene.ID(description="Somebody else; needs MANAGE_USERS."),
        input=graphene.NonNull(AccountInput),
    )
    request_email_change = graphene.Field(
        RequestEmailChange,
        description=(
            "Mails a link to a new address; nothing changes before it is used. For signed-in "
            "people, through no dashboard extension; it takes their password."
        ),
        channel=graphene.String(description=_UNUSED),
        new_email=graphene.NonNull(graphene.String),
        password=graphene.NonNull(graphene.String),
        redirect_url=graphene.NonNull(
            graphene.String, description="Where the link leads: `token` is added to its query."
        ),
    )
    confirm_email_change = graphene.Field(
        ConfirmEmailChange,
        description=(
            "Moves the caller's account to the new address by the token of the mailed link. For "
            "signed-in people, through no dashboard extension."
        ),
        channel=graphene.String(description=_UNUSED),
        token=graphene.NonNull(graphene.String),
    )
    account_request_deletion = graphene.Field(
        AccountRequestDeletion,
        description=(
            "Mails the caller a link that deletes their account; nothing happens before it is "
            "used. For signed-in customers, through no dashboard extension."
        ),
        redirect_url=graphene.NonNull(
            graphene.String, description="Where the link leads: `token` is added to its query."
        ),
        channel=graphene.String(description=_UNUSED),
    )
    account_delete = graphene.Field(
        AccountDelete,
        description=(
            "Deletes the caller's account at once, by the token of the mailed link. For signed-in "
            "customers, through no dashboard extension."
        ),
        token=graphene.NonNull(graphene.String),
    )

    @staticmethod
    @answers(AccountRegister)
    def resolve_account_register(
        _root: object, info: GraphQLResolveInfo, input: dict[str, Any]
    ) -> AccountRegister:
        context: RequestContext = info.context
        new = NewAccount(
            email=input["email"],
            password=input["password"],
            first_name=input.get("first_name") or "",
            last_name=input.get("last_name") or "",
            redirect_url=input.get("redirect_url") or "",
        )
        needed = register_account(context.ports, context.actor, new)
        return AccountRegister(requires_confirmation=needed)

    @staticmethod
    @answers(ConfirmAccount)
    def resolve_confirm_account(
        _root: object,
        info: GraphQLResolveInfo,
        email: str,
        token: str,
        password: str | None = None,
    ) -> ConfirmAccount:
        context: RequestContext = info.context
        user = confirm_account(
            context.ports, context.actor, email=email, token=token, password=password
        )
        return ConfirmAccount(user=context.proven(user))

    @staticmethod
    @answers(AccountUpdate)
    def resolve_account_update(
        _root: object,
        info: GraphQLResolveInfo,
        input: dict[str, Any],
        customer_id: str | None = None,
    ) -> AccountUpdate:
        context: RequestContext = info.context
        details = Details(_name(input, "first_name"), _name(input, "last_name"))
        if customer_id is None:
            return AccountUpdate(user=update_account(context.ports, context.actor, details))
        user = update_customer_account(context.ports, context.actor, customer_id, details)
        return AccountUpdate(user=user)

    @staticmethod
    @answers(RequestEmailChange)
    def resolve_request_email_change(
        _root: object,
        info: GraphQLResolveInfo,
        new_email: str,
        password: str,
        redirect_url: str,
        channel: str | None = None,
    ) -> RequestEmailChange:
        context: RequestContext = info.context
        user = request_email_change(
            context.ports,
            context.actor,
            new_email=new_email,
            password=password,
            redirect_url=redirect_url,
        )
        return RequestEmailChange(user=user)

    @staticmethod
    @answers(ConfirmEmailChange)
    def resolve_confirm_email_change(
        _root: object, info: GraphQLResolveInfo, token: str, channel: str | None = None
    ) -> ConfirmEmailChange:
        context: RequestContext = info.context
        user = confirm_email_change(context.ports, context.actor, token=token)
        return ConfirmEmailChange(user=user)

    @staticmethod
    @answers(AccountRequestDeletion)
    def resolve_account_request_deletion(
        _root: object, info: GraphQLResolveInfo, redirect_url: str, channel: str | None = None
    ) -> AccountRequestDeletion:
        context: RequestContext = info.context
        request_account_deletion(context.ports, context.actor, redirect_url=redirect_url)
        return AccountRequestDeletion()

    @staticmethod
    @answers(AccountDelete)
    def resolve_account_delete(
        _root: object, info: GraphQLResolveInfo, token: str
    ) -> AccountDelete:
        context: RequestContext = info.context
        return AccountDelete(user=delete_account(context.ports, context.actor, token=token))


def _name(input: dict[str, Any], field: str) -> str | Absent:
    """A name that was sent, null clearing it; or that it was left out."""
    return input[field] or "" if field in input else ABSENT
