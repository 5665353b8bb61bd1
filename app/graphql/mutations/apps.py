"""Making, changing and deleting apps."""

from collections.abc import Callable
from typing import Any

import graphene
from graphql import GraphQLResolveInfo

from app.domain.apps.apps import App
from app.domain.authorization.actor import Actor
from app.domain.values.unset import ABSENT
from app.graphql.app_nodes import AppNode, app_node
from app.graphql.context import RequestContext
from app.graphql.global_ids import key_in
from app.graphql.mutations.app_payloads import AppPayload
from app.graphql.mutations.payloads import answers
from app.ports import Ports
from app.services.apps.app_changes import (
    AppChange,
    NewApp,
    create_app,
    delete_app,
    update_app,
)
from app.services.apps.app_status import activate_app, deactivate_app

_APP = "app.graphql.types.apps.App"


class AppInput(graphene.InputObjectType):
    """An app; in a change, what is left out or null stays as it is."""

    name = graphene.String()
    identifier = graphene.String()
    permissions = graphene.List(graphene.NonNull("app.graphql.types.permissions.PermissionEnum"))


class AppCreate(AppPayload):
    """A new app, and its token, shown this once."""

    auth_token = graphene.String()
    app = graphene.Field(_APP)


class AppUpdate(AppPayload):
    """The app as it is now."""

    app = graphene.Field(_APP)


class AppDelete(AppPayload):
    """The app as it was."""

    app = graphene.Field(_APP)


class AppActivate(AppPayload):
    """The app, which may come in again."""

    app = graphene.Field(_APP)


class AppDeactivate(AppPayload):
    """The app, which is locked out."""

    app = graphene.Field(_APP)


class AppMutations(graphene.ObjectType):
    """Apps, managed by people who hold MANAGE_APPS."""

    app_create = graphene.Field(
        AppCreate,
        description=(
            "Makes an app and its first token, shown this once. For people with MANAGE_APPS, who "
            "grant no more than they hold."
        ),
        input=AppInput(required=True),
    )
    app_update = graphene.Field(
        AppUpdate,
        description=(
            "Changes an app's name, identifier or permissions at once. For people with "
            "MANAGE_APPS, not for apps. A grant is refused if a webhook of the app would receive "
            "links by it and the person who saved the webhook lacked the permission."
        ),
        id=graphene.ID(required=True),
        input=AppInput(required=True),
    )
    app_delete = graphene.Field(
        AppDelete,
        description=(
            "Removes an app with its tokens, webhooks and extensions. For people with "
            "MANAGE_APPS, not for apps."
        ),
        id=graphene.ID(required=True),
    )
    app_activate = graphene.Field(
        AppActivate,
        description="Lets an app in again. For people with MANAGE_APPS, not for apps.",
        id=graphene.ID(required=True),
    )
    app_deactivate = graphene.Field(
        AppDeactivate,
        description=(
            "Locks an app out with all its tokens, from the next request on. For people with "
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
