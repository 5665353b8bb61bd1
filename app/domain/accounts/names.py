"""First and last names: any script, one line each."""

from app.domain.values.errors import Problem
from app.domain.values.text_rules import line_problem

MAX_NAME_LENGTH = 256


def name_problems(first_name: str, last_name: str) -> list[Problem]:
    """Return the names' problems: INVALID on ``firstName``, ``lastName``; empty ones are allowed.

    Line breaks and control characters are refused: mails greet with names.
    """
    problems = (
        line_problem(first_name, "firstName", max_length=MAX_NAME_LENGTH),
        line_problem(last_name, "lastName", max_length=MAX_NAME_LENGTH),
    )
    return [problem for problem in problems if problem is not None]
