"""Finishing a sign-in with a second factor or passkey, and proving one in a session."""

import json

import graphene

from app.graphql.context import Info, RequestContext
from app.graphql.mutations.payloads import AccountPayload, answers
from app.services.sign_in.passkey_sign_in import challenge_passkey, verify_passkey
from app.services.sign_in.second_factor_sign_in import ask_for_proof, verify_second_factor
from app.services.sign_in.tokens import TokenPair

_USER = "app.graphql.types.users.User"
_ACCESS = "An access token: a short-lived JWT with the claim `amr`."
_REFRESH = (
    "A token to get new access tokens with until it expires; null for an SSO session whose "
    "provider issued no refresh token."
)


class SecondFactorVerify(AccountPayload):
    """The tokens of the session."""

    token = graphene.String(description=_ACCESS)
    refresh_token = graphene.String(description=_REFRESH)
    user = graphene.Field(_USER)


class PasskeyVerify(AccountPayload):
    """The tokens of the session."""

    token = graphene.String(description=_ACCESS)
    refresh_token = graphene.String(description=_REFRESH)
    user = graphene.Field(_USER)


class PasskeyChallengeCreate(AccountPayload):
    """What a browser needs to answer with a passkey."""

    challenge = graphene.String(description="The argument of `passkeyVerify`.")
    options = graphene.JSONString(
        description=(
            "The options of `navigator.credentials.get`, for "
            "`PublicKeyCredential.parseRequestOptionsFromJSON`."
        )
    )


class SecondFactorChallengeCreate(AccountPayload):
    """A challenge for the caller's session."""

    second_factor_challenge = graphene.Field(
        "app.graphql.types.second_factors.SecondFactorChallenge",
        description="The challenge to answer.",
    )


class SecondFactorMutations(graphene.ObjectType):
    """Second factors at sign-in; enrolling and removing them is for the console."""

    second_factor_verify = graphene.Field(
        SecondFactorVerify,
        description=(
            "Finishes a sign-in that was refused with SECOND_FACTOR_REQUIRED, or answers "
            "`secondFactorChallengeCreate`: returns the session's tokens. Anyone with the "
            "challenge can call it. Incorrect codes block the caller's IP address for a time, "
            "and five of them end the challenge."
        ),
        challenge=graphene.String(required=True),
        code=graphene.String(required=True),
    )
    passkey_challenge_create = graphene.Field(
        PasskeyChallengeCreate,
        description=(
            "Returns the options with which a browser asks for a passkey: to sign in with a "
            "passkey alone, or to answer `challenge`. Anyone can call it. Refused while the "
            "password login mode is DISABLED."
        ),
        challenge=graphene.String(),
    )
    passkey_verify = graphene.Field(
        PasskeyVerify,
        description=(
            "Signs in with a browser's passkey, or answers a challenge with it: returns the "
            "session's tokens. Anyone with the challenge can call it."
        ),
        challenge=graphene.String(required=True),
        credential=graphene.JSONString(required=True),
    )
    second_factor_challenge_create = graphene.Field(
        SecondFactorChallengeCreate,
        description=(
            "Asks for a second factor in the caller's current session, such as one that began "
            "with SSO. The answer returns new tokens of the session, and the session has used "
            "a second factor from then on. Not available to dashboard extensions."
        ),
    )

    @staticmethod
    @answers(SecondFactorVerify)
    def resolve_second_factor_verify(
        _root: object, info: Info, challenge: str, code: str
    ) -> SecondFactorVerify:
        pair = verify_second_factor(
            info.context.ports, info.context.actor, challenge=challenge, code=code
        )
        return SecondFactorVerify(**_tokens(info.context, pair))

    @staticmethod
    @answers(PasskeyChallengeCreate)
    def resolve_passkey_challenge_create(
        _root: object, info: Info, challenge: str | None = None
    ) -> PasskeyChallengeCreate:
        made = challenge_passkey(info.context.ports, info.context.actor, challenge=challenge)
        return PasskeyChallengeCreate(challenge=made.token, options=json.loads(made.options))

    @staticmethod
    @answers(PasskeyVerify)
    def resolve_passkey_verify(
        _root: object, info: Info, challenge: str, credential: object
    ) -> PasskeyVerify:
        pair = verify_passkey(
            info.context.ports,
            info.context.actor,
            challenge=challenge,
            credential=_written(credential),
        )
        return PasskeyVerify(**_tokens(info.context, pair))

    @staticmethod
    @answers(SecondFactorChallengeCreate)
    def resolve_second_factor_challenge_create(
        _root: object, info: Info
    ) -> SecondFactorChallengeCreate:
        token = info.context.visitor.credential or ""
        challenge = ask_for_proof(info.context.ports, info.context.actor, token=token)
        return SecondFactorChallengeCreate(second_factor_challenge=challenge)


def _written(credential: object) -> str:
    """Return ``credential`` as JSON; empty, which is no answer, if it is nested too deeply."""
    try:
        return json.dumps(credential)
    except RecursionError:
        return ""


def _tokens(context: RequestContext, pair: TokenPair) -> dict[str, object]:
    return {
        "token": pair.access,
        "refresh_token": pair.refresh or None,
        "user": context.proven(pair.user),
    }
