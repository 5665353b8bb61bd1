"""Calls to other people's servers: guarded against what hides behind an address, and limited."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from app.domain.values.json_values import NoJsonObject, read_json_object

_GOOD = range(200, 300)


class CallFault(StrEnum):
    """Why a call gave no answer that could be used."""

    ADDRESS = "address"
    """It is no address of HTTP, or holds what it must not (a user, blanks)."""
    FORBIDDEN = "forbidden"
    """It leads into a private network that ``OUTGOING_ALLOWED_NETWORKS`` does not list."""
    UNREACHABLE = "unreachable"
    """No connection could be made."""
    INTERRUPTED = "interrupted"
    """The connection was reset before there was an answer, perhaps because of what was asked."""
    TIMEOUT = "timeout"
    CERTIFICATE = "certificate"
    TOO_LARGE = "too large"
    MALFORMED = "malformed"
    """The response isn't valid HTTP, or not in the requested format."""
    STATUS = "status"
    NOT_CALLED = "not called"
    """The call was not made: too many others wait, or the last ones failed."""


_PASSING = (CallFault.UNREACHABLE, CallFault.INTERRUPTED, CallFault.TIMEOUT, CallFault.NOT_CALLED)


class CallFailed(Exception):
    """There is no usable response; the text is fit for the operator."""

    def __init__(self, fault: CallFault, message: str) -> None:
        super().__init__(message)
        self.fault = fault

    @property
    def is_temporary(self) -> bool:
        """Whether the same call may well succeed later."""
        return self.fault in _PASSING

    @property
    def is_connection(self) -> bool:
        """Whether no connection could be made, so that it is not about what was asked."""
        return self.fault in (CallFault.UNREACHABLE, CallFault.CERTIFICATE)


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request; ``timeout`` in seconds for all of it, ``max_size`` in bytes of the response.

    With ``status_suffices`` a longer body is cut without an error, and one in an unrequested
    encoding is left out.
    """

    url: str
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes | None = field(default=None, repr=False)
    timeout: float = 10.0
    max_size: int = 1024 * 1024
    status_suffices: bool = False


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """A response of any status; header names are in lower case."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes = field(default=b"", repr=False)

    @property
    def is_good(self) -> bool:
        return self.status in _GOOD


class Http(Protocol):
    def send(self, request: HttpRequest) -> HttpResponse:
        """Send ``request`` and return the response of any status; redirects aren't followed.

        Names are resolved once, each address is checked, and the connection is made to the first
        checked one that takes it.
        Raises ``CallFailed`` without a response within the limits. Never inside a transaction.
        """


def json_members(response: HttpResponse, what: str) -> Mapping[str, object]:
    """The JSON object in ``response``; ``what`` names it in the error.

    Raises ``CallFailed``: STATUS for any but 2xx, MALFORMED for what ``read_json_object`` refuses.
    """
    if not response.is_good:
        raise CallFailed(CallFault.STATUS, f"{what} answered with HTTP {response.status}.")
    try:
        return read_json_object(response.body)
    except NoJsonObject as refused:
        raise CallFailed(CallFault.MALFORMED, refused.sentence(what)) from None
