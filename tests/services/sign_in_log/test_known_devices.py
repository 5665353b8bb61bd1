"""Staff get one email for each new device or network that they sign in from."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from sqlalchemy import select

from app import models
from app.domain.accounts.email_links import LinkPurpose
from app.domain.mails.mail import Mail, MailKind
from app.domain.sign_in.sign_in_log import SignInMethod
from app.domain.values.errors import Refused
from app.ports import Ports
from app.services.accounts.password_changes import set_password
from app.services.sign_in.tokens import refresh_token
from app.services.sign_in_log.recording import MAX_NEW_PER_HOUR, SignInEntry, record_sign_in
from tests.builders.links import link_for
from tests.builders.outbox import mails
from tests.builders.people import NOBODY, make_staff, make_user
from tests.builders.second_factors import one_time_code
from tests.fakes.clock import FakeClock
from tests.services.logins import log_in
from tests.services.sign_in.second_factors import challenged, finish, make_protected, verify

STAFF = "staff@example.com"
SAFARI = "Mozilla/5.0 (iPhone) AppleWebKit/605.1.15 Version/18.0 Safari/604.1"
FIREFOX = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0"
NEW = "nine lazy Störche by the sea"
KNOWN = replace(NOBODY, user_agent=FIREFOX)
NEW_PHONE = replace(KNOWN, user_agent=SAFARI)
ELSEWHERE = replace(KNOWN, address="198.51.100.4")


def notices(ports: Ports) -> list[Mail]:
    return mails(ports, MailKind.NEW_DEVICE)


def test_first_sign_in_is_not_mailed_and_a_new_device_is(ports: Ports) -> None:
    make_staff(ports, STAFF)
    log_in(ports, STAFF, actor=KNOWN)
    assert notices(ports) == []
    log_in(ports, STAFF, actor=NEW_PHONE)
    (mail,) = notices(ports)
    assert mail.recipient == STAFF
    assert mail.values == {
        "when": "2026-03-01 12:00 UTC",
        "at": "2026-03-01T12:00:00+00:00",
        "device": "Safari on iPhone",
        "browser": "Safari",
        "system": "iPhone",
        "address": "203.0.113.7",
        "not_me": mail.values["not_me"],
    }
    assert "/console/not-me?token=" in mail.values["not_me"]


def test_known_device_in_the_same_network_is_not_mailed(ports: Ports, clock: FakeClock) -> None:
    make_staff(ports, STAFF)
    log_in(ports, STAFF, actor=KNOWN)
    for again in (
        KNOWN,
        replace(KNOWN, address="203.0.113.250"),
        replace(KNOWN, user_agent=FIREFOX.replace("140", "141")),
    ):
        clock.pass_(hours=24)
        log_in(ports, STAFF, actor=again)
        assert notices(ports) == [], again
    with ports.database.reading() as session:
        (device,) = session.scalars(select(models.KnownDevice)).all()
    assert (device.device, device.network) == ("Firefox on Windows", "203.0.113.0/24")
    assert (device.last_used_at - device.first_used_at).days == 3


def test_each_new_device_and_network_is_mailed_once(ports: Ports, clock: FakeClock) -> None:
    make_staff(ports, STAFF)
    log_in(ports, STAFF, actor=KNOWN)
    ipv6 = [
        replace(KNOWN, address=f"2001:db8:{site}::{host}") for site in (1, 2) for host in (1, 9)
    ]
    for actor in [NEW_PHONE, ELSEWHERE, *ipv6] * 2:
        log_in(ports, STAFF, actor=actor)
        clock.pass_(minutes=1)
    assert [(mail.values["device"], mail.values["address"]) for mail in notices(ports)] == [
        ("Safari on iPhone", "203.0.113.7"),
        ("Firefox on Windows", "198.51.100.4"),
        ("Firefox on Windows", "2001:db8:1::1"),
        ("Firefox on Windows", "2001:db8:2::1"),
    ]


def test_device_of_one_account_is_new_for_another(ports: Ports) -> None:
    make_staff(ports, STAFF)
    make_staff(ports, "other@example.com")
    log_in(ports, STAFF, actor=KNOWN)
    log_in(ports, "other@example.com", actor=NEW_PHONE)
    log_in(ports, STAFF, actor=NEW_PHONE)
    assert [mail.recipient for mail in notices(ports)] == [STAFF]


def test_customers_are_not_tracked(ports: Ports) -> None:
    make_user(ports)
    for actor in (KNOWN, NEW_PHONE, ELSEWHERE):
        log_in(ports, actor=actor)
    assert notices(ports) == []
    with ports.database.reading() as session:
        assert session.scalars(select(models.KnownDevice)).all() == []


def test_refreshing_from_elsewhere_is_no_sign_in(ports: Ports) -> None:
    make_staff(ports, STAFF)
    pair = log_in(ports, STAFF, actor=KNOWN)
    refresh_token(ports, ELSEWHERE, token=pair.refresh)
    assert notices(ports) == []


def test_refused_sign_in_leaves_no_device(ports: Ports) -> None:
    make_staff(ports, STAFF)
    log_in(ports, STAFF, actor=KNOWN)
    with pytest.raises(Refused):
        log_in(ports, STAFF, "wrong", actor=ELSEWHERE)
    with ports.database.reading() as session:
        assert len(session.scalars(select(models.KnownDevice)).all()) == 1
    log_in(ports, STAFF, actor=replace(ELSEWHERE, address="198.51.100.9"))
    assert len(notices(ports)) == 1


def test_password_set_by_a_link_elsewhere_is_mailed(ports: Ports) -> None:
    user_id = make_staff(ports, STAFF)
    log_in(ports, STAFF, actor=KNOWN)
    token = link_for(ports, user_id, LinkPurpose.SET_PASSWORD)
    set_password(ports, ELSEWHERE, email=STAFF, password=NEW, token=token)
    assert [mail.values["address"] for mail in notices(ports)] == ["198.51.100.4"]


def test_new_device_is_mailed_once_the_second_factor_was_right(
    ports: Ports, clock: FakeClock
) -> None:
    user = make_protected(ports, STAFF, is_staff=True)
    finish(ports, user, KNOWN)
    clock.pass_(minutes=2)
    challenge = challenged(ports, STAFF, actor=ELSEWHERE)
    assert notices(ports) == []
    verify(ports, challenge.token, one_time_code(ports, user.secret), ELSEWHERE)
    assert [mail.values["address"] for mail in notices(ports)] == ["198.51.100.4"]


def test_new_device_of_a_provider_sign_in_is_mailed(ports: Ports) -> None:
    user_id = make_staff(ports, STAFF)
    log_in(ports, STAFF, actor=KNOWN)
    with ports.database.transaction() as session:
        user = session.get_one(models.User, user_id)
        entry = SignInEntry(SignInMethod.SSO, email=STAFF, provider="Northlight ID")
        record_sign_in(ports, ELSEWHERE, session, entry, user)
    assert [mail.values["address"] for mail in notices(ports)] == ["198.51.100.4"]


def test_program_with_ever_new_names_cannot_flood_the_mailbox(
    ports: Ports, clock: FakeClock
) -> None:
    make_staff(ports, STAFF)
    log_in(ports, STAFF, actor=KNOWN)
    clock.pass_(hours=2)
    names = [f"program{chr(97 + number)}" for number in range(MAX_NEW_PER_HOUR + 4)]
    for name in names:
        log_in(ports, STAFF, actor=replace(KNOWN, user_agent=name))
    assert len(notices(ports)) == MAX_NEW_PER_HOUR
    clock.pass_(hours=2)
    log_in(ports, STAFF, actor=NEW_PHONE)
    assert len(notices(ports)) == MAX_NEW_PER_HOUR + 1


@pytest.mark.both_databases
def test_parallel_sign_ins_from_a_new_device_are_mailed_once(ports: Ports) -> None:
    make_staff(ports, STAFF)
    log_in(ports, STAFF, actor=KNOWN)
    addresses = [replace(ELSEWHERE, address=f"198.51.100.{number}") for number in range(1, 9)]
    with ThreadPoolExecutor(len(addresses)) as threads:
        pairs = list(threads.map(lambda actor: log_in(ports, STAFF, actor=actor), addresses))
    assert len(pairs) == len(addresses)
    assert len(notices(ports)) == 1
