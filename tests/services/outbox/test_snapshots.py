"""Snapshots in the outbox are read by every later version."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from app.domain.accounts.addresses import Address
from app.domain.accounts.users import Group, User
from app.domain.apps.apps import App
from app.domain.commerce.channels import Channel
from app.domain.commerce.products import Product
from app.domain.events import EVENTS, Deletion
from app.services.webhooks.event_subjects import read_product_snapshot, read_snapshot
from tests.fixtures.cases import cases
from tests.services.outbox.sample_snapshots import (
    ADDRESS,
    APP,
    CHANNEL,
    FROZEN,
    GROUP,
    PRODUCT,
    USER,
    frozen_snapshots,
    new_snapshots,
    subject_in,
)

DELETED_AT = datetime(2026, 5, 1, tzinfo=UTC)
KINDS: Mapping[str, type[User | Group | App | Product | Address | Channel]] = {
    "User": User,
    "Group": Group,
    "App": App,
    "Product": Product,
    "Address": Address,
    "Channel": Channel,
}


def read(subject: str, snapshot: Mapping[str, Any]) -> object:
    if subject == "Product":
        return read_product_snapshot(snapshot, DELETED_AT)
    return read_snapshot(KINDS[subject], snapshot, DELETED_AT)


def shape(value: object) -> object:
    """The names and types in a JSON value, without the values."""
    if isinstance(value, dict):
        return {name: shape(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [shape(inner) for inner in value[:1]]
    return type(value).__name__


def test_every_deleted_object_has_a_frozen_snapshot() -> None:
    deletions = {event.subject.type for event in EVENTS.values() if issubclass(event, Deletion)}
    assert {subject_in(file) for file in FROZEN} == set(new_snapshots()) == set(KINDS) == deletions


@cases("subject", KINDS)
def test_current_snapshot_shape_is_frozen(subject: str) -> None:
    stored = new_snapshots()[subject]
    frozen = [shape(snapshot) for snapshot in frozen_snapshots(subject)]
    assert shape(stored) in frozen, f"add {stored} as snapshots/{subject}-VERSION.json"


@cases("kind", KINDS.values())
def test_each_field_can_be_read_from_a_snapshot_without_it(
    kind: type[User | Group | App | Product | Address | Channel],
) -> None:
    subject = kind.__name__
    for stored in (*frozen_snapshots(subject), new_snapshots()[subject]):
        for field in fields(kind):
            found = read(subject, {name: stored[name] for name in stored if name != field.name})
            assert isinstance(found, kind), field.name


def test_new_snapshots_are_read_as_the_objects_they_were_taken_of() -> None:
    group = Group(GROUP.id, GROUP.name, GROUP.permissions, GROUP.channel_ids)
    expected = {
        "User": USER,
        "Group": group,
        "App": APP,
        "Product": PRODUCT,
        "Address": ADDRESS,
        "Channel": CHANNEL,
    }
    assert {name: read(name, stored) for name, stored in new_snapshots().items()} == expected


@cases("file", FROZEN)
def test_frozen_snapshot_is_read_whole(file: Path) -> None:
    kind, stored = KINDS[subject_in(file)], json.loads(file.read_text())
    found = read(kind.__name__, stored)
    for name in stored.keys() & {field.name for field in fields(kind)}:
        assert getattr(found, name), f"{name} is lost"


@dataclass(frozen=True, slots=True)
class _LaterProduct(Product):
    """The product of a later version, with a field of each kind that products have."""

    sku: str
    stock: int
    is_digital: bool
    published_at: datetime | None
    reviewed_at: datetime
    tags: str = "none"


def test_fields_of_a_later_version_get_defaults() -> None:
    stored = {**frozen_snapshots("Product")[0], "price": None}
    found = read_snapshot(_LaterProduct, stored, DELETED_AT)
    assert (found.name, found.sku, found.stock, found.is_digital) == ("Ash bowl", "", 0, False)
    assert (found.published_at, found.reviewed_at, found.tags) == (None, DELETED_AT, "none")
