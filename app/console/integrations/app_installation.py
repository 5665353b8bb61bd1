"""Install an app from its manifest after a preview; its tokens, and clients linked to it."""

from datetime import timedelta

from flask import Blueprint, request
from werkzeug.wrappers import Response as BaseResponse
from wtforms import BooleanField, SelectField, StringField, URLField
from wtforms.fields.choices import SelectChoice
from wtforms.validators import InputRequired

from app.console.frame.forms import ConsoleForm
from app.console.frame.navigation import Entry, PageGroup
from app.console.frame.page_layout import (
    form_page,
    page,
    redirect_with_progress,
    redirect_with_success,
    refused_page,
)
from app.console.frame.permissions import Chip, PermissionsField, chips
from app.console.frame.session import actor, now, ports
from app.console.frame.submissions import Created, CreatingForm, create_once
from app.console.integrations.apps import app_or_404, chosen_overlap, created_token
from app.domain.apps.apps import App
from app.domain.apps.manifests import Manifest
from app.domain.values.errors import Refused
from app.services.apps import app_tokens
from app.services.apps.installation_requests import (
    InstallationRequest,
    delete_failed_installation,
    fetch_manifest,
    install_app,
    retry_installation,
)
from app.web.translation import lazy_text, problem_text, text

_URL = "manifestUrl"

blueprint = PageGroup(
    "app_installation",
    __name__,
    Entry("Install an app", "link-45deg", "manifest new add", needs=fetch_manifest),
    url_prefix="/apps/install",
)


class ManifestForm(ConsoleForm):
    names = {_URL: "url"}  # noqa: RUF012
    url = URLField(
        lazy_text("Manifest URL"), validators=[InputRequired(lazy_text("Enter a URL."))]
    )


class InstallForm(ManifestForm, CreatingForm):
    """What the person agrees to."""

    permissions = PermissionsField(lazy_text("Requested permissions"))
    activate = BooleanField(lazy_text("Activate the app after installation"), default=True)


@blueprint.route("/", methods=["GET", "POST"])
def index() -> BaseResponse:
    """Ask for the manifest's URL; with one, show the app and what it requests."""
    form = ManifestForm(request.values)
    if not request.values.get("url"):
        return page("apps/install.html", form=form)
    try:
        manifest = fetch_manifest(ports(), actor(), (form.url.data or "").strip())
    except Refused as refused:
        _refuse(form, refused)
        return refused_page("apps/install.html", form=form)
    return _agree(manifest, InstallForm(formdata=None, url=form.url.data.strip(), activate=True))


@blueprint.post("/agree")
def agree() -> BaseResponse:
    """Request the installation; the worker carries it out."""
    form = InstallForm()
    try:
        return create_once(form, lambda: _install(form))
    except Refused as refused:
        _refuse(form, refused)
        return refused_page("apps/install.html", form=form)


@blueprint.post("/<key:key>/retry")
def retry(key: int) -> BaseResponse:
    installation = retry_installation(ports(), actor(), key)
    started = text("Installing {app} again.", app=installation.app_name)
    return redirect_with_progress(started, "console.apps.index")


@blueprint.post("/<key:key>/dismiss")
def dismiss(key: int) -> BaseResponse:
    """Delete a failed installation."""
    installation = delete_failed_installation(ports(), actor(), key)
    dismissed = text("Dismissed the installation of {app}.", app=installation.app_name)
    return redirect_with_success(dismissed, "console.apps.index")


def _refuse(form: ManifestForm, refused: Refused) -> None:
    """Put a problem with the URL at its field; others name the manifest's member at fault."""
    for problem in refused.problems:
        if problem.field in (None, _URL):
            form.refuse(Refused(problem))
        else:
            reason = problem_text(problem)
            form.form_errors.append(
                text("Manifest, {member}: {reason}", member=problem.field, reason=reason)
            )


def _install(form: InstallForm) -> Created:
    url = (form.url.data or "").strip()
    manifest = fetch_manifest(ports(), actor(), url)
    installation_request = InstallationRequest(
        manifest.name, url, form.permissions.chosen, form.activate.data
    )
    install_app(ports(), actor(), installation_request)
    started = text("Installing {app}. It appears in the list when it's done.", app=manifest.name)
    return Created(started, "console.apps.index", goes_on=True)


def _agree(manifest: Manifest, form: InstallForm) -> BaseResponse:
    permission_chips = [
        chip
        for chip in chips(actor(), manifest.permissions, for_app=True)
        if chip.permission in manifest.permissions
    ]
    return page("apps/confirm_install.html", manifest=manifest, form=form, chips=permission_chips)


