"""The product and webhooks that recorded exchanges name by ID."""

from app import models
from app.domain.accounts.search import fold
from app.domain.commerce.money import CURRENCY
from tests.spec.exchanges import Exchange
from tests.spec.replay import Replay

_PRODUCT = (126, "Headless + Omnichannel in a pill")
_TARGET = "http://127.0.0.1:8899/hook"
_QUERY = "subscription{event{...on ProductCreated{product{id name}}}}"
_OTHERS = {15: "rec", 16: "rec", 17: "rec", 19: "x", 20: "rec"}
_LAST = 21
_RENAMED = ("delete_app_owner_ok",)
"""Exchanges recorded after the last webhook was renamed."""


def add_webhooks(replay: Replay, exchange: Exchange) -> None:
    """Add the webhooks that existed when an exchange was recorded."""
    ports = replay.shop.ports
    now = ports.clock.now()
    owner = replay.shop.apps["PRODUCTS"][0]
    last = "upd" if exchange.name in _RENAMED else "rec2"
    key, name = _PRODUCT
    with ports.database.transaction() as session:
        session.add(
            models.Product(
                id=key,
                name=name,
                slug="pill",
                price=1000,
                currency=CURRENCY,
                is_published=True,
                created_at=now,
                updated_at=now,
                folded=fold(name),
            )
        )
        session.add_all(
            models.Webhook(
                id=webhook,
                app_id=owner,
                name=called,
                target_url=_TARGET,
                query=_QUERY,
                custom_headers={},
                created_at=now,
            )
            for webhook, called in (_OTHERS | {_LAST: last}).items()
        )
        session.flush()
        session.add(models.WebhookEvent(event="PRODUCT_CREATED", webhook_id=_LAST))
