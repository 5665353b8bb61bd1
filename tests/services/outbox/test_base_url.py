"""What happens at the shell says where it comes from as well."""

from dataclasses import replace

import pytest
from sqlalchemy import select

from app import models
from app.domain.authorization.actor import OPERATOR, WORKER
from app.domain.authorization.permissions import Permission
from app.domain.events import EventType, ProductUpdated
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.services.deliveries.dry_runs import trigger_webhook
from app.services.deliveries.fanout import fan_out_events
from app.services.outbox.base_url import save_base_url
from app.services.outbox.publisher import add_event
from tests.builders.apps import make_app
from tests.builders.products import make_product, product_id
from tests.builders.webhooks import make_webhook


def issuers(ports: Ports) -> list[str]:
    """The address of the API that an operator's event, and a delivery by hand, are sent with."""
    app, _ = make_app(ports, "warehouse", Permission.MANAGE_PRODUCTS)
    webhook = make_webhook(ports, app, EventType.PRODUCT_UPDATED)
    product = make_product(ports)
    with ports.database.transaction() as session:
        add_event(ports, OPERATOR, session, ProductUpdated(product))
    fan_out_events(ports, WORKER)
    trigger_webhook(ports, OPERATOR, to_global_id("Webhook", webhook), product_id(product))
    with ports.database.reading() as session:
        return list(session.scalars(select(models.Delivery.issuer).order_by(models.Delivery.id)))


@pytest.mark.parametrize(
    ("public_url", "served", "address"),
    [
        ("", [], "http://localhost:8000"),
        ("", ["http://127.0.0.1:9000", "http://localhost:9001"], "http://localhost:9001"),
        ("https://shop.example", ["http://localhost:9001"], "https://shop.example"),
    ],
)
def test_operators_event_has_the_shops_base_url(
    ports: Ports, public_url: str, served: list[str], address: str
) -> None:
    configured = replace(ports.configuration, public_url=public_url)
    ports = replace(ports, configuration=configured)
    for base_url in served:
        save_base_url(ports, OPERATOR, base_url)

    assert issuers(ports) == [f"{address}/graphql/"] * 2


def test_served_base_url_is_not_saved_with_a_configured_url(ports: Ports) -> None:
    configured = replace(ports.configuration, public_url="https://shop.example")
    save_base_url(replace(ports, configuration=configured), OPERATOR, "http://[::1]:9001")
    assert issuers(ports) == ["http://localhost:8000/graphql/"] * 2
