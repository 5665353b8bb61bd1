"""Two hosts whose clocks differ share one database and agree about what lasts seconds."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta

import pytest

from app import models
from app.adapters.system import SystemClock
from app.composition.settings import Settings
from app.composition.wiring import connect
from app.domain.authorization.actor import OPERATOR, WORKER
from app.ports import Ports
from app.services.deliveries.dispatch import lease_due_deliveries
from app.services.operations.background_work import read_backlog, record_heartbeat
from app.services.sign_in.login_throttle import list_block_details
from app.services.sign_in.tokens import refresh_token
from tests.builders.apps import make_app
from tests.builders.people import ADDRESS, NOBODY, make_user, sign_in
from tests.builders.tokens import claims_in
from tests.builders.webhooks import change_delivery, make_delivery, make_webhook
from tests.fakes.keys import SECRET
from tests.fakes.offset_clock import Ahead
from tests.fixtures.ports import fake_ports
from tests.services.logins import EMAIL, WRONG, code_of

pytestmark = pytest.mark.both_databases

FAILURES = 9
BLOCK = 256
"""Seconds of a login's block after so many failures: the rest of the test happens within it."""

AGO = 200.0
"""The block of the failures before has ended."""

BATCH_SECONDS = 25.0

Connect = Callable[[str], "Hosts"]


@dataclass(frozen=True, slots=True)
class Hosts:
    """The clock of ``ahead`` is ahead of that of ``behind``, unless both are equal."""

    behind: Ports
    ahead: Ports


@pytest.fixture(params=[0, 8, 600], ids=lambda seconds: f"{seconds} s apart")
def connect_hosts(request: pytest.FixtureRequest, postgresql_url: str) -> Iterator[Connect]:
    """Return what connects two hosts, their clocks so far apart, with the Redis at a URL."""
    opened: list[Ports] = []

    def host(redis_url: str, ahead: float) -> Ports:
        real = connect(
            Settings(database_url=postgresql_url, redis_url=redis_url, secret_key=SECRET)
        )
        fake = fake_ports(postgresql_url, Ahead(ahead), first_key=10 * len(opened))
        opened.extend((real, fake))
        return replace(fake, throttle=real.throttle, database_clock=real.database_clock)

    yield lambda redis_url: Hosts(
        host(redis_url, -request.param / 2), host(redis_url, request.param / 2)
    )
    for ports in opened:
        ports.database.close()


@pytest.fixture
def hosts(connect_hosts: Connect) -> Hosts:
    return connect_hosts("")


@pytest.mark.parametrize("store", ["postgresql", "redis"])
@pytest.mark.parametrize("is_ahead", [True, False])
def test_block_of_a_login_is_known_on_the_other_host(
    request: pytest.FixtureRequest, connect_hosts: Connect, store: str, *, is_ahead: bool
) -> None:
    hosts = connect_hosts(request.getfixturevalue("redis_url") if store == "redis" else "")
    here, there = (hosts.ahead, hosts.behind) if is_ahead else (hosts.behind, hosts.ahead)
    user = make_user(here, EMAIL)
    for _ in range(FAILURES - 1):
        here.throttle.fail(ADDRESS, "", user, SystemClock().timestamp() - AGO)

    assert code_of(here, EMAIL, WRONG) == "INVALID_CREDENTIALS"
    assert code_of(there, EMAIL, WRONG) == "LOGIN_ATTEMPT_DELAYED"
    assert code_of(here, EMAIL, WRONG) == "LOGIN_ATTEMPT_DELAYED"

    for host in (here, there):
        (block,) = list_block_details(host, OPERATOR)
        assert 0 < block.until.timestamp() - SystemClock().timestamp() <= BLOCK


@pytest.mark.parametrize("is_ahead", [True, False])
def test_refresh_token_can_be_used_on_both_hosts_at_once(hosts: Hosts, *, is_ahead: bool) -> None:
    both = (hosts.ahead, hosts.behind) if is_ahead else (hosts.behind, hosts.ahead)
    token = sign_in(hosts.behind, make_user(hosts.behind)).refresh

    first, second = (_refresh(host, token) for host in both)

    assert first == second


@pytest.mark.parametrize("is_ahead", [True, False])
def test_leased_delivery_is_not_sent_by_the_other_host(hosts: Hosts, *, is_ahead: bool) -> None:
    here, there = (hosts.ahead, hosts.behind) if is_ahead else (hosts.behind, hosts.ahead)
    app, _ = make_app(here, "warehouse")
    delivery = make_delivery(hosts.behind, make_webhook(here, app))

    assert len(lease_due_deliveries(here, WORKER)) == 1
    _let_pass(here, delivery, BATCH_SECONDS)
    assert lease_due_deliveries(there, WORKER) == ()


def test_heartbeat_has_its_age_on_the_other_host(hosts: Hosts) -> None:
    began = time.monotonic()
    record_heartbeat(hosts.behind, WORKER)
    age = read_backlog(hosts.ahead, WORKER).heartbeat_age
    assert age is not None
    assert 0 <= age <= time.monotonic() - began + 1  # of two clocks


def _let_pass(ports: Ports, delivery: int, seconds: float) -> None:
    """Move the lease of ``delivery`` as if it had begun so long ago."""
    with ports.database.reading() as session:
        until = session.get_one(models.Delivery, delivery).lease_until
    assert until is not None
    change_delivery(ports, delivery, lease_until=until - timedelta(seconds=seconds))


def _refresh(ports: Ports, token: str) -> object:
    """Refresh; return what names the successor of ``token``."""
    configuration = replace(ports.configuration, single_use_refresh_tokens=True)
    one_use = replace(ports, configuration=configuration)
    successor = refresh_token(one_use, NOBODY, token=token).refresh
    assert successor is not None
    return claims_in(ports, successor)["csrf_token"]
