"""Runs one operation of a valid document."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from graphene.types.resolver import get_default_resolver
from graphql import (
    ExecutionContext,
    FieldNode,
    GraphQLEnumType,
    GraphQLError,
    GraphQLField,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLOutputType,
    GraphQLResolveInfo,
    GraphQLScalarType,
    Undefined,
    default_field_resolver,
    default_type_resolver,
    get_argument_values,
    is_non_null_type,
    located_error,
)
from graphql.execution.collect_fields import collect_fields
from graphql.execution.execute import CollectedErrors, assume_not_awaitable
from graphql.pyutils import Path
from typing_extensions import override

from app.domain.values.errors import TokenFault, TokenRejected, TooManyRequests, TrafficClosed
from app.domain.values.installation import DatabaseUnavailable
from app.domain.values.unchanging import unchanging
from app.graphql.context import RequestContext
from app.graphql.server.operations import Operation
from app.graphql.server.query_cost import field_of

Data = dict[str, Any] | None
Result = tuple[Data, list[GraphQLError]]
Readmit = Callable[[], RequestContext]
"""Gives the context of a later mutation field; raises what the caller's rights have become."""

_REFUSALS = (TokenRejected, TrafficClosed, TooManyRequests, DatabaseUnavailable)
_LEAVES = (GraphQLScalarType, GraphQLEnumType)


class Unservable(Exception):
    """A resolver gave what its field's type cannot express: our fault, never the client's."""


@unchanging
class _Selected:
    """A field that a place in the document selects, the same for all objects at that place.

    A field with an ``attribute`` has graphene's default resolver: its value is that attribute of
    the object, and ``serialize`` turns it into what is sent.
    """

    name: str
    nodes: list[FieldNode]
    field: GraphQLField
    attribute: str = ""
    serialize: Callable[[Any], Any] = str


class Executor(ExecutionContext):
    """graphql-core's executor for valid documents and synchronous resolvers.

    It separates internal errors from errors that clients can read: the library raises
    ``GraphQLError`` for both, with the value in its message. It doesn't check results for being
    awaitable, and has short ways for values, objects and lists; together that saves half of a
    field's time.
    ``readmit`` reads the caller again before the second and every later field of a mutation.
    """

    readmit: Readmit | None = None

    def run(self, operation: Operation, root: object) -> dict[str, Any]:
        """Return the data of ``operation``; raises ``GraphQLError`` if a field can't be null."""
        # What variables decide is collected for this execution alone.
        self._selections = {} if operation.is_conditional else operation.selections
        key = id(operation.root_type), id(operation.node)
        found = self._selections.get(key)
        if found is None:
            selected = _select(operation.root_type, self._collect_root_fields(operation))
            found = self._selections[key] = operation.node, selected
        execute = self._execute_serially if operation.is_mutation else self._execute
        return execute(operation.root_type, root, None, found[1])

    def _collect_root_fields(self, operation: Operation) -> dict[str, list[FieldNode]]:
        try:
            return collect_fields(
                self.schema,
                self.fragments,
                self.variable_values,
                operation.root_type,
                operation.node.selection_set,
            )
        except RecursionError:
            message = "Selections are nested too deeply."
        raise GraphQLError(message, operation.node)

    @override
    def complete_object_value(
        self,
        return_type: GraphQLObjectType,
        field_nodes: list[FieldNode],
        info: GraphQLResolveInfo,
        path: Path,
        result: Any,
    ) -> dict[str, Any]:
        if return_type.is_type_of and not return_type.is_type_of(result, info):
            raise GraphQLError(f"Expected a value of type '{return_type.name}'.", field_nodes)
        # By identity: the lists of nodes last as long as the selections that they are in.
        key = id(return_type), id(field_nodes)
        found = self._selections.get(key)
        if found is None:
            fields = self.collect_subfields(return_type, field_nodes)
            found = self._selections[key] = field_nodes, _select(return_type, fields)
        return self._execute(return_type, result, path, found[1])

    def _execute(
        self,
        parent_type: GraphQLObjectType,
        source: Any,
        path: Path | None,
        selection: Sequence[_Selected],
    ) -> dict[str, Any]:
        """Return the selected fields of one object."""
        data: dict[str, Any] = {}
        for selected in selection:
            name = selected.name
            value = _plain_value(source, selected) if selected.attribute else None
            if value is None:
                field_path = Path(path, name, parent_type.name)
                value = self._field_value(parent_type, source, selected, field_path)
            data[name] = value
        return data

    def _execute_serially(
        self,
        parent_type: GraphQLObjectType,
        source: Any,
        path: Path | None,
        selection: Sequence[_Selected],
    ) -> dict[str, Any]:
        """Return the selected fields of a mutation, whose caller is read again between them."""
        data: dict[str, Any] = {}
        for selected in selection:
            name = selected.name
            field_path = Path(path, name, parent_type.name)
            try:
                if data and self.readmit is not None:
                    self.context_value = self.readmit()
            except _REFUSALS as refusal:
                self._fail(refusal, selected, field_path)
                data[name] = None
            else:
                data[name] = self._field_value(parent_type, source, selected, field_path)
        return data

    def _field_value(
        self, parent_type: GraphQLObjectType, source: Any, selected: _Selected, path: Path
    ) -> Any:
        field, nodes = selected.field, selected.nodes
        resolve = field.resolve or self.field_resolver
        info = self.build_resolve_info(field, nodes, parent_type, path)
        try:
            arguments = (
                get_argument_values(field, nodes[0], self.variable_values) if field.args else {}
            )
            result = resolve(source, info, **arguments)
            return self.complete_value(field.type, nodes, info, path, result)
        except Exception as fault:  # noqa: BLE001 - whatever it is, the other fields go on
            self._fail(fault, selected, path)
            return None

    def _fail(self, fault: Exception, selected: _Selected, path: Path) -> None:
        """Note ``fault`` as the field's error; raises it where the field can't be null."""
        # One place is enough: a client can repeat a field as often as it likes.
        error = located_error(fault, selected.nodes[:1], path.as_list())
        self.handle_field_error(error, selected.field.type, path)

    @override
    def complete_value(
        self,
        return_type: GraphQLOutputType,
        field_nodes: list[FieldNode],
        info: GraphQLResolveInfo,
        path: Path,
        result: Any,
    ) -> Any:
        try:
            kind = return_type.of_type if type(return_type) is GraphQLNonNull else return_type
            if (
                result is not None
                and result is not Undefined
                and not isinstance(result, Exception)
            ):
                if isinstance(kind, _LEAVES):
                    return self.complete_leaf_value(kind, result)
                if isinstance(kind, GraphQLObjectType):
                    return self.complete_object_value(kind, field_nodes, info, path, result)
                if isinstance(kind, GraphQLList):
                    return self.complete_list_value(kind, field_nodes, info, path, result)
            return super().complete_value(return_type, field_nodes, info, path, result)
        except GraphQLError as error:
            # An error raised while a value is completed has no path yet; one from a field below
            # has.
            if error.path is None:
                raise Unservable(error.message) from error
            raise


