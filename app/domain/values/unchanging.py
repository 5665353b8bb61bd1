"""Dataclasses of the hot path: unchanging by the type checker, and quick to make."""

from dataclasses import dataclass, field
from typing import TypeVar

from typing_extensions import dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def unchanging(cls: type[T]) -> type[T]:
    """Make ``cls`` a dataclass with slots, whose fields mypy lets no one assign.

    ``frozen=True`` sets every field by a call of ``object.__setattr__``, which takes three times
    as long; a request makes some thirty values. Use it for those, and ``frozen=True`` elsewhere.
    """
    return dataclass(slots=True, unsafe_hash=True)(cls)
