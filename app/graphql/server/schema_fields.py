"""Which field of a schema a node of a document selects."""

from graphql import (
    FieldNode,
    GraphQLField,
    GraphQLNamedType,
    SchemaMetaFieldDef,
    TypeMetaFieldDef,
    TypeNameMetaFieldDef,
)

_META_FIELDS = {
    "__schema": SchemaMetaFieldDef,
    "__type": TypeMetaFieldDef,
    "__typename": TypeNameMetaFieldDef,
}


def field_of(parent: GraphQLNamedType | None, node: FieldNode) -> GraphQLField:
    """Return the field of ``parent`` that ``node`` of a valid document selects."""
    name = node.name.value
    if name in _META_FIELDS:
        return _META_FIELDS[name]
    fields: dict[str, GraphQLField] = parent.fields  # type: ignore[union-attr]
    return fields[name]
