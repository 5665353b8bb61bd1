"""OAuth clients: programs that sign people in with this shop, and those that act as an app."""

from collections.abc import Mapping
from datetime import timedelta
from http import HTTPStatus

from flask import Response, abort, request, url_for
from markupsafe import Markup
from werkzeug.wrappers import Response as BaseResponse
from wtforms import (
    BooleanField,
    SelectField,
    SelectMultipleField,
    StringField,
    TextAreaField,
    URLField,
)
from wtforms.fields.choices import SelectChoice
from wtforms.validators import InputRequired
from wtforms.widgets import CheckboxInput, ListWidget

from app.console.frame.forms import EditedThing, EditForm, uploaded_image
from app.console.frame.navigation import Entry, Heading, PageGroup
from app.console.frame.page_layout import (
    form_page,
    page,
    redirect_with_error,
    redirect_with_success,
)
from app.console.frame.parts import make_tabs, moment, named, pill, small
from app.console.frame.permissions import PermissionsField, chips
from app.console.frame.session import actor, ports, require
from app.console.frame.submissions import Created, CreatingForm, create_once, shown_once
from app.console.integrations import oauth_client_page
from app.console.integrations.apps import DEFAULT_OVERLAP, OVERLAPS, chosen_overlap
from app.console.lists.filters import choice, search
from app.console.lists.list_page import Column, EmptyState, ListPage, RowCount, reader
from app.domain.apps.apps import MAX_LOGO_SIZE, App
from app.domain.authorization.actor import STAFF_SCOPE, holds_all_permissions
from app.domain.authorization.permissions import Permission, known_permissions
from app.domain.oauth import MAX_NAME_LENGTH, PERSONAL_SCOPES, NewClient, OAuthClient
from app.domain.values.errors import Problem, Refused
from app.domain.values.ids import parse_key
from app.domain.values.pages import PageRequest
from app.domain.values.text import translatable
from app.services.apps.app_lists import AppFilter, list_apps
from app.services.oauth import client_pages, clients
from app.web.converters import one_of
from app.web.translation import lazy_text, reasons_text, text, texts

_WEB, _PUBLIC, _APP = "web", "public", "app"
_KINDS = {
    _WEB: lazy_text("A website or program with a server"),
    _PUBLIC: lazy_text("A native program or a page without a server"),
    _APP: lazy_text("A program that acts as one of your apps"),
}
_STATES = {"enabled": translatable("Enabled"), "disabled": translatable("Disabled")}
_MAX_APPS = 100
_MEBIBYTE = 1024 * 1024


def _title(client: OAuthClient) -> Markup:
    address = url_for(oauth_client_page.CLIENT_PAGE, key=client.id)
    return named(client.name, address, small(client.client_id), is_app=True)


CLIENTS = ListPage[OAuthClient](
    template="oauth_clients/index.html",
    title="OAuth clients",
    intro="Programs that sign people in with your shop, or get tokens for your apps.",
    label="OAuth clients",
    filter_label="Filter OAuth clients",
    caption="OAuth clients",
    count=RowCount(
        none="No OAuth clients",
        no_match="No matching OAuth clients",
        one="1 OAuth client",
        many="{count} OAuth clients",
        some="{matching} of {total} OAuth clients",
    ),
    read=reader(client_pages.find_clients, client_pages.ClientFilter),
    filters=(
        search("Name or client ID"),
        choice(
            "status", "Status", _STATES, {"enabled": True, "disabled": False}, argument="is_active"
        ),
        choice(
            "party",
            "Belongs to",
            oauth_client_page.PARTIES,
            {"first": True, "third": False},
            argument="is_first_party",
        ),
    ),
    columns=(
        Column("Client", _title, ("is-cut",), is_title=True),
        Column("Type", oauth_client_page.client_kind, ("is-cut", "is-wide")),
        Column("Belongs to", oauth_client_page.client_party, ("is-wide",)),
        Column("Last used", lambda client: moment(client.last_used_at), ("is-num", "is-when")),
        Column(
            "Status", lambda client: pill(oauth_client_page.client_status(client)), ("is-state",)
        ),
    ),
    file="oauth-clients",
    file_columns={
        "client_id": lambda client: client.client_id,
        "name": lambda client: client.name,
        "is_active": lambda client: client.is_active,
        "is_first_party": lambda client: client.is_first_party,
        "is_public": lambda client: client.is_public,
        "app": lambda client: client.app_name,
        "redirect_uris": lambda client: " ".join(client.redirect_uris),
        "scopes": oauth_client_page.scopes_text,
        "created_at": lambda client: client.created_at,
        "last_used_at": lambda client: client.last_used_at,
    },
    hint="Try another name.",
    empty=EmptyState(
        "box-arrow-in-right",
        "No OAuth clients yet",
        "Create one for each program that signs people in with your shop.",
        "flask oauth-client create NAME --redirect-uri URL",
        "console.oauth_clients.new",
        "Create OAuth client",
    ),
)

