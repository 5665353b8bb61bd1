"""``flask app install``: install third-party apps from their manifests."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from threading import Event

import click

from app.commands.terminal.command import Group, standalone
from app.commands.terminal.options import MAX_KEY, Function, Id, fields_option, permission_option
from app.commands.terminal.output import Column, output, visible
from app.commands.terminal.prompts import confirm_action, yes_option
from app.domain.apps.apps import (
    DEFAULT_OVERLAP,
    MAX_OVERLAP,
    App,
    AppSortField,
    Installation,
    JobStatus,
)
from app.domain.apps.manifests import Manifest
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.values.errors import Problem, Refused
from app.domain.values.pages import MAX_PAGE_SIZE, PageRequest
from app.ports import Ports
from app.services.apps import installation_requests
from app.services.apps.app_lists import AppFilter, list_apps
from app.services.apps.installation_worker import install_next_app
from app.services.outbox.base_url import base_url
from app.web.installation import operator

NO_APP = "App not found. List apps with: flask app list"

COLUMNS: tuple[Column[App], ...] = (
    Column("id", "ID", lambda app: app.id, short=True),
    Column("name", "Name", lambda app: app.name, short=True),
    Column("type", "Type", lambda app: app.type.value),
    Column("isActive", "Active", lambda app: app.is_active),
    Column("permissions", "Permissions", lambda app: sorted(app.permissions)),
    Column("created", "Created", lambda app: app.created_at),
)
ALL_COLUMNS: tuple[Column[App], ...] = (
    *COLUMNS,
    Column("identifier", "Identifier", lambda app: app.identifier or None),
    Column("version", "Version", lambda app: app.version or None),
    Column("author", "Author", lambda app: app.author or None),
    Column("contactEmail", "Contact email", lambda app: app.contact_email or None),
    Column(
        "clientCredentialsOnly", "Client credentials only", lambda app: app.client_credentials_only
    ),
    Column("appUrl", "Address", lambda app: app.app_url or None),
    Column("manifestUrl", "Manifest", lambda app: app.manifest_url or None),
)


def app_key(app: str) -> int:
    """Return the key of the app with that ID or unique name; raises ``Refused`` (NOT_FOUND)."""
    if app.isascii() and app.isdigit() and int(app) <= MAX_KEY:
        return int(app)
    page = list_apps(*operator(), PageRequest(2), AppFilter(name=app)).items
    if len(page) == 1:
        return page[0].id
    hint = "Several apps have this name. Use the app's ID." if page else NO_APP
    raise Refused(Problem("NOT_FOUND", hint, "app"))


def overlap_option(what: str) -> Callable[[Function], Function]:
    """``--overlap``, for how many seconds a replaced token or secret keeps working."""
    return click.option(
        "--overlap",
        type=click.IntRange(0, int(MAX_OVERLAP.total_seconds())),
        default=int(DEFAULT_OVERLAP.total_seconds()),
        show_default=True,
        metavar="SECONDS",
        help=f"Seconds the old {what} keeps working.",
    )


_POLL_SECONDS = 0.2
"""Seconds between two looks at an installation that a worker has taken on."""

installations = Group(
    "installations",
    short_help="List, retry and delete app installations.",
    help="List, retry and delete installations that are pending or have failed. ID is an "
    "installation's ID, as shown by the list command.",
    examples=[
        ("flask app installations list", "pending and failed installations"),
        ("flask app installations retry 3", "retry it"),
        ("flask app installations delete 3", "delete a failed installation"),
    ],
)

_COLUMNS: tuple[Column[Installation], ...] = (
    Column("id", "ID", lambda row: row.id, short=True),
    Column("appName", "App", lambda row: row.app_name, short=True),
    Column("status", "Status", lambda row: row.status.value, short=True),
    Column("message", "Why", lambda row: row.message or None),
    Column("manifestUrl", "Manifest", lambda row: row.manifest_url),
    Column("permissions", "Permissions", lambda row: sorted(row.permissions)),
    Column("created", "Begun", lambda row: row.created_at),
    Column("updated", "Changed", lambda row: row.updated_at),
)
_key = click.argument("installation_id", metavar="ID", type=Id())
_served_at = click.option(
    "--served-at",
    default="",
    metavar="URL",
    help="URL the app calls back, used while PUBLIC_URL is not set. Default: "
    "where flask serve served it last.",
)


@standalone(
    "install",
    examples=[
        (
            "flask app install https://app.example.com/api/manifest",
            "shows the manifest and asks to confirm",
        ),
        ("flask app install https://app.example.com/api/manifest --yes", "without a prompt"),
    ],
)
@click.argument("manifest_url")
@click.option(
    "--name", default="", help="Name of the app in this shop. Default: the name in its manifest."
)
@permission_option
@click.option(
    "--inactive",
    is_flag=True,
    help="Install the app without activating it; activate it later with `flask app activate`.",
)
@yes_option
@_served_at
def install(
    manifest_url: str,
    *,
    name: str,
    permissions: tuple[Permission, ...],
    inactive: bool,
    yes: bool,
    served_at: str,
) -> None:
    """Install an app from its manifest and wait until it is installed.

    Grants the permissions that the manifest asks for, or those of --permission instead. If the app
    refuses, it isn't installed, and `flask app installations list` shows its message.
    """
    caller = _operator_at(served_at)
    manifest = installation_requests.fetch_manifest(*caller, manifest_url)
    granted = frozenset(permissions) or manifest.permissions
    new = installation_requests.InstallationRequest(
        name or manifest.name, manifest_url, granted, activate=not inactive
    )
    for line in _summary(manifest, new):
        output().say(line)
    confirm_action(f"Install {new.app_name}?", yes=yes)
    _finish(installation_requests.install_app(*caller, new))


@installations.command("list", examples=[("flask app installations list --json", "for a script")])
@fields_option(_COLUMNS)
def list_() -> None:
    """List pending and failed installations."""
    open_installations = installation_requests.list_installations(*operator())
    output().rows(open_installations, _COLUMNS, empty="No pending or failed installations.")


@installations.command("retry", examples=[("flask app installations retry 3", "retry it")])
@_key
@_served_at
def retry(installation_id: int, *, served_at: str) -> None:
    """Retry a failed installation and wait until it completes."""
    _finish(installation_requests.retry_installation(*_operator_at(served_at), installation_id))


@installations.command("delete", examples=[("flask app installations delete 3", "delete it")])
@_key
def delete(installation_id: int) -> None:
    """Delete a failed installation."""
    deleted = installation_requests.delete_failed_installation(*operator(), installation_id)
    output().show_item(deleted, _COLUMNS)


def _operator_at(served_at: str) -> tuple[Ports, Actor]:
    """Return what ``operator`` does; the actor's issuer is the URL that apps call back."""
    ports, actor = operator()
    return ports, replace(actor, issuer=f"{base_url(ports, served_at)}/graphql/")


