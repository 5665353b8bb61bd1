"""Apps: what works with the shop, what each may do, and stopping or removing it."""

from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus

from flask import Response, abort, request
from werkzeug.wrappers import Response as BaseResponse
from wtforms import StringField
from wtforms.validators import InputRequired

from app.console.forms import ConsoleForm
from app.console.lists import asked_page, tags, told, turns
from app.console.navigation import Entry, Heading, PageGroup
from app.console.page_layout import done, page, refused_page
from app.console.permissions import PermissionsField, chips
from app.console.session import actor, ports
from app.domain.apps.apps import App, AppSortField, AppType
from app.domain.authorization.permissions import Permission, in_order
from app.domain.values.errors import Refused
from app.services.apps.app_changes import (
    AppChange,
    NewApp,
    create_app,
    delete_app,
    update_app,
)
from app.services.apps.app_lists import AppFilter, list_apps, show_app
from app.services.apps.app_status import activate_app, deactivate_app
from app.services.apps.app_tokens import tokens_of_apps
from app.services.apps.extensions import extensions_of_apps
from app.services.apps.installation_requests import list_installations
from app.services.apps.summaries import list_webhooks_of_app, summaries_of_apps
from app.services.authorization.register import may
from app.services.webhooks.permission_grants import LinkWebhook, WebhooksNotConfirmed
from app.web.converters import one_of, row_key

_NAMES = {"q": "Name", "status": "Status", "kind": "Kind", "sort": "Sorted by"}
_STATUS = {"active": True, "inactive": False}
_KINDS = {"made": AppType.LOCAL, "installed": AppType.THIRDPARTY}
_SORTS = {"name": (AppSortField.NAME, False), "newest": (AppSortField.CREATION_DATE, True)}
_ASKED = ("deactivate", "remove", "rotate", "revoke")

OVERLAPS = {"0": "At once", "1": "In an hour", "24": "In a day", "168": "In a week"}
"""When a replaced token may end, by hours."""

blueprint = PageGroup(
    "apps",
    __name__,
    Entry("Apps", "grid", "tokens install manifest extensions", Heading.INTEGRATIONS),
    Entry("Create an app", "plus-lg", "new token add", view="connect"),
    url_prefix="/apps",
)


class AppForm(ConsoleForm):
    """A new app, or its new name."""

    name = StringField("Name", validators=[InputRequired("Give the app a name.")])
    identifier = StringField("Identifier")
    permissions = PermissionsField("What it may do")


@dataclass(frozen=True, slots=True)
class GrantQuestion:
    """Permissions that would have webhooks of an app sent links, which has to be confirmed."""

    permissions: frozenset[Permission]
    webhooks: Sequence[LinkWebhook]


@blueprint.get("/")
def index() -> BaseResponse:
    """All apps, with their tokens and webhooks; installations that are under way or failed."""
    sort_by, descending = _SORTS.get(request.args.get("sort", ""), (AppSortField.NAME, False))
    wanted = AppFilter(
        search=request.args.get("q", "").strip(),
        is_active=_STATUS.get(request.args.get("status", "")),
        type=_KINDS.get(request.args.get("kind", "")),
    )
    found = list_apps(ports(), actor(), asked_page(), wanted, sort_by, descending=descending)
    manages = may(actor(), create_app)
    ids = [app.id for app in found.items]
    return page(
        "apps/index.html",
        found=found,
        turns=turns(found, "Before", "More"),
        told=told(*_NAMES),
        tags=tags({name: _NAMES[name] for name in ("q", "status", "kind")}),
        manages=manages,
        summaries=summaries_of_apps(ports(), actor(), ids) if manages else {},
        installations=list_installations(ports(), actor()) if manages else (),
    )


@blueprint.route("/connect", methods=["GET", "POST"])
def connect() -> BaseResponse:
    """Create an app and show its token once, or link to installing one from a manifest."""
    form = AppForm()
    if form.validate_on_submit():
        new = NewApp(form.name.data, form.permissions.chosen, form.identifier.data or "")
        try:
            made = create_app(ports(), actor(), new)
        except Refused as refused:
            form.refuse(refused)
        else:
            return show_app_page(
                made.app, secret=made.token.secret, secret_name=made.token.token.name
            )
    given = chips(actor(), form.permissions.chosen, for_app=True)
    show_ = refused_page if form.is_submitted() else page
    return show_("apps/new.html", form=form, chips=given, manages=may(actor(), create_app))


