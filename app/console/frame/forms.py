"""Forms with CSRF tokens, and what a rule refused, put where the person reads it.

A form that edits what is stored is an ``EditForm``: what others saved since it was opened stays,
and what they and its person changed differently is shown to be chosen from.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Self, TypeAlias

import orjson
from flask import request
from flask_wtf import FlaskForm
from typing_extensions import override
from wtforms import (
    BooleanField,
    Field,
    HiddenField,
    IntegerField,
    SelectField,
    SelectMultipleField,
    StringField,
)

from app.console.frame.formatting import local, setting_text, shortened, time_zone
from app.console.frame.session import now, ports
from app.domain.values.errors import Problem, Refused
from app.domain.values.ids import parse_key
from app.domain.values.inputs import NO_FILE, Upload
from app.domain.values.pages import parse_moment
from app.domain.values.text import Sentence, translatable
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


class NumberField(IntegerField):  # type: ignore[misc]
    """A whole number from 0 to ``most``."""

    refusal: Sentence = translatable("Enter a number from 0 to {most}.")

    def __init__(self, most: int, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self.most = most

    @override
    def process_formdata(self, valuelist: list[str]) -> None:
        given = valuelist[0].strip() if valuelist else ""
        number = parse_key(given)
        self.data = number if number is not None and number <= self.most else None
        if given and self.data is None:
            raise ValueError(text(self.refusal, most=self.most))


class DaysField(NumberField):
    """A number of days up to ``most``."""

    refusal = translatable("Enter a number of days from 0 to {most}.")


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

    def catching_refusals(self) -> "_CaughtRefusals":
        """Return a context manager for a use case: what it refuses is put into this form."""
        return _CaughtRefusals(self)

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


class _CaughtRefusals(AbstractContextManager[None]):
    def __init__(self, form: ConsoleForm) -> None:
        self._form = form

    @override
    def __exit__(self, _kind: object, error: BaseException | None, _traceback: object) -> bool:
        if isinstance(error, Refused):
            self._form.refuse(error)
        return isinstance(error, Refused)


Plain: TypeAlias = str | bool | list[str]
"""The value of a field as it is compared: a text, a switch, or the names that are chosen."""

CONTINUED = "back"
"""The field of a form that returns from the page of conflicts without saving."""

CHOICE = "choice-"
"""The beginning of the field that chooses a version of another: yours or saved."""

_CARRIED = "form-value"
_SAVED = "saved"
_LONGEST_CARRIED = 200
"""Characters of a text that a form carries along; of a longer one it carries a digest."""


@dataclass(frozen=True, slots=True)
class EditedThing:
    """What a form edits: its name, the address of its page, and its subject in the audit log.

    A form in a dialog has no page to continue on: ``is_dialog``. ``reverted_at`` is when the
    change was made that is reverted, ``None`` for an edit.
    """

    name: str
    address: str
    subject_type: str
    subject_id: int | str
    is_dialog: bool = False
    reverted_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Conflict:
    """A field that its person and someone else changed differently, its values as text.

    ``was`` is ``None`` where it isn't known anymore.
    """

    name: str
    label: str
    yours: str
    saved: str
    was: str | None


@dataclass(frozen=True, slots=True)
class MergedChange:
    """A change of a field that is in nobody's way; ``sign`` is add, del or empty for another."""

    sign: str
    label: str
    value: str


class EditConflict(Exception):
    """A form and what was saved since it was opened differ; nothing was saved.

    ``errors`` answers with the page where a person chooses.
    """

    def __init__(self, form: "EditForm", thing: EditedThing) -> None:
        super().__init__(thing.name)
        self.form = form
        self.thing = thing


class LoadedField(HiddenField):  # type: ignore[misc]
    """What a form showed when it was opened, for the form to be sent with.

    Nothing depends on its being true: whoever alters it only claims to have seen something else.
    """

    def __init__(self, **kwargs: object) -> None:
        super().__init__(render_kw={"id": False}, **kwargs)


