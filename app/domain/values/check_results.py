"""The results of diagnostic checks."""

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    FINE = "fine"
    WARNING = "warning"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at; ``remedy`` says what to do unless all is well."""

    subject: str
    state: State
    message: str
    remedy: str = ""
