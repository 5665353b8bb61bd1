"""The link that moves an account to another address: it works once, for its owner alone."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from app.domain.accounts.email_links import LinkPurpose
from app.domain.authorization.actor import Actor
from app.domain.values.errors import Refused
from app.ports import Ports
from app.services.accounts.email_changes import confirm_email_change
from tests.builders.links import link_for
from tests.builders.outbox import events, mails
from tests.builders.people import actor_of, change_user, make_user, sessions_of, user_as_stored
from tests.fakes.clock import FakeClock
from tests.fixtures.ports import fake_ports

OLD = "customer@example.com"
NEW = "new@example.com"
WORTHLESS = [("token", "JWT_INVALID_TOKEN")]


def confirming(ports: Ports, actor: Actor, token: str) -> list[tuple[str | None, str]]:
    with pytest.raises(Refused) as refused:
        confirm_email_change(ports, actor, token=token)
    return [(problem.field, problem.code) for problem in refused.value.problems]


def test_email_change_keeps_sessions_and_invalidates_links_to_the_old_email(ports: Ports) -> None:
    user_id = make_user(ports)
    actor, other = actor_of(ports, user_id), actor_of(ports, user_id)
    reset = link_for(ports, user_id, LinkPurpose.SET_PASSWORD)
    token = link_for(ports, user_id, LinkPurpose.CHANGE_EMAIL, NEW)
    confirm_email_change(ports, actor, token=token)
    assert {session.id for session in sessions_of(ports, user_id)} == {
        actor.session_id,
        other.session_id,
    }
    assert confirming(ports, actor, reset) == WORTHLESS


def test_opening_the_link_confirms_the_new_email(ports: Ports) -> None:
    user_id = make_user(ports, is_confirmed=False)
    token = link_for(ports, user_id, LinkPurpose.CHANGE_EMAIL, NEW)
    assert confirm_email_change(ports, actor_of(ports, user_id), token=token).is_confirmed


def test_email_taken_meanwhile_is_refused(ports: Ports) -> None:
    user_id = make_user(ports)
    actor = actor_of(ports, user_id)
    token = link_for(ports, user_id, LinkPurpose.CHANGE_EMAIL, NEW)
    make_user(ports, NEW)
    assert confirming(ports, actor, token) == [("newEmail", "UNIQUE")]
    assert user_as_stored(ports, user_id).email == OLD
    assert (mails(ports), events(ports)) == ([], [])


def test_link_works_once_and_for_a_day(ports: Ports, clock: FakeClock) -> None:
    user_id = make_user(ports)
    actor = actor_of(ports, user_id)
    token = link_for(ports, user_id, LinkPurpose.CHANGE_EMAIL, NEW)
    clock.pass_(hours=24)
    assert confirming(ports, actor, token) == WORTHLESS
    token = link_for(ports, user_id, LinkPurpose.CHANGE_EMAIL, NEW)
    clock.pass_(hours=23)
    confirm_email_change(ports, actor, token=token)
    assert confirming(ports, actor, token) == WORTHLESS


def test_link_of_another_purpose_changes_no_email(ports: Ports) -> None:
    user_id = make_user(ports)
    actor = actor_of(ports, user_id)
    for purpose in (
        LinkPurpose.SET_PASSWORD,
        LinkPurpose.CONFIRM_ACCOUNT,
        LinkPurpose.DELETE_ACCOUNT,
    ):
        token = link_for(ports, user_id, purpose)
        assert confirming(ports, actor, token) == WORTHLESS, purpose


def test_another_users_link_is_refused_and_stays_valid(ports: Ports) -> None:
    user_id = make_user(ports)
    other = actor_of(ports, make_user(ports, "other@example.com"))
    token = link_for(ports, user_id, LinkPurpose.CHANGE_EMAIL, NEW)
    assert confirming(ports, other, token) == WORTHLESS
    assert confirm_email_change(ports, actor_of(ports, user_id), token=token).email == NEW


def test_link_is_invalid_after_an_account_change(ports: Ports) -> None:
    changes: tuple[dict[str, object], ...] = (
        {"password_hash": "fake$1$x"},
        {"is_active": False},
        {"email": "x@example.com"},
    )
    for number, change in enumerate(changes):
        user_id = make_user(ports, f"{number}@example.com")
        actor = actor_of(ports, user_id)
        token = link_for(ports, user_id, LinkPurpose.CHANGE_EMAIL, NEW)
        change_user(ports, user_id, **change)
        assert confirming(ports, actor, token) == WORTHLESS, change


def test_signing_out_everywhere_cancels_a_pending_email_change(ports: Ports) -> None:
    user_id = make_user(ports)
    actor = actor_of(ports, user_id)
    token = link_for(ports, user_id, LinkPurpose.CHANGE_EMAIL, NEW)
    change_user(ports, user_id, tokens_valid_after=ports.clock.now())
    assert confirming(ports, actor, token) == WORTHLESS


@pytest.mark.both_databases
def test_concurrent_uses_of_an_email_link_change_it_once(
    ports: Ports, database_url: str, clock: FakeClock
) -> None:
    user_id = make_user(ports)
    actor = actor_of(ports, user_id)
    token = link_for(ports, user_id, LinkPurpose.CHANGE_EMAIL, NEW)
    others = [fake_ports(database_url, clock) for _ in range(4)]
    start = Barrier(len(others), timeout=60)

    def work(other: Ports) -> Callable[[], bool]:
        def run() -> bool:
            start.wait()
            try:
                confirm_email_change(other, actor, token=token)
            except Refused:
                return False
            return True

        return run

    with ThreadPoolExecutor(len(others)) as pool:
        won = [future.result(180) for future in [pool.submit(work(other)) for other in others]]
    assert sorted(won) == [False, False, False, True]
    assert len(mails(ports)) == 1
