"""Tokens: signing people in and out, with second factors; apps' tokens."""

import json
from datetime import timedelta
from typing import Any

import graphene
from graphene.types.generic import GenericScalar
from graphql import FieldNode

from app.domain.apps.apps import DEFAULT_OVERLAP
from app.domain.values.errors import Refused
from app.graphql.context import Info
from app.graphql.fields import key_in
from app.graphql.root_fields import payloads
from app.services.apps.app_tokens import (
    TokenOptions,
    create_app_token,
    revoke_app_token,
    rotate_app_token,
    verify_app_token,
)
from app.services.second_factors.challenges import SecondFactorRequired
from app.services.sign_in import tokens
from app.services.sign_in.email_codes import request_email_code, verify_email_code
from app.services.sign_in.password_login import create_token
from app.services.sign_in.second_factor_sign_in import (
    ask_for_proof,
    challenge_passkey,
    verify_passkey,
    verify_second_factor,
)
from app.services.sign_in.sessions import deactivate_all_tokens, end_other_sessions, end_session

UNUSED_CSRF = "Accepted but ignored: refresh tokens are never read from cookies."
_USER = "app.graphql.types.users.User"


class CreateToken(payloads.TokenPayload):
    """The tokens of the new session."""

    token = graphene.String(description="An access token: a short-lived JWT.")
    second_factor_challenge = payloads.challenge_field()


class RefreshToken(payloads.AccountPayload):
    """A new access token of the session."""

    token = graphene.String()
    refresh_token = graphene.String(
        description="The next refresh token, if refresh tokens are single use."
    )
    user = graphene.Field(_USER)


class VerifyToken(payloads.AccountPayload):
    """Whether a token is valid, and its claims."""

    user = graphene.Field(_USER)
    is_valid = graphene.NonNull(graphene.Boolean)
    payload = GenericScalar()


class DeactivateAllUserTokens(payloads.AccountPayload):
    """The result of ending all sessions."""


class TokenMutations(graphene.ObjectType):
    """Sessions by password, and the tokens that speak for them."""

    @payloads.mutation(
        "Starts a session with email and password, for customers and staff. Anyone can "
        "call it. Failed attempts block the caller's IP address for a time. Refused "
        "while the password login mode is DISABLED. For an account with a second factor, "
        "returns the error SECOND_FACTOR_REQUIRED and `secondFactorChallenge`.",
        audience=graphene.String(description="Audience of the tokens, as `custom:<audience>`."),
        email=graphene.String(),
        password=graphene.String(),
    )
    def token_create(
        _root: object,
        info: Info,
        email: str | None = None,
        password: str | None = None,
        audience: str | None = None,
    ) -> CreateToken:
        try:
            pair = create_token(
                *info.context.caller,
                email=email,
                password=password,
                audience=f"custom:{audience}" if audience else "",
            )
        except SecondFactorRequired as required:
            return CreateToken(**payloads.challenge_values(required))
        return CreateToken(**payloads.token_values(info.context, pair))

    @payloads.mutation(
        "Returns a new access token for a refresh token, which stays valid unless "
        "refresh tokens are single use. Requires only the refresh token. Refused for "
        "password sessions while the password login mode is DISABLED.",
        refresh_token=graphene.String(),
        csrf_token=graphene.String(description=UNUSED_CSRF),
    )
    def token_refresh(
        _root: object, info: Info, refresh_token: str | None = None, csrf_token: str | None = None
    ) -> RefreshToken:
        refreshed = tokens.refresh_token(*info.context.caller, token=refresh_token)
        return RefreshToken(**payloads.token_values(info.context, refreshed))

    @payloads.query(
        VerifyToken,
        description="Checks whether an access or refresh token is valid and returns its claims. "
        "Anyone can call it, in every login mode.",
        token=graphene.String(),
    )
    def token_verify(_root: object, info: Info, token: str | None = None) -> VerifyToken:
        ports, actor = info.context.caller
        try:
            if not _selects_user(info):
                payload = tokens.check_token(ports, actor, token=token)
                return VerifyToken(is_valid=True, payload=payload)
            verified = tokens.verify_token(ports, actor, token=token)
        except Refused as refused:
            return VerifyToken(is_valid=False, errors=refused.problems)
        user = info.context.verified(verified)
        return VerifyToken(is_valid=True, user=user, payload=verified.payload)

    @payloads.mutation(
        "Ends all sessions of the signed-in user and revokes all access and refresh "
        "tokens immediately, including the current ones. Not available to dashboard "
        "extensions."
    )
    def tokens_deactivate_all(_root: object, info: Info) -> DeactivateAllUserTokens:
        deactivate_all_tokens(*info.context.caller)
        return DeactivateAllUserTokens()


def _selects_user(info: Info) -> bool:
    """Return whether the user is selected, or may be by a fragment; otherwise it isn't read."""
    return any(
        not isinstance(chosen, FieldNode) or chosen.name.value == "user"
        for node in info.field_nodes
        if node.selection_set is not None
        for chosen in node.selection_set.selections
    )


