"""Install apps from their manifests, as people ask for it; the worker does the rest."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from sqlalchemy import select
from sqlalchemy.orm import Session

from app import models
from app.domain.apps.apps import (
    LOGO_SIZES,
    MAX_LOGO_SIZE,
    Installation,
    JobStatus,
    grantable_problem,
)
from app.domain.apps.manifests import Manifest, ManifestWebhook, read_manifest
from app.domain.authorization.actor import Actor, app_grant_problem
from app.domain.authorization.permissions import Permission, joined_names, split_names
from app.domain.urls.web_urls import is_web_url, target_problem
from app.domain.values.errors import Problem, Refused, refuse_any
from app.domain.values.installation import SCHEMA_VERSION
from app.domain.values.text import Phrase
from app.domain.values.text_rules import line_problem
from app.ports import Ports
from app.ports.http import CallFailed, CallFault, HttpRequest, json_members
from app.ports.images import InvalidImage
from app.services.audit.log import Change, record, store_requester
from app.services.authorization.register import building_block, fresh_proof, requires_person
from app.services.lists.paging import record_from

TIMEOUT = 10.0
"""Seconds that a manifest may take, all of it."""

MAX_SIZE = 1024 * 1024
"""Bytes of a manifest."""

_CODES = {
    CallFault.ADDRESS: "INVALID_URL_FORMAT",
    CallFault.FORBIDDEN: "INVALID",
    CallFault.TOO_LARGE: "INVALID_MANIFEST_FORMAT",
    CallFault.MALFORMED: "INVALID_MANIFEST_FORMAT",
}


@requires_person(Permission.MANAGE_APPS)
def fetch_manifest(ports: Ports, actor: Actor, manifest_url: str) -> Manifest:
    """Fetch an app's manifest (`appFetchManifest`); nothing is stored.

    Refuses on ``manifestUrl``: INVALID_URL_FORMAT, INVALID for a private network,
    MANIFEST_URL_CANT_CONNECT, INVALID_MANIFEST_FORMAT for anything but a JSON object of allowed
    size. Otherwise refuses every problem of the manifest by its key, and UNIQUE on ``identifier``
    if the app is installed.
    """
    return load_manifest(ports, manifest_url)


@building_block
def load_manifest(ports: Ports, manifest_url: str) -> Manifest:
    """Load and check the manifest at that URL, its webhooks with the events of their queries.

    Refuses as ``fetch_manifest`` does. Never inside a transaction: it uses the network.
    """
    problem = _manifest_url_problem(manifest_url)
    if problem is not None:
        raise Refused(problem)
    names = ports.configuration.header_names
    headers = {
        "Accept": "application/json",
        **names.name_headers({"Schema-Version": SCHEMA_VERSION}),
    }
    request = HttpRequest(manifest_url, headers=headers, timeout=TIMEOUT, max_size=MAX_SIZE)
    try:
        document = json_members(ports.http.send(request), "The address of the manifest")
    except CallFailed as failed:
        code = _CODES.get(failed.fault, "MANIFEST_URL_CANT_CONNECT")
        raise Refused(
            Problem(code, "{failed}", "manifestUrl", values={"failed": Phrase(failed)})
        ) from None
    manifest = read_manifest(document, names.vendor)
    problems = [
        *_target_problems(ports, manifest),
        *_query_problems(ports, manifest),
        *_identifier_problems(ports, manifest),
    ]
    refuse_any(*problems)
    return replace(
        manifest, webhooks=tuple(_events_of(ports, webhook) for webhook in manifest.webhooks)
    )


@requires_person(Permission.MANAGE_APPS)
def show_manifest_logo(ports: Ports, _actor: Actor, url: str) -> Mapping[int, bytes]:
    """Return the logo that a manifest names (`Manifest.brand`), by size; empty if it has none."""
    return load_logo(ports, url)


@building_block
def load_logo(ports: Ports, url: str) -> Mapping[int, bytes]:
    """Load the image at ``url``, drawn in each of ``LOGO_SIZES``, and as PNG under 0.

    Empty without ``url``, and if it can't be fetched or isn't a usable image: an app works
    without a logo. Never inside a transaction: it uses the network.
    """
    if not url:
        return {}
    headers = {"Accept": "image/webp, image/png, image/jpeg, image/gif"}
    request = HttpRequest(url, headers=headers, timeout=TIMEOUT, max_size=MAX_LOGO_SIZE)
    try:
        response = ports.http.send(request)
        return ports.images.shrink(response.body, LOGO_SIZES) if response.is_good else {}
    except (CallFailed, InvalidImage):
        return {}


def _manifest_url_problem(manifest_url: str) -> Problem | None:
    """Return why no manifest can be fetched from that URL, or ``None``."""
    if is_web_url(manifest_url):
        return None
    message = "Must be an http or https URL, such as https://app.example.com/api/manifest."
    return Problem("INVALID_URL_FORMAT", message, "manifestUrl")


def _target_problems(ports: Ports, manifest: Manifest) -> Iterator[Problem]:
    for webhook in manifest.webhooks:
        problem = target_problem(
            webhook.target_url, ports.configuration.outgoing_allowed_networks, "webhooks"
        )
        if problem is not None:
            yield replace(problem, place=f"{webhook.place}.targetUrl")


def _query_problems(ports: Ports, manifest: Manifest) -> Iterator[Problem]:
    for webhook in manifest.webhooks:
        try:
            ports.payloads.check(webhook.query)
        except Refused as refused:
            for problem in refused.problems:
                place = f"{webhook.place}.query"
                yield replace(problem, code="INVALID", field="webhooks", lines=(), place=place)


def _identifier_problems(ports: Ports, manifest: Manifest) -> Iterator[Problem]:
    taken = select(models.App.name).where(models.App.identifier == manifest.identifier)
    with ports.database.reading() as session:
        name = session.scalar(taken)
    if name is not None:
        message = "This app is already installed as {name}."
        yield Problem("UNIQUE", message, "identifier", values={"name": repr(name)})


def _events_of(ports: Ports, webhook: ManifestWebhook) -> ManifestWebhook:
    """Return a webhook's events; without any, those of its query."""
    if webhook.events:
        return webhook
    return replace(webhook, events=ports.payloads.check(webhook.query))


