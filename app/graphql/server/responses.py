"""The encoded result of one operation: a response, or a part of a batch's response."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

import orjson
from graphql import GraphQLError

from app.domain.values.errors import TokenRejected, TooManyRequests
from app.domain.values.installation import DatabaseUnavailable
from app.domain.values.unchanging import unchanging
from app.graphql.errors import (
    REQUEST_ERROR,
    Description,
    cause_of,
    describe_closed_traffic,
    describe_fault,
    describe_field_error,
    describe_limit,
    describe_outage,
    describe_request_error,
)
from app.ports import Ports
from app.web.request_hooks import OperationOutcome, OperationRun, current_request


@unchanging
class Outcome:
    """The result of one operation; ``rejects_credential`` marks a rejected token.

    ``code`` is that of the first error. ``retry_after`` is in how many seconds the same request
    can succeed, where that is known. ``is_executed`` is false for a request that was refused
    before anything was executed.
    """

    status: HTTPStatus
    body: bytes
    rejects_credential: bool = False
    is_executed: bool = True
    retry_after: int | None = None
    code: str = ""

    @property
    def has_errors(self) -> bool:
        """Whether the response reports errors; they come first in it."""
        return self.body.startswith(_ERRORS)


_ERRORS = b'{"errors":'


def _code(errors: Sequence[Description]) -> str:
    """Return the code of the first error, as clients test for it."""
    extensions = errors[0].get("extensions", {}) if errors else {}
    exception = extensions.get("exception")
    code = exception.get("code") if isinstance(exception, dict) else None
    return str(extensions.get("code") or code or REQUEST_ERROR)


def executed(
    data: Any,
    errors: Sequence[GraphQLError],
    ports: Ports,
    extensions: Mapping[str, object] | None = None,
) -> Outcome:
    """An operation that was executed, perhaps with fields that failed.

    Where the database went away before any field had a value, it may be sent again as it is.
    """
    if not errors and extensions is None:
        return Outcome(HTTPStatus.OK, b'{"data":' + orjson.dumps(data) + b"}")
    if not errors:
        return Outcome(HTTPStatus.OK, orjson.dumps({"data": data, "extensions": extensions}))
    away = any(isinstance(cause_of(error), DatabaseUnavailable) for error in errors)
    if away and not (data and any(value is not None for value in data.values())):
        return UNAVAILABLE
    described = [describe_field_error(error, ports) for error in errors]
    rejects = any(isinstance(cause_of(error), TokenRejected) for error in errors)
    answer = {"errors": described, "data": data}
    if extensions is not None:
        answer["extensions"] = extensions
    body = orjson.dumps(answer)
    return Outcome(HTTPStatus.OK, body, rejects_credential=rejects, code=_code(described))


def refused(*errors: GraphQLError) -> Outcome:
    """An operation that was not executed because of what the client wrote."""
    return refused_as(tuple(map(describe_request_error, errors)))


def refused_as(
    errors: Sequence[Description], status: HTTPStatus = HTTPStatus.BAD_REQUEST
) -> Outcome:
    """The same, of errors that are described already."""
    return Outcome(status, orjson.dumps({"errors": errors}), code=_code(errors))


def malformed(
    message: str, status: HTTPStatus = HTTPStatus.BAD_REQUEST, code: str = ""
) -> Outcome:
    """The result of a malformed request; ``code`` is what clients test for."""
    extensions: Description = {"exception": {"code": REQUEST_ERROR}}
    if code:
        extensions["code"] = code
    error = {"message": message, "extensions": extensions}
    body = orjson.dumps({"errors": [error]})
    return Outcome(status, body, is_executed=False, code=code or REQUEST_ERROR)


def faulty(fault: Exception, ports: Ports) -> Outcome:
    """The result of an internal error, masked; the log has the details."""
    return refused_as((describe_fault(fault, ports),), HTTPStatus.INTERNAL_SERVER_ERROR)


def limited(limit: TooManyRequests) -> Outcome:
    """The result of a request whose credential can't be checked right now."""
    body = orjson.dumps({"errors": [describe_limit(limit)]})
    return Outcome(HTTPStatus.TOO_MANY_REQUESTS, body, retry_after=limit.retry_after)


UNAVAILABLE = Outcome(
    HTTPStatus.SERVICE_UNAVAILABLE,
    orjson.dumps({"errors": [describe_outage()]}),
    retry_after=DatabaseUnavailable.retry_after,
    code=_code([describe_outage()]),
)
"""What an operation gets while the database is away."""

CLOSED = refused_as((describe_closed_traffic(),), HTTPStatus.UNAUTHORIZED)
"""What a closed storefront answers, once for every entry of a batch."""


def joined(outcomes: Sequence[Outcome]) -> Outcome:
    """A batch's answer: the outcomes in their order, under the highest of their statuses."""
    return Outcome(
        max((outcome.status for outcome in outcomes), default=HTTPStatus.OK),
        b"[" + b",".join(outcome.body for outcome in outcomes) + b"]",
        rejects_credential=any(outcome.rejects_credential for outcome in outcomes),
        is_executed=all(outcome.is_executed for outcome in outcomes),
        retry_after=max((outcome.retry_after or 0 for outcome in outcomes), default=0) or None,
    )


def record_operation(root_fields: tuple[str, ...], outcome: Outcome, seconds: float = 0.0) -> None:
    """Note an operation of the current request for its log line and metrics."""
    request = current_request()
    if request is not None:
        request.operations.append(
            OperationRun(root_fields, _result(root_fields, outcome), seconds)
        )


def _result(root_fields: tuple[str, ...], outcome: Outcome) -> OperationOutcome:
    if outcome is UNAVAILABLE:
        return OperationOutcome.UNAVAILABLE
    if outcome is CLOSED:
        return OperationOutcome.CLOSED
    if outcome.status is HTTPStatus.INTERNAL_SERVER_ERROR:
        return OperationOutcome.FAULT
    if not root_fields:
        return OperationOutcome.REFUSED
    return OperationOutcome.ERROR if outcome.has_errors else OperationOutcome.OK
