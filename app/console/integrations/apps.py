"""Apps: list, create and edit them, change their permissions, deactivate and delete them."""

from collections.abc import Mapping
from http import HTTPStatus

from flask import Response, abort, request
from werkzeug.wrappers import Response as BaseResponse
from wtforms import StringField
from wtforms.validators import InputRequired

from app.console.frame.forms import ConsoleForm
from app.console.frame.navigation import Entry, Heading, PageGroup
from app.console.frame.page_layout import done, page, refused_page
from app.console.frame.parts import Question
from app.console.frame.permissions import PermissionsField, chips
from app.console.frame.session import actor, now, ports
from app.console.frame.submissions import Created, CreatingForm, create_once, shown_once
from app.console.integrations.app_page import (
    QUESTIONS,
    AppParts,
    app_metadata_card,
    make_app_page,
    make_grant_question,
    make_question,
    make_secret,
)
from app.console.integrations.apps_page import (
    COLUMNS,
    KINDS,
    SORTS,
    STATUS,
    make_apps_page,
    permission_labels,
)
from app.console.lists.files import export_list
from app.console.lists.list_page import (
    ListOrder,
    active_filters,
    query_params,
    requested_page,
    turns,
)
from app.domain.apps.apps import App, AppSortField, AppType, NewAppToken
from app.domain.authorization.permissions import Permission
from app.domain.values.errors import Refused
from app.domain.values.metadata import StoredMetadata
from app.domain.values.pages import Page, PageRequest
from app.domain.values.text import translatable
from app.services.apps.app_changes import (
    AppChange,
    NewApp,
    activate_app,
    create_app,
    deactivate_app,
    delete_app,
    update_app,
)
from app.services.apps.app_lists import (
    AppFilter,
    list_apps,
    list_webhooks_of_app,
    show_app,
    summaries_of_apps,
)
from app.services.apps.app_tokens import tokens_of_apps
from app.services.apps.extensions import extensions_of_apps
from app.services.apps.installation_requests import list_installations
from app.services.authorization.register import may
from app.services.metadata import show_app_with_metadata
from app.services.webhooks.app_reach import WebhooksNotConfirmed
from app.web.converters import one_of, row_key
from app.web.translation import enumeration, lazy_text, text, texts

_NAMES = {
    "q": translatable("Name"),
    "status": translatable("Status"),
    "kind": translatable("Type"),
}
_WORDS: Mapping[str, Mapping[str, str]] = {"status": STATUS, "kind": KINDS, "sort": SORTS}
_CONVERTERS = {"status": one_of(STATUS), "kind": one_of(KINDS)}
_STATUS = {"active": True, "inactive": False}
_KINDS = {"made": AppType.LOCAL, "installed": AppType.THIRDPARTY}
_SORTS = {"newest": (AppSortField.CREATION_DATE, True)}
_ORDERS = {"newest": ListOrder.NEWEST_FIRST}

OVERLAPS = {
    "0": translatable("Immediately"),
    "1": translatable("In 1 hour"),
    "24": translatable("In 1 day"),
    "168": translatable("In 1 week"),
}
"""When a rotated token can expire, by hours."""

DEFAULT_OVERLAP = "24"

blueprint = PageGroup(
    "apps",
    __name__,
    Entry(
        "Apps", "grid", "tokens install manifest extensions", Heading.INTEGRATIONS, needs=list_apps
    ),
    Entry("Create an app", "plus-lg", "new token add", view="connect", needs=create_app),
    url_prefix="/apps",
)


class AppForm(ConsoleForm):
    """A new app, or its new name."""

    name = StringField(lazy_text("Name"), validators=[InputRequired(lazy_text("Enter a name."))])
    identifier = StringField(lazy_text("Identifier"))
    permissions = PermissionsField()


class NewAppForm(AppForm, CreatingForm):
    """A new app."""


