"""The audit log: who changed what, from where; filtered, and exported as CSV or JSON."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import orjson
from flask import abort, flash, request, url_for
from markupsafe import Markup
from werkzeug.wrappers import Response as BaseResponse
from wtforms import BooleanField, SelectMultipleField, StringField
from wtforms.fields.choices import SelectChoice
from wtforms.fields.core import UnboundField

from app.console.frame.formatting import html_text, shortened
from app.console.frame.forms import EditedThing, EditForm
from app.console.frame.navigation import Entry, Heading, PageGroup
from app.console.frame.page_layout import (
    full_url,
    page,
    redirect_to,
    redirect_with_error,
    redirect_with_success,
)
from app.console.frame.parts import Consequence, Question, icon, lines, link, moment, muted
from app.console.frame.session import actor, ports
from app.console.lists.filters import Control, Filter, ListOrder, Sort, choice, day_filters, search
from app.console.lists.list_page import Column, EmptyState, ListPage, RowCount, reader
from app.console.security.audit_sentences import (
    act,
    field_label,
    field_value,
    named_subject,
    sentence,
    subject_kind,
    who_did,
)
from app.domain.audit import MAX_TEXT_LENGTH, AuditEntry, AuditFilter, Topic
from app.domain.values.errors import PermissionDenied, Problem, Refused
from app.domain.values.text import translatable
from app.services.audit.entries import export_entries, list_entries, show_entry
from app.services.console.reverts import Revert, revert_change, show_revert
from app.web.translation import enumeration, text

ACTORS: Mapping[str, str] = {
    "user": translatable("People"),
    "app": translatable("Apps"),
    "operator": translatable("Server administrator"),
}
"""The kinds of actors that the list can be filtered by."""

TOPICS: Mapping[str, str] = {
    Topic.ACCESS: translatable("Access"),
    Topic.APPS: translatable("Apps and webhooks"),
    Topic.PEOPLE: translatable("People"),
    Topic.KEYS: translatable("Signing keys"),
    Topic.SALES: translatable("Products and orders"),
    Topic.TRANSFERS: translatable("Imports and exports"),
}

_VIA = {
    "app": translatable("app"),
    "operator": translatable("command line"),
    "worker": translatable("automatic"),
    "anonymous": translatable("not signed in"),
}
_LISTED_DIFFERENCES = 2
_NO_VALUE = "\N{EN DASH}"


@dataclass(frozen=True, slots=True)
class Difference:
    """A changed field with its values as text; empty where there is none."""

    field: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class EntryPage:
    """One entry with all its differences; ``subject_filter`` lists the subject's entries."""

    heading: str
    actor: str
    subject_kind: str
    subject_name: str
    subject_filter: str
    differences: tuple[Difference, ...]


def make_entry_page(entry: AuditEntry) -> EntryPage:
    return EntryPage(
        heading=sentence(entry),
        actor=who_did(entry),
        subject_kind=subject_kind(entry.subject_type),
        subject_name=named_subject(entry),
        subject_filter=f"{entry.subject_type}:{entry.subject_id}",
        differences=tuple(
            Difference(
                difference.field, difference.before or _NO_VALUE, difference.after or _NO_VALUE
            )
            for difference in _differences(entry)
        ),
    )


def subject_label(entries: Sequence[AuditEntry], subject: str) -> str:
    """Return the name of the subject that ``entries`` are filtered by, with its type."""
    if not entries:
        return subject
    entry = entries[0]
    values = {"kind": subject_kind(entry.subject_type), "id": entry.subject_id}
    name = named_subject(entry)
    return text("{kind} {name}", name=name, **values) if name else text("{kind} {id}", **values)


def listed_differences(entry: AuditEntry) -> tuple[Sequence[Difference], str]:
    """Return the differences that the list shows, and how many more there are."""
    differences = [
        difference for difference in _differences(entry) if not _is_initially_off(difference)
    ]
    more = len(differences) - _LISTED_DIFFERENCES
    return (
        differences[:_LISTED_DIFFERENCES],
        text("+{more:,} more", more=more) if more > 0 else "",
    )


def _changed(entry: AuditEntry) -> Markup:
    differences, more = listed_differences(entry)
    return lines(Markup(" ").join(map(_difference, differences)), more)


