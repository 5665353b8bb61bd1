"""Problems that apps report about themselves: counted, shown and dismissed."""

from collections.abc import Collection, Mapping
from typing import Any

from sqlalchemy import ColumnElement, Select, delete, func, select, update
from sqlalchemy.orm import Session

from app import models
from app.domain.accounts.users import User
from app.domain.apps.apps import MAX_PROBLEMS, AppProblem, ProblemReport
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.values.errors import PermissionDenied, Problem, Refused, refuse_any
from app.domain.values.text_rules import is_storable
from app.ports import Ports
from app.services.audit.log import Change, record
from app.services.authorization.register import (
    apps_only,
    requires,
    requires_person,
    staff_and_apps,
)
from app.services.authorization.session_rights import USER_COLUMNS, read_user
from app.services.identity.stored_apps import locked_app_of_any_scope
from app.services.lists.paging import columns_for, record_from

_PROBLEMS: Select[*tuple[object, ...]] = select(*columns_for(AppProblem, models.AppProblem))
_OPEN = models.AppProblem.dismissed_by.is_(None)


@staff_and_apps
def problems_of_apps(
    ports: Ports, actor: Actor, app_ids: Collection[int]
) -> Mapping[int, tuple[AppProblem, ...]]:
    """Return the problems of each of several apps (`App.problems`), the newest first.

    An app sees its own; those of others need MANAGE_APPS. One statement.
    """
    is_its_own = actor.is_app and set(app_ids) <= {actor.app_id}
    if not is_its_own and (actor.is_app or not actor.holds(Permission.MANAGE_APPS)):
        raise PermissionDenied(Permission.MANAGE_APPS)
    query = _PROBLEMS.where(models.AppProblem.app_id.in_(app_ids))
    found: dict[int, tuple[AppProblem, ...]] = dict.fromkeys(app_ids, ())
    with ports.database.reading() as session:
        for row in session.execute(query.order_by(models.AppProblem.id.desc())):
            found[row.app_id] += (record_from(AppProblem, row),)
    return found


@requires(Permission.MANAGE_STAFF)
def dismissers_of_problems(
    ports: Ports, _actor: Actor, user_ids: Collection[int]
) -> Mapping[int, User]:
    """Return the people of these keys, who dismissed problems (`AppProblemDismissed.user`)."""
    query = select(*USER_COLUMNS).where(models.User.id.in_(user_ids))
    with ports.database.reading() as session:
        return {user.id: user for user in map(read_user, session.execute(query))}


@apps_only
def report_problem(ports: Ports, actor: Actor, report: ProblemReport) -> AppProblem:
    """Count a problem of the calling app (`appProblemCreate`).

    Refuses INVALID on ``key``, ``message``, ``criticalThreshold`` and ``aggregationPeriod``.
    """
    refuse_any(*report.problems())
    app_id = actor.app_id or 0
    now = ports.clock.now()
    with ports.database.transaction() as session:
        # The app's row orders its reports: each counts.
        locked_app_of_any_scope(session, app_id, "app")
        last = session.scalar(
            select(models.AppProblem)
            .where(models.AppProblem.app_id == app_id, models.AppProblem.key == report.key, _OPEN)
            .order_by(models.AppProblem.updated_at.desc(), models.AppProblem.id.desc())
            .limit(1)
        )
        if (
            last is None
            or not report.aggregation_minutes
            or last.updated_at < now - report.aggregation
        ):
            last = models.AppProblem(
                app_id=app_id, key=report.key, count=0, message="", created_at=now
            )
            _make_room(session, app_id)
        last.count += 1
        last.message, last.updated_at = report.shown_message, now
        last.is_critical = report.is_critical(last.count)
        session.add(last)
        session.flush()
        row = session.execute(_PROBLEMS.where(models.AppProblem.id == last.id)).one()
        return record_from(AppProblem, row)


