"""Apps, as people manage them: no app ever manages one, whatever it holds."""

from dataclasses import dataclass

from app.domain.actor import Actor
from app.domain.apps import App, AppType, NewAppToken
from app.domain.errors import Problem, Refused
from app.domain.events import AppInstalled
from app.domain.grants import grant_problem
from app.domain.pages import Page, PageRequest
from app.domain.permissions import Permission
from app.domain.texts import line_problem
from app.models import AppPermissionRecord, AppRecord
from app.ports import Ports
from app.services.access import requires_person
from app.services.audit import Change, record
from app.services.outbox import put_event
from app.services.paging import Order, read_page
from app.services.stored_apps import APPS, store_token, stored_app, to_app

_LONGEST_NAME = 256
_BY_AGE = Order((AppRecord.id,))


@dataclass(frozen=True, slots=True)
class NewApp:
    """An app to be made here, active at once."""

    name: str
    permissions: frozenset[Permission] = frozenset()
    identifier: str = ""


@dataclass(frozen=True, slots=True)
class CreatedApp:
    """A new app, and its first token."""

    app: App
    token: NewAppToken


@requires_person(Permission.MANAGE_APPS)
def create_app(ports: Ports, actor: Actor, new: NewApp) -> CreatedApp:
    """Make an app and its first token (`appCreate`).

    Refuses REQUIRED and INVALID on ``name``, OUT_OF_SCOPE_PERMISSION on ``permissions`` for what
    the caller does not hold, INVALID_PERMISSION for MANAGE_APPS, which no app can hold.
    """
    name = new.name.strip()
    problems = _problems(actor, name, new)
    if problems:
        raise Refused(*problems)
    with ports.database.transaction() as session:
        app = AppRecord(
            name=name,
            identifier=new.identifier,
            type=AppType.LOCAL.value,
            created_at=ports.clock.now(),
        )
        session.add(app)
        session.flush()
        session.add_all(
            AppPermissionRecord(app_id=app.id, permission=one.value) for one in new.permissions
        )
        token = store_token(ports, session, app.id, "Default")
        put_event(ports, actor, session, AppInstalled(app.id))
        after = {"permissions": sorted(one.value for one in new.permissions)}
        record(ports, actor, session, Change("app.create", "App", app.id, name, after=after))
        return CreatedApp(stored_app(session, app.id, "id"), token)


@requires_person(Permission.MANAGE_APPS)
def list_apps(ports: Ports, actor: Actor, page: PageRequest, *, name: str = "") -> Page[App]:
    """The apps in the order they were made; with ``name``, those called exactly that."""
    query = APPS.where(AppRecord.name == name) if name else APPS
    with ports.database.reading() as session:
        return read_page(ports, session, query, _BY_AGE, page, to_app)


def _problems(actor: Actor, name: str, new: NewApp) -> list[Problem]:
    found = [
        line_problem(name, "name", longest=_LONGEST_NAME),
        line_problem(new.identifier, "identifier", longest=_LONGEST_NAME),
        grant_problem(actor, new.permissions),
    ]
    if not name:
        found.append(Problem("REQUIRED", "Give the app a name.", "name"))
    if Permission.MANAGE_APPS in new.permissions:
        message = "No app can hold MANAGE_APPS: managing apps is for people."
        found.append(Problem("INVALID_PERMISSION", message, "permissions"))
    return [problem for problem in found if problem is not None]
