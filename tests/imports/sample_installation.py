"""An installation with one row of everything that an export has."""

from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import update

from app import models
from app.domain.authorization.permissions import Permission
from app.domain.events import EventType
from app.domain.keys import PROVIDER_SECRET
from app.ports import Ports
from tests.builders.addresses import make_address
from tests.builders.apps import make_app
from tests.builders.people import make_group, make_user
from tests.builders.provider_records import link_identity, make_provider
from tests.builders.shop import configure_shop
from tests.builders.webhooks import make_webhook
from tests.fakes.clock import START

WEBHOOK_SECRET = "the webhook's secret"
CLIENT_SECRET = "the client's secret"
HEADERS = {"X-Api-Key": "the key of the header", "X-Region": "eu"}


@dataclass(frozen=True, slots=True)
class Sample:
    """The keys of what was stored; ``token`` is the app's."""

    customer: int
    staff: int
    group: int
    app: int
    webhook: int
    token: str


def fill_sample(ports: Ports) -> Sample:
    """Store one row of everything that an export has."""
    group = make_group(ports, "Support", Permission.MANAGE_USERS, Permission.MANAGE_ORDERS)
    customer = make_user(ports, "zoë@example.com", first_name="Zoë", last_name="Ågren")
    staff = make_user(
        ports,
        "staff@example.com",
        is_staff=True,
        permissions=[Permission.MANAGE_APPS],
        groups=[group],
        password=None,
    )
    _complete_people(ports, customer)
    make_address(ports, customer)
    link_identity(ports, customer)
    sealed = ports.encryption.encrypt(PROVIDER_SECRET, CLIENT_SECRET)
    make_provider(ports, client_id="shop", client_secret=sealed)
    app, token = make_app(ports, "Parcel Post", Permission.MANAGE_ORDERS)
    webhook = make_webhook(
        ports,
        app,
        EventType.ORDER_CREATED,
        EventType.CUSTOMER_CREATED,
        secret=WEBHOOK_SECRET,
        custom_headers=dict(HEADERS),
    )
    _complete_app(ports, app, webhook)
    configure_shop(
        ports,
        name="Fine Shop",
        customer_set_password_url="http://localhost/new",
        accent_color="#aa3300",
        logo="emblem",
    )
    with ports.database.transaction() as session:
        session.add(models.Logo(name="emblem", width=2, height=1, data=b"\x00png"))
        session.add(
            models.MailTemplate(
                kind="account_exists",
                language_code="DE",
                version=3,
                is_current=True,
                subject="{{ shop.name }}",
                html="<p>{{ recipient }}</p>",
                text="{{ recipient }}",
                saved_at=START,
                saved_by="hannah@example.com",
            )
        )
    return Sample(customer, staff, group, app, webhook, token)


def _complete_people(ports: Ports, customer: int) -> None:
    with ports.database.transaction() as session:
        values = {
            "note": "Prefers email.\nCalls rarely.",
            "external_reference": "crm-1",
            "time_zone": "Europe/Stockholm",
            "language_code": "sv",
            "last_login": ports.clock.now() - timedelta(microseconds=1),
            "avatar": "picture",
            "public_metadata": {"b": "2", "a": "1"},
            "private_metadata": {"crm": "☂"},
        }
        session.execute(update(models.User).where(models.User.id == customer).values(**values))
        for name, size in (("picture", 64), ("Older", 64), ("picture", 128)):
            session.add(models.Avatar(name=name, size=size, user_id=customer, data=b"\x00webp"))


def _complete_app(ports: Ports, app: int, webhook: int) -> None:
    with ports.database.transaction() as session:
        session.execute(
            update(models.App).where(models.App.id == app).values(public_metadata={"k": "v"})
        )
        session.execute(
            update(models.Webhook)
            .where(models.Webhook.id == webhook)
            .values(saved_by_kind="operator", saved_by="operator")
        )
        session.add(
            models.AppExtension(
                app_id=app,
                label="Parcels",
                url="https://app.example.com/parcels",
                mount="ORDER_DETAILS_WIDGETS",
                target="WIDGET",
                permissions="MANAGE_ORDERS",
                settings={"widgetTarget": {"method": "GET"}},
            )
        )
