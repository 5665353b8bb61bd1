"""Databases of two sizes: a small shop, and one with a million people and sessions."""

import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path

from app.adapters.database.migrations import upgrade
from app.composition.settings import Settings
from app.composition.wiring import connect
from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import Permission
from app.domain.events import EventType
from app.domain.shop.settings import ShopUpdate
from app.ports import Ports
from app.services.oauth.grants import Granted
from app.services.shop.settings import update_shop
from tests.builders.apps import make_app
from tests.builders.oauth import Registered, grant, make_client
from tests.builders.orders import make_order
from tests.builders.people import NOBODY, PASSWORD, make_group, make_user, sign_in
from tests.builders.products import make_product
from tests.builders.webhooks import make_many_deliveries, make_webhook

MANAGER = "manager@example.com"
PRODUCTS = 100
_CUSTOMERS = 100
_ORDERS = 40
_DELIVERIES = 100
_CHUNK = 50_000
_QUERY = (
    "subscription { event { issuedAt ... on ProductUpdated"
    " { product { id name slug description isPublished } } } }"
)


class BenchShop:
    """A migrated shop with a manager, apps, products, customers, orders and deliveries.

    On SQLite, with as many other users as given; else in the empty database at ``url``, or in the
    one that ``settings`` name.
    """

    def __init__(
        self,
        folder: Path,
        *,
        other_users: int = 0,
        url: str = "",
        settings: Settings | None = None,
    ) -> None:
        url = url or f"sqlite:///{folder / f'bench-{other_users}.sqlite3'}"
        settings = settings or Settings(database_url=url)
        self.url = settings.database_url
        upgrade(self.url)
        self.ports: Ports = connect(settings)
        group = make_group(
            self.ports, "Managers", Permission.MANAGE_PRODUCTS, Permission.MANAGE_ORDERS
        )
        user = make_user(self.ports, MANAGER, password=PASSWORD, is_staff=True, groups=[group])
        pair = sign_in(self.ports, user)
        self.access, self.refresh = pair.access, pair.refresh
        self.app, self.app_token = make_app(self.ports, "bench", Permission.MANAGE_PRODUCTS)
        self.products = [make_product(self.ports, f"Product {n}") for n in range(PRODUCTS)]
        self.client, self.granted = _grant(self.ports, user)
        self.reader_token, self.webhook = _fill_lists(self.ports, self.products[0])
        if other_users:
            _add_other_users(self.url.removeprefix("sqlite:///"), other_users)


def _grant(ports: Ports, user: int) -> tuple[Registered, Granted]:
    """Turn the OpenID provider on; return a client, and what it was granted."""
    update_shop(ports, OPERATOR, ShopUpdate(hosted_pages=True))
    client = make_client(ports, "bench", is_first_party=True)
    return client, grant(ports, client.client, user, client.client.scopes)


def _fill_lists(ports: Ports, product: int) -> tuple[str, int]:
    """Fill the lists of customers, orders and deliveries; return the token that reads them.

    The second value is the webhook that has the deliveries.
    """
    for number in range(_CUSTOMERS):
        make_user(ports, f"customer{number}@example.com", password=None, first_name="Ada")
    for _ in range(_ORDERS):
        make_order(ports, NOBODY, product)
    app, token = make_app(ports, "reader", Permission.MANAGE_USERS, Permission.MANAGE_ORDERS)
    webhook = make_webhook(ports, app, EventType.STAFF_DELETED)
    make_many_deliveries(ports, webhook, _DELIVERIES)
    return token, webhook


def subscribe(ports: Ports, app: int, count: int, target: str) -> None:
    """Subscribe that many webhooks of ``app`` to product updates, by a query."""
    for _ in range(count):
        make_webhook(ports, app, EventType.PRODUCT_UPDATED, target_url=target, query=_QUERY)


def _add_other_users(path: str, count: int) -> None:
    """People with a session each, and an app token each, written as fast as SQLite can."""
    now = datetime.now(UTC).replace(tzinfo=None)
    joined, expires = str(now), str(now + timedelta(days=30))
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA synchronous=OFF")
    for start in range(0, count, _CHUNK):
        keys = range(1000 + start, 1000 + min(start + _CHUNK, count))
        connection.execute("BEGIN")
        connection.executemany(
            "INSERT INTO users (id, email, date_joined, updated_at) VALUES (?, ?, ?, ?)",
            ((key, f"person{key}@example.com", joined, joined) for key in keys),
        )
        connection.executemany(
            "INSERT INTO sessions (id, token, user_id, origin, created_at, expires_at)"
            " VALUES (?, ?, ?, 'password', ?, ?)",
            ((key, f"session{key:09d}", key, joined, expires) for key in keys),
        )
        connection.executemany(
            "INSERT INTO app_tokens (id, app_id, digest, last_four, created_at)"
            " VALUES (?, 1, ?, 'abcd', ?)",
            ((key, f"{key:064x}", joined) for key in keys),
        )
        connection.execute("COMMIT")
    connection.execute("ANALYZE")
    connection.close()
