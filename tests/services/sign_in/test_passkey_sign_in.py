"""Signing in with a passkey: alone, and as the second factor."""

import json

import pytest
from sqlalchemy import select

from app import models
from app.domain.authorization.actor import Actor, SessionOrigin
from app.domain.second_factors import CHALLENGE_LIFETIME, MAX_CHALLENGE_FAILURES
from app.domain.shop.settings import PasswordLoginMode
from app.domain.sign_in.sign_in_log import SignInMethod
from app.domain.values.errors import Refused
from app.ports import Ports
from app.services.identity.identify import identify
from app.services.sign_in.second_factor_sign_in import (
    PasskeyChallenge,
    ask_for_proof,
    challenge_passkey,
    verify_passkey,
)
from app.services.sign_in.tokens import TokenPair, refresh_token
from tests.builders.passkeys import SYNCABLE, VERIFIED, SoftwareAuthenticator, make_passkey
from tests.builders.people import (
    NOBODY,
    actor_of,
    change_user,
    make_staff,
    make_user,
    user_as_stored,
    visit,
)
from tests.builders.shop import configure_shop, set_mode
from tests.builders.tokens import claims_in
from tests.fakes.clock import FakeClock
from tests.services.logins import counted, fail, stored_sessions
from tests.services.sign_in.second_factors import challenged

REFUSED = ("credential", "INVALID_SECOND_FACTOR")
ENDED = ("challenge", "INVALID")


def make_owner(
    ports: Ports, authenticator: SoftwareAuthenticator, *, is_staff: bool = False
) -> int:
    """Store an account with the passkey of ``authenticator``."""
    user_id = make_user(ports, is_staff=is_staff)
    make_passkey(ports, user_id, authenticator)
    return user_id


def ask(ports: Ports, challenge: str | None = None, actor: Actor = NOBODY) -> PasskeyChallenge:
    return challenge_passkey(ports, actor, challenge=challenge)


def answer(
    ports: Ports,
    asked: PasskeyChallenge,
    authenticator: SoftwareAuthenticator,
    actor: Actor = NOBODY,
) -> TokenPair:
    credential = authenticator.get(asked.options)
    return verify_passkey(ports, actor, challenge=asked.token, credential=credential)


def refusal_of(
    ports: Ports, asked: PasskeyChallenge, authenticator: SoftwareAuthenticator
) -> tuple[str | None, str]:
    with pytest.raises(Refused) as refused:
        answer(ports, asked, authenticator)
    [problem] = refused.value.problems
    return problem.field, problem.code


@pytest.mark.parametrize(("flags", "method"), [(VERIFIED, "hwk"), (VERIFIED | SYNCABLE, "swk")])
def test_passkey_alone_opens_a_session(
    ports: Ports, clock: FakeClock, flags: int, method: str
) -> None:
    authenticator = SoftwareAuthenticator(flags=flags)
    user_id = make_owner(ports, authenticator)

    pair = answer(ports, ask(ports), authenticator)

    actor = identify(ports, visit(pair.access)).actor
    assert (actor.user_id, actor.origin) == (user_id, SessionOrigin.PASSWORD)
    assert claims_in(ports, pair.access)["amr"] == [method, "mfa"]
    assert user_as_stored(ports, user_id).last_login == clock.now()
    with ports.database.reading() as session:
        entry = session.scalars(select(models.SignInEvent)).one()
    assert (entry.method, entry.user_id) == (SignInMethod.PASSKEY.value, user_id)
    assert entry.second_factor == ""
    renewed = refresh_token(ports, NOBODY, token=pair.refresh)
    assert claims_in(ports, renewed.access)["amr"] == [method, "mfa"]


def test_options_of_a_sign_in_alone_tell_nothing(ports: Ports) -> None:
    before = json.loads(ask(ports).options)
    make_owner(ports, SoftwareAuthenticator())
    after = json.loads(ask(ports).options)
    assert {**before, "challenge": ""} == {**after, "challenge": ""}
    assert before["challenge"] != after["challenge"]
    assert after["allowCredentials"] == []


def test_passkey_finishes_a_sign_in_with_a_password(ports: Ports) -> None:
    authenticator = SoftwareAuthenticator()
    make_owner(ports, authenticator)
    challenge = challenged(ports).token

    pair = answer(ports, ask(ports, challenge), authenticator)

    assert claims_in(ports, pair.access)["amr"] == ["pwd", "hwk", "mfa"]
    assert len(stored_sessions(ports)) == 1
    with ports.database.reading() as session:
        entry = session.scalars(select(models.SignInEvent)).one()
    assert (entry.method, entry.second_factor) == ("PASSWORD", "PASSKEY")


