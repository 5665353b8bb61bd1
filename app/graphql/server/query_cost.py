"""The cost of an operation, computed from its document before it is executed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLField,
    GraphQLNamedType,
    GraphQLNonNull,
    GraphQLSchema,
    InlineFragmentNode,
    IntValueNode,
    ListValueNode,
    NamedTypeNode,
    NullValueNode,
    ObjectValueNode,
    OperationDefinitionNode,
    OperationType,
    SchemaMetaFieldDef,
    SelectionSetNode,
    StringValueNode,
    TypeMetaFieldDef,
    TypeNameMetaFieldDef,
    ValueNode,
    VariableNode,
    get_named_type,
    is_list_type,
)

from app.domain.values.pages import MAX_PAGE_SIZE
from app.graphql.server.limits import CEILING, Load

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


PAGE_ARGUMENTS = ("first", "last")
"""The arguments that say how many items of a list are wanted."""

REPRESENTATIONS = "representations"
"""The argument that names each wanted item of a list, as a router of a federated graph does."""

LOOKUP = 75
PAGE = 100
"""What a query's field at the root costs in addition when it takes arguments: the statements that
find one object, or a page of them, take as long as so many values.
"""

SLOW_LOOKUPS = {"addressValidationRules": 2_400, "_service": 3_000}
"""Root fields with another cost: a large country's rules are read from a file of 850 KB, and a
subgraph's schema is a text of some 300 KB.
"""

SEARCH = 5_000
CONDITION = 1_500
LISTED_VALUE = 5
"""What finding the items of a list at the root costs in addition: a text to search for, conditions
on columns (once for a list), and each value of a list of IDs and the like. Measured on 100,000
products, of which a search reads every one.
"""

_SEARCH = "search"
_FILTERS = ("filter", "where", _SEARCH)
"""The arguments that say which items of a list are wanted."""

_PLAIN_LIST = 10
"""What a list without page arguments is taken for."""

_LONG_LISTS = {
    "Shop.countries": 250,
    "Shop.languages": 1_070,
    "Shop.permissions": 30,
    "Shop.phonePrefixes": 220,
}
"""Lists that have about so many items, whoever asks."""

WEBHOOKS = "App.webhooks"
_OWNED_LISTS = {WEBHOOKS: "apps"}
"""Lists of what belongs to one item, and the field at the root whose page has each item once.

So all these lists of a page together have no more items than are stored.
"""
_WRAPPERS = ("edges", "node")

_TYPES = 50
_FEW = 5
_UNBOUNDED_LIST = 10
"""What introspection is taken for: this many types, and so many items of whatever they list.

They are half of what an ordinary schema has, for a value of introspection takes half the time of
any other. `__type` counts this many times: a client will ask for the largest type.
"""

_RENAMED = 10
"""How many times a field of introspection counts under another name. No tool asks for one so; a
hundred names for one field of all types make 10 MB.
"""


@dataclass(slots=True)
class _Weight:
    """A selection's weight; ``each`` is the part that the page size above it multiplies.

    The items of a connection are one level below the field that takes the page size (``apps(first:
    10) { edges { node } totalCount }``), so a selection weighs ``once + size * each``, and only
    its parent has the size. ``owned`` is what one item of each owned list below weighs, by the
    list's name: how many there are depends on the field at the root.
    """

    depth: int = 0
    aliases: int = 0
    fields: int = 0
    once: int = 0
    each: int = 0
    page_size: int = 0
    entities: int = 0
    owned: dict[str, int] = field(default_factory=dict)

    def take_in(self, other: "_Weight", *, level: int) -> None:
        self.depth = max(self.depth, other.depth + level)
        self.aliases = min(self.aliases + other.aliases, CEILING)
        self.page_size = max(self.page_size, other.page_size)
        self.entities = max(self.entities, other.entities)

    def merge(self, other: "_Weight") -> None:
        self.take_in(other, level=0)
        self.fields = min(self.fields + other.fields, CEILING)
        self.once = min(self.once + other.once, CEILING)
        self.each = min(self.each + other.each, CEILING)
        self.add_owned(other.owned)

    def add_owned(self, lists: Mapping[str, int]) -> None:
        for name, weight in lists.items():
            self.owned[name] = min(self.owned.get(name, 0) + weight, CEILING)

    def total(self, size: int) -> int:
        return min(self.once + size * self.each, CEILING)


@dataclass(frozen=True, slots=True)
class _Sought:
    """What a list is searched for: texts, conditions on columns, and values of lists."""

    texts: int = 0
    conditions: int = 0
    listed: int = 0

    def __add__(self, other: "_Sought") -> "_Sought":
        return _Sought(
            self.texts + other.texts,
            self.conditions + other.conditions,
            self.listed + other.listed,
        )

    @property
    def cost(self) -> int:
        scans = SEARCH * self.texts or CONDITION * bool(self.conditions)
        return min(scans + LISTED_VALUE * self.listed, CEILING)


def sought_in(name: str, value: object) -> _Sought:
    """Return what the argument or member ``name`` searches for with that coerced value."""
    if value is None or value == "":
        return _Sought()
    if isinstance(value, Mapping):
        return sum((sought_in(key, inner) for key, inner in value.items()), _Sought())
    if isinstance(value, list):
        return _Sought(listed=len(value))
    return _Sought(texts=1) if name == _SEARCH else _Sought(conditions=1)


UNKNOWN: Mapping[str, int] = {}
"""How many items there are, for owned lists of which that isn't known."""


