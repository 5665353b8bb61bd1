"""A shop with one of everything and callers of every kind, reset after each change."""

import sqlite3
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from string import Template

from sqlalchemy import select, update

from app import models
from app.domain.apps.apps import JobStatus
from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission
from app.domain.commerce.channels import NewChannel
from app.domain.commerce.sales import OrderStatus
from app.domain.events import EventType
from app.domain.values.ids import to_global_id
from app.domain.values.inputs import Upload
from app.ports import Ports
from app.services.commerce.channels import create_channel
from app.services.shop.settings import update_logo
from tests.builders.addresses import make_address
from tests.builders.apps import extension_token, make_app, make_extension_app
from tests.builders.images import png
from tests.builders.orders import checkout_id, line_id, make_cart, make_order, order_id
from tests.builders.people import (
    NOBODY,
    actor_of,
    change_user,
    make_group,
    make_staff,
    make_user,
    sign_in,
)
from tests.builders.products import make_product, product_id
from tests.builders.shop import configure_shop
from tests.builders.webhooks import make_delivery, make_webhook
from tests.graphql.matrix.kept_rows import KeptRows
from tests.graphql.matrix.rules import Row

Permissions = frozenset[Permission]
NOTHING: Permissions = frozenset()
_TEXTS = {"key": "1"}
METADATA = {"public_metadata": _TEXTS, "private_metadata": _TEXTS}
QUERY = "subscription { event { ...on ProductUpdated { product { id } } } }"


class SampleShop:
    """The objects that a row's ``call`` can name, and the callers."""

    def __init__(self, ports: Ports, file: Path) -> None:
        self.ports = ports
        self._everybody = make_group(ports, "everybody")
        configure_shop(
            ports,
            storefront_opens_at=ports.clock.now(),
            staff_second_factor="REQUIRED",
            second_factor_from=ports.clock.now() + timedelta(days=14),
        )
        update_logo(ports, OPERATOR, Upload("logo.png", "image/png", png()))
        self._names = one_of_everything(ports)
        self._file = sqlite3.connect(file, isolation_level=None)
        self._kept = KeptRows(self._file)
        self._credentials: dict[tuple[object, ...], str] = {}

    def callers(
        self, row: Row, *, with_superuser: bool = True
    ) -> Iterator[tuple[str, str | None]]:
        """Yield every kind of caller for that row with its column."""
        others = ALL_PERMISSIONS - frozenset(row.permissions)
        needed = [frozenset({permission}) | row.beside for permission in row.permissions] or [
            ALL_PERMISSIONS
        ]
        yield "anonymous", None
        yield "customer", self._known("customer")
        for kind in ("staff", "app"):
            yield f"{kind} without", self._known(kind, others)
            for permissions in needed:
                yield f"{kind} with", self._known(kind, permissions)
        if with_superuser:
            yield "staff with", self._known("superuser")
        either = ((others, ALL_PERMISSIONS), (ALL_PERMISSIONS, others))
        for user, app in either if row.permissions else [(NOTHING, NOTHING)]:
            yield "extension without", self._known("extension", user, app)
        for permissions in needed:
            yield "extension with", self._known("extension", permissions, permissions)

    def call(self, row: Row) -> str:
        """Return the row's operation with the objects' IDs."""
        return Template(row.call).substitute(self._names)

    def keep(self) -> None:
        """Save the current state."""
        self._kept.keep()

    def put_back(self) -> None:
        """Restore the saved state."""
        self._kept.put_back()

    def version(self) -> int:
        """Return a value that differs after every change."""
        [version] = self._file.execute("PRAGMA data_version").fetchone()
        assert isinstance(version, int)
        return version

    def has_other_rows(self) -> bool:
        """Whether any row differs from the saved state, whatever numbers were used meanwhile."""
        return self._kept.have_changed()

    def audit_row_count(self) -> int:
        """Return the number of audit entries."""
        [count] = self._file.execute("SELECT count(*) FROM audit").fetchone()
        assert isinstance(count, int)
        return count

    def close(self) -> None:
        self._file.close()

    def _known(self, kind: str, *permissions: Permissions) -> str:
        """Return the credential of such a caller, created on first use."""
        if (kind, *permissions) not in self._credentials:
            self._credentials[kind, *permissions] = self._make(kind, *permissions)
        return self._credentials[kind, *permissions]

    def _make(self, kind: str, *permissions: Permissions) -> str:
        if kind == "customer":
            return sign_in(self.ports, make_user(self.ports, "someone@example.com")).access
        if kind == "superuser":
            manager = make_user(self.ports, "boss@example.com", is_superuser=True)
            return sign_in(self.ports, manager).access
        if kind == "app":
            return make_app(self.ports, "caller", *permissions[0])[1]
        if kind == "staff":
            return sign_in(self.ports, self._person(*permissions)).access
        return self._extension(*permissions)

    def _extension(self, user: Permissions, app: Permissions) -> str:
        actor = actor_of(self.ports, self._person(user))
        token = extension_token(self.ports, actor, make_extension_app(self.ports, "page", *app))
        assert token is not None
        return token

    def _person(self, permissions: Permissions) -> int:
        email = f"{self.ports.randomness.token(12).lower()}@example.com"
        groups = [self._everybody]
        return make_user(self.ports, email, is_staff=True, permissions=permissions, groups=groups)


