"""Sentences for people, whole, with the places of their values.

These are English: the API and the command line speak no other language. Pages look up a
sentence by its English text (``app.web.translation``). So a sentence is never pasted from
pieces; a number chooses between whole sentences.
"""

from collections.abc import Iterable
from typing import Self


def text(singular: str, plural: str = "", /, **values: object) -> str:
    """Return a sentence with its values.

    ``text("{count} app", "{count} apps", count=3)`` chooses the plural form by ``count``. A text
    without values is returned as it is, with its braces. ``Markup`` stays markup and escapes
    the values.
    """
    sentence = singular if not plural or values["count"] == 1 else plural
    return sentence.format_map(values) if values else sentence


class Phrase(str):
    """A value in a sentence that is a sentence or a name itself: pages translate it, too."""

    __slots__ = ()


class Phrases(str):
    """Several such values, with ``joint`` between them: "order or customer"."""

    __slots__ = ("items", "joint")
    items: tuple[str, ...]
    joint: str

    def __new__(cls, items: Iterable[str], joint: str = ", ") -> Self:
        found = tuple(dict.fromkeys(items))
        made = super().__new__(cls, joint.join(found))
        made.items, made.joint = found, joint
        return made


def translatable(sentence: str) -> str:
    """Return ``sentence`` as it is: it is translated where it is shown."""
    return sentence


def forms(singular: str, plural: str) -> tuple[str, str]:
    """Return both forms of a sentence as they are, as ``translatable`` does."""
    return singular, plural
