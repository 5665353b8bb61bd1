"""Metadata of people and apps: its card on their pages, and setting and deleting it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from flask import request, url_for
from werkzeug.wrappers import Response as BaseResponse
from wtforms import TextAreaField

from app.console.frame.formatting import html_text
from app.console.frame.forms import EditedThing, EditForm
from app.console.frame.navigation import PageGroup
from app.console.frame.page_layout import redirect_with_error, redirect_with_success
from app.console.frame.parts import Consequence, Question
from app.console.frame.session import actor, ports
from app.domain.authorization.actor import Actor
from app.domain.values.errors import Refused
from app.domain.values.ids import to_global_id
from app.domain.values.metadata import (
    MAX_KEY_LENGTH,
    MAX_VALUE_LENGTH,
    Metadata,
    MetadataChange,
    StoredMetadata,
)
from app.domain.values.text import translatable
from app.ports import Ports
from app.services.metadata import change_app_metadata, change_user_metadata, show_app_with_metadata
from app.services.people.user_status import Person, show_person
from app.web.translation import lazy_text, text, texts

_NO_METADATA = StoredMetadata({}, {})
_APP_PAGE = "console.apps.show"

blueprint = PageGroup("metadata", __name__, url_prefix="/metadata")


@blueprint.post("/people/<key:key>/save")
def save_of_person(key: int) -> BaseResponse:
    person = show_person(ports(), actor(), key)
    thing = EditedThing(_key(), url_for(_page_of(person), key=key), "User", key, is_dialog=True)
    change = _saving(person.metadata or _NO_METADATA, thing)
    return _change(change_user_metadata, "User", key, _page_of(person), change)


@blueprint.post("/people/<key:key>/delete")
def delete_of_person(key: int) -> BaseResponse:
    there = _page_of(show_person(ports(), actor(), key))
    return _change(change_user_metadata, "User", key, there, _deleting())


@blueprint.post("/apps/<key:key>/save")
def save_of_app(key: int) -> BaseResponse:
    found = show_app_with_metadata(ports(), actor(), key)
    thing = EditedThing(_key(), url_for(_APP_PAGE, key=key), "App", key, is_dialog=True)
    change = _saving(_NO_METADATA if found is None else found[1], thing)
    return _change(change_app_metadata, "App", key, _APP_PAGE, change)


@blueprint.post("/apps/<key:key>/delete")
def delete_of_app(key: int) -> BaseResponse:
    return _change(change_app_metadata, "App", key, _APP_PAGE, _deleting())


class MetadataForm(EditForm):
    value = TextAreaField(lazy_text("Value"))


def _saving(metadata: StoredMetadata, thing: EditedThing) -> MetadataChange:
    key = _key()
    stored = (metadata.private if _is_private() else metadata.public).get(key)
    form = MetadataForm.from_request({"value": stored or ""}, thing)
    # Browsers send the line breaks of a text field as CR LF.
    value = str(form.value.data or "").replace("\r\n", "\n")
    return MetadataChange(_is_private(), ((key, value),), seen={key: stored})


def _deleting() -> MetadataChange:
    return MetadataChange(is_private=_is_private(), deleted_keys=(_key(),))


def _is_private() -> bool:
    return request.form.get("scope") == "private"


def _key() -> str:
    """Return the key as it is stored, of which spaces can be a part, or one that was entered."""
    entered = request.form.get("new_name", "").strip()
    return entered or request.form.get("name", "").replace("\r\n", "\n")


def _page_of(person: Person) -> str:
    return "console.staff.show" if person.user.is_staff else "console.customers.show"


def _change(
    use_case: Callable[[Ports, Actor, str, MetadataChange], object],
    kind: str,
    key: int,
    there: str,
    change: MetadataChange,
) -> BaseResponse:
    try:
        use_case(ports(), actor(), to_global_id(kind, key), change)
    except Refused as refused:
        return redirect_with_error(refused, there, key=key)
    message = text("Saved {key}.", key=_key())
    if change.deleted_keys:
        message = text("Deleted {key}.", key=_key())
    return redirect_with_success(message, there, key=key)


ADD, EDIT, DELETE = "add-metadata", "edit-metadata", "delete-metadata"
"""The values of ``ask`` that open a dialog of the card."""

SCOPES = {"public": translatable("Public"), "private": translatable("Private")}
_SHORT = 100
_FEW_LINES = 4
"""A value up to these fits into its cell, also on a phone."""

_READERS = {
    "account": translatable(
        "Everyone who can see this account can read public keys. Private keys are for people and "
        "apps that manage it."
    ),
    "app": translatable(
        "The app can read all keys, its dashboard extensions the public ones. Staff need the "
        "permission to manage apps."
    ),
}
"""Who can read the keys, by the noun of their subject."""


@dataclass(frozen=True, slots=True)
class Subject:
    """Whose metadata it is: ``endpoint`` is the page, ``noun`` is account or app."""

    id: int
    name: str
    noun: str
    endpoint: str
    save_endpoint: str
    delete_endpoint: str


@dataclass(frozen=True, slots=True)
class MetadataRow:
    """A key and its value; ``access`` says who can read it, the labels name its buttons.

    A value that ``can_scroll`` may be too long for its cell, so the keyboard must reach it.
    """

    scope: str
    access: str
    key: str
    value: str
    edit_label: str
    delete_label: str
    can_scroll: bool


@dataclass(frozen=True, slots=True)
class MetadataDialog:
    """A dialog; where ``is_form``, it has a field for the value, and for a new key one for it."""

    question: Question
    is_form: bool = False
    is_new: bool = False
    key: str = ""
    value: str = ""


@dataclass(frozen=True, slots=True)
class MetadataCard:
    """The card; without ``can_change`` it's only for reading."""

    subject: Subject
    caption: str
    rows: tuple[MetadataRow, ...]
    can_change: bool
    dialog: MetadataDialog | None
    readers: str
    scopes: Mapping[str, str]
    max_key_length: int = MAX_KEY_LENGTH
    max_value_length: int = MAX_VALUE_LENGTH


