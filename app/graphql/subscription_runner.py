"""What a subscription query tells of an event: run once, as the app that hears of it."""

import json
from collections.abc import Iterable
from typing import Any, cast

from graphql import (
    FragmentDefinitionNode,
    GraphQLError,
    GraphQLSchema,
    OperationDefinitionNode,
    OperationType,
    default_field_resolver,
    default_type_resolver,
)
from graphql.execution.execute import CollectedErrors, assume_not_awaitable

from app.domain.authorization.actor import WORKER, Actor
from app.domain.events import Deletion
from app.domain.events.occurrence import Occurrence
from app.domain.values.errors import PermissionDenied, Problem, Refused
from app.graphql.context import RequestContext
from app.graphql.errors import cause_of
from app.graphql.server.cache import Cache
from app.graphql.server.execution import Execution
from app.graphql.server.limits import Allowance
from app.graphql.server.validation import Invalid, read_document
from app.ports import Ports
from app.services.identity.identify import Identity, Visitor
from app.services.shop.settings import show_settings

_MOST_TOLD = 5
_ENTRIES, _BYTES = 1000, 8 * 1024 * 1024
_RULES = (PermissionDenied, Refused)

Subscription = tuple[OperationDefinitionNode, dict[str, FragmentDefinitionNode]]


class Telling:
    """Runs subscription queries on a schema; those seen before are not read again."""

    def __init__(self, schema: GraphQLSchema, *, tokens_max: int) -> None:
        self._schema = schema
        self._tokens_max = tokens_max
        self._known: Cache[str, Subscription] = Cache(entries=_ENTRIES, size=_BYTES)

    def tell(self, ports: Ports, actor: Actor, query: str, happened: Occurrence) -> str:
        """The JSON text of what ``query`` selects of the event; see the port ``Payloads``."""
        operation, fragments = self._known.get(query) or self._read(query)
        shop = show_settings(ports, WORKER)
        visitor = Visitor(issuer=actor.issuer)
        context = RequestContext(ports, visitor, Identity(actor, shop), _gone(happened))
        collected = CollectedErrors()
        execution = Execution(
            self._schema,
            fragments,
            happened,
            context,
            operation,
            {},
            default_field_resolver,
            default_type_resolver,
            default_field_resolver,
            collected,
            None,
            assume_not_awaitable,
        )
        data: Any = None
        try:
            # A subscription's selection run once; nothing is ever awaited here.
            root = cast("Any", self._schema.subscription_type)
            fields = execution.collect_subfields(root, [_as_field(operation)])
            data = execution.execute_fields(root, happened, None, fields)
        except GraphQLError as error:
            collected.add(error, None)
        _raise_what_failed(collected.errors)
        told: dict[str, Any] = {}
        for event in data.values():
            told |= event or {}
        # As the scalar JSONString writes it: a dry run shows the very bytes of a delivery.
        return json.dumps(told)

    def _read(self, query: str) -> Subscription:
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
            raise _refusal(["This is not one subscription."])
        fragments = {
            node.name.value: node
            for node in tree.definitions
            if isinstance(node, FragmentDefinitionNode)
        }
        read = (operations[0], fragments)
        self._known.put(query, read, 100 * len(query))
        return read


def _gone(happened: Occurrence) -> tuple[str, int] | None:
    event = happened.event
    return (event.subject, event.subject_id) if isinstance(event, Deletion) else None


def _as_field(operation: OperationDefinitionNode) -> Any:
    """What holds the root's selection; the executor asks of it for nothing else."""
    return operation


def _raise_what_failed(errors: Iterable[GraphQLError]) -> None:
    """Raise a fault of ours as it is; what a rule said no to becomes a refusal."""
    told = []
    for error in errors:
        cause = cause_of(error)
        if cause is not None and not isinstance(cause, _RULES):
            raise cause
        told.append(error.message)
    if told:
        raise _refusal(told)


def _refusal(messages: Iterable[str]) -> Refused:
    text = " ".join(list(messages)[:_MOST_TOLD])
    return Refused(Problem("GRAPHQL_ERROR", text, "query"))
