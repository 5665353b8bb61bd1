"""What somebody searches for may be anything that a request can carry."""

from collections.abc import Callable

import pytest

from app.domain.accounts.search import UserFilter
from app.domain.authorization.actor import OPERATOR
from app.domain.values.pages import Page, PageRequest
from app.ports import Ports
from app.services.apps.app_lists import AppFilter, list_apps
from app.services.apps.extensions import ExtensionFilter, list_extensions
from app.services.commerce.orders import OrderFilter, list_orders
from app.services.commerce.products import ProductFilter, list_products
from app.services.people.directory import list_customers, list_staff, list_users
from app.services.people.groups import GroupFilter, list_groups
from app.services.single_sign_on.provider_settings import list_plugins
from tests.builders.apps import make_app
from tests.builders.orders import make_order
from tests.builders.people import make_group, make_staff
from tests.builders.products import make_product
from tests.fixtures.one_of_each import InTurn

pytestmark = pytest.mark.both_databases

ALL = PageRequest(100)
SEARCHES: dict[str, Callable[[Ports, str], Page[object]]] = {
    "apps": lambda ports, text: list_apps(ports, OPERATOR, ALL, AppFilter(search=text)),
    "apps by name": lambda ports, text: list_apps(ports, OPERATOR, ALL, AppFilter(name=text)),
    "extensions by place": lambda ports, text: list_extensions(
        ports, OPERATOR, ALL, ExtensionFilter(mounts=("NAVIGATION", text))
    ),
    "extensions by target": lambda ports, text: list_extensions(
        ports, OPERATOR, ALL, ExtensionFilter(target=text)
    ),
    "groups": lambda ports, text: list_groups(ports, OPERATOR, ALL, GroupFilter(search=text)),
    "orders": lambda ports, text: list_orders(ports, OPERATOR, ALL, OrderFilter(search=text)),
    "orders by customer": lambda ports, text: list_orders(
        ports, OPERATOR, ALL, OrderFilter(customer=text)
    ),
    "plugins": lambda ports, text: list_plugins(ports, OPERATOR, ALL, search=text),
    "products": lambda ports, text: list_products(
        ports, OPERATOR, ALL, ProductFilter(search=text)
    ),
    "customers": lambda ports, text: list_customers(ports, OPERATOR, ALL, UserFilter(search=text)),
    "staff": lambda ports, text: list_staff(ports, OPERATOR, ALL, UserFilter(search=text)),
    "everybody": lambda ports, text: list_users(ports, OPERATOR, ALL, search=text),
}
STRANGE = {
    "longer than a database compares": "x" * 200_000,
    "long, and every character a wildcard": "%" * 60_000,
    "long when it is taken apart": "\ufdfa" * 1000,
    "many words": "a " * 100_000,
    "no character of any database": "a\0b",
    "half a character": "\ud800",
    "a wildcard": "%",
    "what escapes one": "/\\_",
}


def test_unusual_search_text_matches_nothing(ports: Ports, in_turn: InTurn) -> None:
    make_app(ports, "Warehouse")
    make_group(ports, "Support")
    make_order(ports)
    make_product(ports, "Tea")
    make_staff(ports, "boss@example.com")
    for kind, text in STRANGE.items():
        for name, search in in_turn([*SEARCHES.items()], 5):
            assert search(ports, text).items == (), f"{name}: {kind}"