def test_passkey_proves_a_session_that_began_without(ports: Ports) -> None:
    authenticator = SoftwareAuthenticator()
    user_id = make_user(ports)
    actor = actor_of(ports, user_id)
    make_passkey(ports, user_id, authenticator)
    proof = ask_for_proof(ports, actor)

    pair = answer(ports, ask(ports, proof.token, actor), authenticator, actor)

    assert claims_in(ports, pair.access)["amr"] == ["pwd", "hwk", "mfa"]
    assert identify(ports, visit(pair.access)).actor.session_id == actor.session_id
    assert len(stored_sessions(ports)) == 1


def test_answer_and_challenge_work_once(ports: Ports) -> None:
    authenticator = SoftwareAuthenticator(sign_count=0, step=0)
    make_owner(ports, authenticator)
    asked = ask(ports)
    answer(ports, asked, authenticator)
    assert refusal_of(ports, asked, authenticator) == ENDED
    assert len(stored_sessions(ports)) == 1


def test_challenge_ends_in_time_and_after_wrong_answers(ports: Ports, clock: FakeClock) -> None:
    authenticator = SoftwareAuthenticator()
    make_owner(ports, authenticator)
    old, guessed = ask(ports), ask(ports)
    wrong = SoftwareAuthenticator(user_handle="h" * 64)
    for _ in range(MAX_CHALLENGE_FAILURES):
        assert refusal_of(ports, guessed, wrong) == REFUSED
        clock.pass_(seconds=50)
    assert refusal_of(ports, guessed, authenticator) == ENDED
    clock.pass_(seconds=CHALLENGE_LIFETIME.total_seconds())
    assert refusal_of(ports, old, authenticator) == ENDED
    assert stored_sessions(ports) == []
    assert answer(ports, ask(ports), authenticator).user.email


def test_refused_passkey_counts_as_a_failure_of_the_ip_address(ports: Ports) -> None:
    authenticator = SoftwareAuthenticator()
    make_owner(ports, authenticator)
    unknown = SoftwareAuthenticator(user_handle="h" * 64)
    assert refusal_of(ports, ask(ports), unknown) == REFUSED
    assert counted(ports) == (0, 1)
    with pytest.raises(Refused) as refused:
        answer(ports, ask(ports), authenticator)
    assert refused.value.problems[0].code == "LOGIN_ATTEMPT_DELAYED"


def test_right_passkey_resets_the_throttle_as_a_password_does(
    ports: Ports, clock: FakeClock
) -> None:
    authenticator = SoftwareAuthenticator()
    make_owner(ports, authenticator)
    fail(ports)
    clock.pass_(minutes=5)
    answer(ports, ask(ports), authenticator)
    assert counted(ports)[0] == 0


@pytest.mark.parametrize(
    ("values", "code"),
    [({"is_active": False}, "INACTIVE"), ({"is_confirmed": False}, "ACCOUNT_NOT_CONFIRMED")],
)
def test_account_that_cannot_sign_in_by_password_cannot_by_passkey(
    ports: Ports, values: dict[str, bool], code: str
) -> None:
    authenticator = SoftwareAuthenticator()
    user_id = make_owner(ports, authenticator)
    configure_shop(ports, enable_account_confirmation_by_email=True)
    change_user(ports, user_id, **values)
    assert refusal_of(ports, ask(ports), authenticator)[1] == code
    assert stored_sessions(ports) == []


def test_disabled_password_login_refuses_passkeys(ports: Ports) -> None:
    authenticator = SoftwareAuthenticator()
    make_owner(ports, authenticator)
    asked = ask(ports)
    set_mode(ports, PasswordLoginMode.DISABLED)
    disabled = (None, "DISABLED_AUTHENTICATION_METHOD")
    assert refusal_of(ports, asked, authenticator) == disabled
    with pytest.raises(Refused) as refused:
        ask(ports)
    assert refused.value.problems[0].code == disabled[1]
    set_mode(ports, PasswordLoginMode.ENABLED)
    assert answer(ports, asked, authenticator).user.email


def test_staff_have_no_rights_by_passkey_where_passwords_are_for_customers(ports: Ports) -> None:
    authenticator = SoftwareAuthenticator()
    user_id = make_staff(ports)
    make_passkey(ports, user_id, authenticator)
    assert answer(ports, ask(ports), authenticator).user.is_staff
    set_mode(ports, PasswordLoginMode.CUSTOMERS_ONLY)
    pair = answer(ports, ask(ports), authenticator)
    actor = identify(ports, visit(pair.access)).actor
    assert not actor.is_staff
    assert not actor.permissions
