"""Permission groups."""

import graphene
from graphql import GraphQLResolveInfo

from app.domain.accounts import users as domain
from app.domain.authorization.actor import is_manageable, reaches_channels
from app.domain.authorization.permissions import Permission, in_order
from app.domain.commerce.channels import Channel
from app.domain.values.ids import to_global_id
from app.graphql.connections import Node
from app.graphql.context import RequestContext


class Group(graphene.ObjectType):
    """A permission group."""

    class Meta:
        interfaces = (Node,)

    id = graphene.NonNull(graphene.ID)
    name = graphene.NonNull(graphene.String)
    users = graphene.List(
        graphene.NonNull("app.graphql.types.users.User"), description="Requires MANAGE_STAFF."
    )
    permissions = graphene.List(graphene.NonNull("app.graphql.types.permissions.Permission"))
    user_can_manage = graphene.NonNull(
        graphene.Boolean,
        description="Whether the caller has MANAGE_STAFF, all permissions of the group and access "
        "to its channels.",
    )

    accessible_channels = graphene.List(
        graphene.NonNull("app.graphql.types.channels.Channel"),
        description="The channels that its members have access to.",
    )
    restricted_access_to_channels = graphene.NonNull(
        graphene.Boolean,
        description="Whether its members have access to `accessibleChannels` alone, unless "
        "another group of theirs gives them access to all channels.",
    )

    def resolve_id(self: domain.Group, _info: GraphQLResolveInfo) -> str:
        return to_global_id("Group", self.id)

    def resolve_users(self: domain.Group, info: GraphQLResolveInfo) -> tuple[domain.User, ...]:
        context: RequestContext = info.context
        return context.loaders(info).groups.members(info, context.existing_key("Group", self.id))

    def resolve_permissions(
        self: domain.Group, _info: GraphQLResolveInfo
    ) -> tuple[Permission, ...]:
        return in_order(self.permissions)

    def resolve_user_can_manage(self: domain.Group, info: GraphQLResolveInfo) -> bool:
        context: RequestContext = info.context
        manages = context.actor.is_user and context.actor.holds(Permission.MANAGE_STAFF)
        return (
            manages
            and is_manageable(context.actor, self.permissions)
            and reaches_channels(context.actor, self.channel_ids)
        )

    def resolve_accessible_channels(
        self: domain.Group, info: GraphQLResolveInfo
    ) -> tuple[Channel, ...]:
        context: RequestContext = info.context
        return context.loaders(info).channels.of_keys(self.channel_ids)

    def resolve_restricted_access_to_channels(
        self: domain.Group, _info: GraphQLResolveInfo
    ) -> bool:
        return self.channel_ids is not None
