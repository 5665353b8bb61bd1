"""Apps: list, create and edit them, change their permissions, deactivate and delete them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Any

from flask import Response, abort, request, url_for
from markupsafe import Markup
from werkzeug.wrappers import Response as BaseResponse
from wtforms import BooleanField, EmailField, StringField
from wtforms.validators import InputRequired

from app.console.frame.formatting import html_text, time_element, time_zone
from app.console.frame.forms import EditedThing, EditForm
from app.console.frame.navigation import Entry, Heading, PageGroup
from app.console.frame.page_layout import form_page, page, redirect_with_success
from app.console.frame.parts import Pill, Question, lines, moment, muted, named, pill, small
from app.console.frame.permissions import PermissionsField, chips
from app.console.frame.session import actor, now, ports, require
from app.console.frame.submissions import Created, CreatingForm, create_once, shown_once
from app.console.integrations import app_page
from app.console.integrations.app_activity import (
    ACTIVITY_PERIODS,
    ActivityView,
    make_activity_view,
)
from app.console.lists.filters import ListOrder, Sort, choice, search
from app.console.lists.list_page import Column, EmptyState, ListPage, RowCount
from app.domain.apps.apps import App, AppSortField, AppType, Installation, JobStatus, NewAppToken
from app.domain.authorization.permissions import Permission, in_order
from app.domain.values.errors import Refused
from app.domain.values.ids import to_global_id
from app.domain.values.metadata import StoredMetadata
from app.domain.values.pages import Page, PageRequest
from app.domain.values.text import translatable
from app.services.apps import app_changes
from app.services.apps.activity import ActivityPeriod, read_app_activity
from app.services.apps.app_lists import (
    AppFilter,
    AppSummary,
    list_apps,
    list_webhooks_of_app,
    show_app,
    summaries_of_apps,
)
from app.services.apps.app_tokens import clients_of_app, tokens_of_apps
from app.services.apps.extensions import extensions_of_apps
from app.services.apps.installation_requests import list_installations
from app.services.apps.problems import dismiss_problems, problems_of_apps
from app.services.authorization.register import can_call
from app.services.metadata import show_app_with_metadata
from app.services.webhooks.app_reach import WebhooksNotConfirmed
from app.web.converters import one_of, row_key
from app.web.translation import enumeration, lazy_text, reason_text, text, texts

_STATUS = {"active": translatable("Active"), "inactive": translatable("Inactive")}
_KINDS = {"made": translatable("Custom"), "installed": translatable("Installed")}

_LABELS = 2
"""How many permissions a row names."""

OVERLAPS = {
    "0": translatable("Immediately"),
    "1": translatable("In 1 hour"),
    "24": translatable("In 1 day"),
    "168": translatable("In 1 week"),
}
"""When a rotated token can expire, by hours."""

DEFAULT_OVERLAP = "24"


def chosen_overlap() -> timedelta:
    """Return how long the rotated token or secret stays valid, as the dialog's form says."""
    hours = request.form.get("overlap", DEFAULT_OVERLAP, type=one_of(OVERLAPS))
    return timedelta(hours=int(hours))


@dataclass(frozen=True, slots=True)
class InstallationNotice:
    """An installation that is in progress, or failed and can be retried."""

    id: int
    app_name: str
    is_failed: bool
    title: str
    detail: str


def app_columns(summaries: Mapping[int, AppSummary] | None) -> tuple[Column[App], ...]:
    """Return the columns of the list; ``summaries`` are for people who manage apps."""
    columns: tuple[Column[App], ...] = (
        Column("App", _title, ("is-cut",), is_title=True),
        Column("Status", lambda app: pill(app_page.app_status(app)), ("is-state",)),
        Column[App](
            "Permissions", lambda app: _permissions(app.permissions), ("is-cut", "is-most")
        ),
    )
    if summaries is None:
        return columns
    return (
        *columns,
        Column("Token (last 4)", lambda app: _token(summaries[app.id]), ("is-wide",)),
        Column(
            "Last used",
            lambda app: _last_use(summaries[app.id]),
            ("is-num", "is-extra", "is-wide"),
        ),
        Column("Webhooks", lambda app: pill(webhooks_pill(summaries[app.id])), ("is-wide",)),
    )


