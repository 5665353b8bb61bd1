"""Making, changing and deleting apps."""

from collections.abc import Callable
from typing import Any

import graphene
from graphql import GraphQLResolveInfo

from app.domain.apps.apps import App
from app.domain.authorization.actor import Actor
from app.domain.values.inputs import ABSENT
from app.graphql.app_nodes import AppNode, app_node
from app.graphql.context import RequestContext
from app.graphql.global_ids import key_in
from app.graphql.mutations.app_payloads import AppPayload
from app.graphql.mutations.payloads import answers
from app.ports import Ports
from app.services.apps.app_changes import (
    AppChange,
    NewApp,
    activate_app,
    create_app,
    deactivate_app,
    delete_app,
    update_app,
)

_APP = "app.graphql.types.apps.App"


class AppInput(graphene.InputObjectType):
    """An app. In an update, omitted and null fields keep their values."""

    name = graphene.String()
    identifier = graphene.String()
    permissions = graphene.List(graphene.NonNull("app.graphql.types.permissions.PermissionEnum"))


class AppCreate(AppPayload):
    """The new app and its token, which is returned only once."""

    auth_token = graphene.String()
    app = graphene.Field(_APP)


class AppUpdate(AppPayload):
    """The updated app."""

    app = graphene.Field(_APP)


class AppDelete(AppPayload):
    """The deleted app."""

    app = graphene.Field(_APP)


class AppActivate(AppPayload):
    """The activated app."""

    app = graphene.Field(_APP)


class AppDeactivate(AppPayload):
    """The deactivated app."""

    app = graphene.Field(_APP)


class AppMutations(graphene.ObjectType):
    """Apps, managed by people who hold MANAGE_APPS."""

    app_create = graphene.Field(
        AppCreate,
        description=(
            "Creates an app and its first token, which is returned only once. For staff "
            "with MANAGE_APPS, who can only grant permissions they have."
        ),
        input=AppInput(required=True),
    )
    app_update = graphene.Field(
        AppUpdate,
        description=(
            "Updates an app's name, identifier or permissions immediately. For staff with "
            "MANAGE_APPS, not for apps. A permission isn't granted if a webhook of the app "
            "was saved by a person who lacked that permission."
        ),
        id=graphene.ID(required=True),
        input=AppInput(required=True),
    )
    app_delete = graphene.Field(
        AppDelete,
        description=(
            "Deletes an app with its tokens, webhooks and extensions. For staff with "
            "MANAGE_APPS, not for apps."
        ),
        id=graphene.ID(required=True),
    )
    app_activate = graphene.Field(
        AppActivate,
        description="Activates an app. For staff with MANAGE_APPS, not for apps.",
        id=graphene.ID(required=True),
    )
    app_deactivate = graphene.Field(
        AppDeactivate,
        description=(
            "Deactivates an app and all its tokens from the next request. For staff with "
            "MANAGE_APPS, not for apps."
        ),
        id=graphene.ID(required=True),
    )

    @staticmethod
    @answers(AppCreate)
    def resolve_app_create(
        _root: object, info: GraphQLResolveInfo, input: dict[str, Any]
    ) -> AppCreate:
        context: RequestContext = info.context
        new = NewApp(
            name=input.get("name") or "",
            permissions=frozenset(input.get("permissions") or ()),
            identifier=input.get("identifier") or "",
        )
        created = create_app(context.ports, context.actor, new)
        return AppCreate(auth_token=created.token.secret, app=app_node(context, created.app))

    @staticmethod
    @answers(AppUpdate)
    def resolve_app_update(
        _root: object, info: GraphQLResolveInfo, id: str, input: dict[str, Any]
    ) -> AppUpdate:
        context: RequestContext = info.context
        changes = {name: value for name, value in input.items() if value is not None}
        permissions = changes.get("permissions")
        change = AppChange(
            name=changes.get("name", ABSENT),
            identifier=changes.get("identifier", ABSENT),
            permissions=ABSENT if permissions is None else frozenset(permissions),
        )
        app = update_app(context.ports, context.actor, key_in(id, "App"), change)
        return AppUpdate(app=app_node(context, app))

    @staticmethod
    @answers(AppDelete)
    def resolve_app_delete(_root: object, info: GraphQLResolveInfo, id: str) -> AppDelete:
        return AppDelete(app=_after(info, delete_app, id))

    @staticmethod
    @answers(AppActivate)
    def resolve_app_activate(_root: object, info: GraphQLResolveInfo, id: str) -> AppActivate:
        return AppActivate(app=_after(info, activate_app, id))

    @staticmethod
    @answers(AppDeactivate)
    def resolve_app_deactivate(_root: object, info: GraphQLResolveInfo, id: str) -> AppDeactivate:
        return AppDeactivate(app=_after(info, deactivate_app, id))


def _after(
    info: GraphQLResolveInfo, use_case: Callable[[Ports, Actor, int], App], global_id: str
) -> AppNode:
    context: RequestContext = info.context
    return app_node(context, use_case(context.ports, context.actor, key_in(global_id, "App")))
