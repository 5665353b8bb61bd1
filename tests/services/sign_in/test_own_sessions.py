"""Where one is signed in, and signing out there."""

from dataclasses import replace

import pytest

from app.domain.authorization.actor import Actor, ActorKind, SessionOrigin
from app.domain.authorization.permissions import Permission
from app.domain.values.errors import PermissionDenied, Refused, TokenFault
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.services.identity.identify import identify
from app.services.sign_in.sessions import end_other_sessions, end_session, list_sessions
from app.services.sign_in.tokens import refresh_token
from tests.builders.audit import trail
from tests.builders.people import (
    ADDRESS,
    NOBODY,
    actor_of,
    make_user,
    sessions_of,
    sign_in,
    user_as_stored,
    visit,
)
from tests.fakes.clock import FakeClock

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"


def ending(ports: Ports, actor: Actor, session_id: str) -> list[tuple[str | None, str]]:
    with pytest.raises(Refused) as refused:
        end_session(ports, actor, session_id)
    return [(problem.field, problem.code) for problem in refused.value.problems]


def test_own_sessions_are_listed_by_last_use(ports: Ports, clock: FakeClock) -> None:
    user_id = make_user(ports)
    sign_in(ports, user_id, SessionOrigin.OIDC, replace(NOBODY, user_agent=FIREFOX))
    began = clock.now()
    clock.pass_(minutes=5)
    actor = actor_of(ports, user_id)
    sign_in(ports, make_user(ports, "other@example.com"))
    here, there = list_sessions(ports, actor)
    assert (here.is_current, here.device, here.origin) == (
        True,
        "Unknown device",
        SessionOrigin.PASSWORD,
    )
    assert (there.is_current, there.device, there.origin) == (
        False,
        "Firefox on Linux",
        SessionOrigin.OIDC,
    )
    assert (there.address, there.created_at, there.last_used_at) == (ADDRESS, began, began)


def test_long_session_list_has_the_current_and_newest_sessions(ports: Ports) -> None:
    user_id = make_user(ports)
    actor = actor_of(ports, user_id)
    sign_in(ports, user_id)
    newest = actor_of(ports, user_id).session_id
    shown = list_sessions(ports, actor, limit=2)
    assert {session.id for session in shown} == {actor.session_id, newest}
    assert len(list_sessions(ports, actor)) == 3


def test_sessions_that_have_expired_are_not_listed(ports: Ports, clock: FakeClock) -> None:
    user_id = make_user(ports)
    sign_in(ports, user_id)
    clock.pass_(hours=30 * 24)
    assert [found.is_current for found in list_sessions(ports, actor_of(ports, user_id))] == [True]


def test_ending_one_session_keeps_the_others(ports: Ports) -> None:
    user_id = make_user(ports)
    lost = sign_in(ports, user_id)
    (lost_row,) = sessions_of(ports, user_id)
    kept = sign_in(ports, user_id)
    actor = actor_of(ports, user_id)
    end_session(ports, actor, to_global_id("Session", lost_row.id))
    assert identify(ports, visit(lost.access)).actor.fault is TokenFault.INVALID
    with pytest.raises(Refused):
        refresh_token(ports, NOBODY, token=lost.refresh)
    assert identify(ports, visit(kept.access)).actor.user_id == user_id
    (row,) = trail(ports, "session.end")
    assert (row.subject_id, row.before) == (str(user_id), {"session": lost_row.id})


def test_current_session_can_end_itself(ports: Ports) -> None:
    user_id = make_user(ports)
    actor = actor_of(ports, user_id)
    end_session(ports, actor, to_global_id("Session", actor.session_id or 0))
    assert sessions_of(ports, user_id) == []


def test_other_and_ended_sessions_are_not_found(ports: Ports) -> None:
    actor = actor_of(ports, make_user(ports))
    other = make_user(ports, "other@example.com")
    sign_in(ports, other)
    (theirs,) = sessions_of(ports, other)
    for session_id in (
        to_global_id("Session", theirs.id),
        to_global_id("Session", 4711),
        to_global_id("User", actor.session_id or 0),
        "garbage",
        "",
    ):
        assert ending(ports, actor, session_id) == [("id", "NOT_FOUND")]
    assert len(sessions_of(ports, other)) == 1
    assert trail(ports, "session.end") == []


@pytest.mark.both_databases
def test_all_other_sessions_can_be_ended_together(ports: Ports) -> None:
    user_id = make_user(ports)
    sign_in(ports, user_id)
    sign_in(ports, user_id, SessionOrigin.OIDC)
    actor = actor_of(ports, user_id)
    assert end_other_sessions(ports, actor) == 2
    assert [session.id for session in sessions_of(ports, user_id)] == [actor.session_id]
    assert user_as_stored(ports, user_id).tokens_valid_after is None
    assert [row.before for row in trail(ports, "session.end_others")] == [{"sessions": 2}]


def test_provider_token_can_end_every_session(ports: Ports) -> None:
    user_id = make_user(ports)
    actor = replace(actor_of(ports, user_id), session_id=None)
    assert end_other_sessions(ports, actor) == 1


def test_apps_and_anonymous_callers_have_no_sessions(ports: Ports) -> None:
    app = Actor(ActorKind.APP, app_id=3, permissions=frozenset(Permission))
    extension = replace(actor_of(ports, make_user(ports)), app_id=3)
    for actor in (NOBODY, app, extension):
        with pytest.raises(PermissionDenied):
            list_sessions(ports, actor)
        with pytest.raises(PermissionDenied):
            end_session(ports, actor, "garbage")
        with pytest.raises(PermissionDenied):
            end_other_sessions(ports, actor)