def _title(app: App) -> Markup:
    url = url_for("console.apps.show", key=app.id)
    return named(app.name, url, small(_kind(app)), is_app=True)


def _kind(app: App) -> str:
    kind = text(_KINDS["made"] if app.type is AppType.LOCAL else _KINDS["installed"])
    if not app.version:
        return kind
    return text("{kind} · {version}", kind=kind, version=app.version)


def _permissions(permissions: frozenset[Permission]) -> str:
    if not permissions:
        return text("None")
    labels = app_page.permission_labels(permissions)
    named = ", ".join(labels[:_LABELS])
    if len(labels) <= _LABELS:
        return named
    return text("{named}, +{count}", named=named, count=len(labels) - _LABELS)


def _token(summary: AppSummary) -> Markup:
    if not summary.tokens:
        return muted(text("No token"))
    last_four = text("…{last_four}", last_four=summary.last_four)
    others = summary.tokens - 1
    shown = Markup('<span class="lk-mono">{}</span>').format(last_four)
    return lines(shown, text("+{count}", count=others) if others else "")


def _last_use(summary: AppSummary) -> Markup:
    unused = text("Not used here yet") if summary.unused_imports else text("Never")
    return moment(summary.last_used_at, unused)


def webhooks_pill(summary: AppSummary) -> Pill:
    """Return how many webhooks an app has, or how many of them fail."""
    if not summary.webhooks:
        return Pill("off", text("None"))
    if summary.failing:
        words = text(
            "{failing:,} of {webhooks:,} failing",
            failing=summary.failing,
            webhooks=summary.webhooks,
        )
        return Pill("bad", words)
    return Pill("ok", text("{count:,} webhook", "{count:,} webhooks", count=summary.webhooks))


def installation_notice(installation: Installation, now: datetime) -> InstallationNotice:
    """Return what the list says of an installation in progress, or failed."""
    name = installation.app_name
    if installation.status is JobStatus.FAILED:
        title = text("{name} could not be installed.", name=name)
        reason = reason_text(installation.message) or text("The app gave no reason.")
        detail = text("{reason} No app was created.", reason=reason)
        return InstallationNotice(
            installation.id, name, is_failed=True, title=title, detail=detail
        )
    return InstallationNotice(
        installation.id,
        name,
        is_failed=False,
        title=text("Installing {name} …", name=name),
        detail=html_text("Started {moment}.", moment=time_element(installation.created_at, now)),
    )


def installing_words(notices: Sequence[InstallationNotice]) -> str:
    """Return what a screen reader says of installations in progress; empty without any."""
    return " ".join(notice.title for notice in notices if not notice.is_failed)


def ended_words(notices: Sequence[InstallationNotice]) -> str:
    """Return what is said once no installation is in progress."""
    if any(notice.is_failed for notice in notices):
        return text("Installation failed.")
    return text("Installation finished.")


def _read(
    request: PageRequest,
    *,
    sort_by: AppSortField = AppSortField.NAME,
    descending: bool = False,
    **values: Any,
) -> Page[App]:
    return list_apps(
        ports(), actor(), request, AppFilter(**values), sort_by, descending=descending
    )


