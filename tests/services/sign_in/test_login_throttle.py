"""Operators see which addresses have to wait, and let them go; every such step is on record."""

from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import select

from app import models
from app.adapters.queue.throttle_redis import connect_redis_throttle
from app.domain.authorization.actor import OPERATOR, Actor, ActorKind
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission
from app.domain.values.errors import PermissionDenied, Refused
from app.ports import Ports
from app.ports.throttle import ThrottleUnavailable
from app.services.sign_in.login_throttle import list_block_details, unblock_ip
from tests.builders.people import ADDRESS, NOBODY, actor_of, make_staff, make_user
from tests.fakes.clock import FakeClock
from tests.fixtures.cases import cases
from tests.fixtures.statements import recorded_statements, selects

OTHER_ADDRESS = "2001:db8::7"


def test_blocked_addresses_are_shown_until_their_block_ends(
    ports: Ports, clock: FakeClock
) -> None:
    _fail(ports, clock, ADDRESS)
    _fail(ports, clock, OTHER_ADDRESS, times=2)
    blocked = list_block_details(ports, OPERATOR)
    assert [(block.address, block.failures) for block in blocked] == [
        (OTHER_ADDRESS, 2),
        (ADDRESS, 1),
    ]
    assert blocked[1].until == clock.now() + timedelta(seconds=1)
    assert [block.address for block in list_block_details(ports, OPERATOR, limit=1)] == [
        OTHER_ADDRESS
    ]
    clock.pass_(seconds=2)
    assert list_block_details(ports, OPERATOR) == ()


@pytest.mark.both_databases
def test_block_is_explained_with_the_tried_accounts(ports: Ports, clock: FakeClock) -> None:
    users = [make_user(ports, f"u{number}@example.com") for number in range(7)]
    now = clock.timestamp()
    for user_id in (*users, users[3], users[3], users[5]):
        ports.throttle.fail(ADDRESS, "", user_id, now)
    for _ in range(4):
        ports.throttle.fail(ADDRESS, "", None, now)
    ports.throttle.fail(OTHER_ADDRESS, "", None, now)
    first, second = list_block_details(ports, OPERATOR)
    assert (first.address, first.until) == (ADDRESS, clock.now() + timedelta(seconds=512))
    assert (first.failures, first.wrong_passwords, first.unknown_emails) == (14, 10, 4)
    assert (first.accounts, len(first.against)) == (7, 5)
    assert [(account.email, account.failures) for account in first.against[:3]] == [
        ("u3@example.com", 3),
        ("u5@example.com", 2),
        ("u0@example.com", 1),
    ]
    assert (second.address, second.wrong_passwords, second.against) == (OTHER_ADDRESS, 0, ())
    clock.pass_(hours=1)
    assert list_block_details(ports, OPERATOR) == ()


@pytest.mark.both_databases
def test_one_ip_address_is_explained_among_many(ports: Ports, clock: FakeClock) -> None:
    _fail(ports, clock, OTHER_ADDRESS)
    _fail(ports, clock, ADDRESS, times=3)
    assert [detail.address for detail in list_block_details(ports, OPERATOR, limit=1)] == [ADDRESS]
    [found] = list_block_details(ports, OPERATOR, limit=1, address="2001:DB8:0::7")
    assert (found.address, found.failures) == (OTHER_ADDRESS, 1)
    for nobody in ("203.0.113.99", "no address"):
        assert list_block_details(ports, OPERATOR, address=nobody) == ()
    clock.pass_(seconds=2)
    assert list_block_details(ports, OPERATOR, address=OTHER_ADDRESS) == ()


@pytest.mark.both_databases
def test_explanations_cost_three_statements(ports: Ports, clock: FakeClock) -> None:
    _fail(ports, clock, ADDRESS)
    _fail(ports, clock, OTHER_ADDRESS)
    with recorded_statements() as statements:
        assert len(list_block_details(ports, OPERATOR)) == 2
    assert len(selects(statements)) == 3


def test_unblocked_ip_address_can_try_immediately_while_others_wait(
    ports: Ports, clock: FakeClock
) -> None:
    _fail(ports, clock, ADDRESS, times=3)
    _fail(ports, clock, OTHER_ADDRESS)
    unblock_ip(ports, OPERATOR, ADDRESS)
    assert [block.address for block in list_block_details(ports, OPERATOR)] == [OTHER_ADDRESS]
    assert ports.throttle.begin(ADDRESS, clock.timestamp()).lease


