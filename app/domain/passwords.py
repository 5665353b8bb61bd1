"""What a password must be like."""

from app.domain.errors import Problem

SHORTEST = 8


def password_problem(password: str, field: str = "password") -> Problem | None:
    """Why ``password`` is too weak to be set, or ``None``.

    It counts as it was typed: nothing is trimmed, cut off or folded.
    """
    if len(password) < SHORTEST:
        message = f"This password is too short. It must have at least {SHORTEST} characters."
        return Problem("PASSWORD_TOO_SHORT", message, field)
    return None
