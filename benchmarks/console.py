"""What each page of the console costs in a shop with a long past: time, SQL statements.

First with 100,000 apps, deliveries and sign-ins, then with the data of
``benchmarks.large_dataset`` too.
"""

import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median

from flask.testing import FlaskClient
from sqlalchemy import select

from app import models
from app.adapters.database.migrations import upgrade
from app.composition.factory import create_app
from app.composition.settings import DEFAULT_DATABASE_URL, Settings, load_settings
from app.composition.wiring import connect
from app.domain.authorization.actor import OPERATOR
from app.domain.deliveries.deliveries import DeliveryStatus
from app.domain.sign_in.sign_in_log import AccountType, SignInMethod, SignInReason
from app.models.record import Record
from app.ports import Ports
from app.services.demo.shop import fill_shop
from benchmarks.large_dataset import CUSTOMERS, ISSUER, Make, add_large_dataset, add_rows
from tests.browser.pages import page_addresses
from tests.builders.people import PASSWORD, make_user
from tests.builders.provider_records import make_provider
from tests.console.staff_client import ConsoleClient
from tests.fixtures.statements import recorded_statements

ROWS = 100_000
GOAL_MILLISECONDS = 50.0
GOAL_STATEMENTS = 8

_TIMES = 7
_FIRST_KEY = 1_000_000
_SPAN = timedelta(days=13)
_KEPT = timedelta(days=89)
_FAILED = 10  # one in so many
_ADMIN = "bench@example.com"
_NO_WORK = ("BEGIN", "COMMIT", "ROLLBACK", "PRAGMA")
_LISTS = (
    "/console/apps/?q=app+4711",
    "/console/deliveries/?status=failed",
    "/console/deliveries/?code=503",
    "/console/deliveries/?q=no+such+text",
    "/console/deliveries/?status=failed&select=all&ask=resend",
    "/console/webhooks/?q=stock",
    "/console/access/?ask=mode&mode=CUSTOMERS_ONLY",
    "/console/access/?ask=mode&mode=DISABLED",
    "/console/access/?ask=storefront&open=false",
    "/console/audit/?kind=keys",
    "/console/audit/?q=nothing",
    "/console/audit/?who=operator&from=2020-01-01&to=2099-01-01",
    "/console/customers/?q=zo%C3%AB+nowakberg",
    "/console/customers/?q=a&sort=name",
    "/console/customers/?status=inactive",
    "/console/search/?q=anna+smith",
    "/console/search/?q=clerk4711",
    "/console/single-sign-on/default/?ask=off",
    "/console/sign-ins/?result=FAILED",
    "/console/sign-ins/?reason=INCORRECT_PASSWORD",
    "/console/sign-ins/?q=no+such+text",
    "/console/sign-ins/?q=clara&from=2020-01-01&to=2099-01-01",
    "/console/staff/?by=sso",
    "/console/staff/?group=1&sort=name",
    "/console/staff/?q=clerk47",
    "/console/staff/?status=inactive",
    "/console/throttle/?q=198.18.7",
    "/console/throttle/?sort=failures",
)
"""Filtered lists, in addition to the pages' default views."""


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of one page."""

    address: str
    milliseconds: float
    statements: int

    @property
    def is_too_much(self) -> bool:
        return self.milliseconds > GOAL_MILLISECONDS or self.statements > GOAL_STATEMENTS


def main() -> None:
    """Fill a demo shop and print the table (SQLite unless ``DATABASE_URL`` says otherwise)."""
    url = load_settings().database_url
    with tempfile.TemporaryDirectory() as folder:
        if url == DEFAULT_DATABASE_URL:
            url = f"sqlite:///{folder}/console.sqlite3"
        settings = Settings(database_url=url)
        ports = connect(settings)
        started_at = time.perf_counter()
        fill(ports, url)
        make_user(ports, _ADMIN, is_superuser=True)
        seconds = time.perf_counter() - started_at
        print(f"{ROWS:,} apps, deliveries and sign-ins added in {seconds:.0f} s")
        costs = list(measure(ports, settings))
        print_table(costs)
        ports.activity.flush()  # else it waits for the crowd, which is one long line of writes
        started_at = time.perf_counter()
        add_large_dataset(ports, url)
        print(
            f"{CUSTOMERS:,} customers and more added in {time.perf_counter() - started_at:.0f} s"
        )
        crowded = list(measure(ports, settings))
        print_table(crowded)
        ports.activity.flush()
        ports.database.close()
    if any(cost.is_too_much for cost in (*costs, *crowded)):
        sys.exit(f"A page took longer than its goal, or more than {GOAL_STATEMENTS} statements.")


def print_table(costs: list[Cost]) -> None:
    """Print the table, the slowest page first."""
    print("| page | server time | statements |\n|---|---|---|")
    for cost in sorted(costs, key=lambda one: -one.milliseconds):
        warning = " **too much**" if cost.is_too_much else ""
        print(f"| `{cost.address}` | {cost.milliseconds:.1f} ms | {cost.statements}{warning} |")


def measure(ports: Ports, settings: Settings) -> Iterator[Cost]:
    """Measure each page for a superuser; the median of several requests."""
    app = create_app(ports, settings)
    client = app.test_client()
    if ConsoleClient(client, ports).sign_in(_ADMIN, PASSWORD).status != 303:
        raise RuntimeError("The console did not let the benchmark in.")
    with ports.database.reading() as session:
        customers = select(models.User.id).where(models.User.is_staff.is_(False))
        keys = {"customers": session.scalars(customers.order_by(models.User.id).limit(1)).one()}
    for address in (*sorted(page_addresses(app, keys)), *_LISTS):
        answer = client.get(address)
        if answer.status_code == 200 and answer.mimetype == "text/html":
            yield Cost(address, *_opened(client, address))


def _opened(client: FlaskClient, address: str) -> tuple[float, int]:
    milliseconds_ = []
    for _ in range(_TIMES):
        started_at = time.perf_counter()
        client.get(address)
        milliseconds_.append((time.perf_counter() - started_at) * 1000)
    with recorded_statements() as seen:
        client.get(address)
    return median(milliseconds_), sum(not statement.startswith(_NO_WORK) for statement in seen)


def fill(ports: Ports, url: str) -> None:
    """The demo shop, and so many apps, deliveries and sign-ins more."""
    upgrade(url)
    fill_shop(ports, OPERATOR, lambda _made: None)
    with ports.database.reading() as session:
        hooks = list(session.scalars(select(models.Webhook.id)))
        people = list(session.scalars(select(models.User.id)))
    now = ports.clock.now()
    _add(ports, models.App, lambda number: _app(number, now))
    _add(ports, models.AppToken, lambda number: _token(number, now))
    _add(ports, models.AppWord, lambda number: {"app_id": _FIRST_KEY + number, "word": "app"})
    _add(
        ports, models.AppWord, lambda number: {"app_id": _FIRST_KEY + number, "word": str(number)}
    )
    _add(ports, models.Delivery, lambda number: _delivery(number, now, hooks))
    _add(ports, models.DeliveryAttempt, lambda number: _attempt(number, now))
    _add(ports, models.SignInEvent, lambda number: _sign_in(number, now, people))
    make_provider(ports, issuer=ISSUER)


def _add(ports: Ports, table: type[Record], make: Make) -> None:
    add_rows(ports, table, ROWS, make)


def _app(number: int, now: datetime) -> dict[str, object]:
    created_at = now - timedelta(minutes=ROWS - number)
    return {"id": _FIRST_KEY + number, "name": f"App {number}", "created_at": created_at}


def _token(number: int, now: datetime) -> dict[str, object]:
    return {
        "app_id": _FIRST_KEY + number,
        "digest": f"{number:064d}",
        "last_four": f"{number % 10_000:04d}",
        "created_at": now - _SPAN,
        "last_used_at": _at(number, now),
    }


def _delivery(number: int, now: datetime, hooks: list[int]) -> dict[str, object]:
    failed = number % _FAILED == 0
    return {
        "id": _FIRST_KEY + number,
        "webhook_id": hooks[number % len(hooks)],
        "event": "PRODUCT_UPDATED",
        "subject_id": number % 1000,
        "message_id": f"msg_{number:024d}",
        "payload": f'{{"product": {{"name": "Bowl {number}", "slug": "bowl-{number}"}}}}',
        "issuer": "http://localhost:8000/graphql/",
        "status": (DeliveryStatus.FAILED if failed else DeliveryStatus.SUCCESS).value,
        "attempts": 1,
        "created_at": _at(number, now),
        "given_up": "It was tried often enough." if failed else "",
        "response_status": 503 if failed else 200,
    }


def _attempt(number: int, now: datetime) -> dict[str, object]:
    failed = number % _FAILED == 0
    return {
        "delivery_id": _FIRST_KEY + number,
        "created_at": _at(number, now),
        "duration": 0.02 + number % 97 / 1000,
        "status": (DeliveryStatus.FAILED if failed else DeliveryStatus.SUCCESS).value,
        "request_headers": {"webhook-id": f"msg_{number:024d}"},
        "response_status": 503 if failed else 200,
        "response_headers": {"Content-Type": "text/plain"},
        "response": "ok",
    }


def _sign_in(number: int, now: datetime, people: list[int]) -> dict[str, object]:
    at = now - _KEPT * ((ROWS - number) / ROWS)
    failed = number % _FAILED == 0
    return {
        "id": _FIRST_KEY + number,
        "at": at,
        "first_at": at,
        "attempts": 1 + number % 3 if failed else 1,
        "method": SignInMethod.PASSWORD.value,
        "reason": SignInReason.INCORRECT_PASSWORD.value if failed else "",
        "account_type": AccountType.CUSTOMER.value,
        "user_id": people[number % len(people)],
        "address": f"198.51.{number // 256 % 256}.{number % 256}",
        "device": "Firefox on Linux",
    }


def _at(number: int, now: datetime) -> datetime:
    """Spread evenly over the days that deliveries are kept, ending now."""
    return now - _SPAN * ((ROWS - number) / ROWS)
