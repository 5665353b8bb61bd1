"""Withdrawing signing keys that have leaked."""

from dataclasses import replace

import pytest
from sqlalchemy import select, update

from app import models
from app.domain.authorization.actor import OPERATOR, WORKER, Actor, ActorKind
from app.domain.authorization.permissions import Permission
from app.domain.keys import KeyState, Withdrawal
from app.domain.values.errors import PermissionDenied, Refused, TokenRejected
from app.ports import Ports, ProcessCache
from app.services.identity.own_tokens import verify_own_token
from app.services.keys import (
    delete_old_keys,
    list_keys,
    preview_withdrawal,
    published_keys,
    ring,
    rotate_keys,
    withdraw_keys,
)
from tests.builders.people import ISSUER, make_user, sign_in
from tests.fakes.clock import FakeClock
from tests.fakes.keys import ReadyKeyStore, pem, private_key
from tests.fakes.known_keys import KnownKeyStore
from tests.fixtures.ports import fake_ports

TTL = 30 * 24 * 3600
UNKNOWN = "A" * 43


@pytest.fixture
def ports(database_url: str, clock: FakeClock) -> Ports:
    with_fakes = fake_ports(database_url, clock)
    return replace(with_fakes, keys=KnownKeyStore())


@pytest.fixture
def other(database_url: str, clock: FakeClock) -> Ports:
    """Another process of the same installation."""
    with_fakes = fake_ports(database_url, clock)
    return replace(with_fakes, keys=KnownKeyStore(100))


def kid_in(ports: Ports, state: KeyState) -> str:
    return next(key.kid for key in list_keys(ports, OPERATOR) if key.state is state)


def is_valid(ports: Ports, token: str) -> bool:
    try:
        return verify_own_token(ports, token, ISSUER).found is not None
    except TokenRejected:
        return False


def published(ports: Ports) -> set[str]:
    return {key.kid for key in published_keys(ports)}


@pytest.mark.both_databases
def test_withdrawn_key_verifies_nothing_in_any_process_and_the_next_key_signs(
    ports: Ports, other: Ports, clock: FakeClock
) -> None:
    user = make_user(ports)
    before = sign_in(ports, user)
    assert is_valid(other, before.access)
    leaked, upcoming = kid_in(ports, KeyState.ACTIVE), kid_in(ports, KeyState.NEXT)
    assert preview_withdrawal(ports, OPERATOR, [leaked]) == Withdrawal((leaked,), 1)
    assert is_valid(other, before.access)
    assert withdraw_keys(ports, OPERATOR, [leaked, leaked]) == Withdrawal((leaked,), 1)
    after = sign_in(other, user)
    for process in (ports, other):
        assert not is_valid(process, before.access)
        assert not is_valid(process, before.refresh)
        assert is_valid(process, after.access)
        assert leaked not in published(process)
        assert next(iter(published_keys(process))).kid == upcoming
    states = [key.state for key in list_keys(ports, OPERATOR)]
    assert states == [KeyState.NEXT, KeyState.ACTIVE, KeyState.WITHDRAWN]
    with ports.database.reading() as session:
        kept = session.scalars(
            select(models.SigningKey.private_key).where(models.SigningKey.kid == leaked)
        ).one()
        entry = session.scalars(
            select(models.AuditEntry).where(models.AuditEntry.action == "keys.withdraw")
        ).one()
    assert kept == ""
    assert entry.subject_id == leaked
    assert entry.after == {"sessions": 1, "active": upcoming, "next": kid_in(ports, KeyState.NEXT)}
    clock.pass_(seconds=10 * TTL)
    delete_old_keys(ports, WORKER)
    assert kid_in(ports, KeyState.WITHDRAWN) == leaked


def test_only_sessions_that_the_key_signed_end(ports: Ports, clock: FakeClock) -> None:
    user = make_user(ports)
    early = sign_in(ports, user)
    with ports.database.transaction() as session:
        session.execute(update(models.Session).values(in_console=True))
    sign_in(ports, user)
    clock.pass_(minutes=6)
    leaked = kid_in(ports, KeyState.ACTIVE)
    rotate_keys(ports, OPERATOR)
    clock.pass_(minutes=6)
    late = sign_in(ports, user)
    assert is_valid(ports, early.refresh)
    assert withdraw_keys(ports, OPERATOR, [leaked]).sessions == 1
    assert is_valid(ports, late.access)
    with ports.database.reading() as session:
        left = session.scalars(select(models.Session.in_console).order_by(models.Session.id)).all()
    assert left == [True, False]


