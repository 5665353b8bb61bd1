"""Two shops alike: one at hand, the other behind a URL."""

import re
import sqlite3
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from click.testing import Result

from app import models
from app.composition.settings import Settings
from app.composition.wiring import connect
from app.domain.authorization.permissions import Permission
from app.domain.deliveries.deliveries import DeliveryStatus
from app.domain.events import EventType
from app.ports import Ports
from app.services.keys import published_keys
from app.web.installation import RemoteAccess
from tests.builders.apps import make_app
from tests.builders.people import make_user, sign_in
from tests.builders.products import make_product
from tests.builders.webhooks import make_webhook
from tests.commands.shell import run
from tests.fakes.activity import FakeActivity
from tests.fakes.keys import SECRET, ReadyKeyStore
from tests.fakes.no_database import NoDatabase
from tests.fakes.sign_in_log import FakeSignInLog
from tests.fakes.strict_http import LOOPBACK

QUERY = "subscription { event { ... on ProductUpdated { product { id name } } } }"
PASSWORD = "a sentence that opens the shop"
LONG_AGO = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(\+00:00)?")


def settings_of(file: Path) -> Settings:
    """The settings of the shop in that file."""
    return Settings(
        database_url=f"sqlite:///{file}",
        secret_key=SECRET,
        outgoing_allowed_networks=LOOPBACK,
        jwt_ttl_access=24 * 3600,  # one sign-in is for all tests of a worker, however long it runs
    )


def connect_shop(file: Path) -> Ports:
    """The ports of the shop in that file, in real time; nothing is written later on."""
    ports = connect(settings_of(file))
    return replace(
        ports, keys=ReadyKeyStore(), activity=FakeActivity(), sign_in_log=FakeSignInLog()
    )


def furnish(ports: Ports) -> None:
    """People, two apps, two products, and three webhooks with what was sent to one of them."""
    published_keys(ports)
    make_user(ports, "boss@example.com", password=PASSWORD, is_superuser=True)
    make_user(ports, "clerk@example.com", password=PASSWORD, is_staff=True)
    app, _ = make_app(ports, "Warehouse", Permission.MANAGE_PRODUCTS)
    other, _ = make_app(ports, "Bookkeeping", Permission.MANAGE_ORDERS)
    make_product(ports, "Ash bowl")
    make_product(ports, "Birch spoon")
    hook = make_webhook(ports, app, EventType.PRODUCT_UPDATED)
    asking = make_webhook(
        ports, app, EventType.PRODUCT_UPDATED, query=QUERY, custom_headers={"X-Key": "7"}
    )
    silent = make_webhook(ports, other, EventType.ORDER_PAID, secret="whsec_b2xk")
    for key, name in ((hook, "plain"), (asking, "asking"), (silent, "silent")):
        _call(ports, key, name)
    _sent(ports, asking, DeliveryStatus.SUCCESS, 200)
    _sent(ports, asking, DeliveryStatus.FAILED, 500)
    _sent(ports, hook, DeliveryStatus.FAILED, None)


def _call(ports: Ports, key: int, name: str) -> None:
    with ports.database.transaction() as session:
        session.get_one(models.Webhook, key).name = name


def _sent(ports: Ports, webhook: int, status: DeliveryStatus, answered: int | None) -> None:
    with ports.database.transaction() as session:
        delivery = models.Delivery(
            webhook_id=webhook,
            event="PRODUCT_UPDATED",
            subject_id=1,
            message_id=f"msg_{webhook}_{status.value}",
            payload='{"product":{"id":"UHJvZHVjdDox","name":"Ash tray"}}',
            issuer="http://localhost:8000/graphql/",
            status=status.value,
            attempts=1,
            created_at=LONG_AGO,
        )
        session.add(delivery)
        session.flush()
        session.add(
            models.DeliveryAttempt(
                delivery_id=delivery.id,
                created_at=LONG_AGO,
                duration=0.25,
                status=status.value,
                response_status=answered,
                request_headers={"Latchkey-Event": "product_updated"},
                response_headers={},
                response="" if answered else "127.0.0.1 cannot be reached.",
            )
        )


@dataclass(slots=True)
class Shops:
    """One shop ``here``, and its twin behind ``url``, both as in ``origin`` when a test begins."""

    local: Ports
    remote: Ports
    files: tuple[Path, Path]
    origin: Path
    url: str
    remote_access: RemoteAccess

    def put_back(self) -> None:
        """Make both what they were."""
        with sqlite3.connect(self.origin) as origin:
            for file in self.files:
                with sqlite3.connect(file) as copy:
                    origin.backup(copy)
                copy.close()
        origin.close()

    def twice(self, *arguments: str, stdin: str | bytes | None = None) -> Result:
        """``flask ARGUMENTS`` here, after seeing that it comes to the same there."""
        at_hand = run(self.local, *arguments, stdin=stdin, remote_access=self.remote_access)
        distant = self.remote_only(*arguments, stdin=stdin)
        assert comparable_output(distant) == comparable_output(at_hand)
        return at_hand

    def remote_only(self, *arguments: str, stdin: str | bytes | None = None) -> Result:
        """``flask ARGUMENTS --instance URL``, which does not touch the shop at hand."""
        nothing = replace(self.local, database=NoDatabase())
        words = (*arguments, "--instance", self.url)
        return run(nothing, *words, stdin=stdin, remote_access=self.remote_access)


def comparable_output(result: Result) -> tuple[int, str, str]:
    """How it ended and what it said; moments are all the same."""
    return result.exit_code, timeless(result.stdout), timeless(result.stderr)


def timeless(text: str) -> str:
    return _TIME.sub("TIME", text)


def token_of(ports: Ports, user: int = 1) -> str:
    """An access token for somebody of that shop."""
    return sign_in(ports, user).access
