"""A member of one graph: what the router of an Apollo Federation asks of this subgraph.

``_service`` returns the schema with the directives of Federation 2, ``_entities`` returns objects
by their keys. An entity is shown to those to whom its query shows it; others get null, whether it
exists or not.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Protocol, TypeVar

import graphene
from graphql import (
    ConstArgumentNode,
    ConstDirectiveNode,
    DefinitionNode,
    GraphQLSchema,
    InputObjectTypeDefinitionNode,
    ListTypeNode,
    NameNode,
    NonNullTypeNode,
    ObjectTypeDefinitionNode,
    StringValueNode,
    TypeDefinitionNode,
    TypeNode,
    parse,
    print_ast,
    print_schema,
)

from app.domain.accounts.addresses import Address as StoredAddress
from app.domain.accounts.users import User as StoredUser
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import PermissionGroup
from app.domain.commerce.products import Product as StoredProduct
from app.domain.commerce.sales import OrderSummary
from app.domain.values.errors import PermissionDenied, Problem, Refused, TokenRejected
from app.domain.values.ids import key_of
from app.graphql.app_nodes import AppNode, app_nodes
from app.graphql.compatibility import EXTENSIONS
from app.graphql.context import Info, RequestContext
from app.graphql.fields import ObjectType, UncheckedScalar
from app.graphql.types.addresses import Address
from app.graphql.types.apps import App
from app.graphql.types.groups import Group
from app.graphql.types.orders import Order
from app.graphql.types.products import Product, in_channel
from app.graphql.types.users import User
from app.graphql.unavailable import TYPES
from app.ports import Ports
from app.services.accounts.addresses import addresses_by_key
from app.services.apps.app_lists import apps_by_key
from app.services.commerce.orders import orders_by_key
from app.services.commerce.products import products_by_key
from app.services.people.directory import users_by_key
from app.services.people.groups import groups_by_key

SPECIFICATION = "https://specs.apollo.dev/federation/v2.0"
"""The oldest version that has the directives used here, so that every router can read it."""

SHAREABLE = (
    "Channel",
    "CountryDisplay",
    "Image",
    "LanguageDisplay",
    "MetadataItem",
    "Money",
    "PageInfo",
    "StockSettings",
    "TaxedMoney",
)
"""Channels, and values without an identity, which other subgraphs of a shop define as well."""

_FEDERATED_TYPES = ("_Any", "_Entity", "_Service")
_FEDERATED_FIELDS = ("_entities", "_service")
_TYPENAME = "__typename"
_IN_CHANNEL = "id channel"
_QUOTED = 80
"""Characters of a client's text in an error."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """The entity that a representation names: by key or, for a user, by email."""

    type_name: str
    key: int = 0
    email: str = ""
    channel: str | None = None


class _HasKey(Protocol):
    @property
    def id(self) -> int: ...


_Item = TypeVar("_Item", bound=_HasKey)
_Found = Mapping[Wanted, object]
_ReadByKey = Callable[[Ports, Actor, Collection[int]], Sequence[_Item]]


def _by_key(
    read: _ReadByKey[_Item], context: RequestContext, wanted: Sequence[Wanted]
) -> dict[Wanted, _Item]:
    items = read(*context.caller, {one.key for one in wanted})
    by_key = {item.id: item for item in items}
    return {one: by_key[one.key] for one in wanted if one.key in by_key}


def _read_users(info: Info, wanted: Sequence[Wanted]) -> _Found:
    keys = {one.key for one in wanted if not one.email}
    emails = {one.email for one in wanted if one.email}
    by_key = users_by_key(*info.context.caller, keys, emails)
    # One's own account is shown as `me` shows it, with the rights of this session.
    own = info.context.identity.user
    found = {
        one: own if own is not None and own.id == user.id else user
        for one in wanted
        if (user := by_key.get(one.email or one.key)) is not None
    }
    info.context.loaders(info).accounts.add_users(info, found.values())
    return found


def _read_groups(info: Info, wanted: Sequence[Wanted]) -> _Found:
    found = _by_key(groups_by_key, info.context, wanted)
    info.context.loaders(info).groups.add_groups(info, (group.id for group in found.values()))
    return found


def _read_orders(info: Info, wanted: Sequence[Wanted]) -> _Found:
    found = _by_key(orders_by_key, info.context, wanted)
    info.context.loaders(info).orders.add_orders(info, found.values())
    return found


