"""Turns a parsed request into outcomes: identify the caller, admit it, execute.

Documents that were sent before are kept by their text: parsed, validated and weighed once.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from http import HTTPStatus
from typing import Any

import orjson
from graphql import GraphQLError, GraphQLSchema

from app.domain.authorization.actor import Actor, ActorKind
from app.domain.shop.settings import admits
from app.domain.values.errors import TokenFault, TokenRejected, TooManyRequests, TrafficClosed
from app.domain.values.installation import DatabaseUnavailable
from app.domain.values.unchanging import unchanging
from app.graphql.context import RequestContext
from app.graphql.errors import Description, describe_request_error
from app.graphql.server import responses
from app.graphql.server.bodies import BadRequest
from app.graphql.server.cache import Cache
from app.graphql.server.execution.executor import execute, refuse
from app.graphql.server.execution.validation import Invalid, read_document
from app.graphql.server.execution.variables import coerce_variables
from app.graphql.server.limits import Allowance, LimitedHasher, Limits, Load, ReadingCost, exceeded
from app.graphql.server.operations import Document, Operation
from app.graphql.server.request import Entry
from app.ports import Ports
from app.services.identity.identify import Identity, Visitor, record_permission_uses, record_use
from app.web.request_hooks import record_actor

_BYTES_PER_TOKEN = 400
"""What a parsed document takes in memory, measured on documents of 10 to 2,000 tokens."""

_MANY_BYTES = 32 * 1024 * 1024
_FEW_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Rejected:
    """A document that cannot be executed, and why.

    ``over_limit``: not by itself, but with what the request contained before it.
    """

    errors: tuple[Description, ...]
    cost: ReadingCost
    over_limit: bool = False


class Documents:
    """A cache of one schema's documents by their text; invalid ones have a smaller cache.

    ``read`` counts how many had to be parsed and validated.
    """

    def __init__(self, schema: GraphQLSchema, *, hide_suggestions: bool) -> None:
        self.read = 0
        self._schema = schema
        self._hide_suggestions = hide_suggestions
        self._valid: Cache[str, Document] = Cache(entries=1000, size=_MANY_BYTES)
        self._invalid: Cache[str, Rejected] = Cache(entries=200, size=_FEW_BYTES)

    @property
    def size(self) -> int:
        """What the valid ones take, in bytes."""
        return self._valid.used

    def get(self, text: str, allowed: Allowance) -> Document | Rejected:
        """Return the document of ``text``, from the cache if possible.

        A cached document costs the request as much as a new one, so that whether a request is
        within its limits does not depend on other requests.
        """
        cached = self._valid.get(text) or self._invalid.get(text)
        if cached is None:
            return self._read(text, allowed)
        error = allowed.error(cached.cost)
        return cached if error is None else _over_limit(cached.cost, error)

    def _read(self, text: str, allowed: Allowance) -> Document | Rejected:
        self.read += 1
        try:
            tree, cost = read_document(
                self._schema, text, allowed, hide_suggestions=self._hide_suggestions
            )
        except Invalid as invalid:
            if invalid.over_limit:
                return _over_limit(invalid.cost, *invalid.errors)
            rejected = Rejected(tuple(map(describe_request_error, invalid.errors)), invalid.cost)
            size = sum(len(error["message"]) for error in rejected.errors)
            self._invalid.put(text, rejected, len(text) + size)
            return rejected
        document = Document(self._schema, tree, cost)
        self._valid.put(text, document, len(text) + cost.tokens * _BYTES_PER_TOKEN)
        return document


def _over_limit(cost: ReadingCost, *errors: GraphQLError) -> Rejected:
    return Rejected(tuple(map(describe_request_error, errors)), cost, over_limit=True)


Identify = Callable[[Ports, Visitor], Identity]
CountStored = Callable[[Ports, Actor], Mapping[str, int]]
"""Returns how many items there are for owned lists (``query_cost``), for callers who see them."""

_UNIDENTIFIED = (DatabaseUnavailable, TooManyRequests)
_INTROSPECTION_BYTES = 16 * 1024 * 1024


@unchanging
class Plan:
    """An entry that will be executed: it is valid and within the limits."""

    entry: Entry
    operation: Operation
    variables: dict[str, Any]
    load: Load


class Exchange:
    """Executes the entries of one request in order, on behalf of its caller."""

    def __init__(
        self,
        ports: Ports,
        schema: GraphQLSchema,
        limits: Limits,
        identify: Identify,
        count_stored: CountStored,
    ) -> None:
        self._ports = ports
        self._hasher = LimitedHasher(ports.passwords)
        self._limited_ports = replace(ports, passwords=self._hasher)
        self._lagging_ports = self._limited_ports.tolerating_lag()
        self._limits = limits
        self._identify = identify
        self._count_stored = count_stored
        self.documents = Documents(schema, hide_suggestions=not ports.configuration.development)
        self.introspections: Cache[tuple[str, str | None, bytes], responses.Outcome] = Cache(
            entries=64, size=_INTROSPECTION_BYTES
        )

    def outcomes(
        self,
        entries: Sequence[Entry | BadRequest],
        visitor: Visitor,
        *,
        tolerates_lag: bool = False,
    ) -> list[responses.Outcome]:
        """One outcome for each entry, in their order.

        The storefront is closed to a whole request before any document is looked up. No entry is
        executed unless all of them together are within the limits. The caller is read again
        after a mutation, whose changes hold for the entries behind it. With ``tolerates_lag``
        lists can come from the replica, unless one of the entries is a mutation.
        """
        try:
            identity = self._identify(self._ports, visitor)
        except _UNIDENTIFIED as reason:
            refusal = _unidentified(reason)
            responses.record_operation((), refusal)
            return [refusal] * len(entries)
        record_use(self._ports, identity)
        record_actor(identity.actor)
        context = self._admit(identity, visitor)
        if context is None:
            self._ports.activity.count_rejection()
            responses.record_operation((), responses.CLOSED)
            return [responses.CLOSED] * len(entries)
        outcomes = []
        changed = False
        self._hasher.begin_request()
        plans = self._plan(entries, identity.actor)
        if tolerates_lag and not any(map(_is_mutation, plans)):
            context = replace(context, ports=self._lagging_ports)
        for plan in plans:
            if isinstance(plan, responses.Outcome):
                responses.record_operation((), plan)
                self._count(identity.actor, plan)
                outcomes.append(plan)
                continue
            try:
                if outcomes and context is not None:
                    context = self._renew(context) if changed else context.with_new_loaders()
            except _UNIDENTIFIED as reason:
                outcomes.append(_unidentified(reason))
                continue
            outcomes.append(responses.CLOSED if context is None else self._answer(plan, context))
            changed = plan.operation.is_mutation
        return outcomes

    def _admit(self, identity: Identity, visitor: Visitor) -> RequestContext | None:
        if not admits(identity.actor, identity.switches):
            return None
        return RequestContext(self._limited_ports, visitor, identity)

    def _renew(self, context: RequestContext) -> RequestContext | None:
        """Return the context after a mutation; what counts for the whole request is kept."""
        renewed = self._admit(self._current_identity(context), context.visitor)
        if renewed is None:
            return None
        return replace(renewed, field_errors=context.field_errors)

    def _current_identity(self, context: RequestContext) -> Identity:
        """Return the current identity of the request's caller.

        A visitor with an invalid credential stays anonymous, so that one request doesn't ask a
        provider about the same unknown token repeatedly; only the shop is read.
        """
        before, visitor = context.identity, context.visitor
        if before.actor.kind is not ActorKind.ANONYMOUS:
            return self._identify(self._ports, visitor)
        return replace(
            before, shop=self._identify(self._ports, replace(visitor, credential=None)).shop
        )

    def _readmit(self, context: RequestContext) -> RequestContext:
        """The context of a later field; raises ``TrafficClosed``, ``TokenRejected`` if expired."""
        renewed = self._renew(context)
        if renewed is None:
            raise TrafficClosed
        if renewed.actor.fault is TokenFault.EXPIRED:
            raise TokenRejected(TokenFault.EXPIRED)
        return renewed

    def _plan(
        self, entries: Sequence[Entry | BadRequest], actor: Actor
    ) -> list[Plan | responses.Outcome]:
        plans: list[Plan | responses.Outcome] = []
        allowed = Allowance(self._limits.tokens)
        load = Load()
        for entry in entries:
            if isinstance(entry, BadRequest):
                plans.append(responses.malformed(entry.message, entry.status, entry.code))
                continue
            document = self.documents.get(entry.query, allowed)
            allowed = allowed.after(document.cost)
            if isinstance(document, Rejected):
                refusal = responses.refused_as(document.errors)
                if document.over_limit:
                    return _refuse_all(plans, refusal, len(entries))
                plans.append(refusal)
                continue
            plan = self._prepare(entry, document)
            if isinstance(plan, Plan):
                total = load + plan.load
                if exceeded(total, self._limits) is not None:
                    plan = self._weigh_by_stored(plan, actor)
                    total = load + plan.load
                    error = exceeded(total, self._limits)
                    if error is not None:
                        return _refuse_all(plans, responses.refused(error), len(entries))
                load = total
            plans.append(plan)
        return plans

    def _weigh_by_stored(self, plan: Plan, actor: Actor) -> Plan:
        """Return ``plan`` with the load by what is stored, not by what could be."""
        stored = self._count_stored(self._ports, actor)
        return replace(plan, load=plan.operation.load(plan.variables, stored))

    def _prepare(self, entry: Entry, document: Document) -> Plan | responses.Outcome:
        try:
            operation = document.operation(entry.operation_name)
        except GraphQLError as error:
            return responses.refused(error)
        if entry.read_only and operation.is_mutation:
            return responses.malformed("Send mutations with POST.", HTTPStatus.METHOD_NOT_ALLOWED)
        variables = coerce_variables(operation, entry.variables)
        if isinstance(variables, list):
            return responses.refused(*variables)
        return Plan(entry, operation, variables, operation.load(variables))

    def _answer(self, plan: Plan, context: RequestContext) -> responses.Outcome:
        started = time.perf_counter()
        if self._ports.traces.is_on:
            names = plan.operation.root_fields
            name = names[0] if len(names) == 1 else "several fields"
            with self._ports.traces.span(f"graphql {name}"):
                outcome = self._execute(plan, context)
        else:
            outcome = self._execute(plan, context)
        seconds = time.perf_counter() - started
        responses.record_operation(plan.operation.root_fields, outcome, seconds)
        self._count(context.actor, outcome, seconds)
        return outcome

    def _count(self, actor: Actor, outcome: responses.Outcome, seconds: float = 0.0) -> None:
        """Count an operation of an app, in memory; of its extensions what they needed."""
        if not actor.is_app:
            record_permission_uses(self._ports, actor)
        elif actor.app_id is not None:
            self._ports.activity.count_app_request(
                actor.app_id, outcome.code, seconds, actor.used or ()
            )

    def _execute(self, plan: Plan, context: RequestContext) -> responses.Outcome:
        try:
            if context.actor.fault is TokenFault.EXPIRED:
                result = refuse(plan.operation, plan.variables, TokenFault.EXPIRED)
                return responses.executed(*result, self._ports, self._extensions(plan))
            if plan.operation.is_introspection:
                return self._introspect(plan, context)
            readmit = partial(self._readmit, context)
            result = execute(plan.operation, plan.variables, context, readmit)
            return responses.executed(*result, self._ports, self._extensions(plan))
        except DatabaseUnavailable:
            return responses.UNAVAILABLE
        except Exception as fault:  # noqa: BLE001 - whatever it is, the other entries go on
            return responses.faulty(fault, self._ports)

    def _extensions(self, plan: Plan) -> dict[str, object] | None:
        """Return the operation's cost in the platform's form, if the installation shows it."""
        if not self._limits.show_cost:
            return None
        cost = {"requestedQueryCost": plan.load.cost, "maximumAvailable": self._limits.cost}
        return {"cost": cost}

    def _introspect(self, plan: Plan, context: RequestContext) -> responses.Outcome:
        entry = plan.entry
        key = entry.query, entry.operation_name, _canonical(entry.variables)
        cached = self.introspections.get(key)
        if cached is not None:
            return cached
        data, errors = execute(plan.operation, plan.variables, context)
        outcome = responses.executed(data, errors, self._ports, self._extensions(plan))
        if not errors:
            size = len(entry.query) + len(key[-1]) + len(outcome.body)
            self.introspections.put(key, outcome, size)
        return outcome


def _is_mutation(plan: Plan | responses.Outcome) -> bool:
    return isinstance(plan, Plan) and plan.operation.is_mutation


def _unidentified(reason: DatabaseUnavailable | TooManyRequests) -> responses.Outcome:
    """The outcome of a request whose caller can't be identified right now."""
    return (
        responses.limited(reason) if isinstance(reason, TooManyRequests) else responses.UNAVAILABLE
    )


def _refuse_all(
    plans: Sequence[Plan | responses.Outcome], refusal: responses.Outcome, entries: int
) -> list[Plan | responses.Outcome]:
    """Refuse a batch that is over a limit; entries that failed by themselves keep their errors."""
    outcomes: list[Plan | responses.Outcome] = [
        plan if isinstance(plan, responses.Outcome) else refusal for plan in plans
    ]
    return outcomes + [refusal] * (entries - len(plans))


def _canonical(variables: dict[str, Any]) -> bytes:
    # Introspection has no uploads; that there is one makes the key different.
    option = orjson.OPT_SORT_KEYS | orjson.OPT_PASSTHROUGH_DATACLASS
    return orjson.dumps(variables, default=repr, option=option)
