"""What an import did with rows that don't fit as they are."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Generic, TypeVar

from app.domain.values.text import text

Value = TypeVar("Value")


class Outcome(StrEnum):
    """What was done with a row, or with the part of it that doesn't fit."""

    LEFT_OUT = "LEFT_OUT"
    """Nothing of the row was imported, or the named part of it wasn't."""
    CHANGED = "CHANGED"
    """Imported with another value, for example a shorter name."""
    DISABLED = "DISABLED"
    """Imported, but disabled."""
    NO_EFFECT = "NO_EFFECT"
    """Imported as it is, but the named part has no effect here."""
    MUST_RESET = "MUST_RESET"
    """Imported without the password: the person must set a new one."""
    IMPORTED = "IMPORTED"
    """Imported as it is, but it needs attention."""
    KEPT = "KEPT"
    """It changed both at the source and here since the last import; ours was kept."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A row of the source that doesn't fit: which one, why, and what was done.

    ``table`` and ``key`` name it at the source (a file: its name and the line). ``code`` is
    stable, for programs (``PERMISSION_UNKNOWN``). ``template`` is the sentence, with the names of
    ``values`` in braces. No secret may be in it.
    """

    table: str
    key: int | str
    code: str
    template: str
    outcome: Outcome
    values: Mapping[str, object] = field(default_factory=dict, hash=False)

    @property
    def reason(self) -> str:
        """The whole sentence."""
        return text(self.template, **self.values)


@dataclass(frozen=True, slots=True)
class Converted(Generic[Value]):
    """A row as it is to be imported, ``None`` if it is left out, and what didn't fit."""

    value: Value | None
    findings: tuple[Finding, ...] = ()
