"""The fields of every type that has metadata."""

from collections.abc import Mapping
from typing import Any

import graphene

from app.domain.accounts.addresses import Address
from app.domain.accounts.users import NO_KEY, User
from app.domain.commerce.channels import Channel
from app.domain.shop.settings import PublicShop, ShopSettings
from app.domain.values.metadata import Metadata as Items
from app.graphql.app_nodes import AppNode
from app.graphql.context import Info, RequestContext
from app.services.shop.settings import private_shop_metadata, shop_metadata

_KEYS = graphene.List(graphene.NonNull(graphene.String))


class Metadata(graphene.Scalar):
    """Metadata as a JSON object: a text by key."""

    @staticmethod
    def serialize(value: Items) -> dict[str, str]:
        return dict(value)


class MetadataItem(graphene.ObjectType):
    """A key and its value."""

    key = graphene.NonNull(graphene.String)
    value = graphene.NonNull(graphene.String)


_ITEMS = graphene.NonNull(graphene.List(graphene.NonNull(MetadataItem)))


class ObjectWithMetadata(graphene.Interface):
    """An object with metadata: strings by key, set by clients.

    Public metadata is visible to everyone who can see the object, that of an app only to itself,
    its extensions and callers with MANAGE_APPS. Private metadata is visible to people and apps
    that can manage the object.
    """

    private_metadata = graphene.Field(
        _ITEMS, description="Sorted by key. Requires the permission that manages the object."
    )
    private_metafield = graphene.String(
        key=graphene.NonNull(graphene.String),
        description="The value of a key; null if there is none.",
    )
    private_metafields = graphene.Field(
        Metadata, keys=_KEYS, description="These keys as an object; all keys if `keys` is omitted."
    )
    metadata = graphene.Field(_ITEMS, description="Sorted by key.")
    metafield = graphene.String(
        key=graphene.NonNull(graphene.String),
        description="The value of a key; null if there is none.",
    )
    metafields = graphene.Field(
        Metadata, keys=_KEYS, description="These keys as an object; all keys if `keys` is omitted."
    )

    @classmethod
    def resolve_type(cls, instance: object, info: Info) -> Any:
        shown: Any = info.schema.type_map[_TYPES[type(instance)]]
        return shown.graphene_type

    @staticmethod
    def resolve_private_metadata(node: object, info: Info) -> list[Any]:
        return _listed(_private(node, info))

    @staticmethod
    def resolve_private_metafield(node: object, info: Info, key: str) -> str | None:
        return _private(node, info).get(key)

    @staticmethod
    def resolve_private_metafields(
        node: object, info: Info, keys: list[str] | None = None
    ) -> Items:
        return _chosen(_private(node, info), keys)

    @staticmethod
    def resolve_metadata(node: object, info: Info) -> list[Any]:
        return _listed(_public(node, info))

    @staticmethod
    def resolve_metafield(node: object, info: Info, key: str) -> str | None:
        return _public(node, info).get(key)

    @staticmethod
    def resolve_metafields(node: object, info: Info, keys: list[str] | None = None) -> Items:
        return _chosen(_public(node, info), keys)


_TYPES: Mapping[type, str] = {
    AppNode: "App",
    User: "User",
    Address: "Address",
    Channel: "Channel",
    PublicShop: "Shop",
    ShopSettings: "Shop",
}
"""The type in the API of each value that has metadata."""


def _listed(metadata: Items) -> list[Any]:
    return [MetadataItem(key=key, value=value) for key, value in metadata.items()]


def _chosen(metadata: Items, keys: list[str] | None) -> Items:
    if keys is None:
        return metadata
    return {key: metadata[key] for key in keys if key in metadata}


def _is_deleted(context: RequestContext, node: object) -> bool:
    """Whether ``node`` is a user or an address that isn't stored."""
    if not isinstance(node, Address | User):
        return False
    kind = "Address" if isinstance(node, Address) else "User"
    return not context.existing_key(kind, node.id)


def _public(node: object, info: Info) -> Items:
    if _is_deleted(info.context, node) and not (isinstance(node, User) and node.id == NO_KEY):
        return {}
    if isinstance(node, AppNode):
        return node.loader.public_metadata(node)
    if isinstance(node, PublicShop):
        return shop_metadata(*info.context.caller)
    if isinstance(node, Address):
        return info.context.loaders(info).accounts.address_metadata(node)
    if isinstance(node, Channel):
        return info.context.loaders(info).channels.public_metadata(node)
    if isinstance(node, User):
        return info.context.loaders(info).accounts.public_metadata(node)
    raise TypeError(f"{type(node)} has no metadata")


def _private(node: object, info: Info) -> Items:
    if _is_deleted(info.context, node):
        return {}
    if isinstance(node, AppNode):
        return node.loader.private_metadata(node)
    if isinstance(node, PublicShop):
        return private_shop_metadata(*info.context.caller)
    if isinstance(node, Address):
        return info.context.loaders(info).accounts.private_address_metadata(node)
    if isinstance(node, Channel):
        return info.context.loaders(info).channels.private_metadata(node)
    if isinstance(node, User):
        return info.context.loaders(info).accounts.private_metadata(node)
    raise TypeError(f"{type(node)} has no metadata")