class EditForm(ConsoleForm):
    """A form that edits what is stored. Its template renders ``{{ form.loaded }}``.

    A view shows it with ``showing`` and reads it with ``from_request``::

        form = AppForm.showing(values)
        form = AppForm.from_request(values, thing)  # raises EditConflict
        if form.validate():
            update_app(ports(), actor(), key, form.change(), seen=values)

    where ``values`` are those that are stored now, by field. Fields that the person left alone
    then hold what is stored now; several choices hold what is stored now with what they added and
    without what they removed. What others save between that and ``update_app`` makes ``Stale``,
    upon which the view runs again.
    """

    loaded = LoadedField()

    together: ClassVar[tuple[frozenset[str], ...]] = ()
    """Fields that depend on each other: who changes one has decided about the others."""

    merges_choices: ClassVar[bool] = True
    """Whether several choices are added and removed, or count as one value."""

    private: ClassVar[frozenset[str]] = frozenset()
    """Fields with secrets, which are carried along as digests."""

    @classmethod
    def showing(cls, values: Mapping[str, Any]) -> Self:
        """Return the form with what is stored."""
        form = cls(formdata=None, data=values)
        form.load(form, values)
        return form

    @classmethod
    def from_request(
        cls,
        values: Mapping[str, Any],
        thing: EditedThing,
        choices: Mapping[str, list[tuple[str, str]]] | None = None,
    ) -> Self:
        """Return the form that was sent, with what was saved meanwhile; raise ``EditConflict``.

        ``choices`` are those of fields that don't declare them.
        """
        form = cls(data=values)
        for name, offered in (choices or {}).items():
            form[name].choices = offered
        form.merge(cls(formdata=None, data=values), values, thing)
        return form

    def load(self, stored: "EditForm", names: Mapping[str, Any]) -> None:
        """Carry the values of ``stored`` along, those of the fields ``names``."""
        values = {name: self._carried(name, _plain(stored[name])) for name in names}
        self.loaded.data = orjson.dumps({"at": now().isoformat(), "values": values}).decode()

    def merge(self, stored: "EditForm", names: Mapping[str, Any], thing: EditedThing) -> None:
        """Take what was saved meanwhile into this form, which was sent; ``stored`` has it.

        Raises ``EditConflict`` if it can't be both.
        """
        opened = _opened(self.loaded.data)
        self.opened_at = _moment(opened.get("at"))
        self.conflicts: list[Conflict] = []
        self.your_changes: list[MergedChange] = []
        self.their_changes: list[MergedChange] = []
        self.edited = frozenset(names)
        self.untouched: set[str] = set()
        was = opened.get("values")
        was = was if isinstance(was, dict) else {}
        coupled = self._coupled(was, stored, names)
        for name in names:
            self._merge_field(name, was.get(name), stored[name], is_coupled=name in coupled)
        self.load(stored, names)
        if self.conflicts:
            raise EditConflict(self, thing)

    @property
    def is_continued(self) -> bool:
        """Whether the form is to be shown again with what was chosen, and not saved."""
        return CONTINUED in request.form

    @override
    def validate(self, *arguments: Any, **more: Any) -> bool:
        """Return whether the form can be saved; never one that is to be edited further."""
        return not self.is_continued and super().validate(*arguments, **more)

    def sent_values(self, name: str) -> Iterator[str]:
        """Yield the values that send the field as it is now."""
        plain = _plain(self[name])
        if isinstance(plain, bool):
            yield from ("y",) if plain else ()
        else:
            yield from (plain,) if isinstance(plain, str) else plain

    def _merge_field(self, name: str, was: object, stored: Field, *, is_coupled: bool) -> None:
        field = self[name]
        saved, yours = _plain(stored), _plain(field)
        if request.form.get(f"{CHOICE}{name}") == _SAVED:
            yours = saved
        is_yours, is_theirs = not self._is(name, was, yours), not self._is(name, was, saved)
        is_merged = self.merges_choices and isinstance(saved, list) and not is_coupled
        if yours == saved:
            self._leave(field, stored, saved)
        elif is_merged and isinstance(was, list):
            self._merge_choice(field, stored, list(map(str, was)))
        elif is_coupled or (is_yours and is_theirs):
            self._add_conflict(field, stored, was)
        elif is_yours:
            self.your_changes.append(self._changed(field))
        else:
            self.their_changes.append(self._changed(stored))
            self._leave(field, stored, saved)

    def _changed(self, field: Field) -> MergedChange:
        value = text("changed") if field.name in self.private else shortened(shown_value(field))
        return MergedChange("", str(field.label.text), value)

    def _merge_choice(self, field: Field, stored: Field, was: list[str]) -> None:
        saved, yours = _names(stored), _names(field)
        added = [one for one in yours if one not in was]
        removed = [one for one in was if one not in yours]
        self.your_changes += _choice_changes(field, added, removed)
        self.their_changes += _choice_changes(
            field,
            [one for one in saved if one not in was],
            [one for one in was if one not in saved],
        )
        kept = [one for one in saved if one not in removed]
        self._set(field, stored, [*kept, *(one for one in added if one not in saved)])

    def _add_conflict(self, field: Field, stored: Field, was: object) -> None:
        before = (
            None if isinstance(was, dict) or was is None else shortened(shown_value(field, was))
        )
        label = str(field.label.text)
        self.conflicts.append(
            Conflict(field.name, label, shown_value(field), shown_value(stored), before)
        )

    def _coupled(
        self, was: Mapping[str, object], stored: "EditForm", names: Mapping[str, Any]
    ) -> frozenset[str]:
        """Return the fields that depend on others which both sides changed."""
        found: set[str] = set()
        for group in self.together:
            known = [name for name in group if name in names]
            yours, theirs = (
                {name for name in known if not self._is(name, was.get(name), _plain(form[name]))}
                for form in (self, stored)
            )
            if yours and theirs and len(yours | theirs) > 1:
                found |= yours | theirs
        return frozenset(found)

    def _leave(self, field: Field, stored: Field, saved: Plain) -> None:
        self.untouched.add(field.name)
        self._set(field, stored, saved)

    def _set(self, field: Field, stored: Field, plain: Plain) -> None:
        """Let ``field`` hold what is stored, or the choice ``plain``, as if it were sent so."""
        field.data = plain if isinstance(plain, list) else stored.data
        field.raw_data = list(plain) if isinstance(plain, list) else [plain] if plain else []

    def _carried(self, name: str, plain: Plain) -> object:
        if name in self.private or (isinstance(plain, str) and len(plain) > _LONGEST_CARRIED):
            return {"digest": ports().encryption.fingerprint(_CARRIED, str(plain))}
        return plain

    def _is(self, name: str, was: object, plain: Plain) -> bool:
        carried = self._carried(name, plain)
        if isinstance(was, list) and isinstance(carried, list):
            return sorted(map(str, was)) == sorted(carried)
        return was == carried


