"""Install apps in the worker, one at a time, resumed or rolled back after a crash.

An installation is claimed by a lease. Its app and token are committed before the handshake, which
gives the app its token; the app can refuse to be installed.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial

from sqlalchemy import delete, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app import models
from app.domain.apps import apps
from app.domain.apps.manifests import Manifest, ManifestExtension, ManifestWebhook
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import joined_names, split_names
from app.domain.events import AppInstalled
from app.domain.urls.web_urls import host_and_port_of
from app.domain.values.errors import Refused
from app.domain.values.installation import SCHEMA_VERSION
from app.domain.values.text import Sentence, text
from app.domain.webhooks import Saver, Webhook
from app.ports import Ports
from app.ports.http import CallFailed, HttpRequest, HttpResponse, json_members
from app.services.apps.installation_requests import load_logo, load_manifest
from app.services.audit.log import Change, record, requester, requesting_saver, require_requester
from app.services.authorization.register import building_block, internal
from app.services.identity.stored_apps import store_token
from app.services.outbox.publisher import add_event
from app.services.webhooks.stored_webhooks import store_webhook

_TOKEN_NAME = "Default"  # noqa: S105


@dataclass(frozen=True, slots=True)
class MadeApp:
    """An app that isn't installed yet; ``token`` is empty if it has no back end."""

    app_id: int
    token: apps.NewAppToken | None


@building_block
def store_app(
    ports: Ports,
    session: Session,
    installation: models.AppInstallation,
    manifest: Manifest,
    saver: Saver,
) -> MadeApp:
    """The app of ``installation``, neither installed nor active yet; its token works already.

    It holds what was granted, whatever its manifest asks for. Its webhooks count as saved by
    ``saver``, who installs it.
    """
    now = ports.clock.now()
    app = models.App(
        name=installation.app_name,
        identifier=manifest.identifier,
        type=apps.AppType.THIRDPARTY.value,
        is_active=False,
        is_installed=False,
        created_at=now,
        about=manifest.about,
        author=manifest.author,
        version=manifest.version,
        audience=manifest.audience,
        app_url=manifest.app_url,
        data_privacy_url=manifest.data_privacy_url,
        homepage_url=manifest.homepage_url,
        manifest_url=installation.manifest_url,
        support_url=manifest.support_url,
        configuration_url=manifest.configuration_url,
        data_privacy=manifest.data_privacy,
    )
    session.add(app)
    session.flush()
    session.add_all(
        models.AppPermission(app_id=app.id, permission=permission.value)
        for permission in split_names(installation.permissions)
    )
    session.add_all(_extension(app.id, extension) for extension in manifest.extensions)
    for webhook in manifest.webhooks:
        store_webhook(ports, session, _webhook(app, webhook, saver))
    token = None
    if manifest.token_target_url:
        token = store_token(ports, session, app.id, _TOKEN_NAME)
    return MadeApp(app.id, token)


def _extension(app_id: int, extension: ManifestExtension) -> models.AppExtension:
    return models.AppExtension(
        app_id=app_id,
        label=extension.label,
        url=extension.url,
        mount=extension.mount,
        target=extension.target,
        identifier=extension.identifier,
        permissions=joined_names(extension.permissions),
        settings=dict(extension.settings),
    )


def _webhook(app: models.App, webhook: ManifestWebhook, saver: Saver) -> Webhook:
    return Webhook(
        id=0,
        app_id=app.id,
        name=webhook.name,
        identifier=webhook.identifier,
        target_url=webhook.target_url,
        is_active=webhook.is_active,
        query=webhook.query,
        events=webhook.events,
        header_names=tuple(webhook.custom_headers),
        reveal_headers=partial(dict, webhook.custom_headers),
        created_at=app.created_at,
        saver=saver,
    )


TIMEOUT = 20.0
"""Seconds that an app has for its whole answer; it may call back meanwhile."""

_MAX_SIZE = 64 * 1024


@dataclass(frozen=True, slots=True)
class Handshake:
    """The data sent to an app: its token and the API's URL, exactly as in its tokens' ``iss``."""

    target_url: str
    api_url: str
    token: str = field(repr=False)


class HandshakeRefused(Exception):
    """The app does not want to be installed, or does not answer; the text says why."""


