"""Sign in, refresh and verify tokens, sign out, end sessions."""

import graphene
from graphene.types.generic import GenericScalar
from graphql import FieldNode

from app.domain.values.errors import Refused
from app.graphql.context import Info
from app.graphql.errors import payload_problems
from app.graphql.mutations.payloads import (
    AccountPayload,
    TokenPayload,
    answers,
    challenge_values,
)
from app.services.second_factors.challenges import SecondFactorRequired
from app.services.sign_in import tokens
from app.services.sign_in.password_login import create_token
from app.services.sign_in.sessions import deactivate_all_tokens, end_other_sessions, end_session

UNUSED_CSRF = "Accepted but ignored: refresh tokens are never read from cookies."
_USER = "app.graphql.types.users.User"


class CreateToken(TokenPayload):
    """The tokens of the new session."""

    token = graphene.String(description="An access token: a short-lived JWT.")
    user = graphene.Field(_USER)
    second_factor_challenge = graphene.Field(
        "app.graphql.types.second_factors.SecondFactorChallenge",
        description="What to answer after the error SECOND_FACTOR_REQUIRED.",
    )


class RefreshToken(AccountPayload):
    """A new access token of the session."""

    token = graphene.String()
    refresh_token = graphene.String(
        description="The next refresh token, if refresh tokens are single use."
    )
    user = graphene.Field(_USER)


class VerifyToken(AccountPayload):
    """Whether a token is valid, and its claims."""

    user = graphene.Field(_USER)
    is_valid = graphene.NonNull(graphene.Boolean)
    payload = GenericScalar()


class DeactivateAllUserTokens(AccountPayload):
    """The result of ending all sessions."""


class TokenMutations(graphene.ObjectType):
    """Sessions by password, and the tokens that speak for them."""

    token_create = graphene.Field(
        CreateToken,
        description=(
            "Starts a session with email and password, for customers and staff. Anyone can "
            "call it. Failed attempts block the caller's IP address for a time. Refused "
            "while the password login mode is DISABLED. For an account with a second factor, "
            "returns the error SECOND_FACTOR_REQUIRED and `secondFactorChallenge`."
        ),
        audience=graphene.String(description="Audience of the tokens, as `custom:<audience>`."),
        email=graphene.String(),
        password=graphene.String(),
    )
    token_refresh = graphene.Field(
        RefreshToken,
        description=(
            "Returns a new access token for a refresh token, which stays valid unless "
            "refresh tokens are single use. Requires only the refresh token. Refused for "
            "password sessions while the password login mode is DISABLED."
        ),
        refresh_token=graphene.String(),
        csrf_token=graphene.String(description=UNUSED_CSRF),
    )
    token_verify = graphene.Field(
        VerifyToken,
        description=(
            "Checks whether an access or refresh token is valid and returns its claims. "
            "Anyone can call it, in every login mode."
        ),
        token=graphene.String(),
    )
    tokens_deactivate_all = graphene.Field(
        DeactivateAllUserTokens,
        description=(
            "Ends all sessions of the signed-in user and revokes all access and refresh "
            "tokens immediately, including the current ones. Not available to dashboard "
            "extensions."
        ),
    )

    @staticmethod
    @answers(CreateToken)
    def resolve_token_create(
        _root: object,
        info: Info,
        email: str | None = None,
        password: str | None = None,
        audience: str | None = None,
    ) -> CreateToken:
        try:
            pair = create_token(
                info.context.ports,
                info.context.actor,
                email=email,
                password=password,
                audience=f"custom:{audience}" if audience else "",
            )
        except SecondFactorRequired as required:
            return CreateToken(**challenge_values(required))
        return CreateToken(
            token=pair.access, refresh_token=pair.refresh, user=info.context.proven(pair.user)
        )

    @staticmethod
    @answers(RefreshToken)
    def resolve_token_refresh(
        _root: object,
        info: Info,
        refresh_token: str | None = None,
        csrf_token: str | None = None,
    ) -> RefreshToken:
        refreshed = tokens.refresh_token(
            info.context.ports, info.context.actor, token=refresh_token
        )
        return RefreshToken(
            token=refreshed.access,
            refresh_token=refreshed.refresh,
            user=info.context.proven(refreshed.user),
        )

    @staticmethod
    def resolve_token_verify(_root: object, info: Info, token: str | None = None) -> VerifyToken:
        ports, actor = info.context.ports, info.context.actor
        try:
            if not _selects_user(info):
                payload = tokens.check_token(ports, actor, token=token)
                return VerifyToken(is_valid=True, payload=payload)
            verified = tokens.verify_token(ports, actor, token=token)
        except Refused as refused:
            return VerifyToken(is_valid=False, errors=payload_problems(refused))
        user = info.context.proven(verified.user, is_owner=verified.is_owner)
        return VerifyToken(is_valid=True, user=user, payload=verified.payload)

    @staticmethod
    @answers(DeactivateAllUserTokens)
    def resolve_tokens_deactivate_all(_root: object, info: Info) -> DeactivateAllUserTokens:
        deactivate_all_tokens(info.context.ports, info.context.actor)
        return DeactivateAllUserTokens()


def _selects_user(info: Info) -> bool:
    """Whether the user is selected, or may be by a fragment: what few ask for need not be read."""
    return any(
        not isinstance(chosen, FieldNode) or chosen.name.value == "user"
        for node in info.field_nodes
        if node.selection_set is not None
        for chosen in node.selection_set.selections
    )


class SessionEnd(AccountPayload):
    """The ended session."""


class SessionsEndOthers(AccountPayload):
    """The number of ended sessions."""

    count = graphene.Int(description="Number of sessions that ended.")


class SessionMutations(graphene.ObjectType):
    """The caller's own sessions."""

    session_end = graphene.Field(
        SessionEnd,
        description=(
            "Ends a session of the signed-in user and revokes its tokens immediately. Not "
            "available to dashboard extensions."
        ),
        id=graphene.NonNull(graphene.ID),
    )
    sessions_end_others = graphene.Field(
        SessionsEndOthers,
        description=(
            "Ends all other sessions of the signed-in user and revokes their tokens "
            "immediately. Not available to dashboard extensions."
        ),
    )

    @staticmethod
    @answers(SessionEnd)
    def resolve_session_end(_root: object, info: Info, id: str) -> SessionEnd:
        end_session(info.context.ports, info.context.actor, id)
        return SessionEnd()

    @staticmethod
    @answers(SessionsEndOthers)
    def resolve_sessions_end_others(_root: object, info: Info) -> SessionsEndOthers:
        return SessionsEndOthers(count=end_other_sessions(info.context.ports, info.context.actor))