def shown_value(field: Field, value: object = None) -> str:
    """Return the value of ``field``, or another ``value`` of it, as people read it."""
    plain = _plain(field) if value is None else value
    labels = _labels(field)
    if isinstance(plain, list):
        return ", ".join(labels.get(str(one), str(one)) for one in plain)
    return labels.get(str(plain)) or setting_text(plain)


def _choice_changes(field: Field, added: list[str], removed: list[str]) -> Iterator[MergedChange]:
    labels, label = _labels(field), str(field.label.text)
    for sign, names in (("add", added), ("del", removed)):
        for name in names:
            yield MergedChange(sign, label, labels.get(name, name))


def _labels(field: Field) -> Mapping[str, str]:
    if not isinstance(field, SelectField | SelectMultipleField):
        return {}
    return {str(one.value): text(str(one.label)) for one in field.iter_choices()}


def _names(field: Field) -> list[str]:
    return sorted(map(str, field.data or ()))


def _plain(field: Field) -> Plain:
    if isinstance(field, BooleanField):
        return bool(field.data)
    if isinstance(field, SelectMultipleField):
        return _names(field)
    if isinstance(field, SelectField):
        return str(field.data)
    return str(field._value()).replace("\r\n", "\n")  # noqa: SLF001 - how WTForms writes a field


def _opened(data: str | None) -> Mapping[str, object]:
    """Return what the form carried along; empty for what can't be read, so nothing is known."""
    found: object = None
    with suppress(ValueError):
        found = orjson.loads(data or "")
    return found if isinstance(found, dict) else {}


def _moment(value: object) -> datetime | None:
    with suppress(ValueError):
        at = datetime.fromisoformat(value) if isinstance(value, str) else None
        return at if at is not None and at.tzinfo is not None else None
    return None
