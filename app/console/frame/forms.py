"""Forms with CSRF tokens, and what a rule refused, put where the person reads it."""

import re
from collections.abc import Mapping
from typing import Any

from flask import request
from flask_wtf import FlaskForm
from typing_extensions import override
from wtforms import Field, StringField

from app.console.frame.formatting import local, time_zone
from app.domain.values.errors import Problem, Refused
from app.domain.values.ids import parse_key
from app.domain.values.inputs import NO_FILE, Upload
from app.domain.values.pages import parse_moment
from app.domain.values.times import moment_problem
from app.web.translation import problem_text, text

_CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")


class KeyField(StringField):  # type: ignore[misc]
    """A field for the key of a row; its data is ``None`` for an invalid one."""

    @override
    def process_formdata(self, valuelist: list[str]) -> None:
        self.data = parse_key(valuelist[0].strip()) if valuelist else None


class MomentField(StringField):  # type: ignore[misc]
    """A field for a moment such as ``2026-03-01 12:00``, in the person's time zone."""

    @override
    def process_formdata(self, valuelist: list[str]) -> None:
        given = valuelist[0].strip() if valuelist else ""
        self.data = parse_moment(given, time_zone())
        if given and self.data is None:
            raise ValueError(text("Enter a date and time such as 2026-11-30 09:00."))
        problem = moment_problem(self.data, self.name) if self.data else None
        if problem is not None:
            self.data = None
            raise ValueError(problem_text(problem))

    @override
    def _value(self) -> str:
        if self.raw_data:
            return str(self.raw_data[0])
        return f"{local(self.data):%Y-%m-%d %H:%M}" if self.data else ""


def field_attributes(
    field: Field, hint: str, css: str, more: Mapping[str, object] | None = None
) -> dict[str, object]:
    """Return the HTML attributes of a field, which name its hint and its errors."""
    described = [f"{field.id}-hint"] if hint else []
    attributes: dict[str, object] = {"class": css}
    if field.errors:
        described.append(f"{field.id}-error")
        attributes |= {"class": f"{css} is-invalid", "aria-invalid": "true"}
    if described:
        attributes["aria-describedby"] = " ".join(described)
    return {**attributes, **(more or {})}


def uploaded_image(max_size: int) -> Upload:
    """Return the file that was sent in the field ``image``; refuse a form without a file.

    One byte more than ``max_size`` shows that it is too large; no more is read.
    """
    sent = request.files.get("image")
    if sent is None or not sent.filename:
        raise Refused(NO_FILE)
    return Upload(sent.filename, sent.content_type or "", sent.stream.read(max_size + 1))


class ConsoleForm(FlaskForm):  # type: ignore[misc]
    """A form of the console.

    ``names`` maps an input's public name to its field, where it is not the same word in snake
    case.
    """

    names: dict[str, str] = {}  # noqa: RUF012 - WTForms reads class attributes of its own kind

    def refuse(self, refused: Refused) -> None:
        """Put each problem at its field; those of no field go above the form."""
        for problem in refused.problems:
            field = self._field_of(problem)
            if field is None:
                self.form_errors.append(problem_text(problem))
            else:
                field.errors = [*field.errors, problem_text(problem)]

    @property
    def summary(self) -> list[tuple[str | None, str]]:
        """Return every error: its field's ID, if it belongs to one, and the message."""
        found: list[tuple[str | None, str]] = [(None, message) for message in self.form_errors]
        for field in self:
            found += [
                (field.id, text("{label}: {error}", label=field.label.text, error=error))
                for error in field.errors
            ]
        return found

    @property
    def summary_title(self) -> str:
        """Return how many fields have errors, or that there is a problem with no field."""
        fields = sum(bool(field.errors) for field in self)
        if self.form_errors or not fields:
            return text("There's a problem")
        return text(
            "There's a problem with {count} field",
            "There are problems with {count} fields",
            count=fields,
        )

    def _field_of(self, problem: Problem) -> Any | None:
        public = problem.field or ""
        name = self.names.get(public, _CAPITAL.sub("_", public).lower())
        return self[name] if name and name in self else None
