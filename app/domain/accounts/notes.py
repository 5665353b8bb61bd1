"""What staff keep with a person: a note, and the ID that another system has for them."""

from app.domain.values.errors import Problem
from app.domain.values.text_rules import line_problem, prose_problem

MAX_NOTE_LENGTH = 10_000
MAX_REFERENCE_LENGTH = 250


def note_problems(note: str, external_reference: str) -> list[Problem]:
    """Return the problems: INVALID on ``note`` and ``externalReference``; empty ones are fine."""
    problems = (
        prose_problem(note, "note", max_length=MAX_NOTE_LENGTH),
        line_problem(external_reference, "externalReference", max_length=MAX_REFERENCE_LENGTH),
    )
    return [problem for problem in problems if problem is not None]
