"""Documents that have been sent before: parsed, validated and weighed once, kept by their text."""

from dataclasses import dataclass

from graphql import GraphQLError, GraphQLSchema

from app.graphql.errors import Description, describe_request_error
from app.graphql.server.cache import Cache
from app.graphql.server.execution.validation import Invalid, read_document
from app.graphql.server.limits import Allowance, ReadingCost
from app.graphql.server.operations import Document

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
