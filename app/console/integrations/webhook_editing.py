"""The form that creates or edits a webhook; its query is checked as it is typed."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from flask import Response, abort, flash, jsonify, request, url_for
from werkzeug.wrappers import Response as BaseResponse
from wtforms import (
    BooleanField,
    HiddenField,
    SelectMultipleField,
    StringField,
    TextAreaField,
    URLField,
)
from wtforms.fields.choices import SelectChoice
from wtforms.validators import InputRequired

from app.console.frame import submissions
from app.console.frame.forms import ConsoleForm, EditedThing, EditForm, KeyField, NumberField
from app.console.frame.navigation import Entry, PageGroup
from app.console.frame.page_layout import page, redirect_with_success, refused_page
from app.console.frame.session import actor, ports, require
from app.console.integrations.dry_run import difference_of, draft_of, live_payload, uses_query
from app.console.integrations.events import Group, catalogue
from app.console.integrations.missing_permissions import (
    MissingPermissions,
    missing_permissions,
    refusal_text,
)
from app.domain.apps.apps import App
from app.domain.authorization.permissions import Permission, in_order
from app.domain.deliveries.deliveries import MAX_RATE
from app.domain.events import EventType
from app.domain.values.inputs import ABSENT, Absent
from app.domain.values.pages import PageRequest
from app.domain.webhooks import Webhook, app_permissions_denied, editable_facts, lacking_of_app
from app.services.apps.app_changes import SavedWebhook, save_webhook
from app.services.apps.app_lists import list_apps, show_app
from app.services.webhooks.changes import WebhookInput
from app.services.webhooks.lists import list_webhooks, show_webhook
from app.services.webhooks.payloads import check_query
from app.web.converters import row_key
from app.web.translation import enumeration, lazy_text, problem_text, text


@dataclass(frozen=True, slots=True)
class AppOption:
    """An app to choose; ``label`` says if it is inactive, or can't be chosen."""

    id: int
    label: str
    is_chosen: bool
    is_within_reach: bool


@dataclass(frozen=True, slots=True)
class WebhookFormPage:
    title: str
    save: str
    apps: tuple[AppOption, ...]
    chooses_any_event: bool
    selected: str
    groups: list[Group]
    secret_hint: str
    grant_label: str


def make_webhook_form_page(
    hook: Webhook | None,
    owner: App | None,
    apps: Iterable[App],
    beyond: Collection[App],
    chosen: Collection[str],
    missing: MissingPermissions | None = None,
) -> WebhookFormPage:
    """Return the form's page; ``chosen`` are the names of the selected events.

    The apps ``beyond`` can't be chosen: the person lacks their permissions. ``missing`` is what
    the app can't receive of it.
    """
    return WebhookFormPage(
        title=_title(hook),
        save=text("Create webhook") if hook is None else text("Save webhook"),
        apps=tuple(_option(app, owner, beyond) for app in apps),
        chooses_any_event=EventType.ANY_EVENTS.value in chosen,
        selected=text("{count} selected", count=len(chosen)),
        groups=catalogue(owner, chosen),
        secret_hint=_secret_hint(hook),
        grant_label=_grant_label(missing),
    )


def _title(hook: Webhook | None) -> str:
    if hook is None:
        return text("Create webhook")
    return text("Edit {webhook}", webhook=hook.name) if hook.name else text("Edit webhook")


def _option(app: App, owner: App | None, beyond: Collection[App]) -> AppOption:
    label = app.name if app.is_active else text("{app} (inactive)", app=app.name)
    if app in beyond:
        label = text("{app} (has permissions that you don't have)", app=app.name)
    is_chosen = owner is not None and owner.id == app.id
    return AppOption(app.id, label, is_chosen, is_within_reach=app not in beyond)


def _grant_label(missing: MissingPermissions | None) -> str:
    if missing is None or not missing.grant:
        return ""
    labels = [text(permission.label) for permission in in_order(missing.permissions)]
    return text("Grant {permissions} and save", permissions=enumeration(labels))


def _secret_hint(hook: Webhook | None) -> str:
    if hook is not None and hook.has_secret:
        return text(
            "Leave empty to keep the current secret. A replaced secret keeps signing for a day."
        )
    return text("Optional. Use the app's secret, for example whsec_…")


_MAX_APPS = 100
AnyWebhookForm = TypeVar("AnyWebhookForm", bound="WebhookForm")

blueprint = PageGroup(
    "webhook_editing",
    __name__,
    Entry("Create a webhook", "plus-lg", "new subscription add", view="new", needs=list_webhooks),
    url_prefix="/webhooks",
)


