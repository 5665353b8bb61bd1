"""Attacks on passkeys: phishing, replay, clones, swapped accounts, downgrade, login modes."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from threading import Barrier
from typing import Any

import pytest
from sqlalchemy import select

from app import models
from app.domain.authorization.actor import Actor, SessionOrigin
from app.domain.authorization.permissions import Permission
from app.domain.mails.mail import MailKind
from app.domain.second_factors import ChallengePurpose
from app.domain.shop.settings import PasswordLoginMode, ShopUpdate
from app.domain.values.errors import ProofRequired, Refused, TokenRejected
from app.ports import Ports
from app.services.accounts.passkeys import add_passkey, begin_passkey, delete_passkey
from app.services.identity.identify import identify
from app.services.second_factors.challenges import ask
from app.services.second_factors.factor_checks import check_passkey, passkey_options
from app.services.second_factors.stored_factors import read_factors
from app.services.shop.settings import update_shop
from app.services.sign_in.second_factor_sign_in import (
    PasskeyChallenge,
    challenge_passkey,
    verify_passkey,
)
from app.services.sign_in.tokens import TokenPair, refresh_token
from tests.builders.audit import trail
from tests.builders.outbox import mails
from tests.builders.passkeys import SoftwareAuthenticator, encoded, make_passkey
from tests.builders.people import NOBODY, actor_of, make_staff, make_user, visit
from tests.builders.shop import set_mode
from tests.fakes.clock import FakeClock
from tests.services.logins import EMAIL, OTHER, stored_sessions
from tests.services.sign_in.second_factors import challenged

REFUSED = ("credential", "INVALID_SECOND_FACTOR")
EVIL = "https://localhost.evil.example"
WAIT = 30


def owner(ports: Ports, email: str = EMAIL, **values: int) -> SoftwareAuthenticator:
    """Store an account; return the authenticator with its passkey."""
    authenticator = SoftwareAuthenticator(**values)  # type: ignore[arg-type]
    make_passkey(ports, make_user(ports, email), authenticator)
    return authenticator


def begin(ports: Ports, challenge: str | None = None) -> PasskeyChallenge:
    return challenge_passkey(ports, NOBODY, challenge=challenge)


def send(
    ports: Ports, asked: PasskeyChallenge, answer: str, address: str = "203.0.113.7"
) -> TokenPair:
    visitor = replace(NOBODY, address=address)
    return verify_passkey(ports, visitor, challenge=asked.token, credential=answer)


def refusal_of(act: Callable[[], object]) -> tuple[str | None, str]:
    with pytest.raises(Refused) as refused:
        act()
    [problem] = refused.value.problems
    return problem.field, problem.code


def sign_in(ports: Ports, authenticator: SoftwareAuthenticator) -> TokenPair:
    asked = begin(ports)
    return send(ports, asked, authenticator.get(asked.options))


FAKE_PAGES: list[dict[str, Any]] = [
    {"origin": EVIL},
    {"origin": EVIL, "rp_id": "localhost.evil.example"},
    {"origin": "http://evil.localhost:8000"},
    {"origin": "http://localhost:8001"},
    {"origin": "https://localhost:8000"},
    {"rp_id": "evil.localhost"},
    {"cross_origin": True},
]


@pytest.mark.parametrize("is_second", [False, True])
def test_answer_that_a_fake_page_collected_signs_nobody_in(
    ports: Ports, clock: FakeClock, is_second: bool
) -> None:
    victim = owner(ports)
    for page in FAKE_PAGES:
        asked = begin(ports, challenged(ports).token if is_second else None)
        answer = replace(victim, **page).get(asked.options)
        assert refusal_of(partial(send, ports, asked, answer)) == REFUSED, page
        assert stored_sessions(ports) == []
        clock.pass_(minutes=5)
    clock.pass_(minutes=5)
    assert sign_in(ports, victim).user.email == EMAIL


def test_overheard_answer_works_neither_again_nor_elsewhere(
    ports: Ports, clock: FakeClock
) -> None:
    victim = owner(ports, sign_count=0, step=0)
    first, second = begin(ports), begin(ports)
    answer = victim.get(first.options)
    assert refusal_of(lambda: send(ports, second, answer)) == REFUSED
    clock.pass_(seconds=60)
    send(ports, first, answer)
    assert refusal_of(lambda: send(ports, first, answer)) == ("challenge", "INVALID")
    assert len(stored_sessions(ports)) == 1


@pytest.mark.both_databases
def test_parallel_answers_open_one_session(ports: Ports) -> None:
    victim = owner(ports, sign_count=0, step=0)
    asked = begin(ports)
    answer = victim.get(asked.options)
    barrier = Barrier(4, timeout=60)

    def enter(number: int) -> bool:
        barrier.wait(WAIT)
        try:
            send(ports, asked, answer, f"203.0.113.{number}")
        except Refused:
            return False
        return True

    with ThreadPoolExecutor(4) as threads:
        assert sum(threads.map(enter, range(4))) == 1
    assert len(stored_sessions(ports)) == 1


@pytest.mark.both_databases
def test_clone_and_original_at_once_are_told_apart_by_the_counter(ports: Ports) -> None:
    original = owner(ports, sign_count=5)
    clone = replace(original)
    barrier = Barrier(2, timeout=60)

    def check(authenticator: SoftwareAuthenticator) -> bool:
        with ports.database.transaction() as session:
            purpose = ChallengePurpose.PASSKEY_SIGN_IN
            token = ask(ports, session, purpose).token
            session.flush()
            options = passkey_options(ports, NOBODY, session, purpose, token)
        random = json.loads(options)["challenge"]
        with ports.database.reading() as session:
            record = models.SecondFactorChallenge
            asked = session.scalars(select(record).where(record.passkey_challenge == random)).one()
        answer = authenticator.get(options)
        barrier.wait(WAIT)
        return check_passkey(ports, NOBODY, asked, answer) is not None

    with ThreadPoolExecutor(2) as threads:
        assert sorted(threads.map(check, (original, clone))) == [False, True]
    assert len(trail(ports, "second_factor.cloned")) == 1
    assert len(mails(ports, MailKind.PASSKEY_COPIED)) == 1


def test_own_passkey_is_no_second_factor_of_another_account(
    ports: Ports, clock: FakeClock
) -> None:
    victim, thief = owner(ports), owner(ports, OTHER)
    asked = begin(ports, challenged(ports).token)
    assert refusal_of(lambda: send(ports, asked, thief.get(asked.options))) == REFUSED
    clock.pass_(minutes=1)
    assert send(ports, asked, victim.get(asked.options)).user.email == EMAIL


def test_own_key_in_the_name_of_another_account_signs_nobody_in(
    ports: Ports, clock: FakeClock
) -> None:
    victim, thief = owner(ports), owner(ports, OTHER)
    for swapped in ({"user_handle"}, {"credential_id"}, {"user_handle", "credential_id"}):
        forged = replace(thief, **{name: getattr(victim, name) for name in swapped})
        asked = begin(ports)
        refused = refusal_of(partial(send, ports, asked, forged.get(asked.options)))
        assert refused == REFUSED, swapped
        assert stored_sessions(ports) == []
        clock.pass_(minutes=5)
    assert sign_in(ports, thief).user.email == OTHER


def test_id_in_another_spelling_finds_no_passkey(ports: Ports, clock: FakeClock) -> None:
    victim = owner(ports)
    asked = begin(ports)
    answer = json.loads(victim.get(asked.options))
    for spelling in (f"{answer['id']}=", answer["id"].upper(), f" {answer['id']}", "%"):
        answer["id"] = answer["rawId"] = spelling
        with pytest.raises(Refused):
            send(ports, asked, json.dumps(answer))
        clock.pass_(seconds=40)
    assert sign_in(ports, victim).user.email == EMAIL


def test_refusals_do_not_tell_whether_a_passkey_exists(ports: Ports, clock: FakeClock) -> None:
    victim = owner(ports)
    unknown = SoftwareAuthenticator(user_handle="h" * 64)
    forged = SoftwareAuthenticator(
        credential_id=victim.credential_id, user_handle=victim.user_handle
    )
    problems = []
    for authenticator in (unknown, forged):
        asked = begin(ports)
        with pytest.raises(Refused) as refused:
            send(ports, asked, authenticator.get(asked.options))
        problems.append(refused.value.problems)
        clock.pass_(minutes=5)
    assert problems[0] == problems[1]
    assert encoded(victim.credential_id) not in str(problems)


def test_deleted_passkey_does_not_finish_a_sign_in(ports: Ports) -> None:
    user_id = make_user(ports)
    actor = actor_of(ports, user_id)
    authenticator = SoftwareAuthenticator()
    key = make_passkey(ports, user_id, authenticator)
    asked = begin(ports)
    answer = authenticator.get(asked.options)
    delete_passkey(ports, actor, passkey_id=key)
    assert refusal_of(lambda: send(ports, asked, answer)) == REFUSED
    assert len(stored_sessions(ports)) == 1


def test_stolen_session_without_a_proof_changes_no_passkey(ports: Ports) -> None:
    user_id = make_user(ports)
    fresh = actor_of(ports, user_id)
    key = make_passkey(ports, user_id, SoftwareAuthenticator())
    begun = begin_passkey(ports, fresh)
    answer = SoftwareAuthenticator().create(begun.options)
    stolen = replace(fresh, proof_is_old=True)
    changes: list[Callable[[Actor], object]] = [
        lambda actor: begin_passkey(ports, actor),
        lambda actor: delete_passkey(ports, actor, passkey_id=key),
        lambda actor: add_passkey(
            ports, actor, challenge=begun.challenge, credential=answer, name="Thief's"
        ),
    ]
    for change in changes:
        with pytest.raises(ProofRequired):
            change(stolen)
    with ports.database.reading() as session:
        assert read_factors(session, user_id).passkeys == 1
    for change in reversed(changes):
        change(fresh)


def test_passkey_begun_in_a_stolen_session_is_not_added_in_anothers(ports: Ports) -> None:
    thief = actor_of(ports, make_user(ports, OTHER))
    victim_id = make_user(ports)
    victim = actor_of(ports, victim_id)
    begun = begin_passkey(ports, thief)
    answer = SoftwareAuthenticator().create(begun.options)
    ended = ("challenge", "INVALID")

    def add(actor: Actor) -> object:
        return add_passkey(ports, actor, challenge=begun.challenge, credential=answer, name="Key")

    assert refusal_of(lambda: add(victim)) == ended
    with ports.database.reading() as session:
        assert not read_factors(session, victim_id).is_active
    add(thief)


def test_challenge_for_one_purpose_answers_no_other(ports: Ports) -> None:
    user_id = make_user(ports)
    actor = actor_of(ports, user_id)
    authenticator = SoftwareAuthenticator()
    make_passkey(ports, user_id, authenticator)
    begun = begin_passkey(ports, actor)
    options = json.dumps({**json.loads(begun.options), "rpId": "localhost"})
    asked = PasskeyChallenge(begun.challenge, options)
    assert refusal_of(lambda: send(ports, asked, authenticator.get(options))) == (
        "challenge",
        "INVALID",
    )


def test_login_modes_treat_a_passkey_like_a_password(ports: Ports) -> None:
    authenticator = SoftwareAuthenticator()
    staff = make_staff(ports, EMAIL, Permission.MANAGE_SETTINGS)
    make_passkey(ports, staff, authenticator)
    pair = sign_in(ports, authenticator)
    actor = identify(ports, visit(pair.access)).actor
    assert actor.origin is SessionOrigin.PASSWORD
    assert actor.holds(Permission.MANAGE_SETTINGS)
    for mode in (PasswordLoginMode.CUSTOMERS_ONLY, PasswordLoginMode.DISABLED):
        update = ShopUpdate(password_login_mode=mode)
        assert refusal_of(partial(update_shop, ports, actor, update)) == (
            "passwordLoginMode",
            "PASSWORD_AUTH_RESTRICTION",
        )

    set_mode(ports, PasswordLoginMode.CUSTOMERS_ONLY)
    assert not identify(ports, visit(pair.access)).actor.permissions
    refreshed = refresh_token(ports, NOBODY, token=pair.refresh)
    assert not identify(ports, visit(refreshed.access)).actor.is_staff
    set_mode(ports, PasswordLoginMode.DISABLED)
    with pytest.raises(Refused):
        refresh_token(ports, NOBODY, token=pair.refresh)
    fault = identify_fault(ports, pair.access)
    assert fault is not None
    set_mode(ports, PasswordLoginMode.ENABLED)
    assert identify(ports, visit(pair.access)).actor.holds(Permission.MANAGE_SETTINGS)


def identify_fault(ports: Ports, token: str) -> object:
    try:
        return identify(ports, visit(token)).actor.fault
    except TokenRejected as rejected:
        return rejected.fault
