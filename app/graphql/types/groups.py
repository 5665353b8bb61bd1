"""Permission groups."""

import graphene

from app.domain.accounts import users as domain
from app.domain.authorization.actor import is_manageable, reaches_channels
from app.domain.authorization.permissions import Permission
from app.domain.commerce.channels import Channel
from app.graphql.connections import Node
from app.graphql.context import Info
from app.graphql.fields import ObjectType, own_id, sorted_permissions


class Group(ObjectType, interfaces=(Node,)):
    """A permission group."""

    id = own_id("Group")
    name = graphene.NonNull(graphene.String)
    users = graphene.List(
        graphene.NonNull("app.graphql.types.users.User"), description="Requires MANAGE_STAFF."
    )
    permissions = graphene.List(
        graphene.NonNull("app.graphql.types.permissions.Permission"), resolver=sorted_permissions
    )
    user_can_manage = graphene.NonNull(
        graphene.Boolean,
        description="Whether the caller has MANAGE_STAFF, all permissions of the group and access "
        "to its channels.",
    )

    accessible_channels = graphene.List(
        graphene.NonNull("app.graphql.types.shop.Channel"),
        description="The channels that its members have access to.",
    )
    restricted_access_to_channels = graphene.NonNull(
        graphene.Boolean,
        description="Whether its members have access to `accessibleChannels` alone, unless "
        "another group of theirs gives them access to all channels.",
    )

    def resolve_users(self: domain.Group, info: Info) -> tuple[domain.User, ...]:
        return info.context.loaders(info).groups.members(
            info, info.context.existing_key("Group", self.id)
        )

    def resolve_user_can_manage(self: domain.Group, info: Info) -> bool:
        manages = info.context.actor.is_user and info.context.actor.holds(Permission.MANAGE_STAFF)
        return (
            manages
            and is_manageable(info.context.actor, self.permissions)
            and reaches_channels(info.context.actor, self.channel_ids)
        )

    def resolve_accessible_channels(self: domain.Group, info: Info) -> tuple[Channel, ...]:
        return info.context.loaders(info).channels.of_keys(self.channel_ids)

    def resolve_restricted_access_to_channels(self: domain.Group, _info: Info) -> bool:
        return self.channel_ids is not None