class WebhookForm(ConsoleForm):
    """The fields of a webhook; its secret is never shown, and kept unless a new one is entered."""

    names = {"asyncEvents": "events", "events": "events", "maxRate": "max_rate"}  # noqa: RUF012
    app = KeyField(lazy_text("App"))
    name = StringField(lazy_text("Name"))
    target_url = URLField(
        lazy_text("Endpoint URL"), validators=[InputRequired(lazy_text("Enter a URL."))]
    )
    query = TextAreaField(lazy_text("Subscription query"))
    events = SelectMultipleField(
        lazy_text("Events"),
        choices=[SelectChoice(event.value, event.label) for event in EventType],
    )
    custom_headers = submissions.PrivateTextField(lazy_text("Custom headers"))
    secret_key = submissions.SecretField(lazy_text("Secret"), unless="drops_secret")
    drops_secret = BooleanField(lazy_text("Remove the secret and sign with the shop's key"))
    is_active = BooleanField(lazy_text("Enabled"), default=True)
    max_rate = NumberField(MAX_RATE, lazy_text("Maximum requests per second"))
    warned = HiddenField()
    grants = BooleanField(lazy_text("Grant the missing permissions"))


class NewWebhookForm(WebhookForm, submissions.CreatingForm):
    """A new webhook."""


class EditWebhookForm(WebhookForm, EditForm):
    """A webhook as it is."""

    together = (frozenset({"query", "events"}),)
    private = frozenset({"custom_headers"})


@blueprint.route("/new", methods=["GET", "POST"])
def new() -> BaseResponse:
    """Create a webhook for an app; a dry run passes what was entered before it."""
    require(Permission.MANAGE_APPS)
    apps = list_apps(ports(), actor(), PageRequest(_MAX_APPS)).items
    if _is_from_dry_run():
        return submissions.redirect_with_entered(
            submissions.entered_fields(), "console.webhook_editing.new"
        )
    if all(lacking_of_app(actor(), app.permissions) for app in apps):
        return page("webhooks/no_app.html", has_apps=bool(apps))
    entered = submissions.entered_before()
    if entered is not None:
        _flash_difference(entered, None)
        return _page(_draft(entered, {}, NewWebhookForm), None, apps)
    form = NewWebhookForm(query=request.values.get("query", ""), app=_default_app(apps))
    if form.validate_on_submit():
        missing = _missing(form, _owner(form, None))
        if missing is not None and not form.warned.data:
            return _page(form, None, apps, missing)
        with form.catching_refusals():
            return submissions.create_once(form, lambda: _create(form))
    return _page(form, None, apps)


@blueprint.route("/<key:key>/edit", methods=["GET", "POST"])
def edit(key: int) -> BaseResponse:
    """Edit a webhook; a dry run passes what was entered before it."""
    hook = show_webhook(ports(), actor(), key)
    if hook is None:
        abort(404)
    if hook.lacking:
        raise app_permissions_denied(hook.lacking)
    if _is_from_dry_run():
        return submissions.redirect_with_entered(
            submissions.entered_fields(), "console.webhook_editing.edit", key=key
        )
    if request.method != "POST":
        return _page(_opened(hook), hook)
    form = EditWebhookForm.from_request(_form_values(hook), _edited_thing(hook))
    if form.validate():
        missing = _missing(form, _owner(form, hook))
        if missing is not None and not form.warned.data:
            return _page(form, hook, missing=missing)
        with form.catching_refusals():
            _save(form, hook.app_id, hook)
            return redirect_with_success(text("Webhook saved."), "console.webhooks.show", key=key)
    return _page(form, hook)


def _opened(hook: Webhook) -> EditWebhookForm:
    """Return the form with what is stored, or as it was before a dry run."""
    entered = submissions.entered_before()
    if entered is None:
        return EditWebhookForm.showing(_form_values(hook))
    _flash_difference(entered, hook)
    draft = _draft(entered, _form_values(hook), EditWebhookForm)
    if not draft.loaded.data:
        draft.load(EditWebhookForm.showing(_form_values(hook)), _form_values(hook))
    return draft


@blueprint.post("/preview")
def preview() -> Response:
    """Show the payload of the form as it is, beside it."""
    require(Permission.MANAGE_APPS)
    return page("webhooks/preview.html", live=live_payload(request.form))


@blueprint.post("/check")
def check() -> Response:
    """Check a query for the editor: marks by line, and a message."""
    query = request.form.get("query", "")
    if not query.strip():
        return jsonify(marks=[], message="", difference="")
    found = check_query(ports(), actor(), query)
    if found.problem is None:
        # Only the form of a dry run has an event.
        key = request.form.get("webhook", type=row_key) if "event" in request.form else None
        difference = difference_of(request.form, key, query)
        return jsonify(marks=[], message=_valid(found.events), difference=difference)
    marks = [
        {"line": line, "message": problem_text(found.problem)} for line in found.problem.lines
    ]
    return jsonify(marks=marks, message=problem_text(found.problem), difference="")


def _valid(events: tuple[EventType, ...]) -> str:
    """Return what a valid query subscribes to, and whether the event of a dry run is in it."""
    subscribed = enumeration([text(event.label) for event in events])
    chosen = request.form.get("event", type=EventType)
    if chosen is None or chosen in events:
        return text("Valid query. Subscribes to {events}.", events=subscribed)
    return text(
        "The query doesn't subscribe to {event}, but to {events}.",
        event=text(chosen.label),
        events=subscribed,
    )


