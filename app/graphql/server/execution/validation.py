"""From a document's text to its tree: parsed and valid, or the list of what is wrong with it."""

from functools import cached_property
from itertools import accumulate

from graphql import (
    DocumentNode,
    GraphQLError,
    GraphQLSchema,
    GraphQLSyntaxError,
    Source,
    SourceLocation,
    specified_rules,
    validate,
)
from graphql.language.parser import Parser
from graphql.validation.rules.overlapping_fields_can_be_merged import (
    OverlappingFieldsCanBeMergedRule,
)
from graphql.validation.validate import ValidationAbortedError
from graphql.validation.validation_context import ValidationContext
from typing_extensions import override

from app.graphql.server.limits import Allowance, ReadingCost, limit_error

DEEPEST = 200
"""Where the parser and the validation themselves give up, whatever the limits are."""

_MAX_ERRORS = 50
_BLOCK = 4096

_RULES = tuple(rule for rule in specified_rules if rule is not OverlappingFieldsCanBeMergedRule)
"""Those of the GraphQL specification, and the library's bound on how introspection nests."""


class Invalid(Exception):
    """A document that cannot be executed, and everything that is wrong with it.

    ``cost`` is what reading it took. ``over_limit``: it takes more than the request has left.
    """

    def __init__(self, *errors: GraphQLError, cost: ReadingCost, over_limit: bool = False) -> None:
        super().__init__("; ".join(error.message for error in errors))
        self.errors = errors
        self.cost = cost
        self.over_limit = over_limit


class DocumentText(Source):
    """A document's text that finds the line of a position without scanning all of it.

    The library scans the text from its start for every error, once per location, in a way that
    cannot be overridden; ``hide`` gives that scan an empty text.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._text = text
        # Every line end becomes one character at the same position.
        self._lines = text.replace("\r\n", " \n").replace("\r", "\n")

    def hide(self) -> None:
        self.body = ""

    def show(self) -> None:
        self.body = self._text

    @override
    def get_location(self, position: int) -> SourceLocation:
        block = position // _BLOCK
        line = self._line_ends[block] + self._lines.count("\n", block * _BLOCK, position)
        return SourceLocation(line + 1, position - self._lines.rfind("\n", 0, position))

    @cached_property
    def _line_ends(self) -> list[int]:
        """How many lines end before each block of the text."""
        starts = range(0, len(self._lines), _BLOCK)
        ends = (self._lines.count("\n", start, start + _BLOCK) for start in starts)
        return list(accumulate(ends, initial=0))


def read_document(
    schema: GraphQLSchema, text: str, allowed: Allowance, *, hide_suggestions: bool
) -> tuple[DocumentNode, ReadingCost]:
    """Return the valid document that ``text`` spells, and what reading it took.

    Raises ``Invalid``. ``hide_suggestions`` keeps names of the schema out of the errors.
    """
    source = DocumentText(text)
    document = _parse(source, allowed)
    merging: list[OverlappingFieldsCanBeMergedRule] = []

    class BoundedMergingRule(OverlappingFieldsCanBeMergedRule):
        """Fields of the same name must fit together; gives up far before the library does."""

        def __init__(self, context: ValidationContext) -> None:
            super().__init__(context)
            self.rule_context.remaining_complexity_budget = allowed.comparisons
            merging.append(self)

    source.hide()
    errors = validate(
        schema,
        document,
        (*_RULES, BoundedMergingRule),
        max_errors=_MAX_ERRORS,
        hide_suggestions=hide_suggestions,
    )
    source.show()
    left = merging[0].rule_context.remaining_complexity_budget
    cost = ReadingCost(document.token_count, allowed.comparisons - left)
    error = allowed.error(cost)
    if error is not None:
        raise Invalid(error, cost=cost, over_limit=True)
    if errors:
        raise Invalid(*map(_name_limit, errors), cost=cost)
    return document, cost


def _parse(source: DocumentText, allowed: Allowance) -> DocumentNode:
    parser = Parser(source, max_tokens=allowed.tokens)
    try:
        return parser.parse_document()
    except GraphQLSyntaxError as error:
        # Raised further without its context, which would keep the parser and its tokens alive.
        problem: GraphQLError = error.with_traceback(None)
    except RecursionError:
        problem = _too_deep()
    cost = ReadingCost(tokens=parser.token_count)
    if problem.message.endswith(" tokens. Parsing aborted."):
        cost = ReadingCost(tokens=allowed.tokens + 1)
    over_limit = allowed.error(cost)
    if over_limit is not None:
        raise Invalid(over_limit, cost=cost, over_limit=True)
    raise Invalid(problem, cost=cost)


def _name_limit(error: GraphQLError) -> GraphQLError:
    if isinstance(error, ValidationAbortedError) and error.message == "Validation aborted.":
        return _too_deep()
    return error


def _too_deep() -> GraphQLError:
    message = f"The request nests more than {DEEPEST} levels deep; the limit is {DEEPEST}."
    return limit_error("depth", message, DEEPEST)
