"""Activate and deactivate apps: all who manage apps can stop one that misbehaves."""

from app.domain.apps.apps import App
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.events import AppStatusChanged
from app.models import AppRecord
from app.ports import Ports
from app.services.audit.log import Change, record
from app.services.authorization.register import requires_person
from app.services.identity.stored_apps import locked_app_of_any_scope, stored_app
from app.services.outbox.publisher import add_event


@requires_person(Permission.MANAGE_APPS)
def activate_app(ports: Ports, actor: Actor, app_id: int) -> App:
    """Activate an app (`appActivate`), also one with permissions that the caller lacks.

    Refuses NOT_FOUND on ``id``.
    """
    return _set_active(ports, actor, app_id, active=True)


@requires_person(Permission.MANAGE_APPS)
def deactivate_app(ports: Ports, actor: Actor, app_id: int) -> App:
    """Deactivate an app (`appDeactivate`), effective from the next request of its tokens.

    Works also for an app with permissions that the caller lacks. Refuses NOT_FOUND on ``id``.
    """
    return _set_active(ports, actor, app_id, active=False)


def _set_active(ports: Ports, actor: Actor, app_id: int, *, active: bool) -> App:
    with ports.database.transaction() as session:
        app = locked_app_of_any_scope(session, app_id, "id")
        if app.is_active is active:
            return app
        session.get_one(AppRecord, app_id).is_active = active
        session.flush()
        add_event(ports, actor, session, AppStatusChanged(app_id))
        change = Change(
            "app.activate" if active else "app.deactivate",
            "App",
            app_id,
            app.name,
            before={"is_active": not active},
            after={"is_active": active},
        )
        record(ports, actor, session, change)
        return stored_app(session, app_id, "id")