def _shake_hands(ports: Ports, handshake: Handshake) -> None:
    """Give an app its token (contract, "Apps"); raises ``HandshakeRefused``.

    Never inside a transaction: app and token must be there for the app to call back with.
    """
    names = ports.configuration.header_names.name_headers(
        {
            "Domain": host_and_port_of(handshake.api_url),
            "Api-Url": handshake.api_url,
            "Schema-Version": SCHEMA_VERSION,
        }
    )
    request = HttpRequest(
        handshake.target_url,
        "POST",
        {"Content-Type": "application/json", **names},
        json.dumps({"auth_token": handshake.token}).encode(),
        timeout=TIMEOUT,
        max_size=_MAX_SIZE,
    )
    try:
        response = ports.http.send(request)
    except CallFailed as failed:
        message = text("The app couldn't be given its token: {reason}", reason=failed)
        raise HandshakeRefused(message) from None
    # The message is stored for others to read; an app could repeat its token in it.
    body = response.body.replace(handshake.token.encode(), "…".encode())
    refusal = _refusal(replace(response, body=body))
    if refusal is not None:
        raise HandshakeRefused(refusal)


def _refusal(response: HttpResponse) -> str | None:
    try:
        members = json_members(replace(response, status=200), "The app")
        answer = ""
    except CallFailed:
        members, answer = {}, apps.plain_answer(response.body.decode(errors="replace"))
    refusal = apps.refusal_in(members, good=response.is_good)
    if refusal == "" and answer:
        message = "The app rejected its token: HTTP {status}. It answered: {answer}"
        return text(message, status=response.status, answer=answer)
    if refusal == "":
        return text("The app rejected its token: HTTP {status}.", status=response.status)
    return refusal


LEASE = timedelta(minutes=2)
"""Longer than manifest and handshake together may take."""

_LEASE_NAME = 16
_INTERRUPTED: Sentence = "The installation was interrupted several times. Try again."


@dataclass(frozen=True, slots=True)
class _Claimed:
    """An installation leased by this worker."""

    id: int
    lease: str
    manifest_url: str
    attempts: int
    requested_by: Actor


class _LeaseLost(Exception):
    """Another worker has gone on with it, and has removed what was made here."""


@internal
def install_next_app(ports: Ports, actor: Actor) -> int:
    """Install one requested app; return how many installations ended, successfully or not.

    It fails with the app's own message, with the manifest's problems, or if the requester lost the
    permission meanwhile; then no app or token remains.
    """
    claimed = None if ports.cache.hold else _claim(ports)
    if claimed is None:
        return 0
    try:
        _end(ports, claimed)
    except _LeaseLost:
        return 0
    return 1


def _end(ports: Ports, claimed: _Claimed) -> None:
    """Bring the installation to its end, well or not."""
    if claimed.attempts > apps.MAX_INSTALLATION_ATTEMPTS:
        _fail(ports, claimed, _INTERRUPTED)
        return
    try:
        _install(ports, claimed)
    except Refused as refused:
        _fail(ports, claimed, _problem_text(refused))
    except HandshakeRefused as refusal:
        _fail(ports, claimed, str(refusal))


def _claim(ports: Ports) -> _Claimed | None:
    """Lease the installation that has waited longest; remove what an earlier attempt stored."""
    now = ports.clock.now()
    waiting = models.AppInstallation.next_attempt_at <= now
    with ports.database.reading() as session:
        if session.scalar(select(models.AppInstallation.id).where(waiting).limit(1)) is None:
            return None  # as nearly always: no transaction has to be opened to find that out
    due = (
        select(models.AppInstallation)
        .where(waiting)
        .order_by(models.AppInstallation.next_attempt_at)
        .limit(1)
        .with_for_update(skip_locked=True)
    )
    with ports.database.transaction() as session:
        stored = session.scalar(due)
        if stored is None:
            return None
        _remove_app(session, stored)
        stored.lease = ports.randomness.token(_LEASE_NAME)
        stored.next_attempt_at, stored.updated_at = now + LEASE, now
        stored.attempts += 1
        return _Claimed(
            stored.id, stored.lease, stored.manifest_url, stored.attempts, requester(stored.caller)
        )


def _install(ports: Ports, claimed: _Claimed) -> None:
    manifest = load_manifest(ports, claimed.manifest_url)
    _store_logo(ports, claimed, load_logo(ports, manifest.logo_url))
    handshake = _make(ports, claimed, manifest)
    if handshake is not None:
        _shake_hands(ports, handshake)
    _finish(ports, claimed)


