"""Refused sign-ins are counted together in memory, within bounds, and written once a minute."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import select

from app import models
from app.adapters.keys.encryption import AesEncryption
from app.adapters.sign_in_log import MAX_PER_ADDRESS, MAX_REFUSALS, SqlSignInLog
from app.domain.apps.apps import token_digest
from app.domain.sign_in.sign_in_log import (
    EMAIL_PURPOSE,
    AccountType,
    SignInMethod,
    SignInReason,
    SignInRefusal,
)
from app.domain.values.installation import DatabaseUnavailable
from app.ports import Ports
from tests.adapters.processes import NEVER, PROCESSES, refuse_a_sign_in, run_to_its_end
from tests.builders.apps import make_app
from tests.builders.people import ADDRESS, make_user
from tests.fakes.clock import FakeClock
from tests.fakes.interrupted_database import InterruptedDatabase
from tests.fakes.keys import SECRET
from tests.fixtures.ports import fake_ports

pytestmark = pytest.mark.xdist_group("processes")

SAFARI = "Mozilla/5.0 (iPhone) AppleWebKit/605.1.15 Version/18.0 Safari/604.1"
WRONG = SignInRefusal(
    SignInMethod.PASSWORD, SignInReason.INCORRECT_PASSWORD, ADDRESS, "customer@example.com"
)
UNKNOWN = replace(WRONG, reason=SignInReason.UNKNOWN_EMAIL, email="hunter2@example.com")
TOKEN = SignInRefusal(
    SignInMethod.APP_TOKEN,
    SignInReason.TOKEN_INVALID,
    ADDRESS,
    token_digest=token_digest("a token"),
    token_end="77ab",
)


@pytest.fixture
def log(ports: Ports, clock: FakeClock) -> Iterator[SqlSignInLog]:
    made = SqlSignInLog(ports.database, clock, ports.encryption, NEVER)
    yield made
    made.close()


def stored(ports: Ports) -> list[models.SignInEvent]:
    with ports.database.reading() as session:
        return list(session.scalars(select(models.SignInEvent).order_by(models.SignInEvent.id)))


@pytest.mark.both_databases
def test_equal_refusals_become_one_entry(
    ports: Ports, log: SqlSignInLog, clock: FakeClock
) -> None:
    user_id = make_user(ports)
    began = clock.now()
    for user_agent in ("curl/8.5", "", SAFARI):
        log.count_refusal(WRONG, user_agent)
        clock.pass_(seconds=10)
    assert stored(ports) == []
    log.flush()

    [entry] = stored(ports)
    assert (entry.first_at, entry.at) == (began, began + timedelta(seconds=20))
    assert (entry.attempts, entry.user_id, entry.name) == (3, user_id, "customer@example.com")
    assert (entry.account_type, entry.device) == (AccountType.CUSTOMER, "Safari on iPhone")
    assert (entry.address, entry.email_digest) == (ADDRESS, "")


@pytest.mark.parametrize(
    "other",
    [
        replace(WRONG, address="192.0.2.1"),
        replace(WRONG, email="other@example.com"),
        replace(WRONG, method=SignInMethod.LINK),
        replace(WRONG, reason=SignInReason.BLOCKED_IP),
        replace(WRONG, in_console=True),
        replace(WRONG, provider="Northlight ID"),
    ],
    ids=["address", "person", "method", "reason", "console", "provider"],
)
def test_different_refusals_are_separate_entries(
    ports: Ports, log: SqlSignInLog, other: SignInRefusal
) -> None:
    log.count_refusal(WRONG, "")
    log.count_refusal(other, "")
    log.flush()
    assert [entry.attempts for entry in stored(ports)] == [1, 1]


def test_unknown_email_is_kept_as_fingerprint_and_mask(ports: Ports, log: SqlSignInLog) -> None:
    entered = (
        "hunter2@example.com",
        "correct horse battery staple",
        "nul\0@example.com",
        "x" * 9000,
    )
    for email in entered:
        log.count_refusal(replace(UNKNOWN, email=email), "")
    log.flush()

    entries = stored(ports)
    assert [entry.name for entry in entries] == ["h…@e…", "…", "…", "…"]
    assert entries[0].email_digest == ports.encryption.fingerprint(EMAIL_PURPOSE, entered[0])
    for entry in entries:
        row = repr(vars(entry))
        assert not any(email[:9000] in row for email in entered)
        assert (entry.user_id, entry.account_type) == (None, AccountType.UNKNOWN)


def test_fingerprint_needs_the_secret_key_and_its_purpose() -> None:
    prints = {
        AesEncryption(secret).fingerprint(purpose, text)
        for secret in (SECRET, "another secret")
        for purpose in ("a purpose", "another")
        for text in ("one", "two")
    }
    assert len(prints) == 8
    assert AesEncryption(SECRET).fingerprint("a purpose", "one") in prints


def test_overlong_email_is_not_matched_to_an_account(ports: Ports, log: SqlSignInLog) -> None:
    email = f"{'x' * 242}@example.com"
    make_user(ports, email)
    log.count_refusal(replace(WRONG, email=email), "")
    log.count_refusal(replace(WRONG, email=email + "m"), "")
    log.flush()
    assert [entry.account_type for entry in stored(ports)] == ["CUSTOMER", "UNKNOWN"]


def test_refusal_names_its_account_by_id(ports: Ports, log: SqlSignInLog) -> None:
    staff = make_user(ports, "staff@example.com", is_staff=True)
    for user_id in (staff, staff + 1):
        log.count_refusal(replace(WRONG, email="", user_id=user_id), "")
    log.flush()
    found = [(one.user_id, one.account_type, one.name) for one in stored(ports)]
    assert found == [(staff, "STAFF", "staff@example.com"), (staff + 1, "UNKNOWN", "")]


def test_app_token_refusal_names_app_and_reason(
    ports: Ports, log: SqlSignInLog, clock: FakeClock
) -> None:
    make_app(ports, "ledgerly")
    with ports.database.transaction() as session:
        token = session.scalars(select(models.AppToken)).one()
        app_id, known = token.app_id, replace(TOKEN, token_digest=token.digest)
        session.get_one(models.App, app_id).is_active = False
    log.count_refusal(TOKEN, "")
    log.count_refusal(known, "ledgerly-sync/3.1")
    log.flush()
    with ports.database.transaction() as session:
        session.scalars(select(models.AppToken)).one().expires_at = clock.now()
    log.count_refusal(known, "")
    log.flush()

    found = [(one.app_id, one.account_type, one.name, one.reason) for one in stored(ports)]
    assert found == [
        (None, "UNKNOWN", "…77ab", "TOKEN_INVALID"),
        (app_id, "APP", "ledgerly", "INACTIVE"),
        (app_id, "APP", "ledgerly", "TOKEN_EXPIRED"),
    ]


def test_flood_from_one_address_takes_few_entries(ports: Ports, log: SqlSignInLog) -> None:
    for number in range(1000):
        log.count_refusal(replace(UNKNOWN, email=f"{number}@example.com"), "")
    assert log.waiting == MAX_PER_ADDRESS + 1
    log.flush()
    *named, others = stored(ports)
    assert [entry.attempts for entry in named] == [1] * MAX_PER_ADDRESS
    assert (others.attempts, others.name, others.address) == (980, "", ADDRESS)


def test_flood_from_many_addresses_has_bounded_memory_and_keeps_counts(
    ports: Ports, log: SqlSignInLog
) -> None:
    for number in range(5000):
        log.count_refusal(replace(UNKNOWN, address=f"2001:db8::{number:x}"), "")
    for _ in range(3):
        log.count_refusal(replace(WRONG, email="late@example.com"), "")
    assert log.waiting == MAX_REFUSALS + 2
    log.flush()
    entries = stored(ports)
    overflow = {entry.reason: entry.attempts for entry in entries if not entry.address}
    assert sum(entry.attempts for entry in entries) == 5003
    assert overflow == {"UNKNOWN_EMAIL": 4500, "INCORRECT_PASSWORD": 3}


@pytest.mark.both_databases
def test_failed_write_is_retried_next_time(ports: Ports, clock: FakeClock) -> None:
    database = InterruptedDatabase(ports.database)
    database.before[1] = _be_down
    log = SqlSignInLog(database, clock, ports.encryption, NEVER)
    began = clock.now()
    log.count_refusal(WRONG, "")
    log.flush()
    assert (stored(ports), log.waiting) == ([], 1)
    clock.pass_(minutes=1)
    log.count_refusal(WRONG, "")
    log.flush()
    [entry] = stored(ports)
    assert (entry.attempts, entry.first_at, entry.at) == (2, began, clock.now())
    log.close()


def test_memory_is_bounded_while_nothing_can_be_written(ports: Ports, clock: FakeClock) -> None:
    database = InterruptedDatabase(ports.database)
    log = SqlSignInLog(database, clock, ports.encryption, NEVER)
    for minute in range(3):
        database.before[minute + 1] = _be_down
        for number in range(MAX_REFUSALS + 100):
            log.count_refusal(replace(UNKNOWN, address=f"2001:db8:{minute}::{number:x}"), "")
        log.flush()
        assert log.waiting == MAX_REFUSALS + 1
    log.flush()
    assert sum(entry.attempts for entry in stored(ports)) == 3 * (MAX_REFUSALS + 100)
    log.close()


@pytest.mark.first
def test_server_process_flushes_before_it_ends(sqlite_url: str, clock: FakeClock) -> None:
    run_to_its_end(PROCESSES.Process(target=refuse_a_sign_in, args=(sqlite_url,)))
    ports = fake_ports(sqlite_url, clock)
    assert [entry.attempts for entry in stored(ports)] == [1]
    ports.database.close()


def _be_down() -> None:
    raise DatabaseUnavailable("down")


@pytest.mark.both_databases
@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("The token has expired.", "The token has expired."),
        ("x" * 500, "x" * 199 + "\N{HORIZONTAL ELLIPSIS}"),
        ("a\0b", ""),
        ("\ud800", ""),
    ],
)
def test_detail_is_stored_within_bounds(
    ports: Ports, log: SqlSignInLog, said: str, kept: str
) -> None:
    log.count_refusal(replace(WRONG, detail=said), SAFARI)
    log.flush()
    assert [entry.detail for entry in stored(ports)] == [kept]


def test_flood_of_different_details_takes_few_entries(ports: Ports, log: SqlSignInLog) -> None:
    for place in range(5 * MAX_PER_ADDRESS):
        log.count_refusal(replace(WRONG, email="", detail=f"Reason {place}."), SAFARI)
    assert log.waiting == MAX_PER_ADDRESS + 1