def _read_apps(info: Info, wanted: Sequence[Wanted]) -> _Found:
    found = _by_key(apps_by_key, info.context, wanted)
    return dict(zip(found, app_nodes(info.context, found.values()), strict=True))


def _read_addresses(info: Info, wanted: Sequence[Wanted]) -> _Found:
    return _by_key(addresses_by_key, info.context, wanted)


def _read_products(info: Info, wanted: Sequence[Wanted]) -> _Found:
    found = _by_key(products_by_key, info.context, wanted)
    return {one: in_channel(product, one.channel) for one, product in found.items()}


@dataclass(frozen=True, slots=True)
class _Kind:
    """A type of entities: its keys, the class of its values, and what reads them."""

    shown_as: type[graphene.ObjectType]
    keys: tuple[str, ...]
    value: type[object]
    read: Callable[[Info, Sequence[Wanted]], _Found]


_KINDS = (
    _Kind(Address, ("id",), StoredAddress, _read_addresses),
    _Kind(App, ("id",), AppNode, _read_apps),
    _Kind(Group, ("id",), PermissionGroup, _read_groups),
    _Kind(Order, ("id",), OrderSummary, _read_orders),
    _Kind(Product, (_IN_CHANNEL,), StoredProduct, _read_products),
    _Kind(User, ("id", "email"), StoredUser, _read_users),
)
ENTITIES: Mapping[str, _Kind] = {kind.shown_as.__name__: kind for kind in _KINDS}
"""The types that a router can ask for, by name."""


class AnyScalar(UncheckedScalar):
    """An object with `__typename` and the fields of a key: `{__typename: "User", id: "…"}`."""

    class Meta:
        name = "_Any"


class Entity(graphene.Union):
    """An object that other parts of a federated graph can refer to."""

    class Meta:
        name = "_Entity"
        types = tuple(kind.shown_as for kind in _KINDS)

    @classmethod
    def resolve_type(cls, instance: object, _info: Info) -> type[graphene.ObjectType]:
        return next(kind.shown_as for kind in _KINDS if isinstance(instance, kind.value))


class Service(ObjectType, name="_Service"):
    """A part of a federated graph."""

    sdl = graphene.NonNull(
        graphene.String, description="The schema with the directives of Apollo Federation 2."
    )


class FederationQueries(graphene.ObjectType):
    """What the router of a federated graph asks for."""

    _service = graphene.NonNull(
        Service,
        name="_service",
        description="The schema, for the composition of a federated graph. Anyone can read it.",
    )
    _entities = graphene.NonNull(
        graphene.List(Entity),
        name="_entities",
        representations=graphene.NonNull(
            graphene.List(graphene.NonNull(AnyScalar)),
            description="The types and keys of the objects, each as `_Any` describes it.",
        ),
        description="Objects by type and key, for the router of a federated graph; null for what "
        "doesn't exist or what the caller can't see. People see themselves, their addresses and "
        "orders. Others require MANAGE_USERS or MANAGE_ORDERS for customers, MANAGE_USERS for "
        "addresses, MANAGE_ORDERS for orders, MANAGE_STAFF for staff and groups, MANAGE_PRODUCTS "
        "for unpublished products and, from apps, MANAGE_APPS for other apps.",
    )

    @staticmethod
    def resolve__service(_root: object, info: Info) -> Service:
        return Service(sdl=subgraph_sdl(info.schema))

    @staticmethod
    def resolve__entities(
        _root: object, info: Info, representations: list[object]
    ) -> list[object]:
        wanted = [
            _wanted(info.schema, index, value) for index, value in enumerate(representations)
        ]
        found: dict[Wanted, object] = {}
        for name in dict.fromkeys(one.type_name for one in wanted):
            found |= _read(info, name, [one for one in wanted if one.type_name == name])
        return [found.get(one) for one in wanted]


def _read(info: Info, name: str, wanted: Sequence[Wanted]) -> _Found:
    """Read the entities of one type, in one statement; an invalid credential is their error."""
    try:
        return ENTITIES[name].read(info, wanted)
    except PermissionDenied:
        return {}
    except TokenRejected as rejected:
        return dict.fromkeys(wanted, rejected)


def _wanted(schema: GraphQLSchema, index: int, value: object) -> Wanted:
    """Return what the representation at ``index`` names; refuses GRAPHQL_ERROR and NOT_FOUND."""
    try:
        return _read_representation(schema, value)
    except Refused as refused:
        place = f"representations[{index}]"
        raise Refused(*(replace(each, place=place) for each in refused.problems)) from None


