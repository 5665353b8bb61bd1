"""The ring of signing keys: made once, remembered, and followed by every process."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from math import inf
from threading import Barrier

import pytest
from sqlalchemy import delete, select

from app import models
from app.domain.authorization.actor import OPERATOR, Actor, ActorKind, anonymous
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission
from app.domain.keys import KeyState, Ring
from app.domain.sign_in.tokens import Claims
from app.domain.values.errors import PermissionDenied, TokenFault, TokenRejected
from app.domain.values.installation import KeyUnreadable, SchemaBehind
from app.ports import Ports, ProcessCache
from app.ports.process_cache import CachedKeyRing, VerifiedToken
from app.services.identity.own_tokens import verify_own_token
from app.services.keys import list_keys, published_keys, ring, rotate_keys
from tests.builders.people import ISSUER, make_user, sign_in
from tests.fakes.clock import FakeClock
from tests.fakes.keys import ReadyKeyStore, pem, private_key
from tests.fakes.known_keys import KnownKeyStore
from tests.fakes.no_database import NoDatabase
from tests.fixtures.cases import cases
from tests.fixtures.ports import fake_ports

TTL = 30 * 24 * 3600
VERIFIED = VerifiedToken(
    Claims(1, 2, None, "latchkey", "", "session", "access", 1, "", None, {}), Ring(1, "", {})
)


@pytest.fixture
def ports(database_url: str, clock: FakeClock) -> Ports:
    with_fakes = fake_ports(database_url, clock)
    return replace(with_fakes, keys=KnownKeyStore())


@pytest.fixture
def other(database_url: str, clock: FakeClock) -> Ports:
    """Another process of the same installation."""
    with_fakes = fake_ports(database_url, clock)
    return replace(with_fakes, keys=KnownKeyStore(100))


def with_fixed_key(ports: Ports) -> Ports:
    """The installation with ``RSA_PRIVATE_KEY`` set."""
    store = ReadyKeyStore(60, configured=pem(private_key(50)))
    return replace(ports, keys=store, cache=ProcessCache())


def unasked(ports: Ports) -> Ports:
    return replace(ports, database=NoDatabase())


def states(ports: Ports) -> list[KeyState]:
    return [key.state for key in list_keys(ports, OPERATOR)]


def test_first_use_creates_an_active_and_a_next_key(ports: Ports) -> None:
    key_ring = ring(ports)
    assert states(ports) == [KeyState.NEXT, KeyState.ACTIVE]
    assert key_ring.ring.active_kid == key_ring.signer.public.kid
    assert key_ring.good_until == inf
    assert next(iter(key_ring.ring.published)) == key_ring.ring.active_kid
    assert len(key_ring.ring.published) == 2


def test_ring_creation_is_audited_without_private_parts(ports: Ports) -> None:
    kids = set(ring(ports).ring.published)
    with ports.database.reading() as session:
        rows = session.scalars(select(models.AuditEntry)).all()
    assert {row.subject_id for row in rows} == kids
    assert {row.action for row in rows} == {"keys.create"}
    assert {row.actor_kind for row in rows} == {"worker"}
    assert sorted(str(row.after) for row in rows) == ["{'state': 'active'}", "{'state': 'next'}"]


def test_every_process_uses_the_first_ring(ports: Ports, other: Ports) -> None:
    assert ring(ports) == ring(other)


def test_cached_ring_is_not_read_again_at_its_version(ports: Ports) -> None:
    key_ring = ring(ports)
    assert ring(unasked(ports), key_ring.ring.version) is key_ring


def test_ring_without_version_reads_only_the_shop_row(ports: Ports) -> None:
    key_ring = ring(ports)
    with ports.database.transaction() as session:
        session.execute(delete(models.SigningKey))
    assert ring(ports) is key_ring


def test_changed_ring_is_read_at_the_next_request(ports: Ports, other: Ports) -> None:
    before = ring(other)
    rotate_keys(ports, OPERATOR, force=True)
    after = ring(other, before.ring.version + 1)
    assert after == ring(other) == ring(ports)
    assert after.ring.active_kid != before.ring.active_kid


def test_version_read_before_a_change_gives_the_changed_ring(ports: Ports) -> None:
    before = ring(ports)
    rotate_keys(ports, OPERATOR, force=True)
    assert ring(ports, before.ring.version).ring.version == before.ring.version + 1


def test_ring_change_clears_the_token_cache(ports: Ports, other: Ports) -> None:
    ring(other)
    other.cache.verified.put(b"digest", VERIFIED)
    ring(other)
    assert other.cache.verified.get(b"digest") is VERIFIED
    rotate_keys(ports, OPERATOR, force=True)
    ring(other)
    assert other.cache.verified.get(b"digest") is None


@pytest.mark.both_databases
def test_threads_of_one_process_create_one_ring(ports: Ports) -> None:
    start = Barrier(8, timeout=60)

    def use(_thread: int) -> CachedKeyRing:
        start.wait()
        return ring(ports)

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(use, range(8)))
    assert len({known.ring.active_kid for known in found}) == 1
    assert states(ports) == [KeyState.NEXT, KeyState.ACTIVE]
    assert isinstance(ports.keys, KnownKeyStore)
    assert ports.keys.made == 2


@pytest.mark.both_databases
def test_four_processes_on_an_empty_database_create_one_ring(
    database_url: str, clock: FakeClock
) -> None:
    """Each would make other keys; most of them are those that other tests have."""
    start = Barrier(4, timeout=60)
    processes = [
        replace(fake_ports(database_url, clock), keys=KnownKeyStore(first))
        for first in (0, 2, 100, 102)
    ]

    def use(process: Ports) -> CachedKeyRing:
        start.wait()
        return ring(process)

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(use, processes))
    assert [known for known in found if known != found[0]] == []
    assert states(processes[0]) == [KeyState.NEXT, KeyState.ACTIVE]


def test_missing_key_is_added_to_the_ring(ports: Ports, other: Ports) -> None:
    before = ring(ports)
    with ports.database.transaction() as session:
        session.execute(delete(models.SigningKey).where(models.SigningKey.state == "next"))
    after = ring(other)
    assert after.signer == before.signer
    assert states(other) == [KeyState.NEXT, KeyState.ACTIVE]


def test_first_use_inside_a_transaction_is_refused_with_a_reason(ports: Ports) -> None:
    with ports.database.transaction(), pytest.raises(RuntimeError, match="inside a transaction"):
        ring(ports)


def test_missing_shop_row_error_says_what_to_do(ports: Ports) -> None:
    with ports.database.transaction() as session:
        session.execute(delete(models.Shop))
    with pytest.raises(SchemaBehind, match="flask db upgrade"):
        ring(ports)


def test_retired_key_verifies_until_its_last_token_has_expired(
    ports: Ports, clock: FakeClock
) -> None:
    first = ring(ports).signer
    token = ports.keys.sign(first, {"exp": 1})
    clock.pass_(hours=1)
    retired_at = clock.now().timestamp()
    rotate_keys(ports, OPERATOR)
    key_ring = ring(ports)
    assert key_ring.good_until == retired_at + TTL
    assert ports.keys.verify(key_ring.ring.published, token) == {"exp": 1}
    clock.pass_(seconds=TTL - 1)
    assert first.public in published_keys(ports)
    assert KeyState.RETIRED in states(ports)


def test_retired_key_expires_in_every_process(
    ports: Ports, other: Ports, clock: FakeClock
) -> None:
    first = ring(ports).signer
    token = ports.keys.sign(first, {"exp": 1})
    rotate_keys(ports, OPERATOR, force=True)
    version = ring(other).ring.version
    other.cache.verified.put(b"digest", VERIFIED)
    clock.pass_(seconds=TTL)
    key_ring = ring(other, version)
    assert first.public not in published_keys(other)
    assert states(other) == [KeyState.NEXT, KeyState.ACTIVE]
    assert other.cache.verified.get(b"digest") is None
    with pytest.raises(TokenRejected) as refusal:
        other.keys.verify(key_ring.ring.published, token)
    assert refusal.value.fault is TokenFault.SIGNATURE
    assert ring(unasked(other), version) is key_ring


def test_cached_token_is_refused_after_its_key_expires(
    ports: Ports, other: Ports, clock: FakeClock
) -> None:
    pair = sign_in(ports, make_user(ports))
    claims = {**verify_own_token(other, pair.access, ISSUER).claims.everything}
    claims["exp"] = int(clock.timestamp()) + 2 * TTL
    token = ports.keys.sign(ring(ports).signer, claims)
    rotate_keys(ports, OPERATOR, force=True)
    verify_own_token(other, token, ISSUER)
    clock.pass_(seconds=TTL)
    with pytest.raises(TokenRejected) as refusal:
        verify_own_token(other, token, ISSUER)
    assert refusal.value.fault is TokenFault.SIGNATURE


def test_configured_key_is_the_only_key(ports: Ports) -> None:
    fixed = with_fixed_key(ports)
    pair = fixed.keys.fixed()
    assert pair is not None
    for version in (None, 7):
        key_ring = ring(fixed, version)
        assert key_ring.signer == pair
        assert dict(key_ring.ring.published) == {pair.public.kid: pair.public}
    assert ring(fixed) is ring(fixed)
    assert ring(unasked(fixed), ring(fixed).ring.version) is ring(fixed)
    (listed,) = list_keys(fixed, OPERATOR)
    assert (listed.kid, listed.state, listed.published_at) == (pair.public.kid, "active", None)


@pytest.mark.both_databases
def test_wrong_secret_verifies_and_explains_why_it_cannot_sign(ports: Ports, other: Ports) -> None:
    token = ports.keys.sign(ring(ports).signer, {"exp": 1})
    mistaken = replace(other, keys=KnownKeyStore(secret="another secret"))
    key_ring = ring(mistaken)
    assert mistaken.keys.verify(key_ring.ring.published, token) == {"exp": 1}
    with pytest.raises(KeyUnreadable, match="Set SECRET_KEY back"):
        mistaken.keys.sign(key_ring.signer, {"exp": 1})


def test_cached_ring_shows_no_private_key(ports: Ports) -> None:
    key_ring = ring(ports)
    assert key_ring.signer.encrypted not in f"{key_ring!r} {ports.cache!r} {ports!r}"


@cases(
    "actor",
    [
        anonymous(),
        Actor(ActorKind.USER, is_staff=True, permissions=frozenset({Permission.MANAGE_APPS})),
        Actor(ActorKind.APP, app_id=1, permissions=ALL_PERMISSIONS),
    ],
)
def test_keys_require_manage_settings(ports: Ports, actor: Actor) -> None:
    with pytest.raises(PermissionDenied) as denial:
        list_keys(ports, actor)
    assert denial.value.required == ("MANAGE_SETTINGS",)
    with pytest.raises(PermissionDenied):
        rotate_keys(ports, actor, force=True)


def test_settings_managers_list_the_keys(ports: Ports) -> None:
    actor = Actor(ActorKind.USER, permissions=frozenset({Permission.MANAGE_SETTINGS}))
    assert list_keys(ports, actor) == list_keys(ports, OPERATOR)
