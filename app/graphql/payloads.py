"""The payloads port on the shop's own schema.

Runs a webhook's subscription query on an event, with the rights of the webhook's app.
"""

import json
from collections.abc import Iterable
from typing import Any, cast

from graphql import (
    DocumentNode,
    FieldNode,
    GraphQLError,
    GraphQLObjectType,
    GraphQLSchema,
    GraphQLSyntaxError,
    NonNullTypeNode,
    OperationDefinitionNode,
    OperationType,
    get_variable_values,
    parse,
)

from app.domain.authorization.actor import Actor
from app.domain.events import EVENTS, Deletion, EventType, Occurrence
from app.domain.values.errors import PermissionDenied, Problem, Refused
from app.domain.values.text import Sentence
from app.graphql.context import RequestContext
from app.graphql.errors import cause_of, locations_of
from app.graphql.schema import schema
from app.graphql.server.cache import Cache
from app.graphql.server.execution.executor import execute
from app.graphql.server.execution.validation import Invalid, read_document
from app.graphql.server.execution.variables import coerce_variables
from app.graphql.server.limits import SENTENCES, Allowance, Limits, exceeded
from app.graphql.server.operations import Fragments, Operation, fragments_of, spread
from app.graphql.server.query_cost import Scales
from app.ports import Ports
from app.services.authorization.shop_state import load_shop_state
from app.services.identity.identify import Identity, Visitor

_MOST_MESSAGES = 5
_ENTRIES, _BYTES = 1000, 8 * 1024 * 1024
_RULES = (PermissionDenied, Refused)


def _deleted_object(occurrence: Occurrence) -> tuple[str, int] | None:
    event = occurrence.event
    return (event.subject.type, event.subject_id) if isinstance(event, Deletion) else None


def _raise_errors(errors: Iterable[GraphQLError]) -> None:
    """Raise an unexpected exception as it is; errors that a rule raised become a refusal."""
    messages = []
    for error in errors:
        cause = cause_of(error)
        if cause is not None and not isinstance(cause, _RULES):
            raise cause
        messages.append(error.message)
    if messages:
        raise _query_refusal(messages)


def _query_refusal(messages: Iterable[str]) -> Refused:
    text = " ".join(list(messages)[:_MOST_MESSAGES])
    return Refused(Problem("GRAPHQL_ERROR", text, "query"))


_EVENTS = {event.__name__: event.type for event in EVENTS.values()}
"""The event of each of the schema's event types."""


class SchemaPayloads:
    """Reads the subscription queries of webhooks, and runs them; parsed ones are cached."""

    def __init__(self, schema: GraphQLSchema, limits: Limits) -> None:
        self._schema = schema
        self._limits = limits
        self._cached: Cache[str, Operation] = Cache(entries=_ENTRIES, size=_BYTES)

    def make(self, asking: object, actor: Actor, query: str, occurrence: Occurrence) -> str:
        ports = cast("Ports", asking)
        operation = self._cached.get(query) or self._read(query)
        shop = load_shop_state(ports).shop
        visitor = Visitor(issuer=actor.issuer)
        context = RequestContext(
            ports, visitor, Identity(actor, shop), _deleted_object(occurrence)
        )
        variables = coerce_variables(operation, {})
        if isinstance(variables, list):
            raise _query_refusal(error.message for error in variables)
        try:
            data, errors = execute(operation, variables, context, root=occurrence)
        except GraphQLError as error:
            # Of the query as a whole, not of a field.
            data, errors = None, [error]
        _raise_errors(errors)
        payload: dict[str, Any] = {}
        for event in (data or {}).values():
            payload |= event or {}
        # As the scalar JSONString writes it: a dry run shows the very bytes of a delivery.
        return json.dumps(payload)

    def _read(self, query: str) -> Operation:
        try:
            allowed = Allowance(self._limits.tokens)
            tree, _ = read_document(self._schema, query, allowed, hide_suggestions=True)
        except Invalid as invalid:
            raise _query_refusal(error.message for error in invalid.errors) from None
        operations = [
            node
            for node in tree.definitions
            if isinstance(node, OperationDefinitionNode)
            and node.operation is OperationType.SUBSCRIPTION
        ]
        if len(operations) != 1:
            raise _query_refusal(["The query must contain exactly one subscription."])
        read = Operation(
            schema=self._schema,
            root_type=cast("GraphQLObjectType", self._schema.subscription_type),
            node=operations[0],
            fragments=fragments_of(tree),
            is_mutation=False,
            is_introspection=False,
        )
        self._cached.put(query, read, 100 * len(query))
        return read

    def check(self, query: str) -> tuple[EventType, ...]:
        document = self._parse(query)
        subscription = _subscription(document)
        self._validate(query)
        fragments = fragments_of(document)
        scales = Scales(self._schema, fragments, self._defaults(subscription))
        error = exceeded(scales.weigh(subscription), self._limits)
        if error is not None:
            raise _limit_refusal(error)
        names = _event_types(subscription, fragments)
        events = tuple(event for name, event in _EVENTS.items() if name in names)
        if not events:
            message = "Select the fields of an event: event { ... on AppUpdated { app { id } } }."
            raise _refusal("MISSING_EVENT", message)
        return events

    def _defaults(self, subscription: OperationDefinitionNode) -> dict[str, Any]:
        """Return the values of variables: their defaults, for there are no others."""
        definitions = list(subscription.variable_definitions)
        values = get_variable_values(self._schema, definitions, {})
        if isinstance(values, list):
            raise _refusal("GRAPHQL_ERROR", _error_text(values), *_lines(values))
        return values

    def _parse(self, query: str) -> DocumentNode:
        try:
            return parse(query, max_tokens=self._limits.tokens)
        except GraphQLSyntaxError as error:
            message, lines = error.message, _lines((error,))
        raise _refusal("SYNTAX", message, *lines)

    def _validate(self, query: str) -> None:
        allowed = Allowance(self._limits.tokens)
        try:
            read_document(self._schema, query, allowed, hide_suggestions=False)
        except Invalid as invalid:
            errors = invalid.errors[:_MOST_MESSAGES]
            raise _refusal("GRAPHQL_ERROR", _error_text(errors), *_lines(errors)) from None