blueprint = PageGroup(
    "oauth_clients",
    __name__,
    Entry(
        "OAuth clients",
        "box-arrow-in-right",
        "openid connect sign in with shop programs login provider secret redirect",
        Heading.INTEGRATIONS,
        needs=client_pages.find_clients,
    ),
    Entry(
        "Create OAuth client", "plus-lg", "new add make", view="new", needs=clients.create_client
    ),
    url_prefix="/oauth-clients",
    list_name="oauth_clients",
)


class _ScopesField(SelectMultipleField):  # type: ignore[misc]
    """Ticked scopes that aren't permissions."""

    widget = ListWidget(prefix_label=False)
    option_widget = CheckboxInput()


class DetailsForm(EditForm):
    names = {"firstParty": "is_first_party"}  # noqa: RUF012
    name = StringField(lazy_text("Name"), validators=[InputRequired(lazy_text("Enter a name."))])
    is_first_party = BooleanField(lazy_text("First party"))


class SignInForm(EditForm):
    """Where a client sends people, what it can ask for, and its public keys."""

    redirect_uris = TextAreaField(lazy_text("Redirect URIs"))
    post_logout_redirect_uris = TextAreaField(lazy_text("Post-logout redirect URIs"))
    backchannel_logout_uri = URLField(lazy_text("Back-channel logout URI"))
    scopes = _ScopesField(
        lazy_text("Scopes"), choices=[SelectChoice(one) for one in (*PERSONAL_SCOPES, STAFF_SCOPE)]
    )
    permissions = PermissionsField(lazy_text("Permissions"))
    allows_devices = BooleanField(lazy_text("Device codes"))
    key_set = TextAreaField(lazy_text("Public keys"))


class NewClientForm(CreatingForm):
    names = {  # noqa: RUF012
        "app": "app_key",
        "firstParty": "is_first_party",
        "pairwise": "is_pairwise",
    }
    name = DetailsForm.name
    kind = SelectField(
        lazy_text("Type"), choices=[SelectChoice(*kind) for kind in _KINDS.items()], default=_WEB
    )
    redirect_uris = SignInForm.redirect_uris
    is_pairwise = BooleanField(lazy_text("Pairwise subjects"))
    app_key = SelectField(lazy_text("App"), validate_choice=False)
    is_first_party = DetailsForm.is_first_party


blueprint.add_url_rule("/", "index", CLIENTS.show)
blueprint.add_url_rule("/export.csv", "export", CLIENTS.export)


@blueprint.route("/new", methods=["GET", "POST"])
def new() -> BaseResponse:
    """Create a client and show its secret once."""
    require(Permission.MANAGE_APPS)
    form = NewClientForm(app_key=request.args.get("app", ""))
    form.app_key.choices = [
        SelectChoice("", text("Choose an app")),
        *(SelectChoice(str(app.id), app.name) for app in _apps()),
    ]
    if form.validate_on_submit():
        with form.catching_refusals():
            return create_once(form, lambda: _create(form))
    return form_page("oauth_clients/new.html", form, **_rules())


@blueprint.get("/<key:key>")
def show(key: int) -> BaseResponse:
    """Show a client; ``ask`` is the change to confirm."""
    return _show(
        key,
        question_name=request.args.get("ask", type=one_of(oauth_client_page.QUESTIONS)),
        secret=shown_once(),
    )


@blueprint.post("/<key:key>/details")
def save_details(key: int) -> BaseResponse:
    """Change the name, and whether it belongs to the shop."""
    details = _details(key)
    form = DetailsForm.from_request(_names_of(details.client), _edited_thing(details.client))
    if form.validate():
        change = clients.ClientChange(
            name=form.name.data,
            is_first_party=form.is_first_party.data,
            seen=_shown_facts(details.client, "name", "first_party"),
        )
        with form.catching_refusals():
            return _save(details.client, change, "settings")
    return _show(key, form=form)