class SessionEnd(payloads.AccountPayload):
    """The ended session."""


class SessionsEndOthers(payloads.AccountPayload):
    """The number of ended sessions."""

    count = graphene.Int(description="Number of sessions that ended.")


class SessionMutations(graphene.ObjectType):
    """The caller's own sessions."""

    @payloads.mutation(
        "Ends a session of the signed-in user and revokes its tokens immediately. Not "
        "available to dashboard extensions.",
        id=graphene.NonNull(graphene.ID),
    )
    def session_end(_root: object, info: Info, id: str) -> SessionEnd:
        end_session(*info.context.caller, id)
        return SessionEnd()

    @payloads.mutation(
        "Ends all other sessions of the signed-in user and revokes their tokens "
        "immediately. Not available to dashboard extensions."
    )
    def sessions_end_others(_root: object, info: Info) -> SessionsEndOthers:
        return SessionsEndOthers(count=end_other_sessions(*info.context.caller))


class _SessionTokens(payloads.AccountPayload, abstract=True):
    token = graphene.String(description="An access token: a short-lived JWT with the claim `amr`.")
    refresh_token = graphene.String(
        description="A token to get new access tokens with until it expires; null for an SSO "
        "session whose provider issued no refresh token."
    )
    user = graphene.Field(_USER)


class SecondFactorVerify(_SessionTokens):
    """The tokens of the session."""


class PasskeyVerify(_SessionTokens):
    """The tokens of the session."""


class PasskeyChallengeCreate(payloads.AccountPayload):
    """What a browser needs to answer with a passkey."""

    challenge = graphene.String(description="The argument of `passkeyVerify`.")
    options = graphene.JSONString(
        description="The options of `navigator.credentials.get`, for "
        "`PublicKeyCredential.parseRequestOptionsFromJSON`."
    )


class SecondFactorChallengeCreate(payloads.AccountPayload):
    """A challenge for the caller's session."""

    second_factor_challenge = graphene.Field(
        "app.graphql.types.users.SecondFactorChallenge", description="The challenge to answer."
    )


class EmailCodeRequest(payloads.AccountPayload):
    """A sign-in that waits for its code."""

    challenge = graphene.String(description="The argument of `emailCodeVerify`.")
    expires_at = graphene.DateTime(description="When the code expires.")


class EmailCodeVerify(_SessionTokens):
    """The tokens of the session."""

    second_factor_challenge = payloads.challenge_field()


class EmailCodeMutations(graphene.ObjectType):
    """Sign-in with a code by email."""

    @payloads.mutation(
        "Sends a code to sign in with, if an account has the email; the answer is the same for "
        "every email. Anyone can call it. Refused while the setting `emailCodeLogin` is off or "
        "the password login mode is DISABLED.",
        email=graphene.String(required=True),
        audience=graphene.String(),
    )
    def email_code_request(
        _root: object, info: Info, email: str, audience: str | None = None
    ) -> EmailCodeRequest:
        made = request_email_code(
            *info.context.caller, email=email, audience=f"custom:{audience}" if audience else ""
        )
        return EmailCodeRequest(challenge=made.token, expires_at=made.expires_at)

    @payloads.mutation(
        "Signs in with a code by email. Anyone with the challenge can call it. Incorrect codes "
        "block the caller's IP address for a time, and five of them end the challenge. It "
        "confirms the account; a password that was set before is then deleted. For an account "
        "with a second factor, returns the error SECOND_FACTOR_REQUIRED and "
        "`secondFactorChallenge`.",
        challenge=graphene.String(required=True),
        code=graphene.String(required=True),
    )
    def email_code_verify(_root: object, info: Info, challenge: str, code: str) -> EmailCodeVerify:
        try:
            pair = verify_email_code(*info.context.caller, challenge=challenge, code=code)
        except SecondFactorRequired as required:
            return EmailCodeVerify(**payloads.challenge_values(required))
        return EmailCodeVerify(**payloads.token_values(info.context, pair))