APPS = ListPage[App](
    template="apps/index.html",
    title="Apps",
    intro="Integrations connected to your shop. Each can do only what you permit.",
    label="Apps",
    filter_label="Filter apps",
    caption="Apps",
    count=RowCount(
        none="No apps",
        no_match="No matching apps",
        one="1 app",
        many="{count} apps",
        some="{matching} of {total} apps",
    ),
    read=_read,
    filters=(
        search("Name"),
        choice(
            "status", "Status", _STATUS, {"active": True, "inactive": False}, argument="is_active"
        ),
        choice(
            "kind",
            "Type",
            _KINDS,
            {"made": AppType.LOCAL, "installed": AppType.THIRDPARTY},
            argument="type",
        ),
    ),
    sorts=(
        Sort("name", "Name"),
        Sort(
            "newest",
            "Newest first",
            {"sort_by": AppSortField.CREATION_DATE, "descending": True},
            ListOrder.NEWEST_FIRST,
        ),
    ),
    file="apps",
    file_columns={
        "id": lambda app: to_global_id("App", app.id),
        "name": lambda app: app.name,
        "identifier": lambda app: app.identifier,
        "type": lambda app: app.type.value,
        "active": lambda app: app.is_active,
        "version": lambda app: app.version,
        "permissions": lambda app: ", ".join(one.value for one in in_order(app.permissions)),
        "created_at": lambda app: app.created_at,
    },
    empty=EmptyState(
        "grid",
        "No apps yet",
        "Apps read orders, print labels or keep stock for you. Create one for your own program, "
        "or install one.",
        'flask app create "My app"',
        "console.apps.connect",
        "Create app",
    ),
)

blueprint = PageGroup(
    "apps",
    __name__,
    Entry(
        "Apps", "grid", "tokens install manifest extensions", Heading.INTEGRATIONS, needs=list_apps
    ),
    Entry(
        "Create an app", "plus-lg", "new token add", view="connect", needs=app_changes.create_app
    ),
    url_prefix="/apps",
    list_name="apps",
)


class AppForm(EditForm):
    names = {"contactEmail": "contact_email"}  # noqa: RUF012

    name = StringField(lazy_text("Name"), validators=[InputRequired(lazy_text("Enter a name."))])
    identifier = StringField(lazy_text("Identifier"))
    contact_email = EmailField(lazy_text("Contact email"))
    client_credentials_only = BooleanField(lazy_text("Only client credentials"))


class PermissionsForm(EditForm):
    permissions = PermissionsField()


class NewAppForm(CreatingForm):
    name = AppForm.name
    identifier = AppForm.identifier
    permissions = PermissionsForm.permissions


@blueprint.get("/")
def index() -> BaseResponse:
    """List the apps with their tokens and webhooks, and installations in progress or failed."""
    found = APPS.load_page(APPS.requested())
    can_manage = can_call(actor(), app_changes.create_app)
    ids = [app.id for app in found.items]
    summaries = summaries_of_apps(ports(), actor(), ids) if can_manage else None
    installations = list_installations(ports(), actor()) if can_manage else ()
    notices = [installation_notice(one, now()) for one in installations]
    return APPS.show(
        found,
        columns=app_columns(summaries),
        can_manage=can_manage,
        installations=notices,
        installing=installing_words(notices),
        ended=ended_words(notices),
    )


blueprint.add_url_rule("/export.csv", "export", APPS.export)


@blueprint.route("/connect", methods=["GET", "POST"])
def connect() -> BaseResponse:
    """Create an app and show its token once."""
    form = NewAppForm()
    if form.validate_on_submit():
        with form.catching_refusals():
            return create_once(form, lambda: _create(form))
    given = chips(actor(), form.permissions.chosen, for_app=True)
    return form_page(
        "apps/new.html", form, chips=given, manages=can_call(actor(), app_changes.create_app)
    )


@blueprint.get("/<key:key>")
def show(key: int) -> BaseResponse:
    """Show an app; ``ask`` is the change to confirm, ``token`` or ``client`` what it is about."""
    return show_app_page(
        key,
        question_name=request.args.get("ask", type=one_of(app_page.QUESTIONS)),
        part_id=request.args.get("token" if "token" in request.args else "client", type=row_key),
        secret=shown_once(),
    )


