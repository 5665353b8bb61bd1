"""One object of each type that can be deleted, every field filled, and its snapshot."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from app.domain.accounts.addresses import Address
from app.domain.accounts.users import Group, User
from app.domain.apps.apps import App, AppType
from app.domain.authorization.permissions import Permission, PermissionGroup
from app.domain.commerce.channels import Channel
from app.domain.commerce.money import of_units
from app.domain.commerce.products import Product
from app.domain.commerce.products import snapshot_of as product_snapshot
from app.services.accounts.stored_addresses import address_snapshot
from app.services.identity.stored_apps import app_snapshot
from app.services.identity.users import snapshot_of as user_snapshot
from app.services.people.stored_groups import group_snapshot

FROZEN = sorted((Path(__file__).parent / "snapshots").glob("*.json"))
"""The snapshots that versions have stored: ``Product-1.0.json`` was first written by 1.0."""

_MOMENT = datetime(2026, 3, 1, 12, 0, 0, 250_000, tzinfo=UTC)
_HELD = frozenset({Permission.MANAGE_ORDERS, Permission.MANAGE_USERS})
USER = User(
    id=7,
    email="ann@example.com",
    first_name="Ann",
    last_name="Lee",
    is_staff=True,
    is_active=True,
    is_confirmed=True,
    is_superuser=True,
    date_joined=_MOMENT,
    updated_at=_MOMENT,
    last_login=_MOMENT,
    permissions=_HELD,
    groups=(Group(3, "Clerks", _HELD, frozenset({2})),),
    avatar="ann.png",
    time_zone="Europe/Oslo",
)
GROUP = PermissionGroup(3, "Clerks", _HELD, members=2, channel_ids=frozenset({2}))
APP = App(
    id=5,
    name="Warehouse",
    identifier="com.example.warehouse",
    type=AppType.THIRDPARTY,
    is_active=True,
    created_at=_MOMENT,
    permissions=_HELD,
    about="Counts.",
    author="Example",
    version="1.2.3",
    audience="warehouse",
    app_url="https://app.example.com/",
    data_privacy_url="https://app.example.com/privacy",
    homepage_url="https://app.example.com/home",
    manifest_url="https://app.example.com/manifest",
    support_url="https://app.example.com/support",
    configuration_url="https://app.example.com/settings",
    data_privacy="Keeps orders for a year.",
    logo="AbCdEf",
)
PRODUCT = Product(
    id=11,
    name="Ash bowl",
    slug="ash-bowl",
    description="Deep.",
    price=of_units(1250),
    is_published=True,
    created_at=_MOMENT,
    updated_at=_MOMENT,
)


ADDRESS = Address(
    id=3,
    user_id=7,
    first_name="Ann",
    last_name="Lee",
    company_name="Lee & Co",
    street_address_1="Tęczowa 7",
    street_address_2="Floor 2",
    city="WROCŁAW",
    city_area="Center",
    postal_code="53-601",
    country="PL",
    country_area="Dolnośląskie",
    phone="+48713448150",
    is_default_shipping_address=True,
    is_default_billing_address=True,
)
CHANNEL = Channel(3, "Poland", "pl", "EUR", "PL", is_active=True)


def new_snapshots() -> dict[str, Mapping[str, Any]]:
    """Return what a deletion's event stores now, by the subject's type."""
    stored = {
        "User": user_snapshot(USER, "crm-7"),
        "Group": group_snapshot(GROUP, [7, 8]),
        "App": app_snapshot(APP),
        "Product": product_snapshot(PRODUCT),
        "Address": address_snapshot(ADDRESS, of_staff=False),
        "Channel": asdict(CHANNEL),
    }
    return {subject: json.loads(json.dumps(found)) for subject, found in stored.items()}


def frozen_snapshots(subject: str) -> list[dict[str, Any]]:
    """Return every frozen snapshot of such an object, the oldest version's first."""
    return [json.loads(file.read_text()) for file in FROZEN if subject_in(file) == subject]


def subject_in(file: Path) -> str:
    """Return the type of the object whose snapshot is in ``file``."""
    return file.stem.partition("-")[0]
