"""A shop that has one of everything, and desks at its console."""

from flask import Flask

from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import Permission
from app.domain.commerce.channels import NewChannel
from app.domain.events import EventType
from app.ports import Ports
from app.services.commerce.channels import create_channel
from tests.builders.apps import link_client, make_app
from tests.builders.deliveries import store_attempt
from tests.builders.mails import make_mail
from tests.builders.oauth import make_client
from tests.builders.people import make_group, make_staff, make_user
from tests.builders.provider_records import make_provider
from tests.builders.webhooks import make_delivery, make_webhook
from tests.console.staff_client import ConsoleClient

ADMIN = "admin@example.com"
STAFF = "staff@example.com"
CUSTOMER = "customer@example.com"

_THERE = "https://login.invalid/there"


def populate(shop: Ports) -> None:
    """Make one of everything, each with the key 1; the customer has the key 2."""
    make_staff(shop, "somebody@example.com")
    make_user(shop, CUSTOMER)
    make_user(shop, ADMIN, is_superuser=True)
    make_staff(shop, STAFF)
    make_group(shop, "Support", Permission.MANAGE_USERS)
    create_channel(shop, OPERATOR, NewChannel("Poland", "poland", "PLN", "PL"))
    app_id, _ = make_app(shop, "Labels", Permission.MANAGE_PRODUCTS)
    hook = make_webhook(shop, app_id, EventType.PRODUCT_UPDATED)
    store_attempt(shop, make_delivery(shop, hook))
    failed = {"sent_at": None, "last_error": "The mail server responded with 550."}
    make_mail(shop, user_id=2, recipient=CUSTOMER, kind="password_changed", **failed)
    provider_id = make_provider(
        shop, issuer=_THERE, json_web_key_set_url=_THERE, user_info_url=_THERE
    )
    link_client(shop, app_id, provider_id)
    make_client(shop)


def open_console(console_app: Flask, shop: Ports, email: str = "") -> ConsoleClient:
    """A desk of that application, with somebody signed in at it if an email is given."""
    console = ConsoleClient(console_app.test_client(), shop)
    if email:
        console.enter(email)
    return console
