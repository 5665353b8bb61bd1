"""``--fields``: some of the columns, in every form of output."""

import json

import click
import pytest

from app.domain.authorization.permissions import Permission
from app.domain.events import EventType
from app.ports import Ports
from docs.commands import entries
from tests.builders.apps import make_app
from tests.builders.webhooks import make_delivery, make_webhook
from tests.commands.shell import run, run_json


@pytest.fixture
def furnished(ports: Ports) -> Ports:
    app, _ = make_app(ports, "Warehouse", Permission.MANAGE_PRODUCTS)
    make_webhook(ports, app, EventType.PRODUCT_UPDATED)
    return ports


def test_every_list_and_show_command_selects_fields() -> None:
    missing = [
        " ".join(entry.path)
        for entry in entries()
        if entry.path[-1] in ("list", "show", "events", "deliveries")
        and not any("--fields" in param.opts for param in entry.command.params)
        and not isinstance(entry.command, click.Group)
    ]
    assert missing == []


def test_fields_are_shown_in_the_order_asked_for(furnished: Ports) -> None:
    words = ("webhook", "list", "--fields", "name, hasSecret,app")
    [row] = run_json(furnished, *words)
    assert list(row.items()) == [("name", "hook"), ("hasSecret", False), ("app", "Warehouse")]
    assert run(furnished, *words).stdout == "hook\tno\tWarehouse\n"
    assert run(furnished, *words, "--short").stdout == "hook\tno\tWarehouse\n"


def test_one_thing_shows_only_these_fields(furnished: Ports) -> None:
    words = ("app", "show", "Warehouse", "--fields", "isActive,name")
    assert run_json(furnished, *words) == {"isActive": True, "name": "Warehouse"}
    assert run(furnished, *words).stdout == "Active\tyes\nName\tWarehouse\n"


def test_nested_field_is_read_from_a_payload(furnished: Ports) -> None:
    make_delivery(furnished, 1, json.dumps({"product": {"name": "Bowl", "tags": [{"id": 7}]}}))
    words = ("webhook", "deliveries", "--fields")
    nested = "payload.product.name,payload.product.tags.id,payload.none.id"
    assert run_json(furnished, *words, nested) == [
        {"payload.product.name": "Bowl", "payload.product.tags.id": [7], "payload.none.id": None}
    ]
    failed = run(furnished, *words, "event.name")
    assert failed.exit_code == 2
    assert "event.name: there is no field 'name' in a single value." in failed.stderr


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ("id,nam", "Unknown field 'nam'. Did you mean name? Available fields: id, name, app, "),
        (" , ", "Enter at least one field. Available fields: id, name, "),
    ],
)
def test_unknown_field_lists_those_available(ports: Ports, fields: str, message: str) -> None:
    failed = run(ports, "webhook", "list", "--fields", fields, "--json")
    assert failed.exit_code == 2
    assert message in json.loads(failed.stdout)["errors"][0]["message"]
