"""A token may be narrower than its app, come to an end, and be replaced while it still works."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from app.domain.apps.apps import MAX_LIFETIME, MAX_OVERLAP
from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission
from app.domain.values.errors import PermissionDenied, Refused
from app.ports import Ports
from app.services.apps.app_changes import AppChange, deactivate_app, update_app
from app.services.apps.app_tokens import (
    TokenOptions,
    create_app_token,
    list_app_tokens,
    rotate_app_token,
    tokens_of_apps,
    verify_app_token,
)
from app.services.identity.identify import identify
from tests.builders.apps import make_app
from tests.builders.audit import trail
from tests.builders.people import NOBODY, actor_of, make_staff, visit
from tests.fakes.clock import FakeClock

APPS, ORDERS, PAGES = Permission.MANAGE_APPS, Permission.MANAGE_ORDERS, Permission.MANAGE_PAGES
HOUR = timedelta(hours=1)


def rights(ports: Ports, token: str) -> set[Permission] | None:
    actor = identify(ports, visit(token)).actor
    return set(actor.permissions) if actor.is_app else None


def codes(refused: pytest.ExceptionInfo[Refused]) -> list[tuple[str | None, str]]:
    return [(problem.field, problem.code) for problem in refused.value.problems]


def test_limited_token_has_its_own_permissions(ports: Ports) -> None:
    key, full_token = make_app(ports, "Warehouse", ORDERS, PAGES)
    for narrowed in (set[Permission](), {ORDERS}, {ORDERS, PAGES}):
        options = TokenOptions(permissions=frozenset(narrowed))
        new = create_app_token(ports, OPERATOR, key, options)
        assert rights(ports, new.secret) == narrowed
        assert new.token.permissions == frozenset(narrowed)
    assert rights(ports, full_token) == {ORDERS, PAGES}


def test_limited_token_loses_but_does_not_gain_permissions(ports: Ports) -> None:
    key, _ = make_app(ports, "Warehouse", ORDERS, PAGES)
    options = TokenOptions(permissions=frozenset({ORDERS}))
    new = create_app_token(ports, OPERATOR, key, options)
    taxes = frozenset({PAGES, Permission.MANAGE_TAXES})
    update_app(ports, OPERATOR, key, AppChange(permissions=taxes))
    assert rights(ports, new.secret) == set()
    update_app(ports, OPERATOR, key, AppChange(permissions=taxes | {ORDERS}))
    assert rights(ports, new.secret) == {ORDERS}


def test_token_cannot_have_permissions_that_its_app_lacks(ports: Ports) -> None:
    key, _ = make_app(ports, "Warehouse", ORDERS)
    with pytest.raises(Refused) as refused:
        create_app_token(ports, OPERATOR, key, TokenOptions(permissions=frozenset({PAGES})))
    assert codes(refused) == [("permissions", "INVALID_PERMISSION")]
    assert refused.value.problems[0].permissions == ("MANAGE_PAGES",)


def test_token_expiry_can_have_any_timezone(ports: Ports, clock: FakeClock) -> None:
    key, _ = make_app(ports)
    for moment in (
        datetime(2026, 3, 1, 13, 0),  # noqa: DTZ001 - a client may leave the zone out
        datetime(2026, 3, 1, 13, 0, tzinfo=UTC),
        datetime(2026, 3, 1, 15, 0, tzinfo=timezone(HOUR * 2)),
    ):
        new = create_app_token(ports, OPERATOR, key, TokenOptions(expires_at=moment))
        assert new.token.expires_at == clock.now() + HOUR, moment


def test_token_expiry_is_within_a_readable_range(ports: Ports) -> None:
    key, _ = make_app(ports)
    for zone in (-23, 0, 23):
        moment = datetime.max.replace(tzinfo=timezone(HOUR * zone))
        with pytest.raises(Refused) as refused:
            create_app_token(ports, OPERATOR, key, TokenOptions(expires_at=moment))
        assert codes(refused) == [("expiresAt", "INVALID")], zone


def test_token_can_be_valid_for_a_hundred_years(ports: Ports, clock: FakeClock) -> None:
    key, _ = make_app(ports)
    options = TokenOptions(expires_at=clock.now() + MAX_LIFETIME)
    assert rights(ports, create_app_token(ports, OPERATOR, key, options).secret) == set()


@pytest.mark.both_databases
def test_rotated_token_stays_valid_for_the_overlap(
    ports: Ports, second_process: Ports, clock: FakeClock
) -> None:
    key, old = make_app(ports, "Warehouse", ORDERS)
    [stored] = list_app_tokens(ports, OPERATOR, key)
    new = rotate_app_token(ports, OPERATOR, stored.id, HOUR)
    assert rights(second_process, old) == rights(second_process, new.secret) == {ORDERS}
    clock.pass_(minutes=59)
    assert rights(second_process, old) == {ORDERS}
    clock.pass_(minutes=1)
    assert rights(second_process, old) is None
    assert rights(second_process, new.secret) == {ORDERS}
    before, after = list_app_tokens(ports, OPERATOR, key)
    assert before.replaced_at == clock.now() - HOUR
    assert (after.id, after.expires_at, after.replaced_at) == (new.token.id, None, None)


@pytest.mark.both_databases
def test_rotation_without_overlap_ends_the_old_token_immediately(
    ports: Ports, second_process: Ports
) -> None:
    key, old = make_app(ports)
    [stored] = list_app_tokens(ports, OPERATOR, key)
    new = rotate_app_token(ports, OPERATOR, stored.id, timedelta(0))
    assert rights(second_process, old) is None
    assert rights(second_process, new.secret) == set()


def test_rotated_token_has_the_same_permissions_and_lifetime(
    ports: Ports, clock: FakeClock
) -> None:
    key, _ = make_app(ports, "Warehouse", ORDERS, PAGES)
    options = TokenOptions("nightly", clock.now() + HOUR * 10, frozenset({ORDERS}))
    old = create_app_token(ports, OPERATOR, key, options).token
    clock.pass_(hours=9)
    new = rotate_app_token(ports, OPERATOR, old.id, HOUR * 5)
    assert new.token.name == "nightly"
    assert new.token.permissions == frozenset({ORDERS})
    assert new.token.expires_at == clock.now() + HOUR * 10
    ended = {token.id: token.expires_at for token in list_app_tokens(ports, OPERATOR, key)}
    assert ended[old.id] == clock.now() + HOUR


def test_rotation_is_audited_without_either_token(ports: Ports) -> None:
    key, old = make_app(ports, "Warehouse")
    [stored] = list_app_tokens(ports, OPERATOR, key)
    new = rotate_app_token(ports, OPERATOR, stored.id, HOUR)
    [row] = trail(ports, "app_token.rotate")
    assert row.before["last_four"] == old[-4:]
    assert row.after["last_four"] == new.secret[-4:]
    assert old not in str((row.before, row.after))
    assert new.secret not in str((row.before, row.after))


def test_token_can_be_rotated_once(ports: Ports, clock: FakeClock) -> None:
    key, _ = make_app(ports)
    [stored] = list_app_tokens(ports, OPERATOR, key)
    rotate_app_token(ports, OPERATOR, stored.id, HOUR)
    with pytest.raises(Refused) as refused:
        rotate_app_token(ports, OPERATOR, stored.id, HOUR)
    assert codes(refused) == [("id", "INVALID")]
    ending = create_app_token(ports, OPERATOR, key, TokenOptions(expires_at=clock.now() + HOUR))
    clock.pass_(hours=1)
    with pytest.raises(Refused) as refused:
        rotate_app_token(ports, OPERATOR, ending.token.id, HOUR)
    assert codes(refused) == [("id", "INVALID")]


@pytest.mark.parametrize("overlap", [timedelta(seconds=-1), MAX_OVERLAP + timedelta(1)])
def test_overlap_is_at_most_a_month(ports: Ports, overlap: timedelta) -> None:
    key, _ = make_app(ports)
    [stored] = list_app_tokens(ports, OPERATOR, key)
    with pytest.raises(Refused) as refused:
        rotate_app_token(ports, OPERATOR, stored.id, overlap)
    assert codes(refused) == [("overlapSeconds", "INVALID")]


def test_rotation_needs_a_person_with_the_apps_permissions(ports: Ports) -> None:
    key, token = make_app(ports, "mighty", *ALL_PERMISSIONS)
    [stored] = list_app_tokens(ports, OPERATOR, key)
    with pytest.raises(PermissionDenied):
        rotate_app_token(ports, identify(ports, visit(token)).actor, stored.id)
    boss = actor_of(ports, make_staff(ports, "boss@example.com", APPS))
    with pytest.raises(Refused) as refused:
        rotate_app_token(ports, boss, stored.id)
    assert codes(refused) == [("id", "OUT_OF_SCOPE_APP")]
    with pytest.raises(Refused) as refused:
        rotate_app_token(ports, boss, 4711)
    assert codes(refused) == [("id", "NOT_FOUND")]


def test_anyone_can_verify_an_app_token(ports: Ports, clock: FakeClock) -> None:
    key, token = make_app(ports)
    ending = create_app_token(ports, OPERATOR, key, TokenOptions(expires_at=clock.now() + HOUR))
    assert verify_app_token(ports, NOBODY, token)
    assert verify_app_token(ports, NOBODY, ending.secret)
    clock.pass_(hours=1)
    assert not verify_app_token(ports, NOBODY, ending.secret)
    assert not verify_app_token(ports, NOBODY, "garbage")
    assert not verify_app_token(ports, NOBODY, token[:-1] + "\ud800")
    deactivate_app(ports, OPERATOR, key)
    assert not verify_app_token(ports, NOBODY, token)


def test_tokens_of_several_apps_are_kept_apart(ports: Ports) -> None:
    one, first = make_app(ports)
    other, second = make_app(ports)
    found = tokens_of_apps(ports, OPERATOR, [one, other, 4711])
    endings = {key: [token.last_four for token in tokens] for key, tokens in found.items()}
    assert endings == {one: [first[-4:]], other: [second[-4:]], 4711: []}