def test_unblocking_is_audited(ports: Ports, clock: FakeClock) -> None:
    manager = make_staff(ports, "manager@example.com", Permission.MANAGE_STAFF)
    _fail(ports, clock, OTHER_ADDRESS, times=2)
    unblock_ip(ports, actor_of(ports, manager), OTHER_ADDRESS)
    (row,) = _audited(ports)
    assert (row.actor_user_id, row.address, row.at) == (manager, ADDRESS, clock.now())
    assert (row.subject_type, row.subject_id) == ("Address", OTHER_ADDRESS)
    assert row.before == {
        "blocked_until": (clock.now() + timedelta(seconds=2)).isoformat(),
        "failures": 2,
        "known_failures": 2,
    }
    assert row.after == {}


@pytest.mark.parametrize("spelling", [" 2001:DB8:0::7 ", "[2001:db8::7]", "2001:db8::7%eth0"])
def test_ip_address_is_accepted_in_any_spelling(
    ports: Ports, clock: FakeClock, spelling: str
) -> None:
    _fail(ports, clock, OTHER_ADDRESS)
    unblock_ip(ports, OPERATOR, spelling)
    assert list_block_details(ports, OPERATOR) == ()


def test_unblocking_an_unknown_address_is_not_audited(ports: Ports, clock: FakeClock) -> None:
    _fail(ports, clock, ADDRESS)

    @cases(
        ("address", "code"),
        [(OTHER_ADDRESS, "NOT_FOUND"), ("", "INVALID"), ("shop.example.com", "INVALID")],
    )
    def check(address: str, code: str) -> None:
        with pytest.raises(Refused) as refused:
            unblock_ip(ports, OPERATOR, address)
        assert [(problem.code, problem.field) for problem in refused.value.problems] == [
            (code, "address")
        ]
        assert _audited(ports) == []

    check()


def test_ip_address_with_an_ended_block_can_be_reset(ports: Ports, clock: FakeClock) -> None:
    _fail(ports, clock, ADDRESS, times=5)
    clock.pass_(minutes=5)
    unblock_ip(ports, OPERATOR, ADDRESS)
    assert ports.throttle.find(ADDRESS, clock.timestamp()) is None


def test_blocked_addresses_require_manage_staff(ports: Ports, clock: FakeClock) -> None:
    _fail(ports, clock, ADDRESS)

    @cases(
        "actor",
        [
            NOBODY,
            Actor(ActorKind.USER, user_id=1, is_staff=True),
            Actor(
                ActorKind.USER,
                user_id=1,
                is_staff=True,
                permissions=ALL_PERMISSIONS - {Permission.MANAGE_STAFF},
            ),
            Actor(ActorKind.APP, app_id=1, permissions=frozenset({Permission.MANAGE_APPS})),
        ],
    )
    def check(actor: Actor) -> None:
        for attempt in (
            lambda: list_block_details(ports, actor),
            lambda: unblock_ip(ports, actor, ADDRESS),
        ):
            with pytest.raises(PermissionDenied) as denied:
                attempt()
            assert denied.value.required == ("MANAGE_STAFF",)
        assert list_block_details(ports, OPERATOR)

    check()


def test_unreachable_store_is_distinguished_from_an_empty_one(ports: Ports) -> None:
    without_store = replace(ports, throttle=connect_redis_throttle("unix:///nowhere/redis.sock"))
    for attempt in (
        lambda: list_block_details(without_store, OPERATOR),
        lambda: unblock_ip(without_store, OPERATOR, ADDRESS),
    ):
        with pytest.raises(ThrottleUnavailable, match="REDIS_URL"):
            attempt()
    assert _audited(ports) == []


def _fail(ports: Ports, clock: FakeClock, address: str, times: int = 1) -> None:
    """Fail that often from ``address`` against a user of its own, all at this moment."""
    user_id = make_user(ports, f"{address.replace(':', '-')}@example.com")
    for _ in range(times):
        ports.throttle.fail(address, "", user_id, clock.timestamp())


def _audited(ports: Ports) -> list[models.AuditEntry]:
    with ports.database.reading() as session:
        rows = session.scalars(
            select(models.AuditEntry).where(models.AuditEntry.action == "throttle.unblock")
        )
        return list(rows)
