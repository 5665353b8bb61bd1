"""Queries about plugins."""

from typing import Any

import graphene

from app.domain.single_sign_on.provider_settings import Scope
from app.domain.values.pages import Page, empty_page
from app.graphql.connections import connection_arguments, make_connection, page_request
from app.graphql.context import Info
from app.services.single_sign_on.provider_settings import (
    Plugin,
    PluginSort,
    list_plugins,
    show_plugin,
)

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


class PluginSortingInput(graphene.InputObjectType):
    """Sort order of plugins."""

    direction = graphene.InputField("app.graphql.types.lists.OrderDirection", required=True)
    field = graphene.InputField(PluginSortField, required=True)


class PluginQueries(graphene.ObjectType):
    """Identity providers and their settings, for MANAGE_PLUGINS."""

    plugin = graphene.Field(
        _PLUGIN,
        description=("An identity provider by plugin ID, active or not. Requires MANAGE_PLUGINS."),
        id=graphene.NonNull(graphene.ID),
    )
    plugins = graphene.Field(
        PluginCountableConnection,
        description=(
            "Identity providers, the default one first unless sorted otherwise. Secrets aren't "
            "returned. Requires MANAGE_PLUGINS."
        ),
        filter=PluginFilterInput(),
        sort_by=PluginSortingInput(),
        **connection_arguments(),
    )

    @staticmethod
    def resolve_plugin(_root: object, info: Info, id: str) -> Plugin | None:
        return show_plugin(info.context.ports, info.context.actor, id)

    @staticmethod
    def resolve_plugins(_root: object, info: Info, **arguments: Any) -> Page[Plugin]:
        filter_ = arguments.get("filter") or {}
        request = page_request("plugins", arguments)
        if filter_.get("type") is Scope.PER_CHANNEL:
            return empty_page()
        search = filter_.get("search") or ""
        sort = arguments.get("sort_by") or {}
        return list_plugins(
            info.context.ports,
            info.context.actor,
            request,
            PluginSort(sort["field"].value) if sort else PluginSort.AGE,
            search=search,
            descending=sort.get("direction") == "DESC",
        )