def make_metadata_card(
    subject: Subject,
    stored: StoredMetadata,
    asked: Mapping[str, str],
    *,
    sees_private: bool,
    can_change: bool,
) -> MetadataCard:
    """Return the card of ``subject``, with the dialog that the page's URL (``asked``) names."""
    by_scope: dict[str, Metadata] = {"public": stored.public}
    if sees_private:
        by_scope["private"] = stored.private
    return MetadataCard(
        subject,
        text("Metadata of {name}", name=subject.name),
        tuple(
            _row(scope, key, value)
            for scope, values in by_scope.items()
            for key, value in values.items()
        ),
        can_change,
        _dialog(subject, by_scope, asked) if can_change else None,
        text(_READERS[subject.noun]),
        texts(SCOPES),
    )


def _row(scope: str, key: str, value: str) -> MetadataRow:
    return MetadataRow(
        scope,
        text(SCOPES[scope]),
        key,
        value,
        text("Edit {key} \N{HORIZONTAL ELLIPSIS}", key=key),
        text("Delete {key} \N{HORIZONTAL ELLIPSIS}", key=key),
        len(value) > _SHORT or value.count("\n") > _FEW_LINES,
    )


def _dialog(
    subject: Subject, by_scope: Mapping[str, Metadata], asked: Mapping[str, str]
) -> MetadataDialog | None:
    scope, key = asked.get("scope", ""), asked.get("name", "")
    if asked.get("ask") == ADD:
        return _adding(subject)
    if key not in by_scope.get(scope, {}):
        return None
    if asked.get("ask") == EDIT:
        return _editing(subject, scope, key, by_scope[scope][key])
    return _deletion_dialog(subject, scope, key) if asked.get("ask") == DELETE else None


def _adding(subject: Subject) -> MetadataDialog:
    question = Question(
        title=text("Add metadata to {name}", name=subject.name),
        action=text("Save metadata"),
        endpoint=subject.save_endpoint,
        arguments={"key": subject.id},
        hidden=(_loaded(""),),
        is_harmless=True,
    )
    return MetadataDialog(question, is_form=True, is_new=True)


def _editing(subject: Subject, scope: str, key: str, value: str) -> MetadataDialog:
    question = Question(
        title=text("Edit {key}", key=key),
        action=text("Save metadata"),
        endpoint=subject.save_endpoint,
        arguments={"key": subject.id},
        hidden=(("scope", scope), ("name", key), _loaded(value)),
        is_harmless=True,
    )
    return MetadataDialog(question, is_form=True, key=key, value=value)


def _loaded(value: str) -> tuple[str, str]:
    return "loaded", str(MetadataForm.showing({"value": value}).loaded.data)


def _deletion_dialog(subject: Subject, scope: str, key: str) -> MetadataDialog:
    lost = html_text("The value of {key} is deleted. This can't be undone.", key=key)
    question = Question(
        title=text("Delete {key}?", key=key),
        action=text("Delete key"),
        endpoint=subject.delete_endpoint,
        arguments={"key": subject.id},
        hidden=(("scope", scope), ("name", key)),
        consequences=(
            Consequence("bad", lost),
            Consequence("warn", text("Apps and storefronts that use this key no longer find it.")),
        ),
    )
    return MetadataDialog(question)