def _store_logo(ports: Ports, claimed: _Claimed, files: Mapping[int, bytes]) -> None:
    """Replace the installation's logo by these files."""
    with ports.database.transaction() as session:
        stored = _leased_installation(session, claimed)
        of_installation = models.AppLogo.installation_id == stored.id
        session.execute(delete(models.AppLogo).where(of_installation))
        stored.logo = ports.randomness.token(apps.LOGO_NAME_LENGTH) if files else ""
        session.add_all(
            models.AppLogo(name=stored.logo, size=size, installation_id=stored.id, data=data)
            for size, data in files.items()
        )


def _make(ports: Ports, claimed: _Claimed, manifest: Manifest) -> Handshake | None:
    """Store the app with its manifest's contents, not installed yet; return the handshake."""
    try:
        with ports.database.transaction() as session:
            stored = _leased_installation(session, claimed)
            _require_requester(ports, session, stored)
            saver = requesting_saver(stored.caller, granted=split_names(stored.permissions))
            app = store_app(ports, session, stored, manifest, saver)
            stored.app_id, stored.updated_at = app.app_id, ports.clock.now()
    except IntegrityError:
        # Its identifier is all that can clash: another installation of it was quicker.
        load_manifest(ports, claimed.manifest_url)
        raise
    if app.token is None:
        return None
    return Handshake(manifest.token_target_url, claimed.requested_by.issuer, app.token.secret)


def _finish(ports: Ports, claimed: _Claimed) -> None:
    """Finish: install the app, activate it if that was requested, delete the installation."""
    requested_by = claimed.requested_by
    with ports.database.transaction() as session:
        stored = _leased_installation(session, claimed)
        _require_requester(ports, session, stored)
        app = session.get_one(models.App, stored.app_id)
        app.is_installed, app.is_active, app.logo = True, stored.activate, stored.logo
        of_installation = models.AppLogo.installation_id == stored.id
        owned = update(models.AppLogo).where(of_installation)
        session.execute(owned.values(app_id=app.id, installation_id=None))
        add_event(ports, requested_by, session, AppInstalled(app.id))
        after = {
            "identifier": app.identifier,
            "manifest_url": app.manifest_url,
            "is_active": app.is_active,
            "permissions": sorted(filter(None, stored.permissions.split(","))),
        }
        record(
            ports,
            requested_by,
            session,
            Change("app.install", "App", app.id, app.name, after=after),
        )
        session.delete(stored)


def _fail(ports: Ports, claimed: _Claimed, message: str) -> None:
    with ports.database.transaction() as session:
        stored = _leased_installation(session, claimed)
        _remove_app(session, stored)
        stored.status = apps.JobStatus.FAILED.value
        stored.message = apps.shown_message(message)
        stored.lease, stored.next_attempt_at = "", None
        stored.updated_at = ports.clock.now()
        change = Change(
            "app_installation.fail",
            "AppInstallation",
            stored.id,
            stored.app_name,
            after={"message": stored.message},
        )
        record(ports, claimed.requested_by, session, change)


def _leased_installation(session: Session, claimed: _Claimed) -> models.AppInstallation:
    """Return the installation while this worker holds its lease; else raise ``_LeaseLost``."""
    query = select(models.AppInstallation).where(
        models.AppInstallation.id == claimed.id, models.AppInstallation.lease == claimed.lease
    )
    stored = session.scalar(query.with_for_update())
    if stored is None:
        raise _LeaseLost
    return stored


def _require_requester(ports: Ports, session: Session, stored: models.AppInstallation) -> None:
    require_requester(ports, session, stored.caller, split_names(stored.permissions))


def _remove_app(session: Session, stored: models.AppInstallation) -> None:
    """Remove the app of an installation that did not come to its end, with its token."""
    if stored.app_id is None:
        return
    half = models.App.id == stored.app_id, models.App.is_installed.is_(False)
    stored.app_id = None
    session.flush()
    session.execute(delete(models.App).where(*half))


def _problem_text(refused: Refused) -> str:
    message = (
        f"{problem.field}: {problem.message}" if problem.field else problem.message
        for problem in refused.problems
    )
    return " ".join(message)