@blueprint.get("/<key:key>")
def show(key: int) -> BaseResponse:
    """One app: what it may do, its tokens, webhooks and extensions; with ``ask`` a question."""
    return show_app_page(
        app_or_404(key),
        asked=request.args.get("ask", type=one_of(_ASKED)),
        token_id=request.args.get("token", type=row_key),
    )


@blueprint.post("/<key:key>/details")
def save_details(key: int) -> BaseResponse:
    """Another name or identifier."""
    form = AppForm()
    if not form.validate():
        return show_app_page(app_or_404(key), form=form)
    try:
        change = AppChange(name=form.name.data, identifier=form.identifier.data or "")
        app = update_app(ports(), actor(), key, change)
    except Refused as refused:
        form.refuse(refused)
        return show_app_page(app_or_404(key), form=form)
    return done(f"The app is called {app.name} now.", "console.apps.show", key=key)


@blueprint.post("/<key:key>/permissions")
def save_permissions(key: int) -> BaseResponse:
    """What the app may do; it holds for all its tokens, from the next request on."""
    form = AppForm()
    change = AppChange(permissions=form.permissions.chosen)
    confirmed = request.form.get("confirmed") == "yes"
    try:
        app = update_app(ports(), actor(), key, change, confirmed=confirmed)
    except WebhooksNotConfirmed as unconfirmed:
        question = GrantQuestion(form.permissions.chosen, unconfirmed.webhooks)
        return show_app_page(app_or_404(key), question=question)
    except Refused as refused:
        form.refuse(refused)
        return show_app_page(app_or_404(key), form=form)
    labels = ", ".join(sorted(one.label for one in app.permissions)) or "nothing"
    return done(f"{app.name} may: {labels}.", "console.apps.show", key=key)


@blueprint.post("/<key:key>/activate")
def activate(key: int) -> BaseResponse:
    """Let it in again."""
    app = activate_app(ports(), actor(), key)
    return done(f"{app.name} is active: its tokens work again.", "console.apps.show", key=key)


@blueprint.post("/<key:key>/deactivate")
def deactivate(key: int) -> BaseResponse:
    """Lock it out, until it is activated again."""
    app = deactivate_app(ports(), actor(), key)
    return done(f"{app.name} is locked out.", "console.apps.show", key=key)


@blueprint.post("/<key:key>/remove")
def remove(key: int) -> BaseResponse:
    """Remove it with its tokens, webhooks and extensions."""
    app = delete_app(ports(), actor(), key)
    return done(f"{app.name} was removed, with its tokens and webhooks.", "console.apps.index")


def app_or_404(key: int) -> App:
    """The app of that key."""
    app = show_app(ports(), actor(), key)
    if app is None:
        abort(404)
    return app


def show_app_page(
    app: App,
    *,
    form: ConsoleForm | None = None,
    asked: str | None = None,
    token_id: int | None = None,
    secret: str = "",
    secret_name: str = "",
    question: GrantQuestion | None = None,
) -> Response:
    """The page of ``app``; ``secret`` is a token that has just been made, shown this once.

    With ``question`` it asks whether those permissions are granted all the same.
    """
    manages = may(actor(), create_app)
    tokens = tokens_of_apps(ports(), actor(), (app.id,))[app.id] if manages else ()
    given = question.permissions if question else app.permissions
    is_fine = form is None and question is None
    told_form = form or AppForm(formdata=None, name=app.name, identifier=app.identifier)
    return page(
        "apps/show.html",
        HTTPStatus.OK if is_fine else HTTPStatus.UNPROCESSABLE_ENTITY,
        app=app,
        manages=manages,
        form=told_form,
        chips=chips(actor(), given, for_app=True),
        tokens=tokens,
        token=next((one for one in tokens if one.id == token_id), None),
        webhooks=list_webhooks_of_app(ports(), actor(), app.id) if manages else (),
        extensions=extensions_of_apps(ports(), actor(), (app,))[app.id],
        asked=asked,
        overlaps=OVERLAPS,
        secret=secret,
        secret_name=secret_name,
        given=in_order(given),
        question=question,
    )