def _difference(difference: Difference) -> Markup:
    before, after = shortened(difference.before), shortened(difference.after)
    return Markup("<span>{} {}{}</span>").format(
        muted(text("{field}:", field=difference.field)),
        Markup('<del class="lk-muted">{}</del> ').format(before) if before else "",
        _changed_to(after, has_before=bool(before)) if after else "",
    )


def _changed_to(after: str, *, has_before: bool) -> Markup:
    if not has_before:
        return Markup("<span>{}</span>").format(after)
    return Markup('<span class="visually-hidden">{}</span>{} <span>{}</span>').format(
        text("changed to"), icon("arrow-right"), after
    )


def _differences(entry: AuditEntry) -> list[Difference]:
    return [
        Difference(
            field_label(name),
            field_value(name, entry.before.get(name), entry.names),
            field_value(name, entry.after.get(name), entry.names),
        )
        for name in dict.fromkeys([*entry.before, *entry.after])
    ]


def _is_initially_off(difference: Difference) -> bool:
    """Return whether a field says nothing: a new thing's empty or disabled setting."""
    return not difference.before and difference.after in ("", text("off"), text("No"))


def _subject(text: str) -> tuple[str, str]:
    """Return the type and the ID in such as ``App:7``; a ``ValueError`` for what has none."""
    kind, _, key = text.partition(":")
    if not kind or not key:
        raise ValueError(text)
    return kind, key


def _filter(*, subject: tuple[str, str] = ("", ""), **values: Any) -> AuditFilter:
    kind, key = subject
    return AuditFilter(subject_type=kind, subject_id=key, **values)


AUDIT_LOG = ListPage[AuditEntry](
    title="Audit log",
    intro="Changes, with who made them and from where.",
    label="Entries",
    filter_label="Filter entries",
    caption="Audit entries, newest first",
    count=RowCount(
        none="No entries",
        no_match="No matching entries",
        one="1 entry",
        many="{count} entries",
        some="{matching} of {total} entries",
    ),
    read=reader(list_entries, _filter),
    read_all=reader(export_entries, _filter),
    filters=(
        search("Search", longest=MAX_TEXT_LENGTH, argument="text"),
        choice("who", "Actor", ACTORS, argument="actor_kind"),
        choice("kind", "Category", TOPICS, Topic, argument="topic"),
        *day_filters(),
        choice(
            "profile",
            "Customers' own profiles",
            {"yes": "Included"},
            {"yes": True},
            argument="own_profile",
        ),
        Filter("on", "Subject", _subject, Control.HIDDEN, "subject"),
    ),
    sorts=(
        Sort("newest", "Newest first", order=ListOrder.NEWEST_FIRST),
        Sort(
            "oldest",
            "Oldest first",
            {"oldest_first": True},
            ListOrder.OLDEST_FIRST,
            "Audit entries, oldest first",
        ),
    ),
    columns=(
        Column(
            "Action",
            lambda entry: link(act(entry), "console.audit.show", key=entry.id),
            ("is-cut", "is-most"),
            is_title=True,
        ),
        Column("Before and after", _changed, ("is-cut",), short="Changed"),
        Column(
            "Actor",
            lambda entry: lines(who_did(entry), text(_VIA.get(entry.actor_kind, ""))),
            ("is-name", "is-when"),
        ),
        Column("IP address", lambda entry: entry.address, ("is-extra", "is-wide", "lk-mono")),
        Column("Time", lambda entry: moment(entry.at), ("is-num", "is-state")),
    ),
    file="audit",
    file_columns={
        "at": lambda entry: entry.at,
        "who": lambda entry: entry.actor_name,
        "kind": lambda entry: entry.actor_kind,
        "address": lambda entry: entry.address,
        "action": lambda entry: entry.action,
        "subject": lambda entry: f"{entry.subject_type}:{entry.subject_id}",
        "name": lambda entry: entry.subject_name,
        "before": lambda entry: orjson.dumps(dict(entry.before), default=str).decode(),
        "after": lambda entry: orjson.dumps(dict(entry.after), default=str).decode(),
    },
    forms=("csv", "json"),
    hint="Try removing a filter or choosing other dates.",
    empty=EmptyState(
        "journal-text", "No changes yet", "Changes appear here with who made them and from where."
    ),
)

blueprint = PageGroup(
    "audit",
    __name__,
    Entry(
        "Audit log",
        "journal-text",
        "changes history activity export",
        Heading.SHOP,
        needs=list_entries,
    ),
    url_prefix="/audit",
    list_name="audit",
)


