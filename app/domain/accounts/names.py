"""First and last names: any script, one line each."""

from app.domain.values.errors import Problem
from app.domain.values.text_rules import line_problem

LONGEST = 256


def name_problems(first_name: str, last_name: str) -> list[Problem]:
    """What is wrong with the names: INVALID on ``firstName``, ``lastName``; empty ones are fine.

    Line breaks and control characters are refused: names are greeted with in mails.
    """
    found = (
        line_problem(first_name, "firstName", longest=LONGEST),
        line_problem(last_name, "lastName", longest=LONGEST),
    )
    return [problem for problem in found if problem is not None]
