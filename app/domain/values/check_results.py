"""The results of diagnostic checks."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class State(StrEnum):
    FINE = "fine"
    WARNING = "warning"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at; ``remedy`` says what to do unless all is well.

    ``templates`` are message and remedy before their ``values``, for pages that translate them.
    """

    subject: str
    state: State
    message: str
    remedy: str = ""
    templates: tuple[str, str] = ("", "")
    values: Mapping[str, object] = field(default_factory=dict)