def test_active_and_next_key_are_replaced_at_once(ports: Ports) -> None:
    leaked = [kid_in(ports, state) for state in (KeyState.ACTIVE, KeyState.NEXT)]
    withdraw_keys(ports, OPERATOR, leaked)
    assert not published(ports) & {*leaked}
    assert len(published(ports)) == 2
    ports.keys.sign(ring(ports).signer, {})


def test_next_key_that_cannot_be_decrypted_is_replaced(ports: Ports, other: Ports) -> None:
    leaked, upcoming = kid_in(ports, KeyState.ACTIVE), kid_in(ports, KeyState.NEXT)
    changed = replace(other, keys=KnownKeyStore(100, "another secret"))
    withdraw_keys(changed, OPERATOR, [leaked])
    assert ring(changed).ring.active_kid not in (leaked, upcoming)
    changed.keys.sign(ring(changed).signer, {})


def test_configured_key_is_ignored_once_it_is_withdrawn(ports: Ports, other: Ports) -> None:
    store = ReadyKeyStore(60, configured=pem(private_key(50)))
    pair = store.fixed()
    assert pair is not None
    fixed, machine = (
        replace(process, keys=store, cache=ProcessCache()) for process in (ports, other)
    )
    user = make_user(fixed)
    token = sign_in(fixed, user).access
    assert is_valid(machine, token)
    kid = pair.public.kid
    assert preview_withdrawal(fixed, OPERATOR, [kid]) == Withdrawal((kid,), 1, configured=kid)
    withdraw_keys(fixed, OPERATOR, [kid])
    for process in (fixed, machine):
        assert not is_valid(process, token)
        assert kid not in published(process)
        assert is_valid(process, sign_in(process, user).access)
    assert len(published(fixed)) == 2
    rotate_keys(fixed, OPERATOR, force=True)


def test_unknown_key_is_remembered_before_it_is_configured(ports: Ports) -> None:
    store = ReadyKeyStore(60, configured=pem(private_key(50)))
    pair = store.fixed()
    assert pair is not None
    kid = pair.public.kid
    before = published(ports)
    assert withdraw_keys(ports, OPERATOR, [kid]) == Withdrawal((kid,), 0, unknown=(kid,))
    assert published(ports) == before
    fixed = replace(ports, keys=store, cache=ProcessCache())
    assert published(fixed) == before


def test_configured_key_that_is_not_withdrawn_keeps_signing(ports: Ports) -> None:
    store = ReadyKeyStore(60, configured=pem(private_key(50)))
    fixed = replace(ports, keys=store, cache=ProcessCache())
    withdraw_keys(fixed, OPERATOR, [UNKNOWN])
    assert ring(fixed).signer == store.fixed()
    assert [key.state for key in list_keys(fixed, OPERATOR)] == ["active", "withdrawn"]


def test_what_cannot_be_withdrawn_is_refused(ports: Ports) -> None:
    withdraw_keys(ports, OPERATOR, [UNKNOWN])
    before = list_keys(ports, OPERATOR)
    for kids, code in (
        (["nothing"], "KEY_ID_INVALID"),
        ([UNKNOWN], "KEY_WITHDRAWN"),
        ([kid_in(ports, KeyState.ACTIVE), "nothing"], "KEY_ID_INVALID"),
    ):
        for use_case in (preview_withdrawal, withdraw_keys):
            with pytest.raises(Refused) as refusal:
                use_case(ports, OPERATOR, kids)
            assert [problem.code for problem in refusal.value.problems] == [code]
    stranger = Actor(ActorKind.USER, permissions=frozenset({Permission.MANAGE_APPS}))
    for use_case in (preview_withdrawal, withdraw_keys):
        with pytest.raises(PermissionDenied):
            use_case(ports, stranger, [kid_in(ports, KeyState.ACTIVE)])
    assert list_keys(ports, OPERATOR) == before
