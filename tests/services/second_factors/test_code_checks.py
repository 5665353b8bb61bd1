"""Codes of authenticator apps and recovery codes are accepted once."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier

import pytest
from sqlalchemy import update
from typing_extensions import override

from app import models
from app.domain.mails.mail import MailKind
from app.domain.second_factors import SecondFactorType, write_recovery_code
from app.ports import Ports
from app.ports.passwords import Match
from app.services.second_factors.factor_checks import check_code
from app.services.second_factors.stored_factors import read_factors
from tests.builders.outbox import mails
from tests.builders.people import NOBODY, make_user
from tests.builders.second_factors import (
    make_authenticator_app,
    make_recovery_codes,
    one_time_code,
)
from tests.fakes.clock import FakeClock
from tests.fakes.passwords import FakeHasher

APP, RECOVERY = SecondFactorType.AUTHENTICATOR_APP, SecondFactorType.RECOVERY_CODES
THREADS = 4
WAIT = 30


def test_code_of_the_app_is_accepted_once(ports: Ports, clock: FakeClock) -> None:
    user = make_user(ports)
    secret = make_authenticator_app(ports, user)
    code = one_time_code(ports, secret)
    assert check_code(ports, NOBODY, user, f"{code[:3]} {code[3:]}") is APP
    assert check_code(ports, NOBODY, user, code) is None
    clock.pass_(seconds=30)
    assert check_code(ports, NOBODY, user, code) is None
    assert check_code(ports, NOBODY, user, one_time_code(ports, secret)) is APP


@pytest.mark.parametrize(("steps", "accepted"), [(-2, None), (-1, APP), (1, APP), (2, None)])
def test_clock_of_the_phone_can_be_one_step_off(
    ports: Ports, steps: int, accepted: SecondFactorType | None
) -> None:
    user = make_user(ports)
    secret = make_authenticator_app(ports, user)
    assert check_code(ports, NOBODY, user, one_time_code(ports, secret, steps=steps)) is accepted


def test_code_of_the_step_before_a_used_one_is_refused(ports: Ports) -> None:
    user = make_user(ports)
    secret = make_authenticator_app(ports, user)
    before, code, after = (one_time_code(ports, secret, steps=step) for step in (-1, 0, 1))
    assert check_code(ports, NOBODY, user, code) is APP
    assert check_code(ports, NOBODY, user, before) is None
    assert check_code(ports, NOBODY, user, after) is APP
    assert check_code(ports, NOBODY, user, code) is None


def test_codes_work_for_their_own_account(ports: Ports) -> None:
    mine, other = make_user(ports), make_user(ports, "other@example.com")
    secret, codes = make_authenticator_app(ports, mine), make_recovery_codes(ports, mine)
    make_authenticator_app(ports, other)
    make_recovery_codes(ports, other)
    code = one_time_code(ports, secret)
    assert check_code(ports, NOBODY, other, code) is None
    assert check_code(ports, NOBODY, other, codes[0]) is None
    assert check_code(ports, NOBODY, mine, code) is APP
    assert check_code(ports, NOBODY, mine, codes[0]) is RECOVERY


def test_app_that_is_not_confirmed_gives_no_code(ports: Ports) -> None:
    user = make_user(ports)
    secret = make_authenticator_app(ports, user)
    with ports.database.transaction() as session:
        session.execute(update(models.AuthenticatorApp).values(confirmed_at=None))
    assert check_code(ports, NOBODY, user, one_time_code(ports, secret)) is None


def test_code_of_an_account_without_factors_is_refused(ports: Ports) -> None:
    user_id = make_user(ports)
    for code in ("", "abc", "123456", "4kq7-m2xd", "\ud800", "1" * 10_000):
        assert check_code(ports, NOBODY, user_id, code) is None, code[:100]


def test_recovery_code_is_accepted_once(ports: Ports) -> None:
    user = make_user(ports)
    codes = make_recovery_codes(ports, user)
    assert check_code(ports, NOBODY, user, write_recovery_code(codes[3]).upper()) is RECOVERY
    assert check_code(ports, NOBODY, user, codes[3]) is None
    assert check_code(ports, NOBODY, user, codes[4]) is RECOVERY
    with ports.database.reading() as session:
        assert read_factors(session, user).recovery_codes == 8
    used = mails(ports, MailKind.RECOVERY_CODE_USED)
    assert [(mail.recipient, mail.values["left"]) for mail in used] == [
        ("customer@example.com", "9"),
        ("customer@example.com", "8"),
    ]


def test_any_recovery_code_costs_one_comparison(ports: Ports, hasher: FakeHasher) -> None:
    user = make_user(ports)
    codes = make_recovery_codes(ports, user)
    unknown = next(one for one in "0123456789abcdefg" if one not in {code[0] for code in codes})
    for code in (codes[0], codes[0], f"{unknown}0000000"):
        before = hasher.verifications
        check_code(ports, NOBODY, user, code)
        assert hasher.verifications == before + 1


def test_replaced_recovery_codes_stop_working(ports: Ports) -> None:
    user = make_user(ports)
    old, new = make_recovery_codes(ports, user), make_recovery_codes(ports, user)
    assert check_code(ports, NOBODY, user, old[0]) is None
    assert check_code(ports, NOBODY, user, new[0]) is RECOVERY


def test_recovery_codes_are_stored_as_hashes(ports: Ports) -> None:
    user = make_user(ports)
    codes = make_recovery_codes(ports, user)
    with ports.database.reading() as session:
        hashes = [row.code_hash for row in session.query(models.RecoveryCode)]
    assert not any(code[1:] in one for code in codes for one in hashes)
    assert sorted(bool(ports.passwords.verify(one, codes[0])) for one in hashes) == [False] * 9 + [
        True
    ]


@pytest.mark.both_databases
def test_parallel_use_of_a_one_time_code_is_accepted_once(ports: Ports) -> None:
    """All have read the last step before one of them changes it."""
    user = make_user(ports)
    code = one_time_code(ports, make_authenticator_app(ports, user))
    barrier = Barrier(THREADS, timeout=60)

    class Waiting:
        def code_at(self, secret: str, step: int) -> str:
            made = ports.authenticator_apps.code_at(secret, step)
            barrier.wait(WAIT)
            return made

        setup_uri = ports.authenticator_apps.setup_uri
        qr_code = ports.authenticator_apps.qr_code

    waiting = replace(ports, authenticator_apps=Waiting())
    assert accepted_in_parallel(waiting, user, code) == [APP]


@pytest.mark.both_databases
def test_parallel_use_of_a_recovery_code_is_accepted_once(ports: Ports) -> None:
    """All have compared it before one of them uses it up."""
    user = make_user(ports)
    code = make_recovery_codes(ports, user)[0]
    barrier = Barrier(THREADS, timeout=60)

    class Waiting(FakeHasher):
        @override
        def verify(
            self, password_hash: str | None, password: str, imported_seconds: float = 0
        ) -> Match:
            is_right = super().verify(password_hash, password, imported_seconds)
            barrier.wait(WAIT)
            return is_right

    waiting = replace(ports, passwords=Waiting(ports.database))
    assert accepted_in_parallel(waiting, user, code) == [RECOVERY]


def accepted_in_parallel(ports: Ports, user: int, code: str) -> list[SecondFactorType]:
    with ThreadPoolExecutor(THREADS) as threads:
        results = threads.map(
            lambda _number: check_code(ports, NOBODY, user, code), range(THREADS)
        )
        return [found for found in results if found is not None]
