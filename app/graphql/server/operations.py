"""One operation of a valid document, with everything that is known of it before it is executed."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    GraphQLObjectType,
    GraphQLSchema,
    InlineFragmentNode,
    OperationDefinitionNode,
    OperationType,
    SelectionSetNode,
    VariableNode,
)

from app.graphql.server.limits import Load, ReadingCost
from app.graphql.server.query_cost import UNKNOWN, Scales, sought_in

_MAX_LOADS = 64
_MAX_NAME = 100
_NO_COST = ReadingCost()


Fragments = dict[str, FragmentDefinitionNode]
Selected = FieldNode | InlineFragmentNode | FragmentDefinitionNode


def fragments_of(tree: DocumentNode) -> Fragments:
    """Return the fragments of a document by name."""
    return {
        definition.name.value: definition
        for definition in tree.definitions
        if isinstance(definition, FragmentDefinitionNode)
    }


def spread(selected: SelectionSetNode, fragments: Fragments) -> Iterator[Selected]:
    """What is selected, with what its fragments select, of any depth; fields stay closed."""
    seen: set[str] = set()
    waiting = [selected]
    while waiting:
        for selection in waiting.pop().selections:
            if isinstance(selection, FieldNode):
                yield selection
            elif isinstance(selection, InlineFragmentNode):
                yield selection
                waiting.append(selection.selection_set)
            elif isinstance(selection, FragmentSpreadNode) and selection.name.value not in seen:
                seen.add(selection.name.value)
                fragment = fragments[selection.name.value]
                yield fragment
                waiting.append(fragment.selection_set)


@dataclass(slots=True)
class Operation:
    """An operation that can be executed.

    ``is_introspection``: its answer depends on nothing but document, variables and schema.
    ``root_fields`` are the different names at its root, in no particular order.
    ``is_conditional``: a variable decides in @skip or @include what is selected; otherwise
    ``selections`` keeps what the executor collects, by type and nodes.
    """

    schema: GraphQLSchema
    root_type: GraphQLObjectType
    node: OperationDefinitionNode
    fragments: Fragments
    is_mutation: bool
    is_introspection: bool
    root_fields: tuple[str, ...] = ()
    is_conditional: bool = True
    selections: dict[tuple[int, int], tuple[object, Any]] = field(default_factory=dict)
    _loads: dict[tuple[object, ...], Load] = field(default_factory=dict)
    _weighed_by: tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]] | None = None

    def load(self, variables: Mapping[str, Any], stored: Mapping[str, int] = UNKNOWN) -> Load:
        """What it asks for with these coerced variables: page sizes, filters, entities matter.

        ``stored`` is how many items there are for owned lists, see ``Scales``.
        """
        if stored:
            return Scales(self.schema, self.fragments, variables, stored).weigh(self.node)
        if self._weighed_by is not None:
            cached = self._loads.get(self._key(variables, *self._weighed_by))
            if cached is not None:
                return cached
        scales = Scales(self.schema, self.fragments, variables)
        load = scales.weigh(self.node)
        if len(self._loads) >= _MAX_LOADS:
            self._loads.clear()
        self._weighed_by = (
            tuple(sorted(scales.page_variables)),
            tuple(sorted(scales.filter_variables)),
            tuple(sorted(scales.entity_variables)),
        )
        self._loads[self._key(variables, *self._weighed_by)] = load
        return load

    @staticmethod
    def _key(
        variables: Mapping[str, Any],
        pages: tuple[str, ...],
        filters: tuple[str, ...],
        entities: tuple[str, ...],
    ) -> tuple[object, ...]:
        sizes = map(variables.get, pages)
        # Under the name of a search and under another: which of them a variable is depends on
        # where the document has it.
        sought = (
            sought_in(name, variables.get(variable))
            for variable in filters
            for name in ("search", "")
        )
        return (*sizes, *sought, *(len(variables.get(name) or ()) for name in entities))


class Document:
    """A valid document and the operations in it."""

    __slots__ = ("_fragments", "_nodes", "_ready", "_schema", "cost")

    def __init__(
        self, schema: GraphQLSchema, tree: DocumentNode, cost: ReadingCost = _NO_COST
    ) -> None:
        self.cost = cost
        self._schema = schema
        self._fragments = fragments_of(tree)
        self._nodes = {
            definition.name.value if definition.name else None: definition
            for definition in tree.definitions
            if isinstance(definition, OperationDefinitionNode)
        }
        self._ready: dict[str | None, Operation] = {}

    def operation(self, name: str | None) -> Operation:
        """The operation to execute; raises ``GraphQLError`` where ``name`` picks none."""
        ready = self._ready.get(name)
        if ready is None:
            ready = self._ready[name] = self._prepare(self._pick(name))
        return ready

    def _pick(self, name: str | None) -> OperationDefinitionNode:
        if name == "null" and name not in self._nodes:
            name = None  # as old versions of GraphiQL write it
        if name is not None and name not in self._nodes:
            raise GraphQLError(f"Unknown operation named {name[:_MAX_NAME]!r}.")
        if name is not None:
            return self._nodes[name]
        if len(self._nodes) != 1:
            raise GraphQLError(
                "The request contains several operations. Choose one with operationName."
            )
        return next(iter(self._nodes.values()))

    def _prepare(self, node: OperationDefinitionNode) -> Operation:
        kind = node.operation
        root = self._schema.get_root_type(kind)
        if kind is OperationType.SUBSCRIPTION:
            raise GraphQLError(
                "Subscriptions are delivered by webhooks and can't be executed here."
            )
        if root is None:
            raise GraphQLError(f"The schema has no {kind.value} operations.", node)
        spread_out = spread(node.selection_set, self._fragments)
        fields = (one for one in spread_out if isinstance(one, FieldNode))
        names = tuple(dict.fromkeys(one.name.value for one in fields))
        return Operation(
            schema=self._schema,
            root_type=root,
            node=node,
            fragments=self._fragments,
            is_mutation=kind is OperationType.MUTATION,
            is_introspection=kind is OperationType.QUERY
            and all(name.startswith("__") for name in names),
            root_fields=names,
            is_conditional=any(
                _has_condition(definition.selection_set)
                for definition in (node, *self._fragments.values())
            ),
        )


def _has_condition(selections: SelectionSetNode) -> bool:
    """Whether @skip or @include has a variable somewhere in ``selections``."""
    waiting = [selections]
    while waiting:
        for node in waiting.pop().selections:
            arguments = [one for directive in node.directives for one in directive.arguments]
            if any(isinstance(argument.value, VariableNode) for argument in arguments):
                return True
            nested = getattr(node, "selection_set", None)
            if nested is not None:
                waiting.append(nested)
    return False