def _read_representation(schema: GraphQLSchema, value: object) -> Wanted:
    if not isinstance(value, dict):
        raise _malformed("Pass an object with `__typename` and the fields of a key.")
    name = value.get(_TYPENAME)
    kind = ENTITIES.get(name) if isinstance(name, str) else None
    if kind is None:
        message = "`__typename` must be one of {names}."
        raise _malformed(message, names=", ".join(ENTITIES))
    type_name = kind.shown_as.__name__
    fields = getattr(schema.get_type(type_name), "fields", {})
    unknown = next((field for field in value if field not in (_TYPENAME, *fields)), None)
    if unknown is not None:
        message = "{type_name} has no field {field}."
        raise _malformed(message, type_name=type_name, field=repr(unknown[:_QUOTED]))
    channel = value.get("channel") if _IN_CHANNEL in kind.keys else None
    if channel is not None and not isinstance(channel, str):
        raise _malformed("`channel` must be a text or null.")
    if "email" in kind.keys and value.get("id") is None and value.get("email") is not None:
        return Wanted(type_name, email=_text(value, "email"))
    return Wanted(type_name, key_of(_text(value, "id"), type_name), channel=channel)


def _text(value: Mapping[str, object], field: str) -> str:
    text = value.get(field)
    if not isinstance(text, str) or not text:
        raise _malformed("`{field}` must be a text that isn't empty.", field=field)
    return text


def _malformed(template: str, **values: object) -> Refused:
    return Refused(Problem("GRAPHQL_ERROR", template, values=values))


@cache
def subgraph_sdl(schema: GraphQLSchema) -> str:
    """Return the schema for the composition of a federated graph.

    Without subscriptions, which only webhooks run, without what every subgraph has, and without
    the names of ``unavailable.graphql``: other services of the graph have the real ones.
    """
    shown = GraphQLSchema(query=schema.query_type, mutation=schema.mutation_type)
    document = parse(print_schema(shown), no_location=True)
    definitions = (_as_member(each, schema) for each in document.definitions if _is_shown(each))
    return "\n\n".join((_LINK, *map(print_ast, definitions), ""))


_LINK = f'extend schema @link(url: "{SPECIFICATION}", import: ["@key", "@shareable"])'


def _is_shown(definition: DefinitionNode) -> bool:
    if not isinstance(definition, TypeDefinitionNode):
        return True
    return not _is_hidden(definition.name.value)


def _is_hidden(type_name: str) -> bool:
    made_for_one = type_name.removesuffix("Edge") + "Connection" in TYPES
    return type_name in _FEDERATED_TYPES or type_name in TYPES or made_for_one


def _as_member(definition: DefinitionNode, schema: GraphQLSchema) -> DefinitionNode:
    """Add the directives of Federation to a type, and leave out what isn't shown of it."""
    if isinstance(definition, InputObjectTypeDefinitionNode):
        definition.fields = tuple(
            field for field in definition.fields if not _is_hidden(_name_of(field.type))
        )
    if isinstance(definition, ObjectTypeDefinitionNode):
        name = definition.name.value
        unavailable = {field.name.value for field in EXTENSIONS.get(name, ())}
        definition.directives = (*definition.directives, *_directives(name))
        definition.fields = tuple(
            field
            for field in definition.fields
            if field.name.value not in (*_FEDERATED_FIELDS, *unavailable)
            and not _is_hidden(_name_of(field.type))
        )
        definition.interfaces = tuple(
            each
            for each in definition.interfaces
            if unavailable.isdisjoint(_fields_of(schema, each.name.value))
        )
    return definition


def _fields_of(schema: GraphQLSchema, type_name: str) -> Collection[str]:
    fields: Mapping[str, object] = getattr(schema.type_map[type_name], "fields", {})
    return fields.keys()


def _name_of(kind: TypeNode) -> str:
    while isinstance(kind, ListTypeNode | NonNullTypeNode):
        kind = kind.type
    return print_ast(kind)


def _directives(type_name: str) -> Iterator[ConstDirectiveNode]:
    for fields in ENTITIES[type_name].keys if type_name in ENTITIES else ():
        yield _directive("key", fields=fields)
    if type_name in SHAREABLE:
        yield _directive("shareable")


def _directive(name: str, **texts: str) -> ConstDirectiveNode:
    arguments = [
        ConstArgumentNode(name=NameNode(value=argument), value=StringValueNode(value=text))
        for argument, text in texts.items()
    ]
    return ConstDirectiveNode(name=NameNode(value=name), arguments=tuple(arguments))
