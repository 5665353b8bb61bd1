"""A device is let in once, by the person who has compared its code, and polls as it is told."""

from dataclasses import replace
from threading import Barrier, Thread
from typing import Any

import pytest

from app import models
from app.domain.authorization.actor import OPERATOR, Actor, SessionOrigin
from app.domain.authorization.permissions import Permission
from app.domain.oauth import COMMAND_LINE, DEFAULT_SCOPES, OFFLINE, OAuthClient
from app.domain.shop.settings import PasswordLoginMode
from app.domain.sign_in.sign_in_log import SignInPlace
from app.domain.values.errors import PermissionDenied, ProofRequired, Refused, TrafficClosed
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.services.identity.identify import identify
from app.services.oauth.clients import ClientChange, update_client
from app.services.oauth.consents import allow_client, disconnect_program, list_connected_programs
from app.services.oauth.devices import (
    USER_CODE_LETTERS,
    DeviceChanged,
    DeviceCodes,
    WaitingDevice,
    allow_device,
    begin_device,
    deny_device,
    find_device,
    find_waiting_device,
    polls_too_often,
    use_device,
)
from app.services.oauth.grants import Granted, find_client
from app.services.operations.cleanup import clean_up
from app.services.sign_in.sessions import SecondFactorSkipped, end_session, list_sessions
from tests.builders.oauth import let_in, make_client
from tests.builders.passkeys import SoftwareAuthenticator, make_passkey
from tests.builders.people import NOBODY, actor_of, make_user, visit
from tests.builders.shop import close_storefront, set_mode
from tests.fakes.clock import FakeClock

SCOPES = DEFAULT_SCOPES | {OFFLINE}
ORDERS = Permission.MANAGE_ORDERS


@pytest.fixture
def kiosk(ports: Ports) -> OAuthClient:
    return make_client(ports, "Kiosk", allows_devices=True, redirect_uris=()).client


@pytest.fixture
def command_line(ports: Ports) -> OAuthClient:
    found = find_client(ports, NOBODY, COMMAND_LINE)
    assert found is not None
    return found


def begin(ports: Ports, client: OAuthClient) -> DeviceCodes:
    return begin_device(ports, NOBODY, client, client.scopes)


def poll(ports: Ports, client: OAuthClient, codes: DeviceCodes) -> Granted | None:
    found = find_device(ports, NOBODY, codes.device_code)
    if found is None or not found.is_allowed or found.is_expired:
        return None
    return use_device(ports, NOBODY, client, found.id)


def at_console(ports: Ports, user: int) -> Actor:
    return actor_of(ports, user, place=SignInPlace.CONSOLE)


def works(ports: Ports, token: str) -> bool:
    return identify(ports, visit(token)).actor.is_user


def why_refused(ports: Ports, actor: Actor, code: str) -> str:
    with pytest.raises(Refused) as caught:
        let_in(ports, actor, code)
    return caught.value.problems[0].message


def test_person_lets_in_the_device_that_shows_the_code(ports: Ports, kiosk: OAuthClient) -> None:
    user = make_user(ports)
    person, codes = actor_of(ports, user), begin(ports, kiosk)
    assert len(codes.user_code) == 8
    assert set(codes.user_code) <= set(USER_CODE_LETTERS)
    assert codes.user_code not in repr(codes)
    assert poll(ports, kiosk, codes) is None
    typed = f" {codes.user_code[:4].lower()} {codes.user_code[4:]}\n"
    waiting = find_waiting_device(ports, person, typed)
    assert (waiting.client.name, waiting.scopes) == ("Kiosk", SCOPES)
    assert waiting.user_code == f"{codes.user_code[:4]}-{codes.user_code[4:]}"
    let_in(ports, person, typed)
    granted = poll(ports, kiosk, codes)
    assert granted is not None
    assert granted.refresh_token
    assert identify(ports, visit(granted.access_token)).actor.user_id == user
    # Asked for in the same place, so a third party is on the person's page from now on.
    assert [each.name for each in list_connected_programs(ports, person)] == ["Kiosk"]
    assert poll(ports, kiosk, codes) is None
    with ports.database.reading() as session:
        actions = [entry.action for entry in session.query(models.AuditEntry)]
        assert session.query(models.OAuthDeviceCode).count() == 0
    assert "oauth_consent.allow_device" in actions