def _select(
    parent_type: GraphQLObjectType, fields: dict[str, list[FieldNode]]
) -> Sequence[_Selected]:
    return [
        _selected(name, nodes, field_of(parent_type, nodes[0])) for name, nodes in fields.items()
    ]


def _selected(name: str, nodes: list[FieldNode], field: GraphQLField) -> _Selected:
    resolve = field.resolve
    kind = field.type.of_type if isinstance(field.type, GraphQLNonNull) else field.type
    if (
        isinstance(kind, _LEAVES)
        and isinstance(resolve, partial)
        and resolve.func is get_default_resolver()
    ):
        return _Selected(name, nodes, field, resolve.args[0], kind.serialize)
    return _Selected(name, nodes, field)


def _plain_value(source: object, selected: _Selected) -> Any:
    """Return the serialized attribute, ``None`` if ``_field_value`` must read the field.

    That is for null, a missing attribute and any error, which is raised again there.
    """
    try:
        found = getattr(source, selected.attribute)
        if found is None or isinstance(found, Exception):
            return None
        value = selected.serialize(found)
    except Exception:  # noqa: BLE001 - raised again by _field_value
        return None
    return None if value is Undefined else value


def execute(
    operation: Operation,
    variables: dict[str, Any],
    context: RequestContext,
    readmit: Readmit | None = None,
    root: object = None,
) -> Result:
    """Return data and errors of ``operation``; what resolvers raise is among the errors.

    ``readmit`` is asked for the context of the second and every later field of a mutation. The
    selection of a subscription is read once, of the event ``root``.
    """
    collected = CollectedErrors()
    executor = Executor(
        operation.schema,
        operation.fragments,
        root,
        context,
        operation.node,
        variables,
        default_field_resolver,
        default_type_resolver,
        default_field_resolver,
        collected,
        None,
        assume_not_awaitable,
    )
    executor.readmit = readmit
    try:
        data = executor.run(operation, root)
    except GraphQLError as error:
        collected.add(error, None)
        return None, [*collected.errors, *_field_errors(context)]
    return data, [*collected.errors, *_field_errors(context)]


def _field_errors(context: RequestContext) -> list[GraphQLError]:
    found = context.field_errors.copy()
    context.field_errors.clear()
    return found


def refuse(operation: Operation, variables: dict[str, Any], fault: TokenFault) -> Result:
    """Fail every root field with the credential's ``fault``, without executing any.

    Contract, "Credentials, precisely", 4: one error each with its path, null for each, and no data
    at all where a field is non-null.
    """
    root = operation.root_type
    fields = collect_fields(
        operation.schema, operation.fragments, variables, root, operation.node.selection_set
    )
    errors = [
        GraphQLError(fault.message, nodes, path=[name], original_error=TokenRejected(fault))
        for name, nodes in fields.items()
    ]
    if not errors:
        errors = [GraphQLError(fault.message, original_error=TokenRejected(fault))]
    if any(_never_null(operation, nodes[0]) for nodes in fields.values()):
        return None, errors
    return dict.fromkeys(fields), errors


def _never_null(operation: Operation, node: FieldNode) -> bool:
    field = field_of(operation.root_type, node)
    return is_non_null_type(field.type)
