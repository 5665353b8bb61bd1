"""Why someone wasn't signed in, as the sign-in pages say it."""

from math import ceil

from app.domain.values.errors import Problem
from app.web.translation import problem_text, text

_SECONDS = 60


def refusal_text(problem: Problem) -> str:
    """Return why someone wasn't signed in; the API's clients get the problem's message."""
    if problem.code == "INVALID_CREDENTIALS":
        return text("Incorrect email or password.")
    wait = problem.values.get("wait")
    if not isinstance(wait, int):
        return problem_text(problem)
    if wait > _SECONDS:
        return text(
            "Too many attempts. Try again in {count} minute.",
            "Too many attempts. Try again in {count} minutes.",
            count=ceil(wait / _SECONDS),
        )
    return text(
        "Too many attempts. Try again in {count} second.",
        "Too many attempts. Try again in {count} seconds.",
        count=wait,
    )
