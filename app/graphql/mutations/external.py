"""Signing in through an identity provider: the five external operations."""

import json
from collections.abc import Mapping

import graphene

from app.domain.single_sign_on.providers import read_provider_error
from app.graphql.context import Info
from app.graphql.mutations.payloads import AccountPayload, TokenPayload, answers
from app.services.single_sign_on.provider_sessions import (
    log_out_external,
    refresh_external_session,
    verify_external_token,
)
from app.services.single_sign_on.sign_in import begin_sign_in, finish_sign_in

_USER = "app.graphql.types.users.User"


class ExternalAuthenticationUrl(AccountPayload):
    """The URL to sign in with the provider: `{"authorizationUrl": …}`."""

    authentication_data = graphene.JSONString()


class ExternalObtainAccessTokens(TokenPayload):
    """The tokens of the new session."""

    token = graphene.String()
    user = graphene.Field(_USER)


class ExternalRefresh(TokenPayload):
    """New tokens of the session."""

    token = graphene.String()
    user = graphene.Field(_USER)


class ExternalLogout(AccountPayload):
    """The URL to sign out from the provider: `{"logoutUrl": …}`."""

    logout_data = graphene.JSONString()


class ExternalVerify(AccountPayload):
    """Whether a token is valid and its session was started with that provider."""

    user = graphene.Field(_USER)
    is_valid = graphene.NonNull(graphene.Boolean)
    verify_data = graphene.JSONString()


class ExternalMutations(graphene.ObjectType):
    """Single sign-on with this service as the provider's client."""

    external_authentication_url = graphene.Field(
        ExternalAuthenticationUrl,
        description=(
            "Returns the URL to sign in with an identity provider. Anyone can call it. "
            "Returns empty data for an unknown or inactive plugin."
        ),
        input=graphene.JSONString(),
        plugin_id=graphene.String(),
    )
    external_obtain_access_tokens = graphene.Field(
        ExternalObtainAccessTokens,
        description=(
            "Starts a session with the `code` and `state` returned by the provider, or reports "
            "its `error` and `error_description`. Anyone can call it, once for each `state`."
        ),
        input=graphene.JSONString(),
        plugin_id=graphene.String(),
    )
    external_refresh = graphene.Field(
        ExternalRefresh,
        description=(
            "Refreshes a session that was started with the provider, after refreshing it "
            "there. Requires only the refresh token."
        ),
        input=graphene.JSONString(),
        plugin_id=graphene.String(),
    )
    external_logout = graphene.Field(
        ExternalLogout,
        description=(
            "Ends the caller's session and returns the URL to sign out from the provider. "
            "Every key of `input` is added to that URL. Anyone can call it."
        ),
        input=graphene.JSONString(),
        plugin_id=graphene.String(),
    )
    external_verify = graphene.Field(
        ExternalVerify,
        description=(
            "Checks that an access token is valid and its session was started with that "
            "provider, and returns its user. Anyone can call it."
        ),
        input=graphene.JSONString(),
        plugin_id=graphene.String(),
    )

    @staticmethod
    @answers(ExternalAuthenticationUrl)
    def resolve_external_authentication_url(
        _root: object,
        info: Info,
        input: object = None,
        plugin_id: str | None = None,
    ) -> ExternalAuthenticationUrl:
        url = begin_sign_in(
            info.context.ports,
            info.context.actor,
            plugin_id=plugin_id,
            redirect_uri=_text(input, "redirectUri"),
        )
        data = {} if url is None else {"authorizationUrl": url}
        return ExternalAuthenticationUrl(authentication_data=data)

    @staticmethod
    @answers(ExternalObtainAccessTokens)
    def resolve_external_obtain_access_tokens(
        _root: object,
        info: Info,
        input: object = None,
        plugin_id: str | None = None,
    ) -> ExternalObtainAccessTokens:
        tokens = finish_sign_in(
            info.context.ports,
            info.context.actor,
            plugin_id=plugin_id,
            code=_text(input, "code"),
            state=_text(input, "state"),
            error=read_provider_error(_text(input, "error"), _text(input, "error_description")),
        )
        if tokens is None:
            return ExternalObtainAccessTokens()
        return ExternalObtainAccessTokens(
            token=tokens.access,
            refresh_token=tokens.refresh,
            user=info.context.proven(tokens.user),
        )

    @staticmethod
    @answers(ExternalRefresh)
    def resolve_external_refresh(
        _root: object,
        info: Info,
        input: object = None,
        plugin_id: str | None = None,
    ) -> ExternalRefresh:
        token = _text(input, "refreshToken")
        tokens = refresh_external_session(
            info.context.ports, info.context.actor, plugin_id=plugin_id, token=token
        )
        if tokens is None:
            return ExternalRefresh()
        return ExternalRefresh(
            token=tokens.access,
            refresh_token=tokens.refresh,
            user=info.context.proven(tokens.user),
        )

    @staticmethod
    @answers(ExternalLogout)
    def resolve_external_logout(
        _root: object,
        info: Info,
        input: object = None,
        plugin_id: str | None = None,
    ) -> ExternalLogout:
        members = input if isinstance(input, Mapping) else {}
        values = {str(name): _written(value) for name, value in members.items()}
        url = log_out_external(
            info.context.ports, info.context.actor, plugin_id=plugin_id, values=values
        )
        return ExternalLogout(logout_data={} if url is None else {"logoutUrl": url})

    @staticmethod
    def resolve_external_verify(
        _root: object,
        info: Info,
        input: object = None,
        plugin_id: str | None = None,
    ) -> ExternalVerify:
        verified = verify_external_token(
            info.context.ports,
            info.context.actor,
            plugin_id=plugin_id,
            token=_text(input, "token"),
        )
        if verified is None:
            return ExternalVerify(is_valid=False, verify_data={})
        user = info.context.proven(verified.user, is_owner=verified.is_owner)
        return ExternalVerify(is_valid=True, user=user, verify_data=dict(verified.payload))


def _text(members: object, name: str) -> str | None:
    """Return a string from the input; anything else counts as missing."""
    value = members.get(name) if isinstance(members, Mapping) else None
    return value if isinstance(value, str) else None


def _written(value: object) -> str:
    """Format a value for a URL's query: a string as it is, all else as JSON."""
    return value if isinstance(value, str) else json.dumps(value)
