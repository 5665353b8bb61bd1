"""Answers that meet the end of what they answer, on PostgreSQL.

Where two lock the same rows in different orders, PostgreSQL fails one of them, which would be an
internal error for its caller.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Thread, current_thread

import psycopg
import pytest
from sqlalchemy import Engine, event

from app.domain.authorization.actor import OPERATOR, Actor, SessionOrigin
from app.domain.values.errors import Refused
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.services.accounts.account_securing import secure_account
from app.services.accounts.passkeys import add_passkey, begin_passkey
from app.services.identity.identify import identify
from app.services.people.user_status import reset_second_factors
from app.services.sign_in.second_factor_sign_in import (
    ask_for_proof,
    challenge_passkey,
    verify_passkey,
)
from app.services.sign_in.sessions import end_session
from tests.builders.passkeys import SoftwareAuthenticator, make_passkey
from tests.builders.people import NOBODY, sessions_of, sign_in, visit
from tests.builders.second_factors import make_recovery_codes, one_time_code
from tests.hostile.test_second_factors_notices import notice
from tests.services.sign_in.second_factors import Protected, challenged, make_protected, verify

BLOCKED = (
    "SELECT count(*) FROM pg_stat_activity"
    " WHERE datname = current_database() AND wait_event_type = 'Lock'"
)
LOCK_USER = r"FROM users\b.*FOR UPDATE"
LOCK_SESSION = r"FROM sessions\b.*FOR UPDATE"
ADD_LINK = r"INSERT INTO account_links"
USE_QUESTION = r"UPDATE second_factor_challenges SET passkey_challenge=.*AND"


@pytest.fixture
def database_url(postgresql_url: str) -> str:
    return postgresql_url


@dataclass
class Meeting:
    """What the other side raised, once it has met this one."""

    has_met: bool = False
    fault: Exception | None = None


@contextmanager
def meeting(url: str, statement: str, act: Callable[[], object]) -> Iterator[Meeting]:
    """Run ``act`` beside this thread, from before its first ``statement``, until it waits.

    This thread goes on when the other has finished or waits for a lock.
    """
    this, met = current_thread(), Meeting()

    def run() -> None:
        try:
            act()
        except Exception as fault:  # noqa: BLE001 - shown by the test
            met.fault = fault

    other = Thread(target=run, daemon=True)

    def start(_connection: object, _cursor: object, sql: str, *_rest: object) -> None:
        found = re.search(statement, sql, re.DOTALL)
        if current_thread() is not this or not found or met.has_met:
            return
        met.has_met = True
        other.start()
        with psycopg.connect(url, autocommit=True) as observer:
            while other.is_alive() and observer.execute(BLOCKED).fetchone() == (0,):
                other.join(0.01)

    event.listen(Engine, "before_cursor_execute", start)
    try:
        yield met
        other.join(180)
    finally:
        event.remove(Engine, "before_cursor_execute", start)


@pytest.fixture
def user(ports: Ports) -> Protected:
    return make_protected(ports, is_staff=True)


def report(ports: Ports, user: Protected) -> Callable[[], object]:
    token = notice(ports, user.id)
    return lambda: secure_account(ports, NOBODY, token=token)


def is_over(answer: Callable[[], object]) -> bool:
    """Whether ``answer`` comes too late, rather than failing."""
    try:
        answer()
    except Refused:
        return True
    return False


def test_answer_meets_a_report(
    ports: Ports, second_process: Ports, database_url: str, user: Protected
) -> None:
    challenge, code = challenged(ports).token, one_time_code(ports, user.secret)
    act = report(second_process, user)
    with meeting(database_url, LOCK_USER, act) as met:
        is_over(lambda: verify(ports, challenge, code))
    assert (met.has_met, met.fault) == (True, None)
    assert sessions_of(ports, user.id) == []


def test_proof_meets_a_sign_out(
    ports: Ports, second_process: Ports, database_url: str, user: Protected
) -> None:
    actor = signed_in(ports, user)
    challenge, code = ask_for_proof(ports, actor).token, one_time_code(ports, user.secret)
    session_id = to_global_id("Session", actor.session_id or 0)
    with meeting(
        database_url, LOCK_SESSION, lambda: end_session(second_process, actor, session_id)
    ) as met:
        is_over(lambda: verify(ports, challenge, code, actor))
    assert (met.has_met, met.fault) == (True, None)
    assert sessions_of(ports, user.id) == []


def test_proof_meets_a_report(
    ports: Ports, second_process: Ports, database_url: str, user: Protected
) -> None:
    actor = signed_in(ports, user)
    challenge, code = ask_for_proof(ports, actor).token, one_time_code(ports, user.secret)
    act = report(second_process, user)
    with meeting(database_url, LOCK_SESSION, act) as met:
        is_over(lambda: verify(ports, challenge, code, actor))
    assert (met.has_met, met.fault) == (True, None)
    assert sessions_of(ports, user.id) == []


def test_new_passkey_meets_a_sign_out(
    ports: Ports, second_process: Ports, database_url: str, user: Protected
) -> None:
    actor = signed_in(ports, user)
    begun = begin_passkey(ports, actor)
    credential = SoftwareAuthenticator().create(begun.options)
    session_id = to_global_id("Session", actor.session_id or 0)
    with meeting(
        database_url, LOCK_SESSION, lambda: end_session(second_process, actor, session_id)
    ) as met:
        is_over(
            lambda: add_passkey(
                ports, actor, challenge=begun.challenge, credential=credential, name="Key"
            )
        )
    assert (met.has_met, met.fault) == (True, None)
    assert sessions_of(ports, user.id) == []


def test_recovery_code_meets_a_reset(
    ports: Ports, second_process: Ports, database_url: str, user: Protected
) -> None:
    code, challenge = make_recovery_codes(ports, user.id)[0], challenged(ports).token
    key = to_global_id("User", user.id)
    with meeting(
        database_url, ADD_LINK, lambda: reset_second_factors(second_process, OPERATOR, key)
    ) as met:
        is_over(lambda: verify(ports, challenge, code))
    assert (met.has_met, met.fault) == (True, None)
    assert sessions_of(ports, user.id) == []


def test_passkey_meets_a_report(
    ports: Ports, second_process: Ports, database_url: str, user: Protected
) -> None:
    authenticator = SoftwareAuthenticator()
    make_passkey(ports, user.id, authenticator)
    asked = challenge_passkey(ports, NOBODY, challenge=challenged(ports).token)
    credential = authenticator.get(asked.options)
    act = report(second_process, user)
    with meeting(database_url, USE_QUESTION, act) as met:
        is_over(
            lambda: verify_passkey(ports, NOBODY, challenge=asked.token, credential=credential)
        )
    assert (met.has_met, met.fault) == (True, None)
    assert sessions_of(ports, user.id) == []


def signed_in(ports: Ports, user: Protected) -> Actor:
    return identify(ports, visit(sign_in(ports, user.id, SessionOrigin.OIDC).access)).actor
