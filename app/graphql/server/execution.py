"""Running one operation whose document is known to be valid."""

from collections.abc import Callable, Mapping
from typing import Any, cast

from graphql import (
    ExecutionContext,
    FieldNode,
    GraphQLEnumType,
    GraphQLError,
    GraphQLInputObjectType,
    GraphQLInputType,
    GraphQLNamedType,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLOutputType,
    GraphQLResolveInfo,
    GraphQLScalarType,
    Undefined,
    VariableDefinitionNode,
    coerce_input_value,
    default_field_resolver,
    default_type_resolver,
    get_argument_values,
    get_named_type,
    is_leaf_type,
    is_non_null_type,
    located_error,
    type_from_ast,
    value_from_ast,
)
from graphql.execution.collect_fields import collect_fields
from graphql.execution.execute import CollectedErrors, assume_not_awaitable, get_field_def
from graphql.pyutils import Path, print_path_list
from typing_extensions import override

from app.domain.values.errors import TokenFault, TokenRejected, TrafficClosed
from app.domain.values.installation_errors import DatabaseUnavailable
from app.graphql.context import RequestContext
from app.graphql.server.operations import Operation

Data = dict[str, Any] | None
Result = tuple[Data, list[GraphQLError]]
Readmit = Callable[[], RequestContext]
"""Gives the context of a later mutation field; raises what the caller's rights have become."""

_MOST_COERCION_ERRORS = 20
_PLAIN = frozenset((str, int, bool, float))
_LEAVES = (GraphQLScalarType, GraphQLEnumType)


class Unservable(Exception):
    """A resolver gave what its field's type cannot express: our fault, never the client's."""


class Execution(ExecutionContext):
    """The library's executor for valid documents and resolvers that never wait.

    It tells faults of ours from errors that a client may read: the library raises ``GraphQLError``
    for both, with the value at fault in its message. And it asks of nothing whether it can be
    awaited, which together with a short way for plain values takes a third off a field's time.

    ``readmit`` reads the caller again before the second and every later field of a mutation.
    """

    readmit: Readmit | None = None

    @override
    def execute_fields(
        self,
        parent_type: GraphQLObjectType,
        source_value: Any,
        path: Path | None,
        fields: dict[str, list[FieldNode]],
    ) -> dict[str, Any]:
        return {
            name: self.execute_field(
                parent_type, source_value, nodes, Path(path, name, parent_type.name)
            )
            for name, nodes in fields.items()
        }

    @override
    def execute_fields_serially(
        self,
        parent_type: GraphQLObjectType,
        source_value: Any,
        path: Path | None,
        fields: dict[str, list[FieldNode]],
    ) -> dict[str, Any]:
        data: dict[str, Any] = {}
        for name, nodes in fields.items():
            here = Path(path, name, parent_type.name)
            try:
                if data and self.readmit is not None:
                    self.context_value = self.readmit()
            except (TokenRejected, TrafficClosed, DatabaseUnavailable) as refusal:
                self._fail(refusal, parent_type, nodes, here)
                data[name] = None
            else:
                data[name] = self.execute_field(parent_type, source_value, nodes, here)
        return data

    @override
    def execute_field(
        self,
        parent_type: GraphQLObjectType,
        source: Any,
        field_nodes: list[FieldNode],
        path: Path,
    ) -> Any:
        field = get_field_def(self.schema, parent_type, field_nodes[0])
        resolve = field.resolve or self.field_resolver
        info = self.build_resolve_info(field, field_nodes, parent_type, path)
        try:
            arguments = (
                get_argument_values(field, field_nodes[0], self.variable_values)
                if field.args
                else {}
            )
            result = resolve(source, info, **arguments)
            return self.complete_value(field.type, field_nodes, info, path, result)
        except Exception as fault:  # noqa: BLE001 - whatever it is, the other fields go on
            self._fail(fault, parent_type, field_nodes, path)
            return None

    def _fail(
        self,
        fault: Exception,
        parent_type: GraphQLObjectType,
        field_nodes: list[FieldNode],
        path: Path,
    ) -> None:
        """Note ``fault`` as the field's error; raises it where the field can't be null."""
        field = get_field_def(self.schema, parent_type, field_nodes[0])
        # One place is enough: a client can repeat a field as often as it likes.
        error = located_error(fault, field_nodes[:1], path.as_list())
        self.handle_field_error(error, field.type, path)

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
            if type(result) in _PLAIN and isinstance(kind, _LEAVES):
                return self.complete_leaf_value(kind, result)
            return super().complete_value(return_type, field_nodes, info, path, result)
        except GraphQLError as error:
            # What is raised while a value is completed has no path yet; what a field below has
            # raised has one.
            if error.path is None:
                raise Unservable(error.message) from error
            raise