class SecondFactorMutations(graphene.ObjectType):
    """Second factors at sign-in; enrolling and removing them is for the console."""

    @payloads.mutation(
        "Finishes a sign-in that was refused with SECOND_FACTOR_REQUIRED, or answers "
        "`secondFactorChallengeCreate`: returns the session's tokens. Anyone with the "
        "challenge can call it. Incorrect codes block the caller's IP address for a time, "
        "and five of them end the challenge.",
        challenge=graphene.String(required=True),
        code=graphene.String(required=True),
    )
    def second_factor_verify(
        _root: object, info: Info, challenge: str, code: str
    ) -> SecondFactorVerify:
        pair = verify_second_factor(*info.context.caller, challenge=challenge, code=code)
        return SecondFactorVerify(**payloads.token_values(info.context, pair))

    @payloads.mutation(
        "Returns the options with which a browser asks for a passkey: to sign in with a "
        "passkey alone, or to answer `challenge`. Anyone can call it. Refused while the "
        "password login mode is DISABLED.",
        challenge=graphene.String(),
    )
    def passkey_challenge_create(
        _root: object, info: Info, challenge: str | None = None
    ) -> PasskeyChallengeCreate:
        made = challenge_passkey(*info.context.caller, challenge=challenge)
        return PasskeyChallengeCreate(challenge=made.token, options=json.loads(made.options))

    @payloads.mutation(
        "Signs in with a browser's passkey, or answers a challenge with it: returns the "
        "session's tokens. Anyone with the challenge can call it.",
        challenge=graphene.String(required=True),
        credential=graphene.JSONString(required=True),
    )
    def passkey_verify(
        _root: object, info: Info, challenge: str, credential: object
    ) -> PasskeyVerify:
        pair = verify_passkey(
            *info.context.caller, challenge=challenge, credential=_json_text(credential)
        )
        return PasskeyVerify(**payloads.token_values(info.context, pair))

    @payloads.mutation(
        "Asks for a second factor in the caller's current session, such as one that began "
        "with SSO. The answer returns new tokens of the session, and the session has used "
        "a second factor from then on. Not available to dashboard extensions."
    )
    def second_factor_challenge_create(_root: object, info: Info) -> SecondFactorChallengeCreate:
        token = info.context.visitor.credential or ""
        challenge = ask_for_proof(*info.context.caller, token=token)
        return SecondFactorChallengeCreate(second_factor_challenge=challenge)


def _json_text(credential: object) -> str:
    """Return ``credential`` as JSON; empty, which is no answer, if it is nested too deeply."""
    try:
        return json.dumps(credential)
    except RecursionError:
        return ""


_TYPE = "app.graphql.types.apps.AppToken"
_HOURS = int(DEFAULT_OVERLAP.total_seconds() // 3600)


class AppTokenInput(graphene.InputObjectType):
    """The token to create."""

    name = graphene.String(description="A name to recognize the token by.")
    app = graphene.ID(required=True)
    expires_at = graphene.DateTime(
        description="Expiry. By default, the token works until it's revoked."
    )
    permissions = graphene.List(
        graphene.NonNull("app.graphql.types.permissions.PermissionEnum"),
        description="The token's permissions. Default: all permissions of the app.",
    )


class AppTokenCreate(payloads.AppPayload):
    """The new token, returned only once."""

    auth_token = graphene.String()
    app_token = graphene.Field(_TYPE)


class AppTokenRotate(payloads.AppPayload):
    """The new token, returned only once."""

    auth_token = graphene.String()
    app_token = graphene.Field(_TYPE)


class AppTokenDelete(payloads.AppPayload):
    """The revoked token."""

    app_token = graphene.Field(_TYPE)


class AppTokenVerify(payloads.AppPayload):
    """Whether a token works."""

    valid = graphene.NonNull(graphene.Boolean)


class AppTokenMutations(graphene.ObjectType):
    """The tokens of apps, managed by people who hold MANAGE_APPS."""

    @payloads.mutation(
        "Creates a token for an app. The token is returned only once. For staff with "
        "MANAGE_APPS, not for apps.",
        input=AppTokenInput(required=True),
    )
    def app_token_create(_root: object, info: Info, input: dict[str, Any]) -> AppTokenCreate:
        permissions = input.get("permissions")
        new_token = TokenOptions(
            name=input.get("name") or "",
            expires_at=input.get("expires_at"),
            permissions=None if permissions is None else frozenset(permissions),
        )
        app_id = key_in(input["app"], "App")
        new = create_app_token(*info.context.caller, app_id, new_token)
        return AppTokenCreate(auth_token=new.secret, app_token=new.token)

    @payloads.mutation(
        "Replaces a token with a new one, which is returned only once. The old token "
        "keeps working for a grace period. For staff with MANAGE_APPS, not for apps.",
        id=graphene.ID(required=True),
        overlap_seconds=graphene.Int(
            description=f"Seconds the old token keeps working. Default: {_HOURS} hours."
        ),
    )
    def app_token_rotate(
        _root: object, info: Info, id: str, overlap_seconds: int | None = None
    ) -> AppTokenRotate:
        overlap = (
            DEFAULT_OVERLAP if overlap_seconds is None else timedelta(seconds=overlap_seconds)
        )
        token_id = key_in(id, "AppToken")
        new = rotate_app_token(*info.context.caller, token_id, overlap)
        return AppTokenRotate(auth_token=new.secret, app_token=new.token)

    @payloads.mutation(
        "Revokes a token immediately. For staff with MANAGE_APPS, not for apps.",
        id=graphene.ID(required=True),
    )
    def app_token_delete(_root: object, info: Info, id: str) -> AppTokenDelete:
        token = revoke_app_token(*info.context.caller, key_in(id, "AppToken"))
        return AppTokenDelete(app_token=token)

    @payloads.query(
        AppTokenVerify,
        description="Checks whether a token works: its app is active and the token hasn't "
        "expired. Anyone can call it.",
        token=graphene.String(required=True),
    )
    def app_token_verify(_root: object, info: Info, token: str) -> AppTokenVerify:
        return AppTokenVerify(valid=verify_app_token(*info.context.caller, token))
