"""Apps on the command line: looking one up, and its columns."""

from __future__ import annotations

from app.commands.terminal.output import Column
from app.domain.apps.apps import App
from app.domain.authorization.actor import OPERATOR
from app.domain.values.errors import Problem, Refused
from app.domain.values.pages import PageRequest
from app.ports import Ports
from app.services.apps.app_lists import AppFilter, list_apps

MAX_KEY = 10**18
"""Fits every database's integer; a larger one cannot exist."""
NO_APP = "App not found. List apps with: flask app list"

COLUMNS = (
    Column[App]("id", "ID", lambda app: app.id, short=True),
    Column[App]("name", "Name", lambda app: app.name, short=True),
    Column[App]("type", "Type", lambda app: app.type.value),
    Column[App]("isActive", "Active", lambda app: app.is_active),
    Column[App]("permissions", "Permissions", lambda app: sorted(app.permissions)),
    Column[App]("created", "Created", lambda app: app.created_at),
)
ALL_COLUMNS = (
    *COLUMNS,
    Column[App]("identifier", "Identifier", lambda app: app.identifier or None),
    Column[App]("version", "Version", lambda app: app.version or None),
    Column[App]("author", "Author", lambda app: app.author or None),
    Column[App]("appUrl", "Address", lambda app: app.app_url or None),
    Column[App]("manifestUrl", "Manifest", lambda app: app.manifest_url or None),
)


def app_key(ports: Ports, app: str) -> int:
    """Return the key of the app with that ID or unique name; raises ``Refused`` (NOT_FOUND)."""
    if app.isascii() and app.isdigit() and int(app) <= MAX_KEY:
        return int(app)
    page = list_apps(ports, OPERATOR, PageRequest(2), AppFilter(name=app)).items
    if len(page) == 1:
        return page[0].id
    hint = "Several apps have this name. Use the app's ID." if page else NO_APP
    raise Refused(Problem("NOT_FOUND", hint, "app"))