def _page(
    form: WebhookForm,
    hook: Webhook | None,
    apps: tuple[App, ...] = (),
    missing: MissingPermissions | None = None,
) -> Response:
    if hook is not None:
        form.app.data = hook.app_id
    show = refused_page if form.errors or missing else page
    owner = _owner(form, hook)
    beyond = [app for app in apps if lacking_of_app(actor(), app.permissions)]
    return show(
        "webhooks/edit.html",
        form=form,
        hook=hook,
        owner=owner,
        missing=missing,
        invalid_lines=_problem_lines(form),
        webhook=make_webhook_form_page(hook, owner, apps, beyond, form.events.data or (), missing),
    )


def _create(form: WebhookForm) -> submissions.Created:
    made = _save(form, form.app.data).webhook
    created = text("Webhook “{webhook}” created.", webhook=made.name or made.target_url)
    return submissions.Created(created, "console.webhooks.show", {"key": made.id})


def _save(form: WebhookForm, app_id: int | None, hook: Webhook | None = None) -> SavedWebhook:
    """Save the webhook; say so if its app wasn't granted what the form asks for."""
    key = None if hook is None else hook.id
    change = replace(_input_of(form), seen={} if hook is None else editable_facts(hook))
    grants = bool(form.grants.data)
    saved = save_webhook(ports(), actor(), change, app_id, key, grants=grants)
    if saved.not_granted is not None:
        failed = text(
            "The webhook was saved, but the permissions weren't granted. {reasons}",
            reasons=refusal_text(saved.not_granted),
        )
        flash(failed, "bad")
    return saved


def _missing(form: WebhookForm, owner: App | None) -> MissingPermissions | None:
    """Return what the app can't receive of the form's events."""
    if owner is None:
        return None
    query = (form.query.data or "").strip()
    chosen = tuple(map(EventType, form.events.data or ()))
    events = check_query(ports(), actor(), query).events if query else chosen
    return missing_permissions(actor(), owner.name, events, owner.permissions)


def _is_from_dry_run() -> bool:
    return request.form.get("from") == "dry-run" or uses_query(request.form)


def _flash_difference(entered: submissions.Entered, hook: Webhook | None) -> None:
    """Say what the query of a dry run does to the events of the form that it was taken into."""
    key = None if hook is None else hook.id
    difference = difference_of(entered, key, entered.get("query", ""), hook)
    if difference and uses_query(entered):
        flash(text("{difference} Nothing is saved yet.", difference=difference), "warn")


def _draft(
    entered: submissions.Entered, stored: Mapping[str, object], kind: type[AnyWebhookForm]
) -> AnyWebhookForm:
    """Return the form as it was before a dry run, or of what is stored with its query and app."""
    if "draft" in entered:
        return kind(draft_of(entered))
    taken = {"query": entered.get("query", ""), "app": entered.get("app", type=row_key)}
    return kind(formdata=None, data={**taken, **stored, "query": taken["query"]})


def _default_app(apps: Iterable[App]) -> int | None:
    """Return the app of the URL, or the first active one within reach."""
    active = (
        app.id for app in apps if app.is_active and not lacking_of_app(actor(), app.permissions)
    )
    return request.args.get("app", type=row_key) or next(active, None)


def _owner(form: WebhookForm, hook: Webhook | None) -> App | None:
    chosen = hook.app_id if hook is not None else form.app.data
    return None if chosen is None else show_app(ports(), actor(), chosen)


def _problem_lines(form: WebhookForm) -> tuple[int, ...]:
    query = form.query.data or ""
    if not form.query.errors:
        return ()
    problem = check_query(ports(), actor(), query).problem
    return () if problem is None else problem.lines


def _input_of(form: WebhookForm) -> WebhookInput:
    query = (form.query.data or "").strip()
    secret: str | Absent = form.secret_key.data or ABSENT
    if form.drops_secret.data:
        secret = ""
    return WebhookInput(
        name=(form.name.data or "").strip(),
        target_url=(form.target_url.data or "").strip(),
        events=tuple(EventType(name) for name in form.events.data or ()),
        is_active=bool(form.is_active.data),
        max_rate=form.max_rate.data,
        query=query or ABSENT,
        drops_query=not query,
        custom_headers=_headers(form),
        secret_key=secret,
    )


def _headers(form: WebhookForm) -> Mapping[str, object]:
    """Return the headers as entered, one a line: ``X-Shop: harbour``."""
    found: dict[str, object] = {}
    for line in (form.custom_headers.data or "").splitlines():
        name, colon, value = line.partition(":")
        if line.strip():
            found[name.strip()] = value.strip() if colon else None
    return found


def _edited_thing(hook: Webhook) -> EditedThing:
    address = url_for("console.webhooks.show", key=hook.id)
    return EditedThing(hook.name or text("Unnamed webhook"), address, "Webhook", hook.id)


def _form_values(hook: Webhook) -> Mapping[str, object]:
    headers = "\n".join(f"{name}: {value}" for name, value in hook.reveal_headers().items())
    return {
        "name": hook.name,
        "target_url": hook.target_url,
        "query": hook.query,
        "events": [event.value for event in hook.events],
        "custom_headers": headers,
        "is_active": hook.is_active,
        "max_rate": hook.max_rate or None,
    }