class Scales:
    """Weighs one operation of a valid document, for one set of variables.

    Every fragment is weighed once and the numbers stop at ``CEILING``, so that fragments which
    spread fragments cost no more than their length. ``page_variables``, ``filter_variables`` and
    ``entity_variables`` name the variables that the weight depends on. ``stored`` says how many
    items exist for owned lists; without it each of these lists is taken for ten items.
    """

    def __init__(
        self,
        schema: GraphQLSchema,
        fragments: Mapping[str, FragmentDefinitionNode],
        variables: Mapping[str, Any],
        stored: Mapping[str, int] = UNKNOWN,
    ) -> None:
        self._schema = schema
        self._stored = stored
        self._fragments = fragments
        self._variables = variables
        self._weighed: dict[str, _Weight] = {}
        self.page_variables: set[str] = set()
        self.filter_variables: set[str] = set()
        self.entity_variables: set[str] = set()

    def weigh(self, operation: OperationDefinitionNode) -> Load:
        """Return the load of ``operation``."""
        root = self._schema.get_root_type(operation.operation)
        weight = self._selection(operation.selection_set, root)
        mutating = operation.operation is OperationType.MUTATION
        return Load(
            depth=weight.depth,
            aliases=weight.aliases,
            cost=weight.total(_PLAIN_LIST),
            page_size=weight.page_size,
            entities=weight.entities,
            mutations=weight.fields if mutating else 0,
        )

    def _selection(
        self, selection_set: SelectionSetNode, parent: GraphQLNamedType | None
    ) -> _Weight:
        weight = _Weight()
        for node in selection_set.selections:
            if isinstance(node, FieldNode):
                self._add_field(weight, node, parent)
            elif isinstance(node, FragmentSpreadNode):
                weight.merge(self._fragment(node.name.value))
            elif isinstance(node, InlineFragmentNode):
                condition = cast("NamedTypeNode | None", node.type_condition)
                inner = self._schema.get_type(condition.name.value) if condition else parent
                weight.merge(self._selection(node.selection_set, inner))
        return weight

    def _fragment(self, name: str) -> _Weight:
        weight = self._weighed.get(name)
        if weight is None:
            fragment = self._fragments[name]
            parent = self._schema.get_type(fragment.type_condition.name.value)
            weight = self._weighed[name] = self._selection(fragment.selection_set, parent)
        return weight

    def _add_field(
        self, weight: _Weight, node: FieldNode, parent: GraphQLNamedType | None
    ) -> None:
        definition = field_of(parent, node)
        inner = _Weight()
        if node.selection_set is not None:
            inner = self._selection(node.selection_set, get_named_type(definition.type))
        size = self._page_size(definition, node)
        weight.take_in(inner, level=1)
        if REPRESENTATIONS in definition.args:
            size = self._entities(node)
            weight.entities = max(weight.entities, size)
        else:
            weight.page_size = max(weight.page_size, size or 0)
        weight.aliases += node.alias is not None
        weight.fields += 1
        if parent is not None and parent.name.startswith("__"):
            times = 1 if node.alias is None else _RENAMED
            weight.once += times * _introspected(node.name.value, definition, inner)
            return
        weight.once += 1
        if getattr(definition.resolve, "constant", False):
            # A plain value, an object of such, or a page without items: no statement finds it.
            weight.once += inner.once
        else:
            self._add_values(weight, inner, node, parent, size)

    def _add_values(
        self,
        weight: _Weight,
        inner: _Weight,
        node: FieldNode,
        parent: GraphQLNamedType | None,
        size: int | None,
    ) -> None:
        """Add what finding and showing the values of ``node`` costs."""
        definition = field_of(parent, node)
        if parent is self._schema.query_type:
            weight.once += self._lookup_cost(definition, node, size)
        name = node.name.value
        owned_list = f"{parent.name}.{name}" if parent is not None else ""
        if name in _WRAPPERS:
            weight.add_owned(inner.owned)
        else:
            self._add_owned(weight, inner, node, parent, size)
        if name == "__type":
            weight.once += _UNBOUNDED_LIST * inner.total(_FEW)
        elif owned_list in _OWNED_LISTS:
            weight.add_owned({owned_list: inner.total(_PLAIN_LIST)})
        elif not _is_list(definition):
            weight.once += inner.total(_PLAIN_LIST if size is None else size)
        elif size is None:
            # What is above takes the list for ten items.
            longer = _LONG_LISTS.get(owned_list, _PLAIN_LIST) // _PLAIN_LIST
            weight.each = min(weight.each + longer * inner.total(_PLAIN_LIST), CEILING)
        else:
            weight.once += size * inner.total(_PLAIN_LIST)

    def _add_owned(
        self,
        weight: _Weight,
        inner: _Weight,
        node: FieldNode,
        parent: GraphQLNamedType | None,
        size: int | None,
    ) -> None:
        """Add what the owned lists below ``node`` weigh, to ``inner`` or once for all of them."""
        is_connection = size is not None and not _is_list(field_of(parent, node))
        for name, each in inner.owned.items():
            if parent is self._schema.query_type and node.name.value == _OWNED_LISTS[name]:
                items = _PLAIN_LIST * (size or 0)
                weight.once += each * min(items, self._stored.get(name, items))
            elif is_connection:
                inner.each += _PLAIN_LIST * each
            else:
                inner.once += _PLAIN_LIST * each

    def _lookup_cost(self, field: GraphQLField, node: FieldNode, size: int | None) -> int:
        """What the statements behind a field at the root cost."""
        if node.name.value in SLOW_LOOKUPS:
            return SLOW_LOOKUPS[node.name.value]
        if not field.args:
            return 0
        if size is not None and REPRESENTATIONS in field.args:
            # A statement for each type that is among them.
            types = self._schema.get_possible_types(cast("Any", get_named_type(field.type)))
            return PAGE * min(size, len(types)) + LISTED_VALUE * size
        return (LOOKUP if size is None else PAGE) + self._filter_cost(node)

    def _filter_cost(self, node: FieldNode) -> int:
        """What finding the items costs that the arguments of ``node`` ask for."""
        sought = _Sought()
        for argument in node.arguments:
            if argument.name.value in _FILTERS:
                sought += self._sought(argument.name.value, argument.value)
        return sought.cost

    def _sought(self, name: str, value: ValueNode) -> "_Sought":
        if isinstance(value, VariableNode):
            self.filter_variables.add(value.name.value)
            return sought_in(name, self._variables.get(value.name.value))
        if isinstance(value, ObjectValueNode):
            inner = (self._sought(field.name.value, field.value) for field in value.fields)
            return sum(inner, _Sought())
        if isinstance(value, ListValueNode):
            return _Sought(listed=len(value.values))
        return sought_in(name, None if isinstance(value, NullValueNode) else _text_of(value))

    def _page_size(self, field: GraphQLField, node: FieldNode) -> int | None:
        """How many items ``node`` asks for, or ``None`` when its field knows no pages."""
        paged = [name for name in PAGE_ARGUMENTS if name in field.args]
        if not paged:
            return None
        sizes = [field.args[name].default_value for name in paged]
        sizes += [
            self._value(argument.value)
            for argument in node.arguments
            if argument.name.value in paged
        ]
        return max(
            (max(size, 0) for size in sizes if isinstance(size, int)), default=MAX_PAGE_SIZE
        )

    def _entities(self, node: FieldNode) -> int:
        """How many items ``node`` names by representations."""
        [value] = (each.value for each in node.arguments if each.name.value == REPRESENTATIONS)
        if isinstance(value, VariableNode):
            self.entity_variables.add(value.name.value)
            return len(self._variables.get(value.name.value) or ())
        # A single item can stand for a list of one.
        return len(value.values) if isinstance(value, ListValueNode) else 1

    def _value(self, value: ValueNode) -> object:
        if isinstance(value, VariableNode):
            self.page_variables.add(value.name.value)
            return self._variables.get(value.name.value)
        return int(value.value) if isinstance(value, IntValueNode) else None


def _text_of(value: ValueNode) -> str:
    """Return the text of a value in a document, anything that isn't empty for other values."""
    return value.value if isinstance(value, StringValueNode) else "value"


def _is_list(field: GraphQLField) -> bool:
    kind = field.type.of_type if isinstance(field.type, GraphQLNonNull) else field.type
    return is_list_type(kind)


def _introspected(name: str, field: GraphQLField, inner: _Weight) -> int:
    # How a type is wrapped ends after a level or two, however deep a client asks to see.
    if name == "ofType":
        return 0
    if not _is_list(field):
        return 1 + inner.total(_FEW)
    return 1 + (_TYPES if name == "types" else _FEW) * inner.total(_FEW)
