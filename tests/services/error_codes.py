"""The problems of a refusal, in a form that tests compare."""

import pytest

from app.domain.values.errors import Refused


def codes(refused: pytest.ExceptionInfo[Refused]) -> list[tuple[str | None, str]]:
    """Return field and code of each problem."""
    return [(problem.field, problem.code) for problem in refused.value.problems]
