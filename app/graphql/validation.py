"""From a document's text to its tree: parsed and valid, or the list of what is wrong with it."""

from graphql import (
    DocumentNode,
    GraphQLError,
    GraphQLSchema,
    GraphQLSyntaxError,
    parse,
    specified_rules,
    validate,
)
from graphql.validation.rules.overlapping_fields_can_be_merged import (
    OverlappingFieldsCanBeMergedRule,
)
from graphql.validation.validate import ValidationAbortedError
from graphql.validation.validation_context import ValidationContext

from app.graphql.limits import limit_error

DEEPEST = 200
"""Where the parser and the validation themselves give up, whatever the limits are."""

COMPARISONS = 25_000
"""How much work goes into finding out whether repeated fields fit together: at most 0.1 s of it.

It grows with the square of the repetitions. Forty fragments that all select the same fields of the
same object need 18,000, the standard introspection none.
"""

_MOST_ERRORS = 50


class Invalid(Exception):
    """A document that cannot be executed, and everything that is wrong with it."""

    def __init__(self, *errors: GraphQLError) -> None:
        super().__init__("; ".join(error.message for error in errors))
        self.errors = errors


class BoundedMergingRule(OverlappingFieldsCanBeMergedRule):
    """Fields of the same name must fit together; gives up where the library's own bound is far."""

    def __init__(self, context: ValidationContext) -> None:
        super().__init__(context)
        self.rule_context.remaining_complexity_budget = COMPARISONS


RULES = (
    *(rule for rule in specified_rules if rule is not OverlappingFieldsCanBeMergedRule),
    BoundedMergingRule,
)
"""Those of the GraphQL specification, and the library's bound on how introspection nests."""


def read_document(
    schema: GraphQLSchema, text: str, *, most_tokens: int, hide_suggestions: bool
) -> DocumentNode:
    """The valid document that ``text`` spells; raises ``Invalid``.

    ``hide_suggestions`` keeps names of the schema out of the errors.
    """
    document = _parse(text, most_tokens)
    errors = validate(
        schema, document, RULES, max_errors=_MOST_ERRORS, hide_suggestions=hide_suggestions
    )
    if errors:
        raise Invalid(*(_name_limit(error) for error in errors))
    return document


def count_tokens(document: DocumentNode) -> int:
    """The tokens of a parsed document, comments included."""
    count = 0
    token = document.loc.start_token if document.loc else None
    while token is not None:
        count += 1
        token = token.next
    return count


def _parse(text: str, most_tokens: int) -> DocumentNode:
    try:
        return parse(text, max_tokens=most_tokens)
    except GraphQLSyntaxError as error:
        # Raised further without its context, which would keep the parser and its tokens alive.
        problem = _name_parser_limit(error, most_tokens)
    raise Invalid(problem.with_traceback(None))


def _name_parser_limit(error: GraphQLSyntaxError, most_tokens: int) -> GraphQLError:
    if error.message.endswith(" tokens. Parsing aborted."):
        told = f"The request consists of more than {most_tokens} tokens"
        return limit_error("tokens", told, most_tokens)
    if error.message.endswith(" nested too deeply. Parsing aborted."):
        return limit_error("depth", f"The request nests more than {DEEPEST} levels deep", DEEPEST)
    return error


def _name_limit(error: GraphQLError) -> GraphQLError:
    if isinstance(error, ValidationAbortedError) and error.message == "Validation aborted.":
        told = (
            f"The request repeats its fields too often, or nests more than {DEEPEST} levels deep"
        )
        return limit_error("comparisons", told, COMPARISONS)
    return error
