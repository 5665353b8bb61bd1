"""What a use case refused, as tests compare it."""

import pytest

from app.domain.values.errors import Refused


def codes(refused: pytest.ExceptionInfo[Refused]) -> list[tuple[str | None, str]]:
    """Field and code of each problem."""
    return [(problem.field, problem.code) for problem in refused.value.problems]
