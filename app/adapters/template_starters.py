"""Where the editor of own templates begins: our emails, with their values by name."""

import re
from collections.abc import Callable, Mapping

from app.domain.mails.mail import MailKind
from app.domain.mails.own_templates import VALUES, OwnTemplate, ValueType

_BLOCK = re.compile(r"\s*(</?(p|br|table|tr|td)\b[^>]*>)\s*")
_EMPTY_LINES = re.compile(r"\n\s*\n")

Written = Callable[[Mapping[str, str]], OwnTemplate]
"""Writes an email of ours with the given values."""


def make_starter(kind: MailKind, write: Written) -> OwnTemplate:
    """Return a template that shows what our email shows, conditions included.

    Our email is written with "{{ name }}" for each value, and again without each value that can
    be empty: the lines that differ become a condition.
    """
    values = {
        name: f"{{{{ {name} }}}}"
        for name, value in VALUES[kind].items()
        if value.type is not ValueType.LIST
    }
    full = write(values)
    without = {
        name: write({**values, name: ""})
        for name, value in VALUES[kind].items()
        if value.can_be_empty
    }
    return OwnTemplate(
        full.subject,
        _with_conditions(full.html, {name: one.html for name, one in without.items()}),
        _with_conditions(full.text, {name: one.text for name, one in without.items()}),
    )


def _with_conditions(full: str, without: Mapping[str, str]) -> str:
    lines = _lines(full)
    blocks = []
    for name, text in without.items():
        other = _lines(text)
        # From the end: a break before a line belongs to it, so that blocks don't overlap.
        end = _shared(lines[::-1], other[::-1])
        start = min(_shared(lines, other), min(len(lines), len(other)) - end)
        start, end = _balanced(lines, other, start, end)
        if start < len(lines) - end:
            blocks.append((start, len(lines) - end, name, other[start : len(other) - end]))
    for start, end, name, instead in sorted(blocks, reverse=True):
        otherwise = ["{% else %}", *instead] if "".join(instead).strip() else []
        lines[start:end] = [f"{{% if {name} %}}", *lines[start:end], *otherwise, "{% endif %}"]
    return "\n".join(lines) + "\n"


def _lines(text: str) -> list[str]:
    """Return the lines, with each tag of a block on a separate line."""
    parted = _BLOCK.sub(r"\n\1\n", text)
    if parted != text:
        parted = _EMPTY_LINES.sub("\n", parted)
    return [line.strip() for line in parted.strip().splitlines()]


def _balanced(lines: list[str], other: list[str], start: int, end: int) -> tuple[int, int]:
    """Return the least shared beginning and end with whole blocks between them, in both texts."""
    for less in range(start + end + 1):
        for before in range(min(less, start) + 1):
            first, last = start - before, end - (less - before)
            if last >= 0 and all(
                _is_whole(text[first : len(text) - last]) for text in (lines, other)
            ):
                return first, last
    return 0, 0


def _is_whole(lines: list[str]) -> bool:
    """Whether every block that begins in ``lines`` ends there, and the other way round."""
    depth = 0
    for tag in _BLOCK.finditer("\n".join(lines)):
        depth += 0 if tag[2] == "br" else -1 if tag[1].startswith("</") else 1
        if depth < 0:
            return False
    return not depth


def _shared(lines: list[str], other: list[str]) -> int:
    """Return how many lines both begin with."""
    return next(
        (
            number
            for number, (one, two) in enumerate(zip(lines, other, strict=False))
            if one != two
        ),
        min(len(lines), len(other)),
    )
