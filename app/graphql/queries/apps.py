"""Queries about apps and what they add to the dashboard."""

from typing import Any

import graphene

from app.domain.apps.apps import AppSortField, Installation
from app.domain.values.pages import Page
from app.graphql.app_nodes import (
    AppNode,
    ExtensionNode,
    app_node,
    app_page,
    extension_node,
    extension_page,
)
from app.graphql.connections import connection_arguments, make_connection, page_request
from app.graphql.context import Info
from app.graphql.global_ids import key_in
from app.services.apps.app_lists import AppFilter, list_apps, show_app, show_calling_app
from app.services.apps.extensions import ExtensionFilter, list_extensions, show_extension
from app.services.apps.installation_requests import list_installations

_APP = "app.graphql.types.apps.App"
_EXTENSION = "app.graphql.types.apps.AppExtension"

AppCountableConnection = make_connection("App", _APP)
AppExtensionCountableConnection = make_connection("AppExtension", _EXTENSION)


class AppFilterInput(graphene.InputObjectType):
    """Filters for apps."""

    search = graphene.String(description="Matches part of the name.")
    is_active = graphene.Boolean()
    type = graphene.InputField("app.graphql.types.apps.AppTypeEnum")


class AppSortingInput(graphene.InputObjectType):
    """Sort order of apps."""

    direction = graphene.InputField("app.graphql.types.lists.OrderDirection", required=True)
    field = graphene.InputField("app.graphql.types.apps.AppSortField", required=True)


class AppExtensionFilterInput(graphene.InputObjectType):
    """Filters for extensions."""

    mount_name = graphene.List(
        graphene.NonNull(graphene.String), description="Matches any of these places."
    )
    target_name = graphene.String()


class AppQueries(graphene.ObjectType):
    """Apps and their extensions."""

    app = graphene.Field(
        _APP,
        description=(
            "An app by ID, or the calling app. Visible to the app itself, to staff and with "
            "MANAGE_APPS."
        ),
        id=graphene.ID(),
    )
    apps = graphene.Field(
        AppCountableConnection,
        filter=AppFilterInput(),
        sort_by=AppSortingInput(),
        **connection_arguments(),
        description="For staff: all apps, sorted by name by default.",
    )
    apps_installations = graphene.NonNull(
        graphene.List(graphene.NonNull("app.graphql.types.apps.AppInstallation")),
        description=(
            "Pending and failed installations. For staff with MANAGE_APPS, not for apps."
        ),
    )
    app_extension = graphene.Field(
        _EXTENSION,
        description=(
            "A dashboard extension of an active app. For staff; for an app its own, and with "
            "MANAGE_APPS all."
        ),
        id=graphene.ID(required=True),
    )
    app_extensions = graphene.Field(
        AppExtensionCountableConnection,
        description=(
            "Dashboard extensions of active apps, oldest first. For staff; for an app its own, "
            "and with MANAGE_APPS all."
        ),
        filter=AppExtensionFilterInput(),
        **connection_arguments(),
    )

    @staticmethod
    def resolve_app(_root: object, info: Info, id: str | None = None) -> AppNode | None:
        if id is None:
            return app_node(info.context, show_calling_app(info.context.ports, info.context.actor))
        app = show_app(info.context.ports, info.context.actor, key_in(id, "App"))
        return None if app is None else app_node(info.context, app)

    @staticmethod
    def resolve_apps(_root: object, info: Info, **arguments: Any) -> Page[AppNode]:
        filter_ = arguments.get("filter") or {}
        filter_ = AppFilter(
            search=filter_.get("search") or "",
            is_active=filter_.get("is_active"),
            type=filter_.get("type"),
        )
        sort = arguments.get("sort_by") or {"field": AppSortField.NAME}
        page = list_apps(
            info.context.ports,
            info.context.actor,
            page_request("apps", arguments),
            filter_,
            sort["field"],
            descending=sort.get("direction") == "DESC",
        )
        return app_page(info.context, page)

    @staticmethod
    def resolve_apps_installations(_root: object, info: Info) -> tuple[Installation, ...]:
        return list_installations(info.context.ports, info.context.actor)

    @staticmethod
    def resolve_app_extension(_root: object, info: Info, id: str) -> ExtensionNode | None:
        extension = show_extension(
            info.context.ports, info.context.actor, key_in(id, "AppExtension")
        )
        if extension is None:
            return None
        return extension_node(extension, app_node(info.context, extension.app))

    @staticmethod
    def resolve_app_extensions(_root: object, info: Info, **arguments: Any) -> Page[ExtensionNode]:
        filter_ = arguments.get("filter") or {}
        filter_ = ExtensionFilter(
            tuple(filter_.get("mount_name") or ()), filter_.get("target_name") or ""
        )
        request = page_request("appExtensions", arguments)
        page = list_extensions(info.context.ports, info.context.actor, request, filter_)
        return extension_page(info.context, page)
