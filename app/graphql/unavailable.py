"""The types of ``unavailable.graphql``, and the fields that it gives to Latchkey's own types.

Only ``with_unavailable`` leads to these types, or ``compatibility.constant``.
"""

from functools import cache
from typing import Any, TypeVar

import graphene
from graphene.utils.module_loading import import_string
from graphql import (
    EnumTypeDefinitionNode,
    FieldDefinitionNode,
    InputValueDefinitionNode,
    InterfaceTypeDefinitionNode,
    ListTypeNode,
    NamedTypeNode,
    NonNullTypeNode,
    ObjectTypeDefinitionNode,
    TypeNode,
    UnionTypeDefinitionNode,
    print_ast,
)

from app.graphql.compatibility import DOCUMENT, EXTENSIONS, always_constant, constant, deprecation
from app.graphql.connections import connection_arguments, make_connection
from app.graphql.fields import UncheckedScalar
from app.graphql.metadata_fields import ObjectWithMetadata

_NONE = "No object of this type is returned."
_IGNORED = "Ignored."
_CONNECTION = "Connection"
_BUILT_IN: dict[str, Any] = {
    "Boolean": graphene.Boolean,
    "Date": graphene.Date,
    "DateTime": graphene.DateTime,
    "Float": graphene.Float,
    "ID": graphene.ID,
    "Int": graphene.Int,
    "JSONString": graphene.JSONString,
    "String": graphene.String,
}
_OURS = {
    "Address": "app.graphql.types.addresses.Address",
    "AddressTypeEnum": "app.graphql.types.addresses.AddressTypeEnum",
    "AddressInput": "app.graphql.root_fields.addresses.AddressInput",
    "App": "app.graphql.types.apps.App",
    "Channel": "app.graphql.types.shop.Channel",
    "CountryCode": "app.graphql.types.addresses.CountryCode",
    "CountryDisplay": "app.graphql.types.addresses.CountryDisplay",
    "Image": "app.graphql.types.users.Image",
    "JobStatusEnum": "app.graphql.types.apps.JobStatusEnum",
    "LanguageCodeEnum": "app.graphql.types.languages.LanguageCodeEnum",
    "LanguageDisplay": "app.graphql.types.languages.LanguageDisplay",
    "Metadata": "app.graphql.metadata_fields.Metadata",
    "MetadataItem": "app.graphql.metadata_fields.MetadataItem",
    "Money": "app.graphql.types.money.Money",
    "Order": "app.graphql.types.orders.Order",
    "OrderCountableConnection": "app.graphql.types.orders.OrderCountableConnection",
    "OrderLine": "app.graphql.types.orders.OrderLine",
    "OrderSortingInput": "app.graphql.root_fields.sales.OrderSortingInput",
    "PositiveDecimal": "app.graphql.types.money.PositiveDecimal",
    "Product": "app.graphql.types.products.Product",
    "ProductCountableConnection": "app.graphql.root_fields.products.ProductCountableConnection",
    "ProductOrder": "app.graphql.root_fields.products.ProductOrder",
    "TaxedMoney": "app.graphql.types.money.TaxedMoney",
    "ThumbnailFormatEnum": "app.graphql.types.users.ThumbnailFormatEnum",
    "User": "app.graphql.types.users.User",
}
"""Where the other types are declared."""

TYPES: dict[str, Any] = {}
"""The types by name, with the connections and ignored inputs that fields need."""

Kind = TypeVar("Kind", bound=type[graphene.ObjectType])


class IgnoredInput(UncheckedScalar):
    """Accepted, and ignored: the list is empty whatever is looked for."""


def with_unavailable(kind: Kind) -> Kind:
    """Give a class the fields that ``unavailable.graphql`` declares for its type."""
    for field in EXTENSIONS[kind.__name__]:
        name = field.name.value
        listed = f"{kind.__name__}.{name}"
        made = constant(
            listed, _kind(field.type), deprecation(field), api_name=name, **_arguments(field)
        )
        kind._meta.fields[name] = made  # noqa: SLF001 - graphene's only list of them
    return kind


def __getattr__(name: str) -> Any:
    """Return a type by its name in the schema, as graphene looks up dotted names."""
    if name in TYPES or name.endswith(_CONNECTION):
        _named(name)
        return TYPES[name]
    raise AttributeError(name)


def _kind(node: TypeNode) -> Any:
    if isinstance(node, NonNullTypeNode):
        return graphene.NonNull(_kind(node.type))
    if isinstance(node, ListTypeNode):
        return graphene.List(_kind(node.type))
    return _named(print_ast(node))