@blueprint.get("/")
def index() -> BaseResponse:
    """List the apps with their tokens and webhooks, and installations in progress or failed."""
    chosen = _chosen()
    found = _found(chosen, requested_page())
    words = {name: texts(labels) for name, labels in _WORDS.items()}
    can_manage = may(actor(), create_app)
    ids = [app.id for app in found.items]
    return page(
        "apps/index.html",
        apps=make_apps_page(
            found,
            summaries_of_apps(ports(), actor(), ids) if can_manage else {},
            list_installations(ports(), actor()) if can_manage else (),
            now(),
            can_manage=can_manage,
        ),
        turns=turns(found, _ORDERS.get(chosen.get("sort", ""), ListOrder.OTHER)),
        params=chosen,
        filters=active_filters(texts(_NAMES), _CONVERTERS, words),
        status=words["status"],
        kinds=words["kind"],
        sorts=words["sort"],
    )


@blueprint.get("/export.csv")
def export() -> BaseResponse:
    """Export every matching app, streamed while it is read."""
    chosen = _chosen()
    return export_list("apps", COLUMNS, lambda page: _found(chosen, page))


@blueprint.route("/connect", methods=["GET", "POST"])
def connect() -> BaseResponse:
    """Create an app and show its token once."""
    form = NewAppForm()
    if form.validate_on_submit():
        try:
            return create_once(form, lambda: _create(form))
        except Refused as refused:
            form.refuse(refused)
    given = chips(actor(), form.permissions.chosen, for_app=True)
    show_ = refused_page if form.is_submitted() else page
    return show_("apps/new.html", form=form, chips=given, manages=may(actor(), create_app))


@blueprint.get("/<key:key>")
def show(key: int) -> BaseResponse:
    """Show an app; ``ask`` is the change to confirm, ``token`` the token it is about."""
    return show_app_page(
        key,
        question_name=request.args.get("ask", type=one_of(QUESTIONS)),
        token_id=request.args.get("token", type=row_key),
        secret=shown_once(),
    )


@blueprint.post("/<key:key>/details")
def save_details(key: int) -> BaseResponse:
    """Change the name or identifier."""
    form = AppForm()
    if not form.validate():
        return show_app_page(key, form=form)
    try:
        change = AppChange(name=form.name.data, identifier=form.identifier.data or "")
        app = update_app(ports(), actor(), key, change)
    except Refused as refused:
        form.refuse(refused)
        return show_app_page(key, form=form)
    return done(text("{app} was saved.", app=app.name), "console.apps.show", key=key)


@blueprint.post("/<key:key>/permissions")
def save_permissions(key: int) -> BaseResponse:
    """Change the permissions of the app and all its tokens, from the next request on."""
    form = AppForm()
    change = AppChange(permissions=form.permissions.chosen)
    confirmed = request.form.get("confirmed") == "yes"
    try:
        app = update_app(ports(), actor(), key, change, confirmed=confirmed)
    except WebhooksNotConfirmed as unconfirmed:
        app = app_or_404(key)
        permissions = form.permissions.chosen
        question = make_grant_question(app, permissions, unconfirmed.webhooks)
        return show_app_page(key, question=question, chosen=permissions)
    except Refused as refused:
        form.refuse(refused)
        return show_app_page(key, form=form)
    labels = enumeration(permission_labels(app.permissions)) or text("none")
    saved = text("Permissions of {app}: {labels}.", app=app.name, labels=labels)
    return done(saved, "console.apps.show", key=key)


@blueprint.post("/<key:key>/activate")
def activate(key: int) -> BaseResponse:
    """Activate an app."""
    app = activate_app(ports(), actor(), key)
    return done(
        text("{app} is active. Its tokens work again.", app=app.name), "console.apps.show", key=key
    )


@blueprint.post("/<key:key>/deactivate")
def deactivate(key: int) -> BaseResponse:
    """Deactivate an app until it is activated again."""
    app = deactivate_app(ports(), actor(), key)
    return done(text("{app} was deactivated.", app=app.name), "console.apps.show", key=key)


