"""Which use cases read from the replica: lists that find there, and charts that count there."""

import ast
import inspect
from collections.abc import Callable, Iterator
from dataclasses import is_dataclass
from datetime import datetime
from enum import Enum
from functools import cache
from importlib import import_module
from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_type_hints

import app
from app.services.authorization.declarations import name_of
from app.services.authorization.register import REGISTER, Rule
from tests.fixtures.cases import cases

LISTS = {
    "audit.entries.list_entries",
    "commerce.products.list_products",
    "commerce.orders.list_orders",
    "deliveries.lists.search_deliveries",
    "mails.mail_log.list_mails",
    "people.directory.list_customers",
    "sign_in_log.events.list_sign_ins",
}

FIGURES = {
    "deliveries.statistics.chart_webhook",
    "shop.traffic.count_traffic",
    "sign_in_log.events.chart_sign_ins",
    "sign_in_log.events.count_sign_ins",
}

LATE = LISTS | FIGURES

WRITES = {"transaction", "add", "add_all", "delete", "flush", "insert", "update", "publish"}
"""Names that a function which writes uses."""

DECIDES = {"read", "require_current_rights", "is_within_limit", "show_webhook", "find_session"}
"""Names of what decides from stored rows who someone is or what they can do."""


def use_case(name: str) -> Callable[..., object]:
    module, _, function = name.rpartition(".")
    found: Callable[..., object] = getattr(import_module(f"app.services.{module}"), function)
    return found


def test_these_use_cases_read_from_the_replica() -> None:
    assert {name for name, declared in REGISTER.items() if declared.reads_replica} == LATE


@cases("name", sorted(LATE))
def test_what_reads_from_the_replica_neither_writes_nor_decides_about_rights(name: str) -> None:
    assert not reached_names(use_case(name)) & (WRITES | DECIDES)
    assert REGISTER[name].rule is not Rule.ACCOUNT_OWNER


@cases(
    ("name", "used"),
    [
        ("commerce.products.update_product", WRITES),
        ("deliveries.lists.deliveries_of_webhooks", DECIDES),
    ],
)
def test_use_cases_that_write_or_decide_are_noticed(name: str, used: set[str]) -> None:
    assert reached_names(use_case(name)) & used


@cases("name", sorted(LATE))
def test_what_it_calls_reads_from_the_replica_as_well(name: str) -> None:
    """An undeclared use case may decide something: it isn't called with the replica's ports."""
    called = {name_of(function) for function in reached(use_case(name))} & set(REGISTER)
    assert all(REGISTER[one].rule is Rule.BUILDING_BLOCK or one in LATE for one in called), called


def test_nothing_but_the_two_declarations_uses_the_database_that_is_late() -> None:
    folder = Path(app.__file__).parent
    using = {
        str(module.relative_to(folder))
        for module in folder.rglob("*.py")
        if "lagging_database" in module.read_text(encoding="utf-8")
    }
    assert using == {"ports/__init__.py", "services/authorization/register.py"}


@cases("name", sorted(FIGURES))
def test_figures_from_the_replica_hold_nothing_of_an_object(name: str) -> None:
    returned = get_type_hints(inspect.unwrap(use_case(name)))["return"]
    assert set(leaves(returned)) <= {int, float, datetime, NoneType}


def test_texts_among_figures_are_noticed() -> None:
    returned = get_type_hints(inspect.unwrap(use_case("people.directory.show_user")))["return"]
    assert str in set(leaves(returned))


def leaves(kind: Any) -> Iterator[Any]:
    """Yield the types of the values in a value of ``kind``, without keys of few kinds."""
    inner = get_type_hints(kind).values() if is_dataclass(kind) else get_args(kind)
    if (isinstance(kind, type) and issubclass(kind, Enum)) or kind is Ellipsis:
        return
    if not inner:
        yield kind
    for part in inner:
        yield from leaves(part)


def reached_names(function: Callable[..., object]) -> set[str]:
    """Return the names that ``function`` and what it calls within the services use."""
    return {name for one in reached(function) for name in names_in(one)}


def reached(function: Callable[..., object]) -> Iterator[Any]:
    """Yield ``function`` and the functions of the services that it calls, without decorators."""
    seen: list[object] = []
    waiting: list[Any] = [inspect.unwrap(function)]
    while waiting:
        found = waiting.pop()
        if found in seen:
            continue
        seen.append(found)
        yield found
        for name in names_in(found):
            value = inspect.unwrap(found.__globals__.get(name, int))
            if inspect.isfunction(value) and value.__module__.startswith("app.services."):
                waiting.append(value)


@cache
def names_in(function: Callable[..., object]) -> set[str]:
    tree = ast.parse(inspect.getsource(function).lstrip())
    body = tree.body[0]
    assert isinstance(body, ast.FunctionDef)
    nodes = [node for statement in body.body for node in ast.walk(statement)]
    attributes = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    return attributes | {node.id for node in nodes if isinstance(node, ast.Name)}
