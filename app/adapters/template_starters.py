"""Where the editor of own templates begins: our emails, with their values by name."""

from collections.abc import Callable, Mapping

from app.domain.mails.mail import MailKind
from app.domain.mails.own_templates import VALUES, OwnTemplate, ValueType

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
        start = _shared(lines, other)
        least = min(len(lines), len(other)) - start
        end = min(_shared(lines[::-1], other[::-1]), least)
        if start < len(lines) - end:
            blocks.append((start, len(lines) - end, name, other[start : len(other) - end]))
    for start, end, name, instead in sorted(blocks, reverse=True):
        otherwise = ["{% else %}", *instead] if "".join(instead).strip() else []
        lines[start:end] = [f"{{% if {name} %}}", *lines[start:end], *otherwise, "{% endif %}"]
    return "\n".join(lines) + "\n"


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.strip().splitlines()]


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
