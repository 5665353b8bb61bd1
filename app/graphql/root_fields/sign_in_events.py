"""Queries about the sign-in log."""

from typing import Any

import graphene

from app.domain.sign_in import sign_in_log as domain
from app.domain.values.pages import Page, Range
from app.graphql.connections import connection_arguments, make_connection, page_request, times_in
from app.graphql.context import Info
from app.graphql.fields import described_enum, id_or_null, key_in, own_id, text_or_null
from app.graphql.root_fields.payloads import query
from app.graphql.types.users import SecondFactorTypeEnum
from app.services.sign_in_log.events import list_sign_ins

SignInMethodEnum = described_enum(
    domain.SignInMethod,
    "SignInMethodEnum",
    "How someone tried to sign in.",
    {
        "PASSWORD": "With email and password, and a second factor if the account has one.",
        "PASSKEY": "With a passkey alone.",
        "EMAIL_CODE": "With a code sent by email.",
        "SSO": "With an identity provider.",
        "LINK": "By setting a password with an emailed link.",
        "REFRESH": "By refreshing a session. Only failures are recorded.",
        "APP_TOKEN": "With an app's token. Only failures are recorded.",
        "PROVIDER_TOKEN": "With an identity provider's access token as bearer. Only failures are "
        "recorded.",
    },
)
SignInReasonEnum = described_enum(
    domain.SignInReason,
    "SignInReasonEnum",
    "Why a sign-in attempt failed.",
    {
        "INCORRECT_PASSWORD": "The password was incorrect.",
        "UNKNOWN_EMAIL": "No account has the email.",
        "NO_PASSWORD": "The account has no password.",
        "INCORRECT_CODE": "The one-time code or recovery code was incorrect or already used.",
        "PASSKEY_REFUSED": "The passkey is unknown, or its response wasn't valid.",
        "CHALLENGE_ENDED": "The second factor's challenge was unknown, used or expired.",
        "BLOCKED_IP": "The IP address was blocked after failed attempts, or had one running.",
        "PASSWORD_LOGIN_OFF": "Password login is disabled.",
        "INACTIVE": "The account or app is deactivated.",
        "NOT_CONFIRMED": "The account's email isn't confirmed.",
        "NOT_STAFF": "A customer tried to sign in to the console.",
        "LINK_INVALID": "The emailed link was invalid, used or expired.",
        "SSO_EXPIRED": "The sign-in at the identity provider was unknown, used or expired.",
        "SSO_REFUSED": "The identity provider refused, or its response wasn't valid.",
        "SSO_NOT_LINKED": "The identity can't be linked to the account with its email.",
        "SSO_OTHER_PERSON": "Another person signed in at the identity provider.",
        "TOKEN_EXPIRED": "The token has expired.",
        "TOKEN_INVALID": "The token is invalid or was revoked.",
        "SESSION_ENDED": "The session has ended, or its account is deactivated.",
        "UNAVAILABLE": "A required service didn't respond in time.",
        "OTHER": "Anything else.",
    },
)
SignInResultEnum = described_enum(
    domain.SignInResult,
    "SignInResultEnum",
    "The result of a sign-in attempt.",
    {"SUCCESSFUL": "It opened a session.", "FAILED": "It was refused."},
)
SignInAccountTypeEnum = described_enum(
    domain.AccountType,
    "SignInAccountTypeEnum",
    "Whose sign-in attempt it was.",
    {
        "STAFF": "A staff member.",
        "CUSTOMER": "A customer.",
        "APP": "An app.",
        "UNKNOWN": "No account or app was found.",
    },
)


class SignInEventFilterInput(graphene.InputObjectType):
    """Conditions on sign-in attempts; all given ones must match."""

    method = graphene.InputField(SignInMethodEnum)
    result = graphene.InputField(SignInResultEnum)
    reason = graphene.InputField(SignInReasonEnum)
    account_type = graphene.InputField(SignInAccountTypeEnum)
    user_id = graphene.ID()
    app_id = graphene.ID()
    address = graphene.String(description="An IP address.")
    at = graphene.InputField("app.graphql.types.lists.DateTimeRangeInput")
    search = graphene.String(
        description="A part of a name, an email, an app's name or an IP address, within the "
        "newest 10,000 entries that match the rest. Unknown emails are found only in full."
    )


class SignInEvent(graphene.ObjectType):
    """A successful sign-in attempt, or equal failed ones of about a minute."""

    id = own_id("SignInEvent")
    at = graphene.NonNull(graphene.DateTime, description="The time of the last attempt.")
    first_at = graphene.NonNull(graphene.DateTime, description="The time of the first attempt.")
    attempts = graphene.NonNull(graphene.Int, description="How many attempts it stands for.")
    method = graphene.NonNull(SignInMethodEnum)
    result = graphene.NonNull(SignInResultEnum)
    reason = graphene.Field(SignInReasonEnum, description="Null for a successful attempt.")
    account_type = graphene.NonNull(SignInAccountTypeEnum)
    user_id = id_or_null("User", "user_id")
    app_id = id_or_null("App", "app_id")
    name = graphene.NonNull(
        graphene.String,
        description="The account's email or the app's name at that time. Unknown emails and "
        "tokens are masked; empty if there was neither, or in a flood of attempts.",
    )
    provider = text_or_null("provider", description="The name of the identity provider.")
    address = text_or_null("address", description="The IP address.")
    device = graphene.NonNull(graphene.String, description="The browser or program.")
    in_console = graphene.NonNull(graphene.Boolean, description="Whether it was at the console.")
    second_factor = graphene.Field(
        SecondFactorTypeEnum, description="The second factor that was used after the method."
    )
    detail = text_or_null(
        "detail", description="Why the identity provider refused, or why its response was refused."
    )


SignInEventCountableConnection = make_connection(
    "SignInEvent", "app.graphql.root_fields.sign_in_events.SignInEvent"
)


class SignInEventQueries(graphene.ObjectType):
    """Who tried to sign in."""

    @query(
        SignInEventCountableConnection,
        filter=SignInEventFilterInput(),
        **connection_arguments(),
        description="The sign-in log, newest first. For staff with MANAGE_STAFF, who see all "
        "attempts, and staff with MANAGE_USERS, who see those of customers. Failed "
        "attempts appear within a minute.",
    )
    def sign_in_events(_root: object, info: Info, **arguments: Any) -> Page[domain.SignInEvent]:
        page = page_request("signInEvents", arguments)
        filter_ = _filter(arguments.get("filter") or {})
        return list_sign_ins(*info.context.caller, page, filter_)


def _filter(given: dict[str, Any]) -> domain.SignInFilter:
    span = times_in(given.get("at")) or Range()
    user_id, app_id = given.get("user_id"), given.get("app_id")
    return domain.SignInFilter(
        user_id=None if user_id is None else key_in(user_id, "User"),
        app_id=None if app_id is None else key_in(app_id, "App"),
        method=given.get("method"),
        result=given.get("result"),
        reason=given.get("reason"),
        account_type=given.get("account_type"),
        address=given.get("address") or "",
        since=span.gte,
        until=span.lte,
        text=given.get("search") or "",
    )
