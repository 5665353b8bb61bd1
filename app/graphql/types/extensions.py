"""What apps add to the dashboard."""

from collections.abc import Mapping

import graphene

from app.domain.apps import apps as domain
from app.domain.authorization.permissions import Permission, in_order
from app.domain.values.ids import to_global_id
from app.graphql.app_nodes import ExtensionNode
from app.graphql.connections import Node
from app.graphql.context import Info


class AppExtension(graphene.ObjectType):
    """An entry an app adds to the dashboard."""

    class Meta:
        interfaces = (Node,)

    id = graphene.NonNull(graphene.ID)
    permissions = graphene.NonNull(
        graphene.List(graphene.NonNull("app.graphql.types.permissions.Permission")),
        description="Permissions required to see the extension.",
    )
    label = graphene.NonNull(graphene.String)
    url = graphene.NonNull(graphene.String, description="The URL to open.")
    mount_name = graphene.NonNull(graphene.String, description="Where the extension appears.")
    target_name = graphene.NonNull(graphene.String, description="How the extension opens.")
    settings = graphene.NonNull("app.graphql.types.json.JSON")
    identifier = graphene.String()
    app = graphene.NonNull("app.graphql.types.apps.App")
    access_token = graphene.String(
        description=(
            "Same as `App.accessToken`; null for staff who lack a permission of the extension."
        )
    )

    def resolve_id(self: domain.Extension, _info: Info) -> str:
        return to_global_id("AppExtension", self.id)

    def resolve_permissions(self: domain.Extension, _info: Info) -> tuple[Permission, ...]:
        return in_order(self.permissions)

    def resolve_url(self: domain.Extension, _info: Info) -> str:
        return self.address

    def resolve_mount_name(self: domain.Extension, _info: Info) -> str:
        return self.mount

    def resolve_target_name(self: domain.Extension, _info: Info) -> str:
        return self.target

    def resolve_settings(self: domain.Extension, _info: Info) -> Mapping[str, object]:
        return self.settings

    def resolve_identifier(self: domain.Extension, _info: Info) -> str | None:
        return self.identifier or None

    def resolve_access_token(self: ExtensionNode, info: Info) -> str | None:
        if not self.permissions <= info.context.actor.permissions:
            return None
        return self.app.loader.access_token(self.app)