def test_people_allow_what_they_were_shown(
    ports: Ports, kiosk: OAuthClient, clock: FakeClock
) -> None:
    person = actor_of(ports, make_user(ports))
    codes = begin(ports, kiosk)

    def allow(proof: str) -> WaitingDevice:
        return allow_device(ports, person, codes.user_code, proof, ports.clock.now())

    def change(**what: Any) -> None:
        update_client(ports, OPERATOR, kiosk.client_id, ClientChange(**what))

    change(scopes=SCOPES - {"email"})
    device = find_waiting_device(ports, person, codes.user_code)
    assert device.proof not in repr(device)
    for what in (
        {"scopes": SCOPES},
        {"name": "Bank"},
        {"is_first_party": True},
        {"is_first_party": False},
        {"scopes": SCOPES - {"profile"}},
    ):
        change(**what)
        with pytest.raises(DeviceChanged) as caught:
            allow(device.proof)
        device = caught.value.device
    assert (device.client.name, device.scopes) == ("Bank", SCOPES - {"profile"})
    for other in (
        find_waiting_device(ports, person, begin(ports, kiosk).user_code),
        find_waiting_device(ports, at_console(ports, person.user_id or 0), codes.user_code),
    ):
        with pytest.raises(DeviceChanged):
            allow(other.proof)
    assert list_connected_programs(ports, person) == ()
    clock.pass_(minutes=1)  # few codes count at a time
    # Control: what was shown is allowed, and no scope that comes back afterwards.
    allow(device.proof)
    change(scopes=SCOPES)
    allow_client(ports, person, replace(kiosk, consent_version=1), SCOPES)
    granted = poll(ports, kiosk, codes)
    assert granted is not None
    assert granted.scopes == SCOPES - {"profile"}


def test_of_two_decisions_the_first_counts(ports: Ports, kiosk: OAuthClient) -> None:
    ann, bob = (actor_of(ports, make_user(ports, name)) for name in ("a@x.org", "b@x.org"))
    codes = begin(ports, kiosk)
    allow_client(ports, ann, kiosk, SCOPES)
    deny_device(ports, ann, codes.user_code)
    assert "unknown" in why_refused(ports, bob, codes.user_code)
    found = find_device(ports, NOBODY, codes.device_code)
    assert found is not None
    assert found.is_allowed is False
    assert use_device(ports, NOBODY, kiosk, found.id) is None
    codes = begin(ports, kiosk)
    let_in(ports, ann, codes.user_code)
    with pytest.raises(Refused):
        deny_device(ports, bob, codes.user_code)
    assert poll(ports, kiosk, codes) is not None


