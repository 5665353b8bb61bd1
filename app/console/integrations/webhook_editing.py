"""The form that creates or edits a webhook; its query is checked as it is typed."""

from collections.abc import Mapping

from flask import Response, abort, jsonify, request
from werkzeug.wrappers import Response as BaseResponse
from wtforms import (
    BooleanField,
    PasswordField,
    SelectMultipleField,
    StringField,
    TextAreaField,
    URLField,
)
from wtforms.fields.choices import SelectChoice
from wtforms.validators import InputRequired

from app.console.forms import ConsoleForm, KeyField
from app.console.integrations.webhook_form_page import make_webhook_form_page
from app.console.navigation import Entry, PageGroup
from app.console.page_layout import done, page, refused_page
from app.console.parts import enumeration
from app.console.session import actor, ports, require
from app.domain.apps.apps import App
from app.domain.authorization.permissions import Permission
from app.domain.events import EventType
from app.domain.values.errors import Refused, problem_text
from app.domain.values.ids import to_global_id
from app.domain.values.pages import PageRequest
from app.domain.values.text import text
from app.domain.values.unset import ABSENT, Absent
from app.domain.webhooks.webhooks import Webhook
from app.services.apps.app_lists import list_apps, show_app
from app.services.webhooks.changes import WebhookInput, create_webhook, update_webhook
from app.services.webhooks.details import show_webhook
from app.services.webhooks.lists import list_webhooks
from app.services.webhooks.queries import check_query
from app.web.converters import row_key

_MAX_APPS = 100

blueprint = PageGroup(
    "webhook_editing",
    __name__,
    Entry("Create a webhook", "plus-lg", "new subscription add", view="new", needs=list_webhooks),
    url_prefix="/webhooks",
)


class WebhookForm(ConsoleForm):
    """The fields of a webhook; its secret is never shown, and kept unless a new one is entered."""

    names = {"asyncEvents": "events", "events": "events"}  # noqa: RUF012
    app = KeyField("App")
    name = StringField("Name")
    target_url = URLField("Endpoint URL", validators=[InputRequired("Enter a URL.")])
    query = TextAreaField("Subscription query")
    events = SelectMultipleField(
        "Events", choices=[SelectChoice(event.value, event.label) for event in EventType]
    )
    custom_headers = TextAreaField("Custom headers")
    secret_key = PasswordField("Secret")
    drops_secret = BooleanField("Remove the secret and sign with the shop's key")
    is_active = BooleanField("Enabled", default=True)


@blueprint.route("/new", methods=["GET", "POST"])
def new() -> BaseResponse:
    """Create a webhook for an app; a dry run passes its query and its app."""
    require(Permission.MANAGE_APPS)
    if request.form.get("from") == "dry-run":
        taken = WebhookForm(
            formdata=None,
            query=request.form.get("query", ""),
            app=request.form.get("app", type=row_key),
        )
        return _page(taken, None)
    form = WebhookForm(
        query=request.values.get("query", ""), app=request.args.get("app", type=row_key)
    )
    if form.validate_on_submit():
        try:
            made = create_webhook(ports(), actor(), _said(form), form.app.data)
        except Refused as refused:
            form.refuse(refused)
        else:
            created = text("Webhook “{webhook}” created.", webhook=made.name or made.target_url)
            return done(created, "console.webhooks.show", key=made.id)
    return _page(form, None)


@blueprint.route("/<key:key>/edit", methods=["GET", "POST"])
def edit(key: int) -> BaseResponse:
    """Edit a webhook."""
    hook = show_webhook(ports(), actor(), key)
    if hook is None:
        abort(404)
    form = WebhookForm(data=_shown(hook))
    if form.validate_on_submit():
        try:
            update_webhook(ports(), actor(), to_global_id("Webhook", key), "", _said(form, hook))
        except Refused as refused:
            form.refuse(refused)
        else:
            return done("Webhook saved.", "console.webhooks.show", key=key)
    return _page(form, hook)


@blueprint.post("/check")
def check() -> Response:
    """Check a query for the editor: marks by line, and a message."""
    query = request.form.get("query", "")
    if not query.strip():
        return jsonify(marks=[], message="")
    found = check_query(ports(), actor(), query)
    if found.problem is None:
        events = enumeration([event.label for event in found.events])
        return jsonify(
            marks=[], message=text("Valid query. Subscribes to {events}.", events=events)
        )
    marks = [
        {"line": line, "message": problem_text(found.problem)} for line in found.problem.lines
    ]
    return jsonify(marks=marks, message=problem_text(found.problem))


def _page(form: WebhookForm, hook: Webhook | None) -> Response:
    show = refused_page if form.errors else page
    owner = _owner(form, hook)
    apps = () if hook is not None else _apps()
    chosen = form.events.data or ()
    webhook = make_webhook_form_page(hook, owner, apps, chosen, _problem_lines(form))
    return show("webhooks/edit.html", form=form, webhook=webhook)


def _owner(form: WebhookForm, hook: Webhook | None) -> App | None:
    chosen = hook.app_id if hook is not None else form.app.data
    return None if chosen is None else show_app(ports(), actor(), chosen)


def _apps() -> tuple[App, ...]:
    return list_apps(ports(), actor(), PageRequest(_MAX_APPS)).items


def _problem_lines(form: WebhookForm) -> tuple[int, ...]:
    query = form.query.data or ""
    if not form.query.errors:
        return ()
    problem = check_query(ports(), actor(), query).problem
    return () if problem is None else problem.lines


def _said(form: WebhookForm, hook: Webhook | None = None) -> WebhookInput:
    query = (form.query.data or "").strip()
    secret: str | Absent = form.secret_key.data or ABSENT
    if form.drops_secret.data:
        secret = ""
    return WebhookInput(
        name=(form.name.data or "").strip(),
        target_url=(form.target_url.data or "").strip(),
        events=tuple(EventType(name) for name in form.events.data or ()),
        is_active=bool(form.is_active.data),
        query=query if query or hook is None else ABSENT,
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


def _shown(hook: Webhook) -> Mapping[str, object]:
    headers = "\n".join(f"{name}: {value}" for name, value in hook.custom_headers.items())
    return {
        "app": hook.app_id,
        "name": hook.name,
        "target_url": hook.target_url,
        "query": hook.query,
        "events": [event.value for event in hook.events],
        "custom_headers": headers,
        "is_active": hook.is_active,
    }
