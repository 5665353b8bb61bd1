"""Forms with CSRF tokens, and what a rule refused, put where the person reads it."""

import re
from typing import Any

from flask_wtf import FlaskForm
from typing_extensions import override
from wtforms import StringField

from app.domain.values.errors import Problem, Refused, problem_text
from app.domain.values.ids import parse_key

_CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")


class KeyField(StringField):  # type: ignore[misc]
    """A field for the key of a row; its data is ``None`` for an invalid one."""

    @override
    def process_formdata(self, valuelist: list[str]) -> None:
        self.data = parse_key(valuelist[0].strip()) if valuelist else None


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
            found += [(field.id, f"{field.label.text}: {error}") for error in field.errors]
        return found

    def _field_of(self, problem: Problem) -> Any | None:
        public = problem.field or ""
        name = self.names.get(public, _CAPITAL.sub("_", public).lower())
        return self[name] if name and name in self else None
