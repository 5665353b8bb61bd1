"""Documents that have been sent before: parsed, validated and weighed once, kept by their text."""

from dataclasses import dataclass

from graphql import GraphQLSchema

from app.graphql.cache import Cache
from app.graphql.errors import Description, describe_request_error
from app.graphql.operations import Document
from app.graphql.validation import Invalid, count_tokens, read_document

_BYTES_PER_TOKEN = 400
"""What a parsed document takes in memory, measured on documents of 10 to 2,000 tokens."""

_MANY_BYTES = 32 * 1024 * 1024
_FEW_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Rejected:
    """A document that cannot be executed, and why."""

    errors: tuple[Description, ...]


class Documents:
    """Every document of one schema by its text; invalid ones have a smaller place of their own.

    ``read`` counts how many had to be parsed and validated.
    """

    def __init__(self, schema: GraphQLSchema, *, most_tokens: int, hide_suggestions: bool) -> None:
        self.read = 0
        self._schema = schema
        self._most_tokens = most_tokens
        self._hide_suggestions = hide_suggestions
        self._valid: Cache[str, Document] = Cache(entries=1000, size=_MANY_BYTES)
        self._invalid: Cache[str, Rejected] = Cache(entries=200, size=_FEW_BYTES)

    @property
    def size(self) -> int:
        """What the valid ones take, in bytes."""
        return self._valid.used

    def get(self, text: str) -> Document | Rejected:
        """What ``text`` means, from memory where it has been seen before."""
        return self._valid.get(text) or self._invalid.get(text) or self._read(text)

    def _read(self, text: str) -> Document | Rejected:
        self.read += 1
        try:
            tree = read_document(
                self._schema,
                text,
                most_tokens=self._most_tokens,
                hide_suggestions=self._hide_suggestions,
            )
        except Invalid as invalid:
            rejected = Rejected(tuple(map(describe_request_error, invalid.errors)))
            told = sum(len(error["message"]) for error in rejected.errors)
            self._invalid.put(text, rejected, len(text) + told)
            return rejected
        document = Document(self._schema, tree, count_tokens(tree))
        self._valid.put(text, document, len(text) + document.tokens * _BYTES_PER_TOKEN)
        return document