def one_of_everything(ports: Ports) -> Mapping[str, str]:
    """Return the objects' IDs by the names that calls use."""
    app, token = make_app(ports, "target")
    off = create_channel(ports, OPERATOR, NewChannel("Off", "off", "EUR", "PL"))
    with ports.database.transaction() as session:
        session.execute(update(models.Channel).values(METADATA))
    page = make_extension_app(ports, "page", logo="a" * 32)
    webhook = make_webhook(ports, app, EventType.PRODUCT_UPDATED, query=QUERY)
    listener, _ = make_app(ports, "listener", Permission.MANAGE_PRODUCTS)
    hearing = make_webhook(ports, listener, EventType.PRODUCT_UPDATED, query=QUERY)
    product = make_product(ports)
    cart, staff = make_cart(ports, NOBODY, product), make_staff(ports, "target@example.com")
    customer = make_user(ports, "customer@example.com")
    for key in (customer, staff):
        change_user(ports, key, note="Prefers tea", external_reference=f"erp-{key}")
    now = ports.clock.now()
    with ports.database.transaction() as session:
        entry = models.AppExtension(
            app_id=page.id, label="An entry", url="/", mount="X", target="POPUP", settings={}
        )
        failed = models.AppInstallation(
            app_name="failed",
            manifest_url="http://127.0.0.1:9/manifest",
            status=JobStatus.FAILED.value,
            caller={},
            created_at=now,
            updated_at=now,
        )
        problem = models.AppProblem(
            app_id=app,
            key="dismissed",
            message="It was solved.",
            created_at=now,
            updated_at=now,
            dismissed_by="target@example.com",
            dismissed_by_id=staff,
        )
        session.add_all([entry, failed, problem])
        session.flush()
        session.execute(update(models.User).values(METADATA))
        session.execute(update(models.App).values(METADATA))
        address = {"city": "BERLIN", "country": "DE"}
        session.execute(update(models.Shop).values({**METADATA, "company_address": address}))
        keys = {"extension": entry.id, "installation": failed.id}
        token_key = session.scalars(
            select(models.AppToken.id).where(models.AppToken.app_id == app)
        ).one()
    return {
        "app": to_global_id("App", app),
        "shop": to_global_id("Shop", 1),
        "page": to_global_id("App", page.id),
        "app_token": token,
        "token": to_global_id("AppToken", token_key),
        "extension": to_global_id("AppExtension", keys["extension"]),
        "installation": to_global_id("AppInstallation", keys["installation"]),
        "webhook": to_global_id("Webhook", webhook),
        "hearing": to_global_id("Webhook", hearing),
        "delivery": to_global_id("EventDelivery", make_delivery(ports, webhook)),
        "product": product_id(product),
        "cart": checkout_id(cart),
        "line": line_id(cart),
        "draft": product_id(make_product(ports, "draft", is_published=False)),
        "order": order_id(make_order(ports)),
        "order_of_a_customer": order_id(
            make_order(ports, actor_of(ports, customer), status=OrderStatus.FULFILLED)
        ),
        "order_of_staff": order_id(make_order(ports, actor_of(ports, staff))),
        "staff": to_global_id("User", staff),
        "customer": to_global_id("User", customer),
        "address": to_global_id(
            "Address",
            make_address(ports, customer, public_metadata=_TEXTS, private_metadata=_TEXTS),
        ),
        "channel": to_global_id("Channel", off.id),
        "group": to_global_id("Group", make_group(ports, "target")),
        "query": QUERY,
    }