def test_device_is_exchanged_once_by_several_at_once(
    ports: Ports, second_process: Ports, kiosk: OAuthClient
) -> None:
    codes = begin(ports, kiosk)
    let_in(ports, actor_of(ports, make_user(ports)), codes.user_code)
    start, got = Barrier(4, timeout=30), []

    def exchange(process: Ports) -> None:
        found = find_device(process, NOBODY, codes.device_code)
        start.wait()
        got.append(found and use_device(process, NOBODY, kiosk, found.id))

    threads = [Thread(target=exchange, args=(one,)) for one in (ports, second_process) * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(got) == 4
    assert sum(one is not None for one in got) == 1


def test_device_of_staff_is_let_in_at_the_console_alone(
    ports: Ports, command_line: OAuthClient, clock: FakeClock
) -> None:
    """Also while the storefront is closed; a customer's device isn't even begun then."""
    close_storefront(ports)
    user = make_user(ports, is_staff=True, permissions=[ORDERS])
    codes = begin(ports, command_line)
    assert "in the console" in why_refused(ports, actor_of(ports, user), codes.user_code)
    stale = replace(at_console(ports, user), proof_is_old=True)
    with pytest.raises(ProofRequired):
        let_in(ports, stale, codes.user_code)
    let_in(ports, at_console(ports, user), codes.user_code)
    granted = poll(ports, command_line, codes)
    assert granted is not None
    actor = identify(ports, visit(granted.access_token)).actor
    assert (actor.is_staff, actor.permissions) == (True, frozenset((ORDERS,)))
    kiosk = make_client(ports, "Kiosk", allows_devices=True).client
    with pytest.raises(TrafficClosed):
        begin(ports, kiosk)
    # Someone without staff rights can let in a device, but it gets no token.
    customer = at_console(ports, make_user(ports, "customer@x.org"))
    codes = begin(ports, command_line)
    let_in(ports, customer, codes.user_code)
    with pytest.raises(TrafficClosed):
        poll(ports, command_line, codes)


def test_codes_end_by_themselves_and_with_the_sign_in(
    ports: Ports, kiosk: OAuthClient, clock: FakeClock
) -> None:
    user = make_user(ports)
    person = actor_of(ports, user)
    codes, other = begin(ports, kiosk), begin(ports, kiosk)
    let_in(ports, person, other.user_code)
    clock.pass_(minutes=10)
    assert "expired" in why_refused(ports, person, codes.user_code)
    found = find_device(ports, NOBODY, other.device_code)
    assert found is not None
    assert found.is_expired
    assert use_device(ports, NOBODY, kiosk, found.id) is None
    assert clean_up(ports, OPERATOR).oauth_device_codes == 2
    codes = begin(ports, kiosk)
    let_in(ports, person, codes.user_code)
    end_session(ports, actor_of(ports, user), to_global_id("Session", person.session_id or 0))
    assert poll(ports, kiosk, codes) is None
    # Control: the other sign-in can let one in.
    codes = begin(ports, kiosk)
    let_in(ports, actor_of(ports, user), codes.user_code)
    assert poll(ports, kiosk, codes) is not None
    assert list_sessions(ports, actor_of(ports, user), limit=9)


def test_device_that_does_not_wait_has_to_wait_longer(
    ports: Ports, kiosk: OAuthClient, clock: FakeClock
) -> None:
    found = find_device(ports, NOBODY, begin(ports, kiosk).device_code)
    assert found is not None

    def after(seconds: int) -> bool:
        clock.pass_(seconds=seconds)
        return polls_too_often(ports, NOBODY, found.id)

    assert [after(1), after(5), after(4), after(9), after(15)] == [False, False, True, True, False]


def test_codes_that_one_person_tries_are_counted(
    ports: Ports, kiosk: OAuthClient, clock: FakeClock
) -> None:
    person = actor_of(ports, make_user(ports))
    for _ in range(10):
        with pytest.raises(Refused):
            find_waiting_device(ports, person, "BBBB-BBBB")
    right = begin(ports, kiosk).user_code
    with pytest.raises(Refused) as caught:
        find_waiting_device(ports, person, right)
    assert "Too many" in caught.value.problems[0].message
    other = actor_of(ports, make_user(ports, "other@x.org"))
    assert find_waiting_device(ports, other, right).client.id == kiosk.id
    clock.pass_(minutes=1)
    assert find_waiting_device(ports, person, right).client.id == kiosk.id


def test_codes_are_counted_by_decisions_too(
    ports: Ports, kiosk: OAuthClient, command_line: OAuthClient, clock: FakeClock
) -> None:
    """Also by one that would first ask for a proof, which would tell that there is such a code."""

    def allow(ports: Ports, actor: Actor, code: str) -> WaitingDevice:
        return allow_device(ports, actor, code, "", clock.now())

    def deny(ports: Ports, actor: Actor, code: str) -> WaitingDevice:
        return deny_device(ports, actor, code)

    for number, decide in enumerate((allow, deny)):
        person = at_console(ports, make_user(ports, f"person{number}@x.org"))
        for _ in range(10):
            with pytest.raises(Refused):
                decide(ports, person, "BBBB-BBBB")
        codes = begin(ports, kiosk)
        for actor, device in (
            (person, codes),
            (replace(person, proof_is_old=True), begin(ports, command_line)),
        ):
            with pytest.raises(Refused) as caught:
                decide(ports, actor, device.user_code)
            assert "Too many" in caught.value.problems[0].message
        clock.pass_(minutes=1)
        right = let_in if decide is allow else deny
        right(ports, person, codes.user_code)


def test_code_counts_once_also_with_a_question_for_a_proof_and_a_decision(
    ports: Ports, command_line: OAuthClient, clock: FakeClock
) -> None:
    """The control: the next code that is entered is one too many."""
    person = at_console(ports, make_user(ports, is_staff=True))
    for number in range(10):
        code = begin(ports, command_line).user_code
        proof = find_waiting_device(ports, person, code).proof
        if number % 2:
            deny_device(ports, person, code, proof)
            continue
        with pytest.raises(ProofRequired):
            allow_device(ports, replace(person, proof_is_old=True), code, proof, clock.now())
        allow_device(ports, person, code, proof, clock.now())
    with pytest.raises(Refused, match="Too many"):
        find_waiting_device(ports, person, begin(ports, command_line).user_code)


def test_disconnecting_a_program_denies_its_devices(ports: Ports, kiosk: OAuthClient) -> None:
    person = actor_of(ports, make_user(ports))
    other = actor_of(ports, make_user(ports, "other@x.org"))
    codes, others = begin(ports, kiosk), begin(ports, kiosk)
    let_in(ports, person, codes.user_code)
    let_in(ports, other, others.user_code)
    disconnect_program(ports, person, kiosk.client_id)
    found = find_device(ports, NOBODY, codes.device_code)
    assert found is not None
    assert found.is_allowed is False
    # Nor does it come back with the next consent; controls: the next device, and another person's.
    again = begin(ports, kiosk)
    let_in(ports, person, again.user_code)
    assert poll(ports, kiosk, codes) is None
    assert poll(ports, kiosk, again) is not None
    assert poll(ports, kiosk, others) is not None


def test_device_that_polls_while_its_program_is_disconnected_stays_out(
    ports: Ports, second_process: Ports, kiosk: OAuthClient, clock: FakeClock
) -> None:
    person = actor_of(ports, make_user(ports))
    for _ in range(8):
        clock.pass_(minutes=1)  # few codes count at a time
        codes = begin(ports, kiosk)
        let_in(ports, person, codes.user_code)
        start = Barrier(2, timeout=30)
        got: list[Granted | None] = []

        def exchange(
            codes: DeviceCodes = codes, start: Barrier = start, got: list[Granted | None] = got
        ) -> None:
            start.wait()
            got.append(poll(second_process, kiosk, codes))

        thread = Thread(target=exchange)
        thread.start()
        start.wait()
        disconnect_program(ports, person, kiosk.client_id)
        thread.join(30)
        assert len(got) == 1
        assert got[0] is None or not works(ports, got[0].access_token)


def test_client_must_allow_devices_and_be_enabled_at_every_step(
    ports: Ports, kiosk: OAuthClient
) -> None:
    person = actor_of(ports, make_user(ports))
    here = ("https://kiosk.example.com/",)
    for stop, go in (
        (ClientChange(is_active=False), ClientChange(is_active=True)),
        (
            ClientChange(allows_devices=False, redirect_uris=here),
            ClientChange(allows_devices=True),
        ),
    ):
        codes = begin(ports, kiosk)
        update_client(ports, OPERATOR, kiosk.client_id, stop)
        assert "unknown" in why_refused(ports, person, codes.user_code), stop
        update_client(ports, OPERATOR, kiosk.client_id, go)
        let_in(ports, person, codes.user_code)
        assert poll(ports, kiosk, codes) is not None, stop


def test_grant_of_a_device_keeps_the_origin_of_the_sign_in(
    ports: Ports, kiosk: OAuthClient
) -> None:
    user = make_user(ports)
    tokens = {}
    for origin in (SessionOrigin.PASSWORD, SessionOrigin.OIDC):
        codes = begin(ports, kiosk)
        let_in(ports, actor_of(ports, user, origin), codes.user_code)
        granted = poll(ports, kiosk, codes)
        assert granted is not None
        tokens[origin] = granted.access_token
    set_mode(ports, PasswordLoginMode.DISABLED)
    assert not works(ports, tokens[SessionOrigin.PASSWORD])
    assert works(ports, tokens[SessionOrigin.OIDC])


def test_sign_in_without_the_second_factor_lets_in_no_device(
    ports: Ports, kiosk: OAuthClient
) -> None:
    user = make_user(ports)
    person, codes = actor_of(ports, user), begin(ports, kiosk)
    make_passkey(ports, user, SoftwareAuthenticator())
    with pytest.raises(SecondFactorSkipped):
        let_in(ports, person, codes.user_code)
    assert list_connected_programs(ports, person) == ()
    let_in(ports, actor_of(ports, user, SessionOrigin.OIDC), codes.user_code)


def test_no_token_of_a_client_lets_in_another(ports: Ports, kiosk: OAuthClient) -> None:
    codes = begin(ports, kiosk)
    let_in(ports, actor_of(ports, make_user(ports)), codes.user_code)
    granted = poll(ports, kiosk, codes)
    assert granted is not None
    third_party = identify(ports, visit(granted.access_token)).actor
    with pytest.raises(PermissionDenied):
        let_in(ports, third_party, begin(ports, kiosk).user_code)