@blueprint.post("/<key:key>/details")
def save_details(key: int) -> BaseResponse:
    """Change the name or identifier."""
    require(Permission.MANAGE_APPS)
    app = app_or_404(key)
    stored = _names_of(app)
    form = AppForm.from_request(stored, _edited_thing(app))
    if form.validate():
        change = app_changes.AppChange(
            form.name.data,
            form.identifier.data or "",
            contact_email=form.contact_email.data or "",
            client_credentials_only=form.client_credentials_only.data,
            seen=stored,
        )
        with form.catching_refusals():
            saved = text(
                "{app} was saved.", app=app_changes.update_app(ports(), actor(), key, change).name
            )
            return redirect_with_success(saved, "console.apps.show", key=key)
    return show_app_page(key, form=form)


@blueprint.post("/<key:key>/permissions")
def save_permissions(key: int) -> BaseResponse:
    """Change the permissions of the app and all its tokens, from the next request on."""
    require(Permission.MANAGE_APPS)
    app = app_or_404(key)
    stored = _permissions_of(app)
    form = PermissionsForm.from_request(stored, _edited_thing(app))
    permissions = form.permissions.chosen
    confirmed = request.form.get("confirmed") == "yes"
    if not form.validate():
        return show_app_page(key, permissions_form=form)
    try:
        change = app_changes.AppChange(permissions=permissions, seen=stored)
        app = app_changes.update_app(ports(), actor(), key, change, confirmed=confirmed)
    except WebhooksNotConfirmed as unconfirmed:
        loaded = str(form.loaded.data)
        question = app_page.make_grant_question(app, permissions, unconfirmed.webhooks, loaded)
        return show_app_page(key, permissions_form=form, question=question)
    except Refused as refused:
        form.refuse(refused)
        return show_app_page(key, permissions_form=form)
    labels = enumeration(app_page.permission_labels(app.permissions)) or text("none")
    saved = text("Permissions of {app}: {labels}.", app=app.name, labels=labels)
    return redirect_with_success(saved, "console.apps.show", key=key)


@blueprint.post("/<key:key>/problems/<key:problem_key>/dismiss")
def dismiss_problem(key: int, problem_key: int) -> BaseResponse:
    dismiss_problems(ports(), actor(), (problem_key,))
    return redirect_with_success(text("Dismissed the problem."), "console.apps.show", key=key)


@blueprint.post("/<key:key>/activate")
def activate(key: int) -> BaseResponse:
    app = app_changes.activate_app(ports(), actor(), key)
    message = text("{app} is active. Its tokens work again.", app=app.name)
    return redirect_with_success(message, "console.apps.show", key=key)


@blueprint.post("/<key:key>/deactivate")
def deactivate(key: int) -> BaseResponse:
    app = app_changes.deactivate_app(ports(), actor(), key)
    message = text("{app} was deactivated.", app=app.name)
    return redirect_with_success(message, "console.apps.show", key=key)


@blueprint.post("/<key:key>/remove")
def remove(key: int) -> BaseResponse:
    """Delete an app with its tokens, webhooks and extensions."""
    app = app_changes.delete_app(ports(), actor(), key)
    deleted = text("{app} was deleted with its tokens and webhooks.", app=app.name)
    return redirect_with_success(deleted, "console.apps.index")


def created_token(message: str, new: NewAppToken) -> Created:
    """Return a new token as its app's page shows it."""
    arguments = {"key": new.token.app_id, "token": new.token.id}
    return Created(message, "console.apps.show", arguments, new.secret)


def _create(form: NewAppForm) -> Created:
    new_app = app_changes.NewApp(
        form.name.data, form.permissions.chosen, form.identifier.data or ""
    )
    made = app_changes.create_app(ports(), actor(), new_app)
    return created_token(text("{app} was created.", app=made.app.name), made.token)


def app_or_404(key: int) -> App:
    app = show_app(ports(), actor(), key)
    if app is None:
        abort(404)
    return app


def _names_of(app: App) -> dict[str, object]:
    return {
        "name": app.name,
        "identifier": app.identifier,
        "contact_email": app.contact_email,
        "client_credentials_only": app.client_credentials_only,
    }