_LIVES = {
    "": lazy_text("Never"),
    "30": lazy_text("In 30 days"),
    "90": lazy_text("In 90 days"),
    "365": lazy_text("In 1 year"),
}

tokens_blueprint = Blueprint("app_tokens", __name__, url_prefix="/apps/<key:key>/tokens")


class TokenForm(CreatingForm):
    """A new token; without chosen permissions it has all of its app's."""

    names = {"expiresAt": "life"}  # noqa: RUF012
    name = StringField(lazy_text("Name"))
    life = SelectField(
        lazy_text("Expires"), choices=[SelectChoice(*life) for life in _LIVES.items()]
    )
    permissions = PermissionsField(lazy_text("Scope"))


@tokens_blueprint.route("/new", methods=["GET", "POST"])
def make(key: int) -> BaseResponse:
    """Create a token and show it once."""
    app = app_or_404(key)
    form = TokenForm()
    if form.validate_on_submit():
        with form.catching_refusals():
            return create_once(form, lambda: _create(key, form))
    return form_page("apps/new_token.html", form, app=app, chips=_chips(app, form))


@tokens_blueprint.post("/<key:token_id>/rotate")
def rotate(key: int, token_id: int) -> BaseResponse:
    """Replace a token; the old one stays valid during the overlap."""
    overlap = chosen_overlap()
    return create_once(CreatingForm(), lambda: _rotate(token_id, overlap))


@tokens_blueprint.post("/<key:token_id>/revoke")
def revoke(key: int, token_id: int) -> BaseResponse:
    """Revoke a token; it is rejected from the next request on."""
    token = app_tokens.revoke_app_token(ports(), actor(), token_id)
    revoked = text("Token …{last_four} was revoked.", last_four=token.last_four)
    return redirect_with_success(revoked, "console.apps.show", key=key, view="tokens")


def _create(key: int, form: TokenForm) -> Created:
    days = int(form.life.data or 0)
    options = app_tokens.TokenOptions(
        name=(form.name.data or "").strip(),
        expires_at=now() + timedelta(days=days) if days else None,
        permissions=form.permissions.chosen or None,
    )
    new = app_tokens.create_app_token(ports(), actor(), key, options)
    return created_token(text("The token was created."), new)


def _rotate(token_id: int, overlap: timedelta) -> Created:
    new = app_tokens.rotate_app_token(ports(), actor(), token_id, overlap)
    return created_token(text("The token was rotated."), new)


def _chips(app: App, form: TokenForm) -> list[Chip]:
    held = chips(actor(), form.permissions.chosen)
    return [chip for chip in held if chip.permission in app.permissions]


clients_blueprint = Blueprint("app_clients", __name__, url_prefix="/apps/<key:key>/clients")


class ClientForm(ConsoleForm):
    names = {"clientId": "client_id"}  # noqa: RUF012
    provider = SelectField(lazy_text("Identity provider"))
    client_id = StringField(
        lazy_text("Client ID"), validators=[InputRequired(lazy_text("Enter a client ID."))]
    )
    subject = StringField(
        lazy_text("Subject (sub)"), validators=[InputRequired(lazy_text("Enter a subject."))]
    )


@clients_blueprint.route("/new", methods=["GET", "POST"])
def link(key: int) -> BaseResponse:
    app = app_or_404(key)
    providers = app_tokens.linkable_providers(ports(), actor())
    form = ClientForm()
    form.provider.choices = [SelectChoice(slug, name) for slug, name in providers.items()]
    if form.validate_on_submit():
        new = app_tokens.NewClientLink(form.provider.data, form.client_id.data, form.subject.data)
        with form.catching_refusals():
            made = app_tokens.link_app_client(ports(), actor(), key, new)
            linked = text("Client {client} was linked.", client=made.client_id)
            return redirect_with_success(linked, "console.apps.show", key=key, view="tokens")
    return form_page("apps/new_client.html", form, app=app, providers=providers)


@clients_blueprint.post("/<key:link_id>/unlink")
def unlink(key: int, link_id: int) -> BaseResponse:
    """Unlink a client; its tokens are rejected from the next request on."""
    removed = app_tokens.unlink_app_client(ports(), actor(), link_id)
    unlinked = text("Client {client} was unlinked.", client=removed.client_id)
    return redirect_with_success(unlinked, "console.apps.show", key=key, view="tokens")