@staff_and_apps
def require_dismisser(_ports: Ports, actor: Actor) -> None:
    """Raise ``PermissionDenied`` unless the caller can dismiss some problem."""
    if not (actor.is_app or actor.holds(Permission.MANAGE_APPS)):
        raise PermissionDenied(Permission.MANAGE_APPS)


@apps_only
def dismiss_own_problems(
    ports: Ports, actor: Actor, *, ids: Collection[int] = (), keys: Collection[str] = ()
) -> None:
    """Dismiss the calling app's problems of these ``ids`` or ``keys`` (`appProblemDismiss`).

    Refuses INVALID on ``ids`` for one that isn't the app's, whether another app has it or none.
    """
    own = models.AppProblem.app_id == actor.app_id
    with ports.database.transaction() as session:
        found = select(models.AppProblem.id).where(models.AppProblem.id.in_(ids), own)
        if ids and set(session.scalars(found)) != set(ids):
            raise Refused(Problem("INVALID", "Choose problems of this app.", "ids"))
        chosen = models.AppProblem.id.in_(ids) if ids else _has_key(keys)
        session.execute(_dismissal(own & chosen).values(dismissed_by=""))


@requires_person(Permission.MANAGE_APPS)
def dismiss_problems(ports: Ports, actor: Actor, ids: Collection[int]) -> None:
    """Dismiss these problems of apps (`appProblemDismiss`); unknown ones are left out."""
    with ports.database.transaction() as session:
        _dismiss(ports, actor, session, models.AppProblem.id.in_(ids))


@requires_person(Permission.MANAGE_APPS)
def dismiss_problems_of_app(
    ports: Ports, actor: Actor, app_id: int, keys: Collection[str]
) -> None:
    """Dismiss the problems with these keys of an app (`appProblemDismiss`).

    Refuses NOT_FOUND on ``app``.
    """
    with ports.database.transaction() as session:
        locked_app_of_any_scope(session, app_id, "app")
        of_app = models.AppProblem.app_id == app_id
        _dismiss(ports, actor, session, of_app & _has_key(keys))


def _has_key(keys: Collection[str]) -> ColumnElement[bool]:
    """Match problems with one of ``keys``; no problem has one that can't be stored."""
    return models.AppProblem.key.in_(filter(is_storable, keys))


def _dismiss(ports: Ports, actor: Actor, session: Session, chosen: ColumnElement[bool]) -> None:
    query = (
        select(models.AppProblem.app_id, models.App.name, models.AppProblem.key)
        .join(models.App, models.App.id == models.AppProblem.app_id)
        .where(_OPEN, chosen)
    )
    found: dict[tuple[int, str], list[str]] = {}
    for row in session.execute(query):
        found.setdefault((row.app_id, row.name), []).append(row.key)
    session.execute(
        _dismissal(chosen).values(dismissed_by=actor.name, dismissed_by_id=actor.user_id)
    )
    for (app_id, name), keys in found.items():
        after = {"problems": sorted(set(keys))}
        record(
            ports, actor, session, Change("app.problem_dismiss", "App", app_id, name, {}, after)
        )


def _dismissal(chosen: ColumnElement[bool]) -> Any:
    return (
        update(models.AppProblem).where(_OPEN, chosen).execution_options(synchronize_session=False)
    )


def _make_room(session: Session, app_id: int) -> None:
    """Delete what was updated longest ago, so that one more isn't more than are kept."""
    of_app = models.AppProblem.app_id == app_id
    count = session.scalar(select(func.count()).select_from(models.AppProblem).where(of_app)) or 0
    if count >= MAX_PROBLEMS:
        oldest = (
            select(models.AppProblem.id)
            .where(of_app)
            .order_by(models.AppProblem.updated_at, models.AppProblem.id)
            .limit(count - MAX_PROBLEMS + 1)
        )
        keys = session.scalars(oldest).all()
        session.execute(delete(models.AppProblem).where(models.AppProblem.id.in_(keys)))