@blueprint.post("/<key:key>/remove")
def remove(key: int) -> BaseResponse:
    """Delete an app with its tokens, webhooks and extensions."""
    app = delete_app(ports(), actor(), key)
    deleted = text("{app} was deleted with its tokens and webhooks.", app=app.name)
    return done(deleted, "console.apps.index")


def created_token(message: str, new: NewAppToken) -> Created:
    """Return a new token as its app's page shows it."""
    arguments = {"key": new.token.app_id, "token": new.token.id}
    return Created(message, "console.apps.show", arguments, new.secret)


def _chosen() -> dict[str, str]:
    """Return the valid filters of the URL, and its sort order."""
    return {
        name: value
        for name, value in query_params(*_NAMES, "sort").items()
        if value in _WORDS.get(name, (value,))
    }


def _found(chosen: Mapping[str, str], page: PageRequest) -> Page[App]:
    sort_by, descending = _SORTS.get(chosen.get("sort", ""), (AppSortField.NAME, False))
    filter_ = AppFilter(
        search=chosen.get("q", ""),
        is_active=_STATUS.get(chosen.get("status", "")),
        type=_KINDS.get(chosen.get("kind", "")),
    )
    return list_apps(ports(), actor(), page, filter_, sort_by, descending=descending)


def _create(form: NewAppForm) -> Created:
    new_app = NewApp(form.name.data, form.permissions.chosen, form.identifier.data or "")
    made = create_app(ports(), actor(), new_app)
    return created_token(text("{app} was created.", app=made.app.name), made.token)


def _chosen_filters() -> dict[str, str]:
    """Return the filters of the URL, without those whose value doesn't exist."""
    return {
        name: value
        for name, value in query_params(*_NAMES).items()
        if name not in _WORDS or value in _WORDS[name]
    }


def app_or_404(key: int) -> App:
    """Return the app with that key."""
    app = show_app(ports(), actor(), key)
    if app is None:
        abort(404)
    return app


def _found_app(key: int) -> tuple[App, StoredMetadata]:
    found = show_app_with_metadata(ports(), actor(), key)
    if found is None:
        abort(404)
    return found


def show_app_page(
    key: int,
    *,
    form: ConsoleForm | None = None,
    question_name: str | None = None,
    token_id: int | None = None,
    secret: str | None = None,
    question: Question | None = None,
    chosen: frozenset[Permission] | None = None,
) -> Response:
    """Show the page of the app with that key.

    ``question_name`` is the change to confirm, and ``secret`` a new token, empty if it was shown
    before; both are about the token ``token_id``. Or ``question`` asks whether the ``chosen``
    permissions are granted.
    """
    app, metadata = _found_app(key)
    manages = may(actor(), create_app)
    parts = AppParts(
        tokens_of_apps(ports(), actor(), (app.id,))[app.id] if manages else (),
        list_webhooks_of_app(ports(), actor(), app.id) if manages else (),
        extensions_of_apps(ports(), actor(), (app,))[app.id],
    )
    is_fine = form is None and question is None
    token = next((listed for listed in parts.tokens if listed.id == token_id), None)
    if manages and question is None:
        question = make_question(app, parts, now(), question_name, token)
    return page(
        "apps/show.html",
        HTTPStatus.OK if is_fine else HTTPStatus.UNPROCESSABLE_ENTITY,
        app=make_app_page(app, parts, now(), question),
        metadata=app_metadata_card(app, metadata, request.args, actor()) if manages else None,
        manages=manages,
        form=form or AppForm(formdata=None, name=app.name, identifier=app.identifier),
        chips=chips(actor(), app.permissions if chosen is None else chosen, for_app=True),
        question_name=question_name,
        overlaps=texts(OVERLAPS),
        default_overlap=DEFAULT_OVERLAP,
        secret=make_secret(token, secret) if token and secret else None,
        is_secret_gone=secret == "",
        once=CreatingForm(formdata=None),
    )