def _permissions_of(app: App) -> dict[str, object]:
    return {"permissions": sorted(one.value for one in app.permissions)}


def _edited_thing(app: App) -> EditedThing:
    return EditedThing(app.name, url_for("console.apps.show", key=app.id), "App", app.id)


def _found_app(key: int) -> tuple[App, StoredMetadata]:
    found = show_app_with_metadata(ports(), actor(), key)
    if found is None:
        abort(404)
    return found


def _activity(app: App) -> ActivityView:
    chosen = request.args.get("chart", type=one_of(ACTIVITY_PERIODS))
    period = ActivityPeriod(chosen or ActivityPeriod.DAY)
    found = read_app_activity(ports(), actor(), app.id, period, time_zone())
    return make_activity_view(found, period, now())


def _parts(app: App, *, is_activity_alone: bool) -> app_page.AppParts:
    """Return what belongs to the app; beside its activity what the tabs count is enough."""
    extensions = extensions_of_apps(ports(), actor(), (app,))[app.id]
    if not can_call(actor(), app_changes.create_app):
        return app_page.AppParts(extensions=extensions)
    return app_page.AppParts(
        tokens_of_apps(ports(), actor(), (app.id,))[app.id],
        list_webhooks_of_app(ports(), actor(), app.id),
        extensions,
        () if is_activity_alone else clients_of_app(ports(), actor(), app.id),
        () if is_activity_alone else problems_of_apps(ports(), actor(), (app.id,))[app.id],
    )


def show_app_page(
    key: int,
    *,
    form: AppForm | None = None,
    permissions_form: PermissionsForm | None = None,
    question_name: str | None = None,
    part_id: int | None = None,
    secret: str | None = None,
    question: Question | None = None,
) -> Response:
    """Show the page of the app with that key: the tab of a refused form, or that of the URL.

    ``question_name`` is the change to confirm, of the token or linked client ``part_id`` or of
    the app. ``secret`` is that token's, empty if it was shown before. Or ``question`` asks whether
    the permissions of ``permissions_form`` are granted.
    """
    app, metadata = _found_app(key)
    manages = can_call(actor(), app_changes.create_app)
    is_fine = form is None and permissions_form is None
    view = request.args.get("view", type=one_of(app_page.VIEWS)) or app_page.view_of_question(
        question_name
    )
    if not is_fine:
        view = "permissions" if form is None else "settings"
    parts = _parts(app, is_activity_alone=view == "activity" and question_name is None)
    permissions_form = permissions_form or PermissionsForm.showing(_permissions_of(app))
    token = next((listed for listed in parts.tokens if listed.id == part_id), None)
    if manages and question is None:
        question = app_page.make_question(app, parts, now(), question_name, token)
    link = next((listed for listed in parts.clients if listed.id == part_id), None)
    if link is not None and question_name == "unlink":
        question = app_page.make_unlink_question(link)
    return page(
        "apps/show.html",
        HTTPStatus.OK if is_fine else HTTPStatus.UNPROCESSABLE_ENTITY,
        app=app,
        shown=app_page.make_app_page(app, parts, now(), question),
        permissions=in_order(app.permissions),
        clients=parts.clients,
        problems=app_page.reported_problems(parts),
        metadata=app_page.app_metadata_card(app, metadata, request.args, actor())
        if manages
        else None,
        manages=manages,
        tabs=app_page.app_tabs(app, parts, view) if manages else (),
        view=view if manages else "overview",
        activity=_activity(app) if manages and view == "activity" else None,
        form=form or AppForm.showing(_names_of(app)),
        permissions_form=permissions_form,
        chips=chips(actor(), permissions_form.permissions.chosen, for_app=True),
        question_name=question_name,
        overlaps=texts(OVERLAPS),
        default_overlap=DEFAULT_OVERLAP,
        secret=app_page.make_secret(token, secret) if token and secret else None,
        is_secret_gone=secret == "",
        once=CreatingForm(formdata=None),
    )
