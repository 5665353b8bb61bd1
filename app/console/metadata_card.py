"""The card with the metadata of a person or an app, and its dialogs."""

from collections.abc import Mapping
from dataclasses import dataclass

from app.console.formatting import html_text
from app.console.parts import Consequence, Question
from app.domain.values.metadata import MAX_KEY_LENGTH, MAX_VALUE_LENGTH, Metadata, StoredMetadata
from app.domain.values.text import translatable
from app.web.translation import text, texts

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
    return _deleting(subject, scope, key) if asked.get("ask") == DELETE else None


def _adding(subject: Subject) -> MetadataDialog:
    question = Question(
        title=text("Add metadata to {name}", name=subject.name),
        action=text("Save metadata"),
        endpoint=subject.save_endpoint,
        arguments={"key": subject.id},
        is_harmless=True,
    )
    return MetadataDialog(question, is_form=True, is_new=True)


def _editing(subject: Subject, scope: str, key: str, value: str) -> MetadataDialog:
    question = Question(
        title=text("Edit {key}", key=key),
        action=text("Save metadata"),
        endpoint=subject.save_endpoint,
        arguments={"key": subject.id},
        hidden=(("scope", scope), ("name", key)),
        is_harmless=True,
    )
    return MetadataDialog(question, is_form=True, key=key, value=value)


def _deleting(subject: Subject, scope: str, key: str) -> MetadataDialog:
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