def _summary(manifest: Manifest, new: installation_requests.InstallationRequest) -> Iterator[str]:
    """Yield the facts to show before the installation is confirmed."""
    facts = {
        "App": f"{manifest.name} {manifest.version} ({manifest.identifier})",
        "Author": manifest.author,
        "About": manifest.about,
        "Home page": manifest.app_url,
        "Token sent to": manifest.token_target_url,
        "Requested permissions": _permission_list(manifest.permissions),
        "Granted permissions": _permission_list(new.permissions),
        "Dashboard extensions": ", ".join(extension.label for extension in manifest.extensions),
        "Webhook endpoints": ", ".join(
            dict.fromkeys(webhook.target_url for webhook in manifest.webhooks)
        ),
    }
    for title, value in facts.items():
        if value:
            yield f"{title}: {visible(' '.join(value.split()))}"


def _permission_list(permissions: frozenset[Permission]) -> str:
    return ", ".join(sorted(permissions)) or "none"


def _finish(pending: Installation) -> None:
    """Bring the installation to its end, here or by the worker who was quicker; show the app."""
    pause = Event()
    while (current := _current(pending.id)) and current.status is JobStatus.PENDING:
        if not install_next_app(*operator()):
            pause.wait(_POLL_SECONDS)
    if current is not None:
        output().say(
            f"The app was not installed. To retry: flask app installations retry {pending.id}"
        )
        message = current.message or "The app rejected the installation without giving a reason."
        raise Refused(Problem("INSTALLATION_FAILED", message))
    output().show_item(_installed(pending), ALL_COLUMNS)


def _current(installation_id: int) -> Installation | None:
    """Return the installation as it is now; ``None`` once it has succeeded and was removed."""
    open_installations = installation_requests.list_installations(*operator())
    return next((entry for entry in open_installations if entry.id == installation_id), None)


def _installed(pending: Installation) -> App:
    newest = list_apps(
        *operator(),
        PageRequest(MAX_PAGE_SIZE),
        AppFilter(name=pending.app_name),
        AppSortField.CREATION_DATE,
        descending=True,
    )
    for app in newest.items:
        if app.manifest_url == pending.manifest_url:
            return app
    message = "{app_name} was deleted during the installation."
    raise Refused(Problem("NOT_FOUND", message, values={"app_name": pending.app_name}))
