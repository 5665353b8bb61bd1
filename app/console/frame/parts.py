"""What the parts of pages show: pills, facts, consequences and questions; and cells of lists.

Each is drawn by the macro of its name in ``templates/console/_parts.html``, but for the cells of
lists, which the columns of a ``ListPage`` return as markup.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from flask import url_for
from markupsafe import Markup

from app.console.frame.assets import asset_url
from app.console.frame.formatting import initials, time_element
from app.console.frame.session import now
from app.web.translation import text


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
class Option:
    """A choice of a list."""

    value: str
    label: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class Tab:
    """A part of a thing, on a page of its own; ``count`` is how many items it has."""

    label: str
    url: str
    is_current: bool
    count: int | None = None


def make_tabs(
    views: Mapping[str, str],
    current: str,
    counts: Mapping[str, int],
    endpoint: str,
    /,
    **arguments: Any,
) -> tuple[Tab, ...]:
    """Return a tab for each of ``views``, which are labels by the value of ``view`` in the URL."""
    return tuple(
        Tab(
            text(label),
            url_for(endpoint, **arguments, view=name),
            name == current,
            counts.get(name),
        )
        for name, label in views.items()
    )


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


def icon(name: str) -> Markup:
    """Return an icon, which is only seen."""
    return Markup('<svg class="lk-icon" aria-hidden="true"><use href="{}#{}" /></svg>').format(
        asset_url("icons.svg"), name
    )


def link(label: str, endpoint: str, style: str = "", /, **arguments: Any) -> Markup:
    classes = Markup(' class="{}"').format(style) if style else ""
    address = url_for(endpoint, **arguments)
    return Markup('<a{} href="{}">{}</a>').format(classes, address, label)


def pill(shown: Pill) -> Markup:
    state = f" is-{shown.state}" if shown.state else ""
    return Markup('<span class="lk-pill{}">{}</span>').format(state, shown.words)


def lines(first: str, *others: str) -> Markup:
    """Return a cell with smaller lines below the first, without those that are empty."""
    return Markup("<span>{}{}</span>").format(first, Markup().join(map(small, others)))


def named(name: str, url: str, *below: str, is_app: bool = False) -> Markup:
    """Return the title of a row: an avatar, a link and what is below it."""
    return Markup(
        '<span class="lk-name"><span class="lk-avatar{}" aria-hidden="true">{}</span>'
        '<span><a href="{}">{}</a>{}</span></span>'
    ).format(" is-app" if is_app else "", initials(name), url, name, Markup().join(below))


def small(words: str) -> Markup:
    """Return a smaller line, or nothing if it's empty."""
    return Markup(" <small>{}</small>").format(words) if words else Markup()


def moment(at: datetime | None, never: str = "") -> Markup:
    """Return how long ago a moment was, or ``never`` for none."""
    if at is not None:
        return time_element(at, now())
    return muted(never or text("Never"))


def muted(words: str) -> Markup:
    return Markup('<span class="lk-muted">{}</span>').format(words)