@dataclass(frozen=True, slots=True)
class InstallationRequest:
    """The input of an installation and the granted permissions."""

    app_name: str
    manifest_url: str
    permissions: frozenset[Permission] = frozenset()
    activate: bool = True


@fresh_proof(
    "You're about to install an app.",
    "with permissions",
    lambda _ports, _actor, request: bool(request.permissions),
)
@requires_person(Permission.MANAGE_APPS)
def install_app(ports: Ports, actor: Actor, request: InstallationRequest) -> Installation:
    """Request an installation (`appInstall`); the worker runs it.

    Refuses REQUIRED and INVALID on ``appName``, INVALID_URL_FORMAT on ``manifestUrl``,
    OUT_OF_SCOPE_PERMISSION on ``permissions``. Later failures are stored in
    the installation, which is then FAILED.
    """
    name = request.app_name.strip()
    problems = [
        line_problem(name, "appName"),
        _manifest_url_problem(request.manifest_url),
        app_grant_problem(actor, request.permissions),
        grantable_problem(request.permissions),
    ]
    if not name:
        problems.append(Problem("REQUIRED", "Enter a name.", "appName"))
    refuse_any(*problems)
    now = ports.clock.now()
    with ports.database.transaction() as session:
        stored = models.AppInstallation(
            app_name=name,
            manifest_url=request.manifest_url,
            permissions=joined_names(request.permissions),
            activate=request.activate,
            status=JobStatus.PENDING.value,
            caller=store_requester(actor),
            created_at=now,
            updated_at=now,
            next_attempt_at=now,
        )
        session.add(stored)
        session.flush()
        after = {
            "manifest_url": stored.manifest_url,
            "permissions": sorted(permission.value for permission in request.permissions),
        }
        record(ports, actor, session, _change("ask", stored, after=after))
        return _to_installation(stored)


@fresh_proof("You're about to install an app.")
@requires_person(Permission.MANAGE_APPS)
def retry_installation(
    ports: Ports, actor: Actor, installation_id: int, *, activate: bool | None = None
) -> Installation:
    """Retry a failed installation (`appRetryInstall`) on behalf of the caller.

    Refuses on ``id``: NOT_FOUND, INVALID_STATUS if it hasn't failed, and OUT_OF_SCOPE_PERMISSION
    if it grants permissions that the caller lacks.
    """
    with ports.database.transaction() as session:
        stored = _failed(session, installation_id)
        problem = app_grant_problem(actor, split_names(stored.permissions), "id")
        if problem is not None:
            raise Refused(problem)
        now = ports.clock.now()
        stored.status, stored.message = JobStatus.PENDING.value, ""
        stored.activate = stored.activate if activate is None else activate
        stored.attempts = 0
        stored.caller = store_requester(actor)
        stored.updated_at = stored.next_attempt_at = now
        record(ports, actor, session, _change("retry", stored))
        return _to_installation(stored)


@requires_person(Permission.MANAGE_APPS)
def delete_failed_installation(ports: Ports, actor: Actor, installation_id: int) -> Installation:
    """Forget a failed installation (`appDeleteFailedInstallation`); returns what it was.

    Refuses NOT_FOUND, and INVALID_STATUS for one that has not failed, on ``id``.
    """
    with ports.database.transaction() as session:
        stored = _failed(session, installation_id)
        deleted = _to_installation(stored)
        session.delete(stored)
        record(ports, actor, session, _change("delete", stored))
        return deleted


@requires_person(Permission.MANAGE_APPS)
def list_installations(ports: Ports, actor: Actor) -> tuple[Installation, ...]:
    """The installations that are under way or have failed (`appsInstallations`), oldest first."""
    query = select(models.AppInstallation).order_by(models.AppInstallation.id)
    with ports.database.reading() as session:
        return tuple(map(_to_installation, session.scalars(query)))


def _to_installation(stored: models.AppInstallation) -> Installation:
    """Return the installation of a record, without its lease."""
    return record_from(
        Installation,
        stored,
        status=JobStatus(stored.status),
        message=stored.message or "",
        permissions=split_names(stored.permissions),
    )


def _failed(session: Session, installation_id: int) -> models.AppInstallation:
    query = select(models.AppInstallation).where(models.AppInstallation.id == installation_id)
    stored = session.scalar(query.with_for_update())
    if stored is None:
        raise Refused(Problem("NOT_FOUND", "Installation not found.", "id"))
    if stored.status != JobStatus.FAILED:
        message = "This installation is in progress. Wait until it's done."
        raise Refused(Problem("INVALID_STATUS", message, "id"))
    return stored


def _change(
    verb: str, stored: models.AppInstallation, *, after: Mapping[str, object] | None = None
) -> Change:
    action = f"app_installation.{verb}"
    return Change(action, "AppInstallation", stored.id, stored.app_name, after=after or {})
