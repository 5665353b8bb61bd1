"""Sign in through an identity provider: the five external operations, and its settings."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import graphene
from graphene.utils.str_converters import to_camel_case

from app.domain.single_sign_on.provider_settings import Scope
from app.domain.single_sign_on.providers import read_provider_error
from app.domain.values.errors import Problem, Refused
from app.domain.values.pages import Page, empty_page
from app.graphql.connections import (
    connection_arguments,
    make_connection,
    page_request,
    sorting_input,
)
from app.graphql.context import Info
from app.graphql.root_fields import payloads
from app.services.single_sign_on.provider_sessions import (
    log_out_external,
    refresh_external_session,
    verify_external_token,
)
from app.services.single_sign_on.provider_settings import (
    Plugin,
    PluginSort,
    ProviderUpdate,
    list_plugins,
    show_plugin,
    update_plugin,
)
from app.services.single_sign_on.sign_in import begin_sign_in, finish_sign_in

_USER = "app.graphql.types.users.User"


class ExternalAuthenticationUrl(payloads.AccountPayload):
    """The URL to sign in with the provider: `{"authorizationUrl": …}`."""

    authentication_data = graphene.JSONString()


class ExternalObtainAccessTokens(payloads.TokenPayload):
    """The tokens of the new session."""


class ExternalRefresh(payloads.TokenPayload):
    """New tokens of the session."""


class ExternalLogout(payloads.AccountPayload):
    """The URL to sign out from the provider: `{"logoutUrl": …}`."""

    logout_data = graphene.JSONString()


class ExternalVerify(payloads.AccountPayload):
    """Whether a token is valid and its session was started with that provider."""

    user = graphene.Field(_USER)
    is_valid = graphene.NonNull(graphene.Boolean)
    verify_data = graphene.JSONString()


class ExternalMutations(graphene.ObjectType):
    """Single sign-on with this service as the provider's client."""

    @payloads.mutation(
        "Returns the URL to sign in with an identity provider. Anyone can call it. "
        "Returns empty data for an unknown or inactive plugin.",
        input=graphene.JSONString(),
        plugin_id=graphene.String(),
    )
    def external_authentication_url(
        _root: object, info: Info, input: object = None, plugin_id: str | None = None
    ) -> ExternalAuthenticationUrl:
        url = begin_sign_in(
            *info.context.caller, plugin_id=plugin_id, redirect_uri=_text(input, "redirectUri")
        )
        data = {} if url is None else {"authorizationUrl": url}
        return ExternalAuthenticationUrl(authentication_data=data)

    @payloads.mutation(
        "Starts a session with the `code` and `state` returned by the provider, or reports "
        "its `error` and `error_description`. Anyone can call it, once for each `state`.",
        input=graphene.JSONString(),
        plugin_id=graphene.String(),
    )
    def external_obtain_access_tokens(
        _root: object, info: Info, input: object = None, plugin_id: str | None = None
    ) -> ExternalObtainAccessTokens:
        tokens = finish_sign_in(
            *info.context.caller,
            plugin_id=plugin_id,
            code=_text(input, "code"),
            state=_text(input, "state"),
            error=read_provider_error(_text(input, "error"), _text(input, "error_description")),
        )
        if tokens is None:
            return ExternalObtainAccessTokens()
        return ExternalObtainAccessTokens(**payloads.token_values(info.context, tokens))

    @payloads.mutation(
        "Refreshes a session that was started with the provider, after refreshing it "
        "there. Requires only the refresh token.",
        input=graphene.JSONString(),
        plugin_id=graphene.String(),
    )
    def external_refresh(
        _root: object, info: Info, input: object = None, plugin_id: str | None = None
    ) -> ExternalRefresh:
        token = _text(input, "refreshToken")
        tokens = refresh_external_session(*info.context.caller, plugin_id=plugin_id, token=token)
        if tokens is None:
            return ExternalRefresh()
        return ExternalRefresh(**payloads.token_values(info.context, tokens))

    @payloads.mutation(
        "Ends the caller's session and returns the URL to sign out from the provider. "
        "Every key of `input` is added to that URL. Anyone can call it.",
        input=graphene.JSONString(),
        plugin_id=graphene.String(),
    )
    def external_logout(
        _root: object, info: Info, input: object = None, plugin_id: str | None = None
    ) -> ExternalLogout:
        members = input if isinstance(input, Mapping) else {}
        values = {str(name): _query_text(value) for name, value in members.items()}
        url = log_out_external(*info.context.caller, plugin_id=plugin_id, values=values)
        return ExternalLogout(logout_data={} if url is None else {"logoutUrl": url})

    @payloads.query(
        ExternalVerify,
        description="Checks that an access token is valid and its session was started with that "
        "provider, and returns its user. Anyone can call it.",
        input=graphene.JSONString(),
        plugin_id=graphene.String(),
    )
    def external_verify(
        _root: object, info: Info, input: object = None, plugin_id: str | None = None
    ) -> ExternalVerify:
        verified = verify_external_token(
            *info.context.caller, plugin_id=plugin_id, token=_text(input, "token")
        )
        if verified is None:
            return ExternalVerify(is_valid=False, verify_data={})
        user = info.context.verified(verified)
        return ExternalVerify(is_valid=True, user=user, verify_data=dict(verified.payload))


