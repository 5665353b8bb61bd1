"""Attacks on second factors from between their parts: what changes while an answer is checked."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier

import pytest
from typing_extensions import override

from app.adapters.keys.second_factors import WebAuthnPasskeys
from app.domain.authorization.actor import OPERATOR, Actor
from app.domain.authorization.permissions import Permission
from app.domain.mails.mail import MailKind
from app.domain.sign_in.login_throttle import MAX_GUESSES
from app.domain.urls.web_urls import RelyingParty
from app.domain.values.errors import Refused
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.ports.second_factors import PasskeyUse
from app.services.accounts.authenticator_apps import turn_off_app
from app.services.accounts.passkeys import delete_passkey
from app.services.identity.identify import identify
from app.services.people.user_status import reset_second_factors, unblock_account
from app.services.second_factors.challenges import SecondFactorRequired
from app.services.sign_in.password_login import create_token
from app.services.sign_in.second_factor_sign_in import (
    ask_for_proof,
    challenge_passkey,
    verify_passkey,
)
from tests.builders.outbox import mails
from tests.builders.passkeys import SoftwareAuthenticator, make_passkey
from tests.builders.people import NOBODY, PASSWORD, actor_of, make_staff, make_user, sign_in, visit
from tests.builders.second_factors import one_time_code
from tests.builders.tokens import claims_in
from tests.fakes.clock import FakeClock
from tests.fakes.interrupted_database import InterruptedDatabase
from tests.services.logins import stored_sessions
from tests.services.sign_in.second_factors import challenged, make_protected, verify

CHECKED = 2
"""The transaction that stores the use of a code or passkey; the next one opens the session."""

WAIT = 30
TOO_LATE = "expired or was already used"


class WaitingPasskeys(WebAuthnPasskeys):
    """Verifies answers at the same moment, as parallel requests have them verified."""

    def __init__(self, together: Barrier) -> None:
        self._together = together

    @override
    def verify_use(
        self, party: RelyingParty, challenge: str, public_key: str, answer: str
    ) -> PasskeyUse:
        use = super().verify_use(party, challenge, public_key, answer)
        self._together.wait(WAIT)
        return use


@pytest.fixture
def database(ports: Ports) -> InterruptedDatabase:
    return InterruptedDatabase(ports.database)


def owner(ports: Ports, user_id: int) -> Actor:
    """Return the owner of an account, in a session with a second factor."""
    return identify(ports, visit(sign_in(ports, user_id, amr=("hwk", "mfa")).access)).actor


def delete(ports: Ports, actor: Actor, passkey_id: int) -> None:
    delete_passkey(ports, actor, passkey_id=passkey_id)


def reset(ports: Ports, actor: Actor, _passkey_id: int) -> None:
    reset_second_factors(ports, OPERATOR, to_global_id("User", actor.user_id or 0))


@pytest.mark.parametrize("remove", [delete, reset])
@pytest.mark.parametrize("is_alone", [True, False])
def test_passkey_that_is_removed_while_it_is_checked_opens_no_session(
    ports: Ports,
    database: InterruptedDatabase,
    remove: Callable[[Ports, Actor, int], None],
    is_alone: bool,
) -> None:
    user_id, authenticator = make_user(ports), SoftwareAuthenticator()
    passkey_id = make_passkey(ports, user_id, authenticator)

    def answer(through: Ports) -> None:
        token = None if is_alone else challenged(ports).token
        asked = challenge_passkey(ports, NOBODY, challenge=token)
        credential = authenticator.get(asked.options)
        verify_passkey(through, NOBODY, challenge=asked.token, credential=credential)

    actor = owner(ports, user_id)
    answer(ports)
    sessions = {stored.id for stored in stored_sessions(ports)}
    assert len(sessions) == 2

    database.after[CHECKED] = lambda: remove(ports, actor, passkey_id)
    with pytest.raises(Refused, match=TOO_LATE):
        answer(replace(ports, database=database))

    assert {stored.id for stored in stored_sessions(ports)} <= sessions


def test_app_that_is_turned_off_while_its_code_is_checked_opens_no_session(
    ports: Ports, database: InterruptedDatabase, clock: FakeClock
) -> None:
    user = make_protected(ports)
    actor = owner(ports, user.id)
    verify(ports, challenged(ports).token, one_time_code(ports, user.secret))
    clock.pass_(seconds=60)

    database.after[CHECKED] = lambda: turn_off_app(ports, actor)
    token, code = challenged(ports).token, one_time_code(ports, user.secret)
    with pytest.raises(Refused, match=TOO_LATE):
        verify(replace(ports, database=database), token, code)

    assert len(stored_sessions(ports)) == 2


def test_any_audience_survives_the_question_for_a_second_factor(
    ports: Ports, clock: FakeClock
) -> None:
    user = make_protected(ports)
    for audience in ("shop", "a" * 5000, "\0", "\ud800"):
        with pytest.raises(SecondFactorRequired) as required:
            create_token(ports, NOBODY, email=user.email, password=PASSWORD, audience=audience)
        code = one_time_code(ports, user.secret)
        pair = verify(ports, required.value.challenge.token, code)
        assert claims_in(ports, pair.access)["aud"] == audience
        clock.pass_(minutes=1)


@pytest.mark.both_databases
def test_answer_that_is_sent_twice_is_no_copied_passkey(ports: Ports) -> None:
    user_id, authenticator = make_user(ports), SoftwareAuthenticator()
    make_passkey(ports, user_id, authenticator)
    actor = owner(ports, user_id)
    asked = challenge_passkey(ports, actor, challenge=ask_for_proof(ports, actor).token)
    credential = authenticator.get(asked.options)
    together = Barrier(2, timeout=60)
    at_once = replace(ports, passkeys=WaitingPasskeys(together))

    def prove(_number: int) -> str | None:
        try:
            verify_passkey(at_once, actor, challenge=asked.token, credential=credential)
        except Refused as refused:
            return refused.problems[0].field
        return "proved"

    with ThreadPoolExecutor(2) as threads:
        assert set(threads.map(prove, range(2))) == {"challenge", "proved"}
    assert mails(ports, MailKind.PASSKEY_COPIED) == []


def test_own_account_is_not_unblocked_for_more_guesses(ports: Ports) -> None:
    right = Permission.MANAGE_STAFF
    stolen, colleague = (
        make_staff(ports, email, right) for email in ("stolen@example.com", "other@example.com")
    )
    now = ports.throttle.timestamp(ports.shared_clock)
    for _ in range(MAX_GUESSES):
        ports.throttle.guess(stolen, now)
    with pytest.raises(Refused, match="your own account"):
        unblock_account(ports, actor_of(ports, stolen), stolen)
    assert ports.throttle.guess(stolen, now).number == 0
    unblock_account(ports, actor_of(ports, colleague), stolen)
    assert ports.throttle.guess(stolen, now).number == 1
