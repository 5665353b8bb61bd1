"""``flask app token``."""

import pytest

from app.domain.authorization.permissions import Permission
from app.ports import Ports
from app.services.identity.identify import identify
from tests.builders.apps import make_app
from tests.builders.people import visit
from tests.commands.shell import run, run_json
from tests.fakes.clock import FakeClock
from tests.fixtures.cases import cases

ORDERS, USERS = Permission.MANAGE_ORDERS, Permission.MANAGE_USERS


def opens(ports: Ports, token: str) -> bool:
    return identify(ports, visit(token)).actor.is_app


@pytest.mark.parametrize("by_name", [True, False])
def test_another_token_is_made_listed_and_revoked(ports: Ports, by_name: bool) -> None:
    key, _ = make_app(ports, "Warehouse")
    app = "Warehouse" if by_name else str(key)
    token = run(ports, "app", "token", "create", app, "--name", "nightly").stdout.strip()
    assert identify(ports, visit(token)).actor.app_id == key
    _, nightly = run_json(ports, "app", "token", "list", app)
    assert (nightly["name"], nightly["lastFour"]) == ("nightly", token[-4:])
    assert (nightly["expires"], nightly["permissions"]) == (None, None)
    revoked = run(ports, "app", "token", "revoke", str(nightly["id"]))
    assert revoked.exit_code == 0
    assert not opens(ports, token)
    assert len(run_json(ports, "app", "token", "list", app)) == 1


def test_token_may_be_made_to_end(ports: Ports, clock: FakeClock) -> None:
    make_app(ports, "Warehouse")
    end = (clock.now().replace(microsecond=0)).strftime("%Y-%m-%dT%H:%M:%S")
    clock.pass_(hours=-1)
    token = run_json(ports, "app", "token", "create", "Warehouse", "--expires", end)["token"]
    _, made = run_json(ports, "app", "token", "list", "Warehouse")
    assert made["expires"] == f"{end}+00:00"
    assert opens(ports, token)
    clock.pass_(hours=1, seconds=1)
    assert not opens(ports, token)


def test_end_that_makes_no_sense_is_refused(ports: Ports) -> None:
    make_app(ports, "Warehouse")
    ends = (("2001-01-31", 3), ("9998-01-01", 3), ("tomorrow", 2), ("2030-02-31", 2))
    for when, code in ends:
        failed = run(ports, "app", "token", "create", "Warehouse", "--expires", when)
        assert (failed.exit_code, failed.stdout) == (code, ""), when
    assert len(run_json(ports, "app", "token", "list", "Warehouse")) == 1


def test_token_may_be_good_for_less_than_its_app(ports: Ports) -> None:
    make_app(ports, "Warehouse", ORDERS, USERS)
    narrow = ("token", "create", "Warehouse", "--permission", "manage-orders")
    token = run_json(ports, "app", *narrow)["token"]
    assert identify(ports, visit(token)).actor.permissions == {ORDERS}
    _, made = run_json(ports, "app", "token", "list", "Warehouse")
    assert made["permissions"] == ["MANAGE_ORDERS"]
    failed = run(ports, "app", "token", "create", "Warehouse", "--permission", "manage-products")
    assert failed.exit_code == 3
    assert "The app doesn't have MANAGE_PRODUCTS." in failed.stderr


@pytest.mark.parametrize(
    ("options", "seconds", "message"),
    [
        ((), 24 * 3600, "works for at most 86400 more seconds."),
        (("--overlap", "60"), 60, "works for at most 60 more seconds."),
        (("--overlap", "0"), 0, "has been revoked."),
    ],
)
def test_rotated_token_works_during_the_overlap(
    ports: Ports, clock: FakeClock, options: tuple[str, ...], seconds: int, message: str
) -> None:
    _, old = make_app(ports, "Warehouse", ORDERS)
    [row] = run_json(ports, "app", "token", "list", "Warehouse")
    rotated = run(ports, "app", "token", "rotate", str(row["id"]), *options)
    new = rotated.stdout.strip()
    assert rotated.exit_code == 0
    assert message in rotated.stderr
    assert opens(ports, old) is (seconds > 0)
    clock.pass_(seconds=seconds)
    assert not opens(ports, old)
    assert identify(ports, visit(new)).actor.permissions == {ORDERS}
    first, _ = run_json(ports, "app", "token", "list", "Warehouse")
    assert first["replaced"] is not None
    again = run(ports, "app", "token", "rotate", str(row["id"]))
    assert (again.exit_code, again.stdout) == (3, "")


@cases(("token", "code"), [("4711", 3), ("9" * 30, 2), ("lkapp_x", 2), ("0", 2), ("-1", 2)])
def test_unknown_token_cannot_be_revoked_or_rotated(ports: Ports, token: str, code: int) -> None:
    for verb in ("revoke", "rotate"):
        failed = run(ports, "app", "token", verb, token)
        assert (failed.exit_code, failed.stdout) == (code, "")
    assert "'abc' is not a valid id." in run(ports, "app", "token", "revoke", "abc").stderr


def test_overlap_is_a_month_at_most(ports: Ports) -> None:
    make_app(ports, "Warehouse")
    [row] = run_json(ports, "app", "token", "list", "Warehouse")
    for overlap in ("-1", "2592001", "1e3", "9" * 30):
        failed = run(ports, "app", "token", "rotate", str(row["id"]), "--overlap", overlap)
        assert (failed.exit_code, failed.stdout) == (2, ""), overlap


def test_token_is_verified_without_standing_on_the_command_line(ports: Ports) -> None:
    _, token = make_app(ports, "Warehouse")
    assert run_json(ports, "app", "token", "verify", stdin=f"{token}\n") == {"valid": True}
    failed = run(ports, "app", "token", "verify", stdin="nothing of ours")
    assert (failed.exit_code, failed.stdout) == (1, "no\n")