def _named(name: str) -> Any:
    if name in _BUILT_IN:
        return _BUILT_IN[name]
    if name in _OURS:
        return _OURS[name]
    if name not in TYPES and name.endswith(_CONNECTION):
        kind = "Countable" if name.endswith(f"Countable{_CONNECTION}") else ""
        node = name.removesuffix(f"{kind}{_CONNECTION}")
        TYPES[name] = make_connection(node, f"{__name__}.{node}", kind)
    return lambda: _union(name) if name in _UNIONS else TYPES[name]


def _arguments(field: FieldDefinitionNode) -> dict[str, Any]:
    kind = field.type.type if isinstance(field.type, NonNullTypeNode) else field.type
    is_page = isinstance(kind, NamedTypeNode) and kind.name.value.endswith(_CONNECTION)
    return {
        **{one.name.value: _argument(one) for one in field.arguments},
        **(connection_arguments() if is_page else {}),
    }


def _argument(node: InputValueDefinitionNode) -> graphene.Argument:
    named = node.type.type if isinstance(node.type, NonNullTypeNode) else node.type
    if isinstance(named, NamedTypeNode) and named.name.value.endswith("Input"):
        name = named.name.value
        if name not in _OURS and name not in TYPES:
            TYPES[name] = type(name, (IgnoredInput,), {"__doc__": IgnoredInput.__doc__})
    return graphene.Argument(_kind(node.type), name=node.name.value, description=_IGNORED)


def _field(node: FieldDefinitionNode) -> graphene.Field:
    constant_ = always_constant(node)
    described = _NONE if constant_ is None else f"Always {constant_.text}."
    return graphene.Field(
        _kind(node.type),
        name=node.name.value,
        description=described,
        resolver=None if constant_ is None else lambda *_, **_arguments: constant_.value,
        args=_arguments(node),
    )


def _object(node: ObjectTypeDefinitionNode) -> Any:
    fields = {field.name.value: _field(field) for field in node.fields}
    interfaces = tuple(_INTERFACES[print_ast(each)] for each in node.interfaces)
    meta = type("Meta", (), {"interfaces": interfaces})
    body = {"__doc__": _text(node), "Meta": meta, **fields}
    return type(node.name.value, (graphene.ObjectType,), body)


def _interface(node: InterfaceTypeDefinitionNode) -> Any:
    fields = {field.name.value: _field(field) for field in node.fields}
    body = {"__doc__": _text(node), **fields}
    return type(node.name.value, (graphene.Interface,), body)


def _enum(node: EnumTypeDefinitionNode) -> Any:
    values = [(value.name.value, value.name.value) for value in node.values]
    text = _text(node)
    return graphene.Enum(
        node.name.value, values, description=lambda value: text if value is None else None
    )


@cache
def _union(name: str) -> Any:
    """Return a union, once all of its types are declared."""
    node = _UNIONS[name]
    kinds = [kind.name.value for kind in node.types]
    types = tuple(import_string(_OURS[kind]) if kind in _OURS else TYPES[kind] for kind in kinds)
    meta = type("Meta", (), {"types": types})
    TYPES[name] = type(name, (graphene.Union,), {"__doc__": _text(node), "Meta": meta})
    return TYPES[name]


def _text(
    node: ObjectTypeDefinitionNode
    | InterfaceTypeDefinitionNode
    | EnumTypeDefinitionNode
    | UnionTypeDefinitionNode,
) -> str:
    return node.description.value if node.description else ""


TYPES.update(
    {
        each.name.value: _interface(each)
        for each in DOCUMENT.definitions
        if isinstance(each, InterfaceTypeDefinitionNode)
    }
)
_INTERFACES: dict[str, Any] = {"ObjectWithMetadata": ObjectWithMetadata, **TYPES}
_UNIONS = {
    each.name.value: each
    for each in DOCUMENT.definitions
    if isinstance(each, UnionTypeDefinitionNode)
}
for _definition in DOCUMENT.definitions:
    if isinstance(_definition, ObjectTypeDefinitionNode):
        TYPES[_definition.name.value] = _object(_definition)
    elif isinstance(_definition, EnumTypeDefinitionNode):
        TYPES[_definition.name.value] = _enum(_definition)

IMPLEMENTATIONS = [
    TYPES[each.name.value]
    for each in DOCUMENT.definitions
    if isinstance(each, ObjectTypeDefinitionNode)
    and any(print_ast(one) in TYPES for one in each.interfaces)
]
"""The types that only an interface of the document leads to."""