def _text(members: object, name: str) -> str | None:
    """Return a string from the input; anything else counts as missing."""
    value = members.get(name) if isinstance(members, Mapping) else None
    return value if isinstance(value, str) else None


def _query_text(value: object) -> str:
    """Format a value for a URL's query: a string as it is, all else as JSON."""
    return value if isinstance(value, str) else json.dumps(value)


class ConfigurationItemInput(graphene.InputObjectType):
    """A setting to change. Null or an empty string clears it."""

    name = graphene.NonNull(graphene.String)
    value = graphene.String()


class PluginUpdateInput(graphene.InputObjectType):
    """Fields to update. Omitted fields keep their values."""

    active = graphene.Boolean()
    configuration = graphene.List(graphene.NonNull(ConfigurationItemInput))


class PluginUpdate(payloads.MutationPayload):
    """The updated plugin."""

    plugin = graphene.Field("app.graphql.types.plugins.Plugin")
    errors = payloads.errors_of("problems.PluginError")
    plugins_errors = payloads.former_errors_of("problems.PluginError")


class PluginMutations(graphene.ObjectType):
    """The settings of identity providers."""

    @payloads.mutation(
        "Updates the settings of an identity provider. If a setting is refused, none is "
        "changed. Null or an empty string clears a setting. Requires MANAGE_PLUGINS. Until a "
        "superuser confirms what anyone else changed, the provider signs in only new "
        "customers, and grants at most what the caller holds: see `configuration`.",
        channel_id=graphene.ID(description="Ignored: providers apply to the whole shop."),
        id=graphene.NonNull(graphene.ID),
        input=graphene.NonNull(PluginUpdateInput),
    )
    def plugin_update(
        _root: object, info: Info, id: str, input: dict[str, Any], channel_id: str | None = None
    ) -> PluginUpdate:
        items = input.get("configuration") or []
        settings = {item["name"]: item.get("value") for item in items}
        changes = ProviderUpdate(settings, input.get("active"))
        try:
            return PluginUpdate(plugin=update_plugin(*info.context.caller, id, changes))
        except Refused as refused:
            raise Refused(*map(_with_camel_case_field, refused.problems)) from refused


def _with_camel_case_field(problem: Problem) -> Problem:
    """Return ``problem`` with its field in camel case, as existing clients get it."""
    return replace(problem, field=to_camel_case(problem.field or "") or None)


_PLUGIN = "app.graphql.types.plugins.Plugin"
PluginCountableConnection = make_connection("Plugin", _PLUGIN)
PluginConfigurationType = graphene.Enum.from_enum(Scope, name="PluginConfigurationType")


class PluginFilterInput(graphene.InputObjectType):
    """Filters for plugins."""

    search = graphene.String(description="Matches part of the name.")
    type = graphene.Field(PluginConfigurationType)


PluginSortField = graphene.Enum(
    "PluginSortField",
    [(sort.name, sort) for sort in (PluginSort.NAME, PluginSort.IS_ACTIVE)],
    description="What plugins are sorted by.",
)


PluginSortingInput = sorting_input("PluginSortingInput", "plugins", PluginSortField)


class PluginQueries(graphene.ObjectType):
    """Identity providers and their settings, for MANAGE_PLUGINS."""

    @payloads.query(
        _PLUGIN,
        description="An identity provider by plugin ID, active or not. Requires MANAGE_PLUGINS.",
        id=graphene.NonNull(graphene.ID),
    )
    def plugin(_root: object, info: Info, id: str) -> Plugin | None:
        return show_plugin(*info.context.caller, id)

    @payloads.query(
        PluginCountableConnection,
        description="Identity providers, the default one first unless sorted otherwise. Secrets "
        "aren't returned. Requires MANAGE_PLUGINS.",
        filter=PluginFilterInput(),
        sort_by=PluginSortingInput(),
        **connection_arguments(),
    )
    def plugins(_root: object, info: Info, **arguments: Any) -> Page[Plugin]:
        filter_ = arguments.get("filter") or {}
        request = page_request("plugins", arguments)
        if filter_.get("type") is Scope.PER_CHANNEL:
            return empty_page()
        search = filter_.get("search") or ""
        sort = arguments.get("sort_by") or {}
        return list_plugins(
            *info.context.caller,
            request,
            PluginSort(sort["field"].value) if sort else PluginSort.AGE,
            search=search,
            descending=sort.get("direction") == "DESC",
        )
