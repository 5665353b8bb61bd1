"""Manifests: fetched from where an app says it has one, and read whole."""

from collections.abc import Iterator
from dataclasses import replace

from sqlalchemy import select

from app.domain.apps.manifests import Manifest, ManifestWebhook, read_manifest
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.urls.web_urls import is_web_url, target_problem
from app.domain.values.errors import Problem, Refused, refuse_any
from app.domain.values.installation import SCHEMA_VERSION
from app.domain.values.text import Phrase
from app.models import AppRecord
from app.ports import Ports
from app.ports.http import CallFailed, CallFault, HttpRequest, json_members
from app.services.authorization.register import part, requires_person

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


@part
def load_manifest(ports: Ports, manifest_url: str) -> Manifest:
    """Load and check the manifest at that URL, its webhooks with the events of their queries.

    Refuses as ``fetch_manifest`` does. Never inside a transaction: it uses the network.
    """
    problem = manifest_url_problem(manifest_url)
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


@part
def manifest_url_problem(manifest_url: str) -> Problem | None:
    """Why no manifest can be fetched from there, whatever answers, or ``None``."""
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
    taken = select(AppRecord.name).where(AppRecord.identifier == manifest.identifier)
    with ports.database.reading() as session:
        name = session.scalar(taken)
    if name is not None:
        message = "This app is already installed as {name}."
        yield Problem("UNIQUE", message, "identifier", values={"name": repr(name)})


def _events_of(ports: Ports, webhook: ManifestWebhook) -> ManifestWebhook:
    """Return a webhook's events; without any, those of its query."""
    if webhook.events:
        return webhook
    return replace(webhook, events=ports.payloads.check(webhook.query).events)
