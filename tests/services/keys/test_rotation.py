"""Rotating the signing keys while processes run, and forgetting old ones."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Barrier

import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from sqlalchemy import select, text
from typing_extensions import override

from app import models
from app.domain.authorization.actor import OPERATOR, WORKER, Actor, ActorKind
from app.domain.authorization.permissions import Permission
from app.domain.keys import KeyState, SigningKey
from app.domain.values.errors import PermissionDenied, Refused
from app.ports import Ports
from app.ports.keys import KeyPair
from app.services.identity.identify import identify
from app.services.keys import delete_old_keys, list_keys, published_keys, ring, rotate_keys
from tests.builders.people import make_user, sign_in, visit
from tests.fakes.clock import FakeClock
from tests.fakes.keys import SECRET, ReadyKeyStore, pem, private_key
from tests.fakes.known_keys import KnownKeyStore
from tests.fixtures.ports import fake_ports

TTL = 30 * 24 * 3600
NEXT, ACTIVE, RETIRED, _WITHDRAWN = KeyState


class MeetingKeyStore(KnownKeyStore):
    """Two rotations meet where each has made its new key, before either writes."""

    def __init__(self, first: int, meeting: Barrier) -> None:
        super().__init__(first)
        self._meeting = meeting

    @override
    def generate(self) -> KeyPair:
        pair = super().generate()
        self._meeting.wait(timeout=180)
        return pair


@pytest.fixture
def ports(database_url: str, clock: FakeClock) -> Ports:
    with_fakes = fake_ports(database_url, clock)
    return replace(with_fakes, keys=KnownKeyStore())


@pytest.fixture
def other(database_url: str, clock: FakeClock) -> Ports:
    """Another process of the same installation."""
    with_fakes = fake_ports(database_url, clock)
    return replace(with_fakes, keys=KnownKeyStore(100))


def by_state(keys: tuple[SigningKey, ...]) -> dict[KeyState, str]:
    return {key.state: key.kid for key in keys}


def kid_of(token: str) -> object:
    return jwt.get_unverified_header(token)["kid"]


def code_of(refusal: pytest.ExceptionInfo[Refused]) -> str:
    (problem,) = refusal.value.problems
    return problem.code


def test_rotation_advances_every_key(ports: Ports, clock: FakeClock) -> None:
    before = by_state(list_keys(ports, OPERATOR))
    published_at = clock.now()
    clock.pass_(minutes=5)
    after = rotate_keys(ports, OPERATOR)
    upcoming, active, retired = after
    assert (active.kid, retired.kid) == (before[NEXT], before[ACTIVE])
    assert (active.published_at, active.activated_at) == (published_at, clock.now())
    assert (upcoming.state, upcoming.published_at, upcoming.activated_at) == (
        NEXT,
        clock.now(),
        None,
    )
    assert retired.retired_at == clock.now()
    assert retired.verifies_until is not None
    assert (retired.verifies_until - clock.now()).total_seconds() == TTL
    assert after == list_keys(ports, OPERATOR)


def test_every_process_follows_a_rotation_at_its_next_request(
    ports: Ports, other: Ports, clock: FakeClock
) -> None:
    user = make_user(ports)
    before = sign_in(other, user)
    assert identify(other, visit(before.access)).actor.user_id == user
    clock.pass_(minutes=4, seconds=50)
    active = by_state(rotate_keys(ports, OPERATOR, force=True))[ACTIVE]
    assert identify(other, visit(before.access)).actor.user_id == user
    after = sign_in(other, user)
    assert kid_of(before.access) != active
    assert kid_of(after.access) == kid_of(after.refresh) == active
    for process in (ports, other):
        for token in (before.access, after.access):
            assert identify(process, visit(token)).actor.user_id == user


def test_rotation_is_audited_without_private_parts(ports: Ports, clock: FakeClock) -> None:
    before = by_state(list_keys(ports, OPERATOR))
    clock.pass_(minutes=5)
    staff = Actor(
        ActorKind.USER,
        user_id=7,
        name="staff@example.com",
        permissions=frozenset({Permission.MANAGE_SETTINGS}),
        address="203.0.113.7",
    )
    after = by_state(rotate_keys(ports, staff))
    with ports.database.reading() as session:
        row = session.scalars(
            select(models.AuditEntry).where(models.AuditEntry.action == "keys.rotate")
        ).one()
    assert (row.actor_user_id, row.actor_name, row.address) == (
        7,
        "staff@example.com",
        "203.0.113.7",
    )
    assert row.subject_id == after[ACTIVE]
    assert row.before == {"active": before[ACTIVE], "next": before[NEXT]}
    assert row.after == {"active": after[ACTIVE], "next": after[NEXT]}


def test_key_does_not_sign_before_verifiers_can_fetch_it(ports: Ports, clock: FakeClock) -> None:
    before = ring(ports)
    clock.pass_(seconds=299.5)
    with pytest.raises(Refused, match="Rotate in 1 s") as refusal:
        rotate_keys(ports, OPERATOR)
    assert code_of(refusal) == "KEY_TOO_NEW"
    assert ring(ports) is before
    clock.pass_(seconds=0.5)
    rotate_keys(ports, OPERATOR)
    with pytest.raises(Refused, match="Rotate in 300 s"):
        rotate_keys(ports, OPERATOR)


def test_forced_rotation_does_not_wait(ports: Ports) -> None:
    before = by_state(list_keys(ports, OPERATOR))
    assert by_state(rotate_keys(ports, OPERATOR, force=True))[ACTIVE] == before[NEXT]


@pytest.mark.both_databases
def test_second_concurrent_rotation_is_refused(ports: Ports, other: Ports) -> None:
    before = by_state(list_keys(ports, OPERATOR))
    meeting = Barrier(2, timeout=60)
    rivals = [
        replace(process, keys=MeetingKeyStore(200 + number, meeting))
        for number, process in enumerate((ports, other))
    ]

    def rotate(rival: Ports) -> str:
        try:
            rotate_keys(rival, OPERATOR, force=True)
        except Refused as refused:
            return refused.problems[0].code
        return "rotated"

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(rotate, rivals)) == ["KEYS_CHANGED", "rotated"]
    after = list_keys(ports, OPERATOR)
    assert [key.state for key in after] == [NEXT, ACTIVE, RETIRED]
    assert by_state(after)[ACTIVE] == before[NEXT]


def test_configured_key_cannot_be_rotated(ports: Ports) -> None:
    fixed = replace(ports, keys=ReadyKeyStore(60, configured=pem(private_key(50))))
    with pytest.raises(Refused, match="RSA_PRIVATE_KEY") as refusal:
        rotate_keys(fixed, OPERATOR, force=True)
    assert code_of(refusal) == "KEYS_FIXED"


def test_lost_secret_creates_new_keys_and_keeps_tokens_valid(
    ports: Ports, other: Ports, clock: FakeClock
) -> None:
    user = make_user(ports)
    token = sign_in(ports, user).access
    before = by_state(list_keys(ports, OPERATOR))
    clock.pass_(minutes=4, seconds=59)
    changed = replace(other, keys=KnownKeyStore(100, "another secret"))
    with pytest.raises(Refused, match="SECRET_KEY") as refusal:
        rotate_keys(changed, OPERATOR)
    assert code_of(refusal) == "KEY_UNREADABLE"
    after = by_state(rotate_keys(changed, OPERATOR, force=True))
    assert after[RETIRED] == before[ACTIVE]
    assert before[NEXT] not in after.values()
    assert kid_of(sign_in(changed, user).access) == after[ACTIVE]
    assert identify(changed, visit(token)).actor.user_id == user


def test_keys_are_deleted_when_no_token_needs_them(
    ports: Ports, other: Ports, clock: FakeClock
) -> None:
    first = ring(ports).signer.public
    rotate_keys(ports, OPERATOR, force=True)
    version = ring(other).ring.version
    clock.pass_(seconds=TTL - 1)
    assert delete_old_keys(ports, WORKER) == 0
    assert ring(other).ring.version == version
    clock.pass_(seconds=1)
    assert delete_old_keys(ports, WORKER) == 1
    assert delete_old_keys(other, WORKER) == 0
    assert ring(other).ring.version == version + 1
    with ports.database.reading() as session:
        kids = session.scalars(select(models.SigningKey.kid)).all()
        forgotten = session.scalars(
            select(models.AuditEntry.subject_id).where(models.AuditEntry.action == "keys.forget")
        ).all()
    assert first.kid not in kids
    assert sorted(kids) == sorted(public.kid for public in published_keys(other))
    assert forgotten == [first.kid]


def test_only_internal_callers_delete_keys(ports: Ports) -> None:
    staff = Actor(ActorKind.USER, permissions=frozenset({Permission.MANAGE_SETTINGS}))
    with pytest.raises(PermissionDenied):
        delete_old_keys(ports, staff)


def stored_bytes(ports: Ports, database_url: str) -> bytes:
    """Everything that the database keeps: its files, or all that its tables hold."""
    if database_url.startswith("sqlite"):
        file = Path(database_url.removeprefix("sqlite:///"))
        return b"".join(part.read_bytes() for part in sorted(file.parent.glob(f"{file.name}*")))
    with ports.database.reading() as session:
        rows = [
            session.execute(text(f"SELECT kept::text FROM {table} AS kept")).scalars().all()  # noqa: S608 - names
            for table in ("signing_keys", "audit", "shop")
        ]
    return repr(rows).encode()


def test_private_parts_are_never_in_the_database(ports: Ports, database_url: str) -> None:
    rotate_keys(ports, OPERATOR, force=True)
    stored = stored_bytes(ports, database_url)
    for key, place in [(private_key(place), place) for place in range(3)]:
        numbers = key.private_numbers()
        der = key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
        secrets = [line.encode() for line in pem(key).splitlines()]
        secrets += [der[40:72], SECRET.encode()]
        for number in (numbers.p, numbers.q, numbers.d, numbers.dmp1):
            size = (number.bit_length() + 7) // 8
            secrets += [number.to_bytes(size)[:24], str(number).encode(), f"{number:x}".encode()]
        assert [secret for secret in secrets if secret in stored] == [], place
    assert all(public.n.encode() in stored for public in published_keys(ports))
