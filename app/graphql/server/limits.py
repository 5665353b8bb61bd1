"""The limits of one request, password hashes among them, and the error of the one exceeded."""

import threading
from dataclasses import dataclass

from graphql import GraphQLError

from app.domain.values.errors import TooManyRequests
from app.domain.values.pages import MAX_PAGE_SIZE
from app.domain.values.unchanging import unchanging
from app.ports import PasswordHasher
from app.ports.passwords import Match

CEILING = 1_000_000_000
"""Where counting stops: an operation this large needs no exact figure."""


COMPARISONS = 25_000
"""How much work goes into finding out whether repeated fields fit together: at most 0.1 s of it.

It grows with the square of the repetitions. Forty fragments that all select the same fields of the
same object need 18,000, the standard introspection none.
"""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a request can ask for; ``.env.example`` describes those that are settings.

    ``tokens``, ``cost`` and ``mutations`` are sums over all operations of a batch; ``depth``,
    ``aliases``, ``page_size`` and ``entities`` (of one field) apply to each operation. ``depth``
    leaves the standard introspection query room, which nests fifteen levels. ``show_cost`` adds
    the cost of each operation to its response.
    """

    tokens: int
    depth: int
    aliases: int
    cost: int
    mutations: int
    entities: int
    page_size: int = MAX_PAGE_SIZE
    show_cost: bool = False


@unchanging
class ReadingCost:
    """What parsing and validating documents takes."""

    tokens: int = 0
    comparisons: int = 0

    def __add__(self, other: "ReadingCost") -> "ReadingCost":
        return ReadingCost(self.tokens + other.tokens, self.comparisons + other.comparisons)


@unchanging
class Allowance:
    """What the documents of a request can still use: ``tokens_max`` less ``used``."""

    tokens_max: int
    used: ReadingCost = ReadingCost()

    @property
    def tokens(self) -> int:
        return self.tokens_max - self.used.tokens

    @property
    def comparisons(self) -> int:
        return COMPARISONS - self.used.comparisons

    def after(self, cost: ReadingCost) -> "Allowance":
        return Allowance(self.tokens_max, self.used + cost)

    def error(self, cost: ReadingCost) -> GraphQLError | None:
        """Return the error of a document that takes more than is left, or ``None`` if it fits."""
        if cost.tokens > self.tokens:
            most = self.tokens_max
            message = f"The request contains more than {most} tokens; the limit is {most}."
            return limit_error("tokens", message, most)
        if cost.comparisons > self.comparisons:
            message = f"The request repeats its fields too often; the limit is {COMPARISONS}."
            return limit_error("comparisons", message, COMPARISONS)
        return None


@unchanging
class Load:
    """What an operation asks for, fragments counted wherever they are spread.

    ``cost`` is about the number of values in the answer, lists taken at their page size; what a
    query looks up by arguments counts for more.
    """

    depth: int = 0
    aliases: int = 0
    cost: int = 0
    page_size: int = 0
    mutations: int = 0
    entities: int = 0

    def __add__(self, other: "Load") -> "Load":
        return Load(
            depth=max(self.depth, other.depth),
            aliases=max(self.aliases, other.aliases),
            cost=min(self.cost + other.cost, CEILING),
            page_size=max(self.page_size, other.page_size),
            mutations=min(self.mutations + other.mutations, CEILING),
            entities=max(self.entities, other.entities),
        )


SENTENCES = {
    "depth": "An operation nests {actual} levels deep; the limit is {limit}.",
    "aliases": "An operation uses {actual} aliases; the limit is {limit}.",
    "cost": "The request asks for about {actual} values; the limit is {limit}.",
    "page_size": "The request asks for pages of {actual} items; the limit is {limit}.",
    "mutations": "The request contains {actual} mutations; the limit is {limit}.",
    "entities": "The request asks for {actual} entities at once; the limit is {limit}.",
}
"""What is said of each limit that an operation exceeds."""


def exceeded(load: Load, limits: Limits) -> GraphQLError | None:
    """Return an error naming the first of ``limits`` that ``load`` exceeds, with both figures."""
    if _fits(load, limits):
        return None
    for name, sentence in SENTENCES.items():
        actual, limit = getattr(load, name), getattr(limits, name)
        if actual > limit:
            message = sentence.format(actual=actual, limit=limit)
            return limit_error(name, message, limit, actual)
    return None


def _fits(load: Load, limits: Limits) -> bool:
    # Written out, for every request passes here.
    return (
        load.depth <= limits.depth
        and load.aliases <= limits.aliases
        and load.cost <= limits.cost
        and load.page_size <= limits.page_size
        and load.mutations <= limits.mutations
        and load.entities <= limits.entities
    )


def limit_error(name: str, message: str, limit: int, actual: int | None = None) -> GraphQLError:
    """Return the error of one limit; ``actual`` is left out if counting stopped early."""
    facts = {"name": name, "limit": limit} | ({} if actual is None else {"actual": actual})
    return GraphQLError(message, extensions={"limit": facts})


MAX_HASHES = 2
"""Enough for every single mutation; one hash takes as much CPU as hundreds of requests."""

_RETRY_AFTER = 1


class LimitedHasher:
    """A password hasher that raises ``TooManyRequests`` beyond ``MAX_HASHES`` of a request.

    A request is executed by one thread, which calls ``begin_request`` first.
    """

    def __init__(self, hasher: PasswordHasher) -> None:
        self._hasher = hasher
        self._request = threading.local()

    def begin_request(self) -> None:
        """Start to count for the next request of this thread."""
        self._request.left = MAX_HASHES

    def hash(self, password: str) -> str:
        self._count()
        return self._hasher.hash(password)

    def verify(
        self, password_hash: str | None, password: str, imported_seconds: float = 0
    ) -> Match:
        self._count()
        return self._hasher.verify(password_hash, password, imported_seconds)

    def verify_sign_in(
        self, password_hash: str | None, password: str, imported_seconds: float = 0
    ) -> Match:
        self._count()
        return self._hasher.verify_sign_in(password_hash, password, imported_seconds)

    def verify_token(self, token_hash: str, token: str) -> bool:
        self._count()
        return self._hasher.verify_token(token_hash, token)

    def needs_rehash(self, password_hash: str, match: Match = Match.RIGHT) -> bool:
        # Without a hash left, an outdated one is renewed at the next sign-in.
        return self._request.left > 0 and self._hasher.needs_rehash(password_hash, match)

    def _count(self) -> None:
        if not self._request.left:
            raise TooManyRequests(_RETRY_AFTER)
        self._request.left -= 1
