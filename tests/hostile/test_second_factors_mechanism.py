"""Attacks on second factors by odd input, parallel requests, lost keys and other sessions."""

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from threading import Event

import psycopg
import pytest
from sqlalchemy import update

from app import models
from app.adapters.keys.encryption import AesEncryption
from app.domain.authorization.actor import Actor, SessionOrigin
from app.domain.sign_in.sign_in_log import SignInPlace, SignInReason
from app.domain.values.errors import Refused, TokenRejected
from app.ports import Ports
from app.services.identity.identify import identify
from app.services.sign_in.second_factor_sign_in import (
    ask_for_proof,
    sign_in_with_passkey,
    verify_passkey,
)
from app.services.sign_in.sessions import end_sessions
from app.services.sign_in.tokens import refresh_token
from tests.builders.passkeys import SoftwareAuthenticator, make_passkey
from tests.builders.people import NOBODY, sign_in, visit
from tests.builders.second_factors import make_recovery_codes, one_time_code
from tests.fakes.clock import FakeClock
from tests.fakes.interrupted_database import InterruptedDatabase
from tests.fakes.sign_in_log import FakeSignInLog
from tests.graphql.shop_client import ApiClient
from tests.services.extension_setup import set_scene
from tests.services.logins import stored_sessions
from tests.services.sign_in.second_factors import (
    Protected,
    challenged,
    make_protected,
    refusal_of_code,
    stored_challenges,
    verify,
)

USE = """mutation ($challenge: String!, $answer: JSONString!) {
  passkeyVerify(challenge: $challenge, credential: $answer) { errors { field code } }
}"""
CHECK = """mutation ($token: String) {
  tokenVerify(token: $token) { user { secondFactors { name } } }
}"""
DEPTHS = range(850, 1000)
"""Levels of JSON around those that Python reads at all in a request."""

WAIT = 30
_BLOCKED = (
    "SELECT count(*) FROM pg_stat_activity"
    " WHERE datname = current_database() AND wait_event_type = 'Lock'"
)


def session_by_sso(ports: Ports, user: Protected) -> Actor:
    """Return the owner of an account in a session that began at a provider without a factor."""
    return identify(ports, visit(sign_in(ports, user.id, SessionOrigin.OIDC).access)).actor


@pytest.mark.both_databases
@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_challenges_never_keep_their_owner_from_ending_all_sessions(
    ports: Ports, database_url: str
) -> None:
    """Of transactions that wait for each other, PostgreSQL ends one with an error.

    The owner begins when the other transaction is open, and goes on when that waits.
    """
    user = make_protected(ports)
    stolen = session_by_sso(ports, user)
    ask_for_proof(ports, stolen)
    database, has_locked = InterruptedDatabase(ports.database), Event()
    ended = list[Future[None]]()

    def end_all() -> None:
        with (
            psycopg.connect(database_url, autocommit=True) as observer,
            ports.database.transaction() as session,
        ):
            session.get(models.User, user.id, with_for_update=True)
            has_locked.set()
            deadline = time.monotonic() + WAIT
            while observer.execute(_BLOCKED).fetchone() == (0,) and time.monotonic() < deadline:
                pass
            end_sessions(ports, session, user.id)

    with ThreadPoolExecutor(1) as thread:

        def begin_to_end() -> None:
            ended.append(thread.submit(end_all))
            assert has_locked.wait(WAIT)

        database.during[1] = begin_to_end
        with pytest.raises(TokenRejected):
            ask_for_proof(replace(ports, database=database), stolen)
        ended[0].result(WAIT)
    assert stored_sessions(ports) == []
    assert stored_challenges(ports) == []


def test_proof_gives_no_refresh_token_where_the_provider_gave_none(ports: Ports) -> None:
    user = make_protected(ports)
    actor = session_by_sso(ports, user)
    token = ask_for_proof(ports, actor).token
    pair = verify(ports, token, one_time_code(ports, user.secret), actor)
    assert pair.refresh == ""
    assert identify(ports, visit(pair.access)).actor.amr == ("otp", "mfa")


def test_proof_gives_a_refresh_token_where_the_provider_gave_one(ports: Ports) -> None:
    user = make_protected(ports)
    actor = session_by_sso(ports, user)
    with ports.database.transaction() as session:
        session.execute(update(models.Session).values(provider_refresh_token="encrypted"))
    token = ask_for_proof(ports, actor).token
    pair = verify(ports, token, one_time_code(ports, user.secret), actor)
    assert refresh_token(ports, NOBODY, token=pair.refresh).user.id == user.id


def test_lost_key_refuses_codes_of_apps_but_no_recovery_code(
    ports: Ports, clock: FakeClock
) -> None:
    user = make_protected(ports)
    codes = make_recovery_codes(ports, user.id)
    other_key = replace(ports, encryption=AesEncryption("another key, without the former one"))
    token = challenged(ports).token
    code = one_time_code(ports, user.secret)
    assert refusal_of_code(other_key, token, code) == ("code", "INVALID_SECOND_FACTOR")
    clock.pass_(seconds=1)
    assert verify(other_key, token, codes[0]).user.id == user.id


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_deeply_nested_answer_is_a_mistake_of_the_client(ports: Ports, clock: FakeClock) -> None:
    """What Python just about reads, a little further down the stack, it can't write."""
    api = ApiClient(ports)
    for depth in DEPTHS:
        clock.pass_(minutes=2)
        answer = api.ask(USE, challenge="x", answer="[" * depth + "]" * depth)
        assert "Internal Server Error" not in str(answer), depth


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_extension_lists_no_factors_of_its_user_by_having_its_token_checked(ports: Ports) -> None:
    scene, api = set_scene(ports), ApiClient(ports)
    make_passkey(ports, scene.user, SoftwareAuthenticator(), "Ann's phone")
    for credential in (None, scene.token):
        refused = api.ask(CHECK, credential, token=scene.token)
        assert refused["data"]["tokenVerify"]["user"] == {"secondFactors": None}
    own = sign_in(ports, scene.user, amr=("hwk", "mfa")).access
    assert api.run(CHECK, token=own)["user"] == {"secondFactors": [{"name": "Ann's phone"}]}


@pytest.mark.parametrize("in_console", [False, True])
def test_answers_to_invented_challenges_are_in_the_sign_in_log(
    ports: Ports, in_console: bool
) -> None:
    place = SignInPlace.CONSOLE if in_console else SignInPlace.API
    answers: list[Callable[[], object]] = [
        lambda: sign_in_with_passkey(
            ports, NOBODY, challenge="invented", credential="{}", place=place
        )
    ]
    if not in_console:
        answers += [
            lambda: verify(ports, "invented", "123456"),
            lambda: verify_passkey(ports, NOBODY, challenge="invented", credential="{}"),
        ]
    for answer in answers:
        with pytest.raises(Refused):
            answer()
    log = ports.sign_in_log
    assert isinstance(log, FakeSignInLog)
    found = [(refusal.reason, refusal.in_console) for refusal in log.refusals]
    assert found == [(SignInReason.CHALLENGE_ENDED, in_console)] * len(answers)