@blueprint.post("/<key:key>/sign-in")
def save_sign_in(key: int) -> BaseResponse:
    details = _details(key)
    form = SignInForm.from_request(_sign_in_of(details.client), _edited_thing(details.client))
    if form.validate():
        chosen = (*(form.scopes.data or ()), *form.permissions.chosen)
        facts = ("redirect_uris", "post_logout_redirect_uris", "backchannel_logout_uri", "scopes")
        change = clients.ClientChange(
            redirect_uris=tuple((form.redirect_uris.data or "").split()),
            post_logout_redirect_uris=tuple((form.post_logout_redirect_uris.data or "").split()),
            backchannel_logout_uri=(form.backchannel_logout_uri.data or "").strip(),
            scopes=frozenset(map(str, chosen)),
            key_set=(form.key_set.data or "").strip(),
            allows_devices=form.allows_devices.data,
            seen=_shown_facts(details.client, *facts, "key_set", "allows_devices"),
        )
        with form.catching_refusals():
            return _save(details.client, change, "sign-in")
    return _show(key, sign_in_form=form)


@blueprint.post("/<key:key>/rotate")
def rotate(key: int) -> BaseResponse:
    """Give the client another secret; the old one works during the overlap."""
    client, overlap = _details(key).client, chosen_overlap()
    try:
        return create_once(CreatingForm(), lambda: _rotate(client, overlap))
    except Refused as refused:
        return redirect_with_error(refused, oauth_client_page.CLIENT_PAGE, key=key)


@blueprint.post("/<key:key>/enable")
def enable(key: int) -> BaseResponse:
    return _switch(key, active=True)


@blueprint.post("/<key:key>/disable")
def disable(key: int) -> BaseResponse:
    """Let no one sign in with the client; none of its tokens works."""
    return _switch(key, active=False)


@blueprint.post("/<key:key>/delete")
def delete(key: int) -> BaseResponse:
    """Delete a client with its sessions and consents."""
    try:
        deleted = clients.delete_client(ports(), actor(), _details(key).client.client_id)
    except Refused as refused:
        return redirect_with_error(
            refused, oauth_client_page.CLIENT_PAGE, key=key, view="settings"
        )
    message = text("{client} was deleted.", client=deleted.name)
    return redirect_with_success(message, "console.oauth_clients.index")


@blueprint.post("/<key:key>/logo")
def save_logo(key: int) -> BaseResponse:
    """Show another logo where people allow the client; what is no image is refused."""
    client = _details(key).client
    try:
        client_pages.update_client_logo(
            ports(), actor(), client.client_id, uploaded_image(MAX_LOGO_SIZE)
        )
    except Refused as refused:
        return _show(key, logo_error=reasons_text(refused))
    return redirect_with_success(
        text("Logo saved."), oauth_client_page.CLIENT_PAGE, key=key, view="settings"
    )


@blueprint.post("/<key:key>/logo/remove")
def remove_logo(key: int) -> BaseResponse:
    try:
        client_pages.delete_client_logo(ports(), actor(), _details(key).client.client_id)
    except Refused as refused:
        return redirect_with_error(
            refused, oauth_client_page.CLIENT_PAGE, key=key, view="settings"
        )
    return redirect_with_success(
        text("Logo removed."), oauth_client_page.CLIENT_PAGE, key=key, view="settings"
    )


def _switch(key: int, *, active: bool) -> BaseResponse:
    client_id = _details(key).client.client_id
    try:
        saved = clients.update_client(
            ports(), actor(), client_id, clients.ClientChange(is_active=active)
        )
    except Refused as refused:
        return redirect_with_error(
            refused, oauth_client_page.CLIENT_PAGE, key=key, view="settings"
        )
    message = text("{client} was disabled.", client=saved.name)
    if active:
        message = text("{client} was enabled.", client=saved.name)
    return redirect_with_success(message, oauth_client_page.CLIENT_PAGE, key=key)


def _save(client: OAuthClient, change: clients.ClientChange, view: str) -> BaseResponse:
    saved = clients.update_client(ports(), actor(), client.client_id, change)
    message = text("{client} was saved.", client=saved.name)
    return redirect_with_success(message, oauth_client_page.CLIENT_PAGE, key=client.id, view=view)


