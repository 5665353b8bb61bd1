"""Changing a password, and setting one by an emailed link."""

import graphene

from app.graphql.context import Info
from app.graphql.root_fields.payloads import (
    AccountPayload,
    TokenPayload,
    challenge_values,
    mutation,
)
from app.services.accounts.password_changes import change_password, set_password
from app.services.accounts.password_resets import request_password_reset
from app.services.second_factors.challenges import SecondFactorRequired

_USER = "app.graphql.types.users.User"


class PasswordChange(AccountPayload):
    """The user whose password was changed. Their other sessions have ended."""

    user = graphene.Field(_USER)


class RequestPasswordReset(AccountPayload):
    """The result of a password reset request, the same for every email."""


class SetPassword(TokenPayload):
    """The tokens of the new session. All earlier sessions have ended."""

    token = graphene.String()
    user = graphene.Field(_USER)
    second_factor_challenge = graphene.Field(
        "app.graphql.types.second_factors.SecondFactorChallenge",
        description="What to answer after the error SECOND_FACTOR_REQUIRED.",
    )


class PasswordMutations(graphene.ObjectType):
    """Passwords; all three refuse while the password login mode is DISABLED."""

    @mutation(
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
        _root: object,
        info: Info,
        email: str,
        redirect_url: str,
        channel: str | None = None,
    ) -> RequestPasswordReset:
        request_password_reset(
            info.context.ports, info.context.actor, email=email, redirect_url=redirect_url
        )
        return RequestPasswordReset()

    @mutation(
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
            pair = set_password(
                info.context.ports, info.context.actor, email=email, password=password, token=token
            )
        except SecondFactorRequired as required:
            return SetPassword(**challenge_values(required))
        return SetPassword(
            token=pair.access, refresh_token=pair.refresh, user=info.context.proven(pair.user)
        )

    @mutation(
        "Changes the signed-in user's password and ends their other sessions. Not "
        "available to dashboard extensions. Refused while the password login mode is "
        "DISABLED.",
        new_password=graphene.NonNull(graphene.String),
        old_password=graphene.String(),
    )
    def password_change(
        _root: object,
        info: Info,
        new_password: str,
        old_password: str | None = None,
    ) -> PasswordChange:
        user = change_password(
            info.context.ports,
            info.context.actor,
            old_password=old_password,
            new_password=new_password,
        )
        return PasswordChange(user=user)
