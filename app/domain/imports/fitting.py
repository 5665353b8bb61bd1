"""Fit texts, names of permissions and metadata of a source into what is stored here."""

import unicodedata
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TypeVar

from app.domain.authorization.permissions import Permission, known_permissions
from app.domain.imports.runs import Converted, Finding, Outcome
from app.domain.urls.web_urls import MAX_URL_LENGTH, is_web_url
from app.domain.values.metadata import metadata_problems
from app.domain.values.text_rules import is_storable, line_problem, prose_problem

Value = TypeVar("Value")

_DJANGOS_OWN = ("ADD_", "CHANGE_", "DELETE_", "VIEW_")
LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
_LISTED = 10
"""How many names a finding lists."""


@dataclass(slots=True)
class SourceRow:
    """A row of the source, by column; what doesn't fit is added to ``findings``.

    A column that the source's release lacks reads like one that is NULL.
    """

    table: str
    values: Mapping[str, object]
    findings: list[Finding] = field(default_factory=list)

    @property
    def key(self) -> int:
        """The primary key, which stays the same here."""
        return self.number("id")

    def add(self, code: str, outcome: Outcome, template: str, **values: object) -> None:
        """Add a finding of this row."""
        self.findings.append(Finding(self.table, self.key, code, template, outcome, values))

    def converted(self, value: Value | None) -> Converted[Value]:
        """Return what the row became, with its findings."""
        return Converted(value, tuple(self.findings))

    def refused(self, code: str, template: str, **values: object) -> Converted[Value]:
        """Return that the row is left out, which the finding says."""
        self.add(code, Outcome.LEFT_OUT, template, **values)
        return self.converted(None)

    def number(self, name: str) -> int:
        """Return an integer column; raises ``TypeError`` if it holds something else."""
        value = self.values[name]
        if not isinstance(value, int):
            message = f"{self.table}.{name} must be an integer, got {type(value).__name__}"
            raise TypeError(message)
        return value

    def moment(self, name: str) -> datetime:
        """Return a moment; a missing one, or one that can't be stored, becomes 1970-01-01."""
        value = self.values.get(name)
        if isinstance(value, datetime):
            return value
        template = "{column} is missing or can't be used; {date} is used."
        date = LONG_AGO.date().isoformat()
        self.add("DATE_MISSING", Outcome.CHANGED, template, column=name, date=date)
        return LONG_AGO

    def flag(self, name: str) -> bool:
        """Return a boolean column; NULL is false."""
        return bool(self.values.get(name))

    def text(self, name: str) -> str:
        """Return a text column without surrounding blanks; NULL is empty."""
        value = self.values.get(name)
        return "" if value is None else str(value).strip()

    def line(self, name: str, *, max_length: int) -> str:
        """Return one line of text, changed where it doesn't fit."""
        text = self.text(name)
        if line_problem(text, name, max_length=len(text)) is not None:
            text = " ".join(_visible(text).split())
            self._changed_characters(name)
        return self._shortened(name, text, max_length)

    def prose(self, name: str, *, max_length: int) -> str:
        """Return text of several lines, changed where it doesn't fit."""
        text = self.text(name)
        if prose_problem(text, name, max_length=len(text)) is not None:
            text = "".join(each for each in text if not prose_problem(each, name, max_length=1))
            self._changed_characters(name)
        return self._shortened(name, text, max_length)

    def url(self, name: str) -> str:
        """Return an http or https URL; empty if it isn't one."""
        url = self.text(name)
        if not url or is_web_url(url):
            return url
        self.add(
            "URL_INVALID",
            Outcome.LEFT_OUT,
            "{column} isn't an http or https URL of at most {max_length} characters without"
            " a user name.",
            column=name,
            max_length=MAX_URL_LENGTH,
        )
        return ""

    def metadata(self, name: str, *, without: Collection[str] = ()) -> dict[str, str]:
        """Return the metadata that can be stored here, which is texts by key.

        More than clients can set here stays: apps keep what they need in it. Keys in ``without``
        are left out.
        """
        value = self.values.get(name)
        given = value if isinstance(value, Mapping) else {}
        stored = {key: text for key, text in given.items() if key not in without}
        kept = {key: text for key, text in stored.items() if _is_metadata(key, text)}
        left_out = [key for key in stored if key not in kept]
        if left_out:
            self.add(
                "METADATA_INVALID",
                Outcome.LEFT_OUT,
                "{column}: the values of {keys} aren't texts.",
                column=name,
                keys=listed(left_out),
            )
        problems = metadata_problems(kept.items())
        if problems:
            self.add(
                "METADATA_LARGE",
                Outcome.IMPORTED,
                "{column} is larger than clients can set it here: {problem}",
                column=name,
                problem=problems[0].message,
            )
        return kept

    def permissions(self, codenames: Iterable[str]) -> frozenset[Permission]:
        """Return the permissions with these ``codenames``; unknown ones are left out.

        Those that Django makes for each table are one finding.
        """
        names = sorted({codename.upper() for codename in codenames})
        permissions = known_permissions(names)
        unknown = [name for name in names if name not in permissions]
        own = [name for name in unknown if name.startswith(_DJANGOS_OWN)]
        for name in unknown:
            if name not in own:
                self.add(
                    "PERMISSION_UNKNOWN",
                    Outcome.LEFT_OUT,
                    "Permission {permission} doesn't exist here.",
                    permission=name,
                )
        if own:
            self.add(
                "PERMISSION_OF_DJANGO",
                Outcome.LEFT_OUT,
                "{number} of Django's own permissions, which the API doesn't use.",
                number=len(own),
            )
        return permissions

    def _changed_characters(self, name: str) -> None:
        self.add(
            "CHARACTERS_NOT_ALLOWED",
            Outcome.CHANGED,
            "{column} contains control characters or invisible characters.",
            column=name,
        )

    def _shortened(self, name: str, text: str, max_length: int) -> str:
        if len(text) <= max_length:
            return text
        self.add(
            "TOO_LONG",
            Outcome.CHANGED,
            "{column} is longer than {max_length} characters.",
            column=name,
            max_length=max_length,
        )
        return text[:max_length].rstrip()


def _is_metadata(key: str, value: object) -> bool:
    return bool(key.strip()) and is_storable(key) and isinstance(value, str) and is_storable(value)


def listed(names: Iterable[str]) -> str:
    """Return ``names`` as a list for a sentence, at most ten of them."""
    texts = [name[:80] for name in names]
    return ", ".join([*texts[:_LISTED], *(["…"] if len(texts) > _LISTED else [])])


def _visible(text: str) -> str:
    """Return ``text`` with blanks for control characters and without invisible characters."""
    return "".join(map(_visible_character, text))


def _visible_character(character: str) -> str:
    if line_problem(character, "", max_length=1) is None:
        return character
    return " " if unicodedata.category(character) in ("Cc", "Zl", "Zp") else ""
