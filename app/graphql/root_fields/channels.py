"""Creating, changing and deleting channels."""

from typing import Any

import graphene

from app.domain.commerce.channels import ChannelChanges, NewChannel
from app.domain.values.inputs import ABSENT
from app.graphql.context import Info
from app.graphql.root_fields.metadata import metadata_input, pairs
from app.graphql.root_fields.payloads import MutationPayload, errors_of, former_errors_of, mutation
from app.services.commerce.channels import (
    create_channel,
    delete_channel,
    set_channel_active,
    update_channel,
)

_COUNTRY = "app.graphql.types.addresses.CountryCode"
_ID = graphene.NonNull(graphene.ID, description="The global ID of the channel.")
_ACTIVE = "Whether carts can be created in it."


class ChannelCreateInput(graphene.InputObjectType):
    """The channel to create."""

    name = graphene.NonNull(graphene.String)
    slug = graphene.NonNull(graphene.String, description="The name that clients send.")
    currency_code = graphene.NonNull(
        graphene.String,
        description="The currency by its code of ISO 4217. It can't be changed later.",
    )
    default_country = graphene.InputField(
        graphene.NonNull(_COUNTRY), description="The country that it is meant for."
    )
    is_active = graphene.Boolean(description=f"{_ACTIVE} False by default, as in Saleor.")
    metadata = metadata_input()
    private_metadata = metadata_input("private")


class ChannelUpdateInput(graphene.InputObjectType):
    """Fields to update. Omitted fields keep their values."""

    name = graphene.String()
    slug = graphene.String(description="The name that clients send.")
    default_country = graphene.InputField(
        _COUNTRY, description="The country that it is meant for."
    )
    is_active = graphene.Boolean(description=_ACTIVE)
    metadata = metadata_input()
    private_metadata = metadata_input("private")


class ChannelDeleteInput(graphene.InputObjectType):
    """Where a deleted channel's orders go."""

    channel_id = graphene.NonNull(
        graphene.ID,
        description="The channel, of the same currency, that orders and carts move to.",
    )


class ChannelPayload(MutationPayload):
    """``errors``, and the channel."""

    class Meta:
        abstract = True

    errors = errors_of("problems.ChannelError")
    channel_errors = former_errors_of("problems.ChannelError")
    channel = graphene.Field("app.graphql.types.channels.Channel", description="The channel.")


class ChannelCreate(ChannelPayload):
    """The new channel."""


class ChannelUpdate(ChannelPayload):
    """The updated channel."""


class ChannelDelete(ChannelPayload):
    """The deleted channel."""


class ChannelActivate(ChannelPayload):
    """The active channel."""


class ChannelDeactivate(ChannelPayload):
    """The inactive channel."""


class ChannelMutations(graphene.ObjectType):
    """Channels (MANAGE_CHANNELS)."""

    @mutation(
        "Creates a channel. Requires MANAGE_CHANNELS.",
        input=graphene.NonNull(ChannelCreateInput),
    )
    def channel_create(_root: object, info: Info, input: dict[str, Any]) -> ChannelCreate:
        new = NewChannel(
            name=input["name"],
            slug=input["slug"],
            currency=input["currency_code"],
            country=input["default_country"].value,
            is_active=bool(input.get("is_active")),
        )
        channel = create_channel(info.context.ports, info.context.actor, new, *_metadata(input))
        return ChannelCreate(channel=channel)

    @mutation(
        "Updates a channel. Requires MANAGE_CHANNELS.",
        id=_ID,
        input=graphene.NonNull(ChannelUpdateInput),
    )
    def channel_update(_root: object, info: Info, id: str, input: dict[str, Any]) -> ChannelUpdate:
        country = input.get("default_country")
        changes = ChannelChanges(
            name=(input["name"] or "") if "name" in input else ABSENT,
            slug=(input["slug"] or "") if "slug" in input else ABSENT,
            country=ABSENT if country is None else country.value,
            is_active=ABSENT if input.get("is_active") is None else input["is_active"],
        )
        channel = update_channel(
            info.context.ports, info.context.actor, id, changes, *_metadata(input)
        )
        return ChannelUpdate(channel=channel)

    @mutation(
        "Deletes a channel. Its orders and carts move to the channel of `input`; without it, "
        "its carts are deleted, and one with orders can't be deleted. Requires "
        "MANAGE_CHANNELS.",
        id=_ID,
        input=ChannelDeleteInput(),
    )
    def channel_delete(
        _root: object, info: Info, id: str, input: dict[str, Any] | None = None
    ) -> ChannelDelete:
        target = None if input is None else input["channel_id"]
        return ChannelDelete(
            channel=delete_channel(info.context.ports, info.context.actor, id, target)
        )

    @mutation(
        "Activates a channel. Requires MANAGE_CHANNELS.",
        id=_ID,
    )
    def channel_activate(_root: object, info: Info, id: str) -> ChannelActivate:
        channel = set_channel_active(info.context.ports, info.context.actor, id, active=True)
        return ChannelActivate(channel=channel)

    @mutation(
        "Deactivates a channel: no carts can be created in it. Its carts can still be "
        "ordered. Requires MANAGE_CHANNELS.",
        id=_ID,
    )
    def channel_deactivate(_root: object, info: Info, id: str) -> ChannelDeactivate:
        channel = set_channel_active(info.context.ports, info.context.actor, id, active=False)
        return ChannelDeactivate(channel=channel)


def _metadata(input: dict[str, Any]) -> tuple[tuple[tuple[str, str], ...], ...]:
    return pairs(input.get("metadata")), pairs(input.get("private_metadata"))