def create_payloads(
    *, tokens_max: int, depth_max: int, aliases_max: int, cost_max: int
) -> SchemaPayloads:
    """Return payloads by the schema of the shop: what ``wiring`` loads when first needed."""
    limits = Limits(
        tokens=tokens_max,
        depth=depth_max,
        aliases=aliases_max,
        cost=cost_max,
        mutations=0,
        entities=0,
    )
    return SchemaPayloads(schema.graphql_schema, limits)


def _subscription(document: DocumentNode) -> OperationDefinitionNode:
    """Return the single operation of a document: a subscription without variables."""
    operations = [
        node for node in document.definitions if isinstance(node, OperationDefinitionNode)
    ]
    if not any(node.operation is OperationType.SUBSCRIPTION for node in operations):
        raise _refusal(
            "MISSING_SUBSCRIPTION", "This isn't a subscription query: subscription { event … }."
        )
    if len(operations) > 1:
        raise _refusal("UNABLE_TO_PARSE", "The query must contain exactly one operation.")
    for variable in operations[0].variable_definitions:
        if isinstance(variable.type, NonNullTypeNode) and variable.default_value is None:
            name = variable.variable.name.value
            raise _refusal(
                "UNABLE_TO_PARSE",
                "Variable ${name} has no value: webhook queries can't use variables.",
                name=name,
            )
    return operations[0]


def _event_types(operation: OperationDefinitionNode, fragments: Fragments) -> frozenset[str]:
    """The types whose fields are selected of ``event``."""
    return frozenset(
        node.type_condition.name.value
        for root in spread(operation.selection_set, fragments)
        if isinstance(root, FieldNode) and root.selection_set is not None
        for node in spread(root.selection_set, fragments)
        if not isinstance(node, FieldNode) and node.type_condition is not None
    )


def _error_text(errors: Iterable[GraphQLError]) -> str:
    return " ".join(error.message for error in errors)


def _lines(errors: Iterable[GraphQLError]) -> tuple[int, ...]:
    found = {place.line for error in errors for place in locations_of(error)}
    return tuple(sorted(found))


def _limit_refusal(error: GraphQLError) -> Refused:
    """Return the refusal of a query that exceeds one of the limits."""
    facts = (error.extensions or {})["limit"]
    return _refusal("INVALID", SENTENCES[facts["name"]], **facts)


def _refusal(code: str, message: Sentence, *lines: int, **values: object) -> Refused:
    return Refused(Problem(code, message, "query", lines=lines, values=values))