@blueprint.get("/")
def index() -> BaseResponse:
    """List entries by time, with the filters and the order of the URL."""
    requested = AUDIT_LOG.requested()
    found = AUDIT_LOG.load_page(requested)
    subject = requested.params.get("on", "")
    return AUDIT_LOG.show(found, words={"on": {subject: subject_label(found.items, subject)}})


class RevertForm(EditForm):
    """The fields of an entry that are reverted; both sides of each, as the log has them."""

    merges_choices = False


@blueprint.get("/<key:key>")
def show(key: int) -> BaseResponse:
    """Show one entry with all its differences; ``ask=revert`` asks before it is reverted."""
    entry = show_entry(ports(), actor(), key)
    if entry is None:
        abort(404)
    found = _found_revert(key)
    asks = request.args.get("ask") == "revert" and found is not None
    return page(
        "audit/entry.html",
        entry=entry,
        shown=make_entry_page(entry),
        url=full_url("console.audit.show", key=str(key)),
        can_revert=found is not None,
        question=make_revert_question(found) if asks and found else None,
    )


@blueprint.post("/<key:key>/revert")
def revert(key: int) -> BaseResponse:
    """Set what an entry changed to what it was, unless it was changed since."""
    found = show_revert(ports(), actor(), key)
    if found is None:
        raise Refused(Problem("INVALID", "This entry can't be reverted.", "id"))
    form = _form_of(found).from_request(found.current, _reverted(found.entry))
    names = form.edited - form.untouched
    if not names:
        flash(text("Nothing was changed: it is as it was before this change."), "info")
        return redirect_to("console.audit.show", key=key)
    try:
        revert_change(ports(), actor(), key, names, found.current)
    except Refused as refused:
        return redirect_with_error(refused, "console.audit.show", key=key)
    return redirect_with_success(text("The change was reverted."), "console.audit.show", key=key)


def make_revert_question(found: Revert) -> Question:
    kept = [Consequence("warn", _not_reverted(found.left_out))] if found.left_out else []
    kind = _form_of(found)
    form = kind(formdata=None, data=found.before)
    form.load(kind(formdata=None, data=found.after), found.after)
    sent = [(name, value) for name in found.before for value in form.sent_values(name)]
    return Question(
        title=text("Revert this change?"),
        action=text("Revert change"),
        endpoint="console.audit.revert",
        arguments={"key": found.entry.id},
        consequences=(*map(partial(_reverted_value, found), found.before), *kept),
        hidden=(("loaded", str(form.loaded.data)), *sent),
    )


def _reverted_value(found: Revert, name: str) -> Consequence:
    before = field_value(name, found.before[name], found.entry.names) or _NO_VALUE
    after = field_value(name, found.after[name], found.entry.names) or _NO_VALUE
    values = {"field": field_label(name), "before": shortened(before), "after": shortened(after)}
    return Consequence("ok", html_text("{field}: {after} becomes {before} again.", **values))


def _not_reverted(names: Sequence[str]) -> str:
    labels = enumeration(map(field_label, names))
    return text("Not reverted: {fields}.", fields=labels)


def _found_revert(key: int) -> Revert | None:
    """Return what reverting an entry does; ``None`` if the caller can't or its subject is gone."""
    with suppress(Refused, PermissionDenied):
        return show_revert(ports(), actor(), key)
    return None


def _reverted(entry: AuditEntry) -> EditedThing:
    address = url_for("console.audit.show", key=entry.id)
    name = entry.subject_name or subject_kind(entry.subject_type)
    subject = (entry.subject_type, entry.subject_id)
    return EditedThing(name, address, *subject, is_dialog=True, reverted_at=entry.at)


def _form_of(found: Revert) -> type[RevertForm]:
    fields = {name: _field_for(found, name) for name in found.before}
    return type("RevertForm", (RevertForm,), fields)


def _field_for(found: Revert, name: str) -> UnboundField:
    value, label = found.before[name], field_label(name)
    if isinstance(value, bool):
        return BooleanField(label)
    if not isinstance(value, list):
        return StringField(label)
    sides = (found.before[name], found.after[name], found.current[name])
    items = dict.fromkeys(one for side in sides if isinstance(side, list) for one in side)
    choices = [
        SelectChoice(str(one), field_value(name, [one], found.entry.names)) for one in items
    ]
    return SelectMultipleField(label, choices=choices, validate_choice=False)


blueprint.add_url_rule("/export.<any(csv, json):form>", "export", AUDIT_LOG.export)