def _create(form: NewClientForm) -> Created:
    app_id = None
    if form.kind.data == _APP:
        app_id = parse_key(form.app_key.data or "")
        if app_id is None:
            raise Refused(Problem("REQUIRED", "Choose an app.", "app"))
    uris = tuple((form.redirect_uris.data or "").split())
    change = clients.ClientChange(
        name=form.name.data,
        redirect_uris=() if app_id is not None else uris,
        is_first_party=form.is_first_party.data and app_id is None,
    )
    kind = clients.ClientKind(
        is_public=form.kind.data == _PUBLIC,
        app_id=app_id,
        is_pairwise=form.is_pairwise.data and app_id is None,
    )
    made = clients.create_client(ports(), actor(), change, kind)
    return _shown_once(text("{client} was created.", client=made.client.name), made)


def _rotate(client: OAuthClient, overlap: timedelta) -> Created:
    made = clients.rotate_client_secret(ports(), actor(), client.client_id, overlap)
    return _shown_once(text("The secret was rotated."), made)


def _shown_once(message: str, made: NewClient) -> Created:
    return Created(message, oauth_client_page.CLIENT_PAGE, {"key": made.client.id}, made.secret)


def _apps() -> tuple[App, ...]:
    return tuple(list_apps(ports(), actor(), PageRequest(_MAX_APPS), AppFilter()).items)


def _details(key: int) -> client_pages.ClientDetails:
    require(Permission.MANAGE_APPS)
    found = client_pages.show_client_details(ports(), actor(), key)
    if found is None:
        abort(404)
    return found


def _names_of(client: OAuthClient) -> dict[str, object]:
    return {"name": client.name, "is_first_party": client.is_first_party}


def _sign_in_of(client: OAuthClient) -> dict[str, object]:
    permissions = known_permissions(client.scopes)
    return {
        "redirect_uris": "\n".join(client.redirect_uris),
        "post_logout_redirect_uris": "\n".join(client.post_logout_redirect_uris),
        "backchannel_logout_uri": client.backchannel_logout_uri,
        "scopes": sorted(client.scopes - permissions),
        "permissions": sorted(permissions),
        "key_set": client.key_set,
        "allows_devices": client.allows_devices,
    }


def _shown_facts(client: OAuthClient, *names: str) -> Mapping[str, object]:
    facts = clients.client_facts(client)
    return {name: facts[name] for name in names}


def _edited_thing(client: OAuthClient) -> EditedThing:
    return EditedThing(
        client.name,
        url_for(oauth_client_page.CLIENT_PAGE, key=client.id),
        "OAuthClient",
        client.id,
    )


def _rules() -> dict[str, object]:
    return {"name_length": MAX_NAME_LENGTH, "is_superuser": holds_all_permissions(actor())}


def _show(
    key: int,
    *,
    question_name: str | None = None,
    secret: str | None = None,
    form: DetailsForm | None = None,
    sign_in_form: SignInForm | None = None,
    logo_error: str = "",
) -> Response:
    """Show a client: the tab of a refused form or a question, or that of the URL."""
    details = _details(key)
    client = details.client
    is_fine = form is None and sign_in_form is None and not logo_error
    view = request.args.get(
        "view", type=one_of(oauth_client_page.VIEWS)
    ) or oauth_client_page.QUESTIONS.get(question_name or "", "overview")
    if not is_fine:
        view = "settings" if sign_in_form is None else "sign-in"
    asks = question_name if details.is_editable else None
    needs_use = view == "activity" or asks is not None
    use = client_pages.show_client_use(ports(), actor(), key) if needs_use else None
    sign_in_form = sign_in_form or SignInForm.showing(_sign_in_of(client))
    return page(
        "oauth_clients/show.html",
        HTTPStatus.OK if is_fine else HTTPStatus.UNPROCESSABLE_ENTITY,
        **oauth_client_page.client_values(client, use, asks),
        is_editable=details.is_editable,
        is_on=details.is_on,
        tabs=make_tabs(oauth_client_page.VIEWS, view, {}, oauth_client_page.CLIENT_PAGE, key=key),
        view=view,
        form=form or DetailsForm.showing(_names_of(client)),
        sign_in_form=sign_in_form,
        chips=chips(actor(), sign_in_form.permissions.chosen),
        personal_scopes=PERSONAL_SCOPES,
        question_name=question_name,
        overlaps=texts(OVERLAPS),
        default_overlap=DEFAULT_OVERLAP,
        secret=secret,
        once=CreatingForm(formdata=None),
        logo_error=logo_error,
        logo_megabytes=MAX_LOGO_SIZE // _MEBIBYTE,
        **_rules(),
    )
