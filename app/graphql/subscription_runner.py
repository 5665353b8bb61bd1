"""Run the subscription query of a webhook on an event, with the rights of the webhook's app."""

import json
from collections.abc import Iterable
from typing import Any, cast

from graphql import (
    FragmentDefinitionNode,
    GraphQLError,
    GraphQLObjectType,
    GraphQLSchema,
    OperationDefinitionNode,
    OperationType,
)

from app.domain.authorization.actor import Actor
from app.domain.events import Deletion, Occurrence
from app.domain.values.errors import PermissionDenied, Problem, Refused
from app.graphql.context import RequestContext
from app.graphql.errors import cause_of
from app.graphql.server.cache import Cache
from app.graphql.server.execution.executor import execute
from app.graphql.server.execution.validation import Invalid, read_document
from app.graphql.server.execution.variables import coerce_variables
from app.graphql.server.limits import Allowance
from app.graphql.server.operations import Operation
from app.ports import Ports
from app.services.authorization.shop_state import load_shop_state
from app.services.identity.identify import Identity, Visitor

_MOST_MESSAGES = 5
_ENTRIES, _BYTES = 1000, 8 * 1024 * 1024
_RULES = (PermissionDenied, Refused)


class SubscriptionRunner:
    """Runs subscription queries on a schema; parsed queries are cached."""

    def __init__(self, schema: GraphQLSchema, *, tokens_max: int) -> None:
        self._schema = schema
        self._tokens_max = tokens_max
        self._cached: Cache[str, Operation] = Cache(entries=_ENTRIES, size=_BYTES)

    def run(self, ports: Ports, actor: Actor, query: str, occurrence: Occurrence) -> str:
        """Return what ``query`` selects of the event, as JSON; see the port ``Payloads``."""
        operation = self._cached.get(query) or self._read(query)
        shop = load_shop_state(ports).shop
        visitor = Visitor(issuer=actor.issuer)
        context = RequestContext(
            ports, visitor, Identity(actor, shop), _deleted_object(occurrence)
        )
        variables = coerce_variables(operation, {})
        if isinstance(variables, list):
            raise _refusal(error.message for error in variables)
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
            allowed = Allowance(self._tokens_max)
            tree, _ = read_document(self._schema, query, allowed, hide_suggestions=True)
        except Invalid as invalid:
            raise _refusal(error.message for error in invalid.errors) from None
        operations = [
            node
            for node in tree.definitions
            if isinstance(node, OperationDefinitionNode)
            and node.operation is OperationType.SUBSCRIPTION
        ]
        if len(operations) != 1:
            raise _refusal(["The query must contain exactly one subscription."])
        fragments = {
            node.name.value: node
            for node in tree.definitions
            if isinstance(node, FragmentDefinitionNode)
        }
        read = Operation(
            schema=self._schema,
            root_type=cast("GraphQLObjectType", self._schema.subscription_type),
            node=operations[0],
            fragments=fragments,
            is_mutation=False,
            is_introspection=False,
        )
        self._cached.put(query, read, 100 * len(query))
        return read


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
        raise _refusal(messages)


def _refusal(messages: Iterable[str]) -> Refused:
    text = " ".join(list(messages)[:_MOST_MESSAGES])
    return Refused(Problem("GRAPHQL_ERROR", text, "query"))
