"""A clock that is put back two hours lengthens no block and no lease."""

from app.domain.authorization.actor import WORKER
from app.domain.sign_in.login_throttle import MAX_BLOCK_SECONDS
from app.ports import Ports
from app.services.deliveries.dispatch import lease_due_deliveries
from tests.builders.apps import make_app
from tests.builders.people import make_user
from tests.builders.webhooks import make_delivery, make_webhook
from tests.fakes.clock import FakeClock
from tests.services.logins import EMAIL, WRONG, code_of, log_in


def test_short_block_stays_short_when_the_clock_is_set_back(
    ports: Ports, clock: FakeClock
) -> None:
    make_user(ports, EMAIL)
    assert code_of(ports, password=WRONG) == "INVALID_CREDENTIALS"
    clock.pass_(hours=-2)
    assert code_of(ports) == "LOGIN_ATTEMPT_DELAYED"
    clock.pass_(seconds=1)
    assert log_in(ports).access


def test_longest_block_ends_within_an_hour_when_the_clock_is_set_back(
    ports: Ports, clock: FakeClock
) -> None:
    make_user(ports, EMAIL)
    for _ in range(13):
        assert code_of(ports, password=WRONG) == "INVALID_CREDENTIALS"
        clock.pass_(seconds=MAX_BLOCK_SECONDS)
    assert code_of(ports, password=WRONG) == "INVALID_CREDENTIALS"
    clock.pass_(hours=-2)
    assert code_of(ports) == "LOGIN_ATTEMPT_DELAYED"
    clock.pass_(seconds=MAX_BLOCK_SECONDS - 1)
    assert code_of(ports) == "LOGIN_ATTEMPT_DELAYED"
    clock.pass_(seconds=1)
    assert log_in(ports).access


def test_block_lasts_its_full_time(ports: Ports, clock: FakeClock) -> None:
    make_user(ports, EMAIL)
    assert code_of(ports, password=WRONG) == "INVALID_CREDENTIALS"
    clock.pass_(seconds=0.5)
    assert code_of(ports) == "LOGIN_ATTEMPT_DELAYED"
    clock.pass_(seconds=0.5)
    assert log_in(ports).access


def test_killed_workers_lease_ends_when_the_clock_is_set_back(
    ports: Ports, clock: FakeClock
) -> None:
    app, _ = make_app(ports, "warehouse")
    make_delivery(ports, make_webhook(ports, app))
    clock.pass_(hours=2)
    assert lease_due_deliveries(ports, WORKER)
    assert not lease_due_deliveries(ports, WORKER)
    clock.pass_(hours=-2)
    assert lease_due_deliveries(ports, WORKER)