class _TooManyErrors(Exception):
    """Enough is wrong with the variables; the rest is not looked at."""


def coerce_variables(
    operation: Operation, given: Mapping[str, Any]
) -> dict[str, Any] | list[GraphQLError]:
    """The values of the operation's variables, or what is wrong with those that were given.

    No error quotes a value, which could be a password and as long as a body. None suggests names
    either: the library fails at looking for names like "İ", which is longer in lower case.
    """
    values: dict[str, Any] = {}
    errors: list[GraphQLError] = []
    for definition in operation.node.variable_definitions:
        name = definition.variable.name.value
        kind = cast("GraphQLInputType", type_from_ast(operation.schema, definition.type))
        value = given.get(name, Undefined)
        if value is Undefined and definition.default_value is not None:
            values[name] = value_from_ast(definition.default_value, kind)
        elif value is not Undefined or is_non_null_type(kind):
            report = _reporter(definition, kind, errors)
            try:
                values[name] = coerce_input_value(value, kind, report, None, hide_suggestions=True)
            except _TooManyErrors:
                break
    return errors or values


def _reporter(
    definition: VariableDefinitionNode, kind: GraphQLInputType, errors: list[GraphQLError]
) -> Callable[[list[str | int], Any, GraphQLError], None]:
    """Return what takes down an error in the value of one variable."""
    name = definition.variable.name.value

    def report(path: list[str | int], value: Any, error: GraphQLError) -> None:
        if value is Undefined:
            message = f"Variable '${name}' of required type '{kind}' was not provided."
        else:
            place = f" at '{name}{print_path_list(path)}'" if path else ""
            problem = _problem(kind, path, value, error)
            message = f"Variable '${name}' got an invalid value{place}: {problem}"
        errors.append(GraphQLError(message, definition))
        if len(errors) == _MOST_COERCION_ERRORS:
            raise _TooManyErrors

    return report


def _problem(
    kind: GraphQLInputType, path: list[str | int], value: Any, error: GraphQLError
) -> str:
    """Return what is wrong without the value; only the errors of scalars and enums quote it."""
    wanted = _type_at(kind, path)
    if value is None or not is_leaf_type(wanted):
        return error.message
    return f"Expected type '{wanted}'."


def _type_at(kind: GraphQLInputType, path: list[str | int]) -> GraphQLNamedType:
    """Return the named type of the value at ``path``; lists take an item for a list of one."""
    named = get_named_type(kind)
    for step in path:
        if isinstance(step, str) and isinstance(named, GraphQLInputObjectType):
            named = get_named_type(named.fields[step].type)
    return named


def execute(
    operation: Operation,
    variables: dict[str, Any],
    context: RequestContext,
    readmit: Readmit | None = None,
) -> Result:
    """Data and errors of ``operation``; what resolvers raise stands in the errors.

    ``readmit`` is asked for the context of the second and every later field of a mutation.
    """
    collected = CollectedErrors()
    execution = Execution(
        operation.schema,
        operation.fragments,
        None,
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
    execution.readmit = readmit
    try:
        # Nothing is ever awaited here, so what comes back is the data itself.
        data = cast("Data", execution.execute_operation(operation.node, None))
    except GraphQLError as error:
        collected.add(error, None)
        return None, [*collected.errors, *_field_errors(context)]
    return data, [*collected.errors, *_field_errors(context)]


def _field_errors(context: RequestContext) -> list[GraphQLError]:
    found = context.field_errors.copy()
    context.field_errors.clear()
    return found


def refuse(operation: Operation, variables: dict[str, Any], fault: TokenFault) -> Result:
    """Every field at the root failed by the credential's ``fault``, nothing executed.

    Contract, "Credentials, precisely", 4: one error each with its path, null for each, and no data
    at all where a field may not be null.
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
    field = get_field_def(operation.schema, operation.root_type, node)
    return is_non_null_type(field.type)
