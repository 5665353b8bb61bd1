"""The tokens of apps: made and told once, listed, revoked."""

from datetime import datetime

from sqlalchemy import select

from app.domain.actor import Actor
from app.domain.apps import App, AppToken, NewAppToken
from app.domain.errors import Problem, Refused
from app.domain.grants import is_within_reach
from app.domain.permissions import Permission
from app.domain.texts import line_problem
from app.models import AppTokenRecord
from app.ports import Ports
from app.services.access import requires_person
from app.services.audit import Change, record
from app.services.stored_apps import store_token, stored_app, to_token

_LONGEST_NAME = 256


@requires_person(Permission.MANAGE_APPS)
def create_app_token(
    ports: Ports, actor: Actor, app_id: int, name: str = "", expires_at: datetime | None = None
) -> NewAppToken:
    """Another token for an app (`appTokenCreate`), good until ``expires_at`` or until revoked.

    Refuses NOT_FOUND and OUT_OF_SCOPE_APP on ``app``, for an app that may do what the caller may
    not; INVALID on ``name``, and on an ``expiresAt`` that is past.
    """
    found = [line_problem(name, "name", longest=_LONGEST_NAME)]
    if expires_at is not None and expires_at <= ports.clock.now():
        found.append(Problem("INVALID", "Choose a moment that is still to come.", "expiresAt"))
    problems = [problem for problem in found if problem is not None]
    if problems:
        raise Refused(*problems)
    with ports.database.transaction() as session:
        app = stored_app(session, app_id, "app")
        _check_reach(actor, app, "app")
        new = store_token(ports, session, app_id, name, expires_at)
        after = {"name": name, "last_four": new.token.last_four, "expires_at": _text(expires_at)}
        change = Change("app_token.create", "AppToken", new.token.id, app.name, after=after)
        record(ports, actor, session, change)
        return new


@requires_person(Permission.MANAGE_APPS)
def list_app_tokens(ports: Ports, actor: Actor, app_id: int) -> tuple[AppToken, ...]:
    """The tokens of an app, the oldest first; refuses NOT_FOUND on ``app``."""
    wanted = select(AppTokenRecord).where(AppTokenRecord.app_id == app_id)
    with ports.database.reading() as session:
        stored_app(session, app_id, "app")
        return tuple(map(to_token, session.scalars(wanted.order_by(AppTokenRecord.id))))


@requires_person(Permission.MANAGE_APPS)
def revoke_app_token(ports: Ports, actor: Actor, token_id: int) -> AppToken:
    """End a token, at once and in every process (`appTokenDelete`); returns what it was.

    Refuses NOT_FOUND and OUT_OF_SCOPE_APP on ``id``.
    """
    with ports.database.transaction() as session:
        stored = session.get(AppTokenRecord, token_id)
        if stored is None:
            raise Refused(Problem("NOT_FOUND", "There is no such token.", "id"))
        app = stored_app(session, stored.app_id, "id")
        _check_reach(actor, app, "id")
        token = to_token(stored)
        session.delete(stored)
        before = {"name": token.name, "last_four": token.last_four}
        change = Change("app_token.revoke", "AppToken", token_id, app.name, before=before)
        record(ports, actor, session, change)
        return token


def _check_reach(actor: Actor, app: App, field: str) -> None:
    if not is_within_reach(actor, app.permissions):
        message = "You can't manage this app: it has permissions that you don't have."
        raise Refused(Problem("OUT_OF_SCOPE_APP", message, field))


def _text(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
