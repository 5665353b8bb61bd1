"""How a rule says no: its exceptions, and ``Problem``, the plain value most of them carry."""

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from enum import StrEnum

from app.domain.values.text import Plural, Sentence, text


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with an input.

    ``code`` is the name of the public error code, ``field`` the input at fault in the interface's
    own spelling (``refreshToken``) or ``None`` when no single input is. The tuples name what a
    code such as ``OUT_OF_SCOPE_PERMISSION`` is about. ``lines`` are the lines of a longer text
    that are at fault, counted from 1.

    ``address_type`` says which of two addresses of an input is at fault: ``BILLING`` or
    ``SHIPPING``.

    ``template`` says what is wrong, in English, with the names of ``values`` in braces;
    ``plural`` is its plural form, for a value named ``count``. Edges that people read write it
    with ``text``; ``message`` is the whole English sentence, for the API and the command line.
    ``place`` names the part of a larger input in front of it: ``webhooks[2].query``.
    """

    code: str
    template: Sentence
    field: str | None = None
    permissions: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    channels: tuple[str, ...] = ()
    lines: tuple[int, ...] = ()
    address_type: str = ""
    values: Mapping[str, object] = dataclass_field(default_factory=dict, hash=False)
    plural: Plural = ""
    place: str = ""

    @property
    def message(self) -> str:
        return with_place(self, text(self.template, self.plural, **self.values))


def with_place(problem: Problem, sentence: str) -> str:
    """Return ``sentence`` with the part of the input that ``problem`` is about in front of it."""
    return f"{problem.place}: {sentence}" if problem.place else sentence


class Refused(Exception):
    """A rule said no; nothing was changed."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__("; ".join(problem.message for problem in problems))
        self.problems = problems


def refuse_any(*problems: Problem | None) -> None:
    """Raise ``Refused`` with the ``problems`` that aren't ``None``, if there are any."""
    existing = [problem for problem in problems if problem is not None]
    if existing:
        raise Refused(*existing)


class Stale(Exception):
    """What the caller has seen was changed meanwhile; nothing was saved.

    Only callers that say what they have seen (``inputs.Seen``) get it.
    """


class PermissionDenied(Exception):
    """The caller is identified or anonymous, and lacks one of ``required``.

    ``required`` holds names of permissions or kinds of callers. ``needs_all``: the caller lacks
    each of them, and needs all.
    """

    def __init__(
        self, *required: str, message: str | None = None, needs_all: bool = False
    ) -> None:
        names = ", ".join(required)
        super().__init__(
            message or f"To access this path, you need one of the following permissions: {names}"
        )
        self.required = required
        self.needs_all = needs_all


class TokenFault(StrEnum):
    """What is wrong with a credential; the value is the code that clients test for."""

    EXPIRED = "ExpiredSignatureError"
    SIGNATURE = "InvalidSignatureError"
    ALGORITHM = "InvalidAlgorithmError"
    IMMATURE = "ImmatureSignatureError"
    UNDECODABLE = "DecodeError"
    INVALID = "InvalidTokenError"
    PROVIDER = "ProviderUnavailable"

    @property
    def code(self) -> str:
        """The class name shown to clients, who know of no more kinds of invalid tokens."""
        invalid = self in (TokenFault.UNDECODABLE, TokenFault.PROVIDER)
        return TokenFault.INVALID.value if invalid else self.value

    @property
    def message(self) -> str:
        return _MESSAGES[self]


_MESSAGES = {
    TokenFault.EXPIRED: "Signature has expired",
    TokenFault.SIGNATURE: "Signature verification failed",
    TokenFault.ALGORITHM: "The specified alg value is not allowed",
    TokenFault.IMMATURE: "The token is not yet valid",
    TokenFault.UNDECODABLE: "Invalid token. It cannot be decoded.",
    TokenFault.INVALID: "Invalid token. Create new one by using tokenCreate mutation.",
    TokenFault.PROVIDER: "The identity provider that issued this token isn't responding.",
}


class TokenRejected(Exception):
    """The request's credential is invalid.

    ``message`` replaces the default for other instances.
    """

    def __init__(self, fault: TokenFault, message: str = "") -> None:
        super().__init__(message or fault.message)
        self.fault = fault


class ProofRequired(Exception):
    """The caller has to prove again who they are before ``act``, as its use case names it."""

    def __init__(self, act: str) -> None:
        super().__init__(act)
        self.act = act


class TrafficClosed(Exception):
    """Storefront traffic is switched off and the caller is neither staff nor an app."""

    MESSAGE = "Storefront traffic is not allowed."
    CODE = "STOREFRONT_TRAFFIC_NOT_ALLOWED"

    def __init__(self, message: str = MESSAGE) -> None:
        super().__init__(message)


class TooManyRequests(Exception):
    """A limit on how often or how much was reached; nothing was changed.

    ``retry_after`` is the number of seconds after which a new request can succeed, at least 1.
    """

    CODE = "TOO_MANY_REQUESTS"

    def __init__(self, retry_after: int) -> None:
        self.retry_after = max(1, retry_after)
        message = text(
            "Too many requests. Try again in {count} second.",
            "Too many requests. Try again in {count} seconds.",
            count=self.retry_after,
        )
        super().__init__(message)
