"""Installing an app from its manifest: preview first, install after confirmation."""

from flask import request
from werkzeug.wrappers import Response as BaseResponse
from wtforms import BooleanField, URLField
from wtforms.validators import InputRequired

from app.console.creations import Created, CreatingForm, create_once
from app.console.forms import ConsoleForm
from app.console.navigation import Entry, PageGroup
from app.console.page_layout import done, page, refused_page
from app.console.permissions import PermissionsField, chips
from app.console.session import actor, ports
from app.domain.apps.manifests import Manifest
from app.domain.values.errors import Refused
from app.services.apps.installation_requests import (
    InstallationRequest,
    delete_failed_installation,
    install_app,
    retry_installation,
)
from app.services.apps.manifests import fetch_manifest
from app.web.translation import lazy_text, problem_text, text

_URL = "manifestUrl"

blueprint = PageGroup(
    "app_installation",
    __name__,
    Entry("Install an app", "link-45deg", "manifest new add", needs=fetch_manifest),
    url_prefix="/apps/install",
)


class ManifestForm(ConsoleForm):
    """The URL of an app's manifest."""

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
    """Try a failed installation again."""
    installation = retry_installation(ports(), actor(), key)
    started = text("Installing {app} again.", app=installation.app_name)
    return done(started, "console.apps.index")


@blueprint.post("/<key:key>/dismiss")
def dismiss(key: int) -> BaseResponse:
    """Delete a failed installation."""
    installation = delete_failed_installation(ports(), actor(), key)
    dismissed = text("Dismissed the installation of {app}.", app=installation.app_name)
    return done(dismissed, "console.apps.index")


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
    return Created(started, "console.apps.index")


def _agree(manifest: Manifest, form: InstallForm) -> BaseResponse:
    permission_chips = [
        chip
        for chip in chips(actor(), manifest.permissions, for_app=True)
        if chip.permission in manifest.permissions
    ]
    return page("apps/confirm_install.html", manifest=manifest, form=form, chips=permission_chips)
