"""What the parts of pages show: pills, facts, consequences and questions.

Each is drawn by the macro of its name in ``templates/console/_parts.html``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Pill:
    """A state in a word or two: ``state`` is ok, warn, bad, info, off or empty."""

    state: str
    words: str


@dataclass(frozen=True, slots=True)
class Fact:
    """A line of a list of facts; ``value`` is text or markup.

    A value that ``is_copied`` is text with a button that copies it.
    """

    label: str
    value: str
    is_copied: bool = False


@dataclass(frozen=True, slots=True)
class Consequence:
    """What a change does: ``state`` is bad, warn or ok."""

    state: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Question:
    """A dialog that asks before a change; its form is sent to ``endpoint``.

    ``action`` is the button's label, ``hidden`` are fields that the form carries along.
    """

    title: str
    action: str
    endpoint: str
    arguments: Mapping[str, object] = field(default_factory=dict)
    consequences: Sequence[Consequence] = ()
    detail: str = ""
    hidden: Sequence[tuple[str, str]] = ()
    is_harmless: bool = False
