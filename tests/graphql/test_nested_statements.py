"""However long the lists are: what is nested in them takes as many statements."""

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import count
from typing import Any

import pytest
from graphql import (
    GraphQLField,
    GraphQLObjectType,
    get_named_type,
    is_leaf_type,
    is_object_type,
    is_required_argument,
)
from sqlalchemy import update

from app import models
from app.composition.settings import Settings
from app.domain.authorization.permissions import Permission
from app.domain.events import EventType
from app.domain.values.ids import to_global_id
from app.graphql import loaders
from app.graphql.schema import schema
from app.ports import Ports
from tests.builders.addresses import make_address
from tests.builders.apps import make_app, make_extension_app
from tests.builders.deliveries import store_attempt
from tests.builders.mails import make_mail
from tests.builders.orders import checkout_id, make_cart, make_order
from tests.builders.people import actor_of, make_group, make_staff, make_user, sign_in
from tests.builders.products import make_product
from tests.builders.sign_in_events import make_sign_in
from tests.builders.webhooks import make_delivery, make_webhook
from tests.fixtures.statements import recorded_statements, selects
from tests.graphql.shop_client import ApiClient

pytestmark = pytest.mark.first

STAFF = Permission.MANAGE_STAFF
DEPTH = 3
"""Objects below an item of a list."""

_ROOTS = {
    name: field
    for name, field in schema.graphql_schema.query_type.fields.items()
    if "edges" in getattr(get_named_type(field.type), "fields", {})
    and not getattr(field.resolve, "constant", False)
}


def _selection(kind: GraphQLObjectType, depth: int, above: tuple[str, ...]) -> str:
    return " ".join(_fields(kind, depth, (*above, kind.name)))


def _fields(kind: GraphQLObjectType, depth: int, above: tuple[str, ...]) -> Iterator[str]:
    for name, field in kind.fields.items():
        if any(map(is_required_argument, field.args.values())):
            continue
        named = get_named_type(field.type)
        if is_leaf_type(named):
            yield name
        elif is_object_type(named):
            node = _node(field)
            if node is not None:
                if (
                    depth
                    and node.name not in above
                    and (inner := _selection(node, depth - 1, above))
                ):
                    yield f"{name}(first: 10) {{ totalCount edges {{ node {{ {inner} }} }} }}"
            elif (
                depth
                and named.name not in above
                and (inner := _selection(named, depth - 1, above))
            ):
                yield f"{name} {{ {inner} }}"


def _node(field: GraphQLField) -> GraphQLObjectType | None:
    """Return the type of a page's items."""
    kind = get_named_type(field.type)
    edges = getattr(kind, "fields", {}).get("edges")
    return (
        None if edges is None else get_named_type(get_named_type(edges.type).fields["node"].type)
    )


@pytest.fixture
def api(ports: Ports) -> ApiClient:
    return ApiClient(ports)


@pytest.fixture
def large_client(ports: Ports) -> ApiClient:
    settings = Settings(graphql_cost_max=10**12, graphql_tokens_max=10**6, graphql_depth_max=99)
    return ApiClient(ports, settings)


def _fill(ports: Ports, numbers: Iterator[int], size: int) -> None:
    """Add ``size`` of each thing, each with as many of what belongs to it."""
    for _ in range(size):
        number = next(numbers)
        products = [make_product(ports, f"{number}-{each}") for each in range(size)]
        groups = [
            make_group(ports, f"{number}-{each}", Permission.MANAGE_ORDERS) for each in range(size)
        ]
        customer = make_user(ports, f"{number}@example.com")
        make_user(ports, f"{number}@staff.example.com", is_staff=True, groups=groups)
        app = make_extension_app(ports, f"{number}", Permission.MANAGE_PRODUCTS).id
        _add_extensions(ports, app, size)
        make_sign_in(ports, user_id=customer)
        make_mail(ports, user_id=customer)
        for _ in range(size):
            make_address(ports, customer, is_default=False)
            make_order(ports, actor_of(ports, customer), *products)
            make_cart(ports, actor_of(ports, customer), *products)
            webhook = make_webhook(ports, app)
            for _ in range(size):
                delivery = make_delivery(ports, webhook)
                for _ in range(size):
                    store_attempt(ports, delivery)


def _add_extensions(ports: Ports, app: int, size: int) -> None:
    with ports.database.transaction() as session:
        session.add_all(
            models.AppExtension(
                app_id=app, label="Labels", url="/", mount="X", target="POPUP", settings={}
            )
            for _ in range(size)
        )


@cache
def _query(root: str) -> str:
    """Return a query for everything in a list, down to ``DEPTH``."""
    node = _node(_ROOTS[root])
    assert node is not None
    inner = f"{{ {_selection(node, DEPTH, ())} }}".replace("{", "{ __typename")
    return f"{{ {root}(first: 50) {{ edges {{ node {inner} }} }} }}"


def test_nested_fields_take_as_many_statements_for_longer_lists_and_have_one_value(
    ports: Ports, large_client: ApiClient
) -> None:
    numbers = count()
    boss = make_user(ports, "boss@example.com", is_superuser=True)
    token = sign_in(ports, boss).access

    def statements(root: str) -> Counter[str]:
        with recorded_statements() as recorded:
            answer = large_client.ask(_query(root), token)
        assert "errors" not in answer, answer["errors"]
        assert answer["data"][root]["edges"]
        _assert_one_value(root, answer["data"])
        return Counter(selects(recorded))

    _fill(ports, numbers, 1)
    for root in _ROOTS:  # what a process reads once is read before
        statements(root)
    few = {root: statements(root) for root in _ROOTS}
    _fill(ports, numbers, 2)
    for root in _ROOTS:
        many = statements(root)
        assert many.total() == few[root].total(), list(many - few[root])


def _assert_one_value(root: str, answer: object) -> None:
    """Clients' caches keep objects by type and ID: with two values they'd ask without end."""
    values: dict[tuple[str, str], dict[str, Any]] = {}
    for found in _objects(answer):
        known = values.setdefault((found["__typename"], found["id"]), {})
        plain = {name: one for name, one in found.items() if not isinstance(one, (dict, list))}
        changed = {name for name, one in plain.items() if known.setdefault(name, one) != one}
        assert not changed, (found["__typename"], changed)
    assert values, root


def _objects(value: object) -> Iterator[dict[str, Any]]:
    """Yield the objects in an answer that have an ID."""
    if isinstance(value, dict):
        if value.get("id") and "__typename" in value:
            yield value
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from _objects(one)


ORDERS = "orders(first: 5) { edges { node { id user { id } } } }"
ATTEMPTS = "attempts(first: 5) { edges { node { id } } }"


@pytest.fixture
def customers(ports: Ports) -> list[int]:
    """Five customers with an order each."""
    keys = [make_user(ports, f"{number}@example.com") for number in range(5)]
    for key in keys:
        make_order(ports, actor_of(ports, key))
    return keys


@pytest.fixture
def manager(ports: Ports) -> str:
    return sign_in(ports, make_user(ports, "boss@example.com", is_superuser=True)).access


def _parents(statements: list[str], column: str) -> int:
    """Return how many parents' lists were read."""
    return sum(len(re.findall(rf"{column} = \d", statement)) for statement in statements)


@pytest.mark.parametrize(("shown", "read"), [("first: 5", 5), ("first: 1", 1)])
def test_orders_are_read_of_those_customers_for_whom_they_are_selected(
    ports: Ports, api: ApiClient, customers: list[int], manager: str, shown: str, read: int
) -> None:
    everybody = {"query": "{ customers(first: 5) { edges { node { email } } } }"}
    some = {"query": f"{{ customers({shown}) {{ edges {{ node {{ {ORDERS} }} }} }} }}"}
    with recorded_statements() as statements:
        _, answer = api.post([everybody, some], manager).json
    edges = answer["data"]["customers"]["edges"]
    assert [len(edge["node"]["orders"]["edges"]) for edge in edges] == [1] * read
    # Padded to a power of two.
    of_customers = [one for one in statements if "page_parent" in one]
    assert _parents(of_customers, "orders.user_id") == (8 if read == 5 else 1)


@pytest.mark.parametrize(("size", "batches"), [(1, 3), (2, 5)])
def test_lists_of_many_parents_are_read_in_batches(
    ports: Ports,
    api: ApiClient,
    customers: list[int],
    manager: str,
    monkeypatch: pytest.MonkeyPatch,
    size: int,
    batches: int,
) -> None:
    monkeypatch.setattr(loaders, "MAX_AT_ONCE", 4)
    fields = f"id orders(first: {size}) {{ edges {{ node {{ id userEmail lines {{ id }} }} }} }}"
    query = f"{{ customers(first: 5) {{ edges {{ node {{ email note {fields} }} }} }} }}"
    with recorded_statements() as statements:
        answer = api.run(query, manager)
    people = [edge["node"] for edge in answer["edges"]]
    orders = [order["node"] for person in people for order in person["orders"]["edges"]]
    assert [order["userEmail"] for order in orders] == [person["email"] for person in people]
    assert all(order["lines"] for order in orders)
    # Four rows at once: a page has one row more than it shows.
    expected = {r"orders\.user_id = \d": batches, r"users\.note AS": 2}
    for condition, number in expected.items():
        found = [one for one in selects(statements) if re.search(condition, one)]
        assert len(found) == number, condition


def test_parents_that_come_again_are_read_by_themselves(
    ports: Ports, api: ApiClient, manager: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loaders, "MAX_AT_ONCE", 8)  # four pages of an order and the row after it
    buyers = [make_user(ports, f"{number}@example.com") for number in range(6)]
    first, *_, last = buyers
    in_turn = [*buyers, *(3 * [first, last])]
    for buyer in reversed(in_turn):  # the newest order is listed first
        make_order(ports, actor_of(ports, buyer))
    of_buyer = "user { email orders(first: 1) { edges { node { userEmail } } } }"
    query = f"{{ orders(first: 20) {{ edges {{ node {{ {of_buyer} }} }} }} }}"
    with recorded_statements() as statements:
        found = api.run(query, manager)
    users = [edge["node"]["user"] for edge in found["edges"]]
    assert [user["email"] for user in users] == [
        f"{buyers.index(key)}@example.com" for key in in_turn
    ]
    for user in users:
        assert user["orders"]["edges"] == [{"node": {"userEmail": user["email"]}}]
    # Each buyer once, and the first one again each time it comes after others.
    assert _parents(statements, "orders.user_id") == len(buyers) + 3


def test_parameters_of_a_statement_are_bounded_by_the_size_of_a_page(
    ports: Ports, api: ApiClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    app, token = make_app(ports, "an app", Permission.MANAGE_USERS)
    for _ in range(5):
        webhook = make_webhook(ports, app)
        for _ in range(3):
            make_delivery(ports, webhook)
    with ports.database.transaction() as session:
        with_link = EventType.ACCOUNT_SET_PASSWORD_REQUESTED.value
        session.execute(update(models.Delivery).values(event=with_link))
    monkeypatch.setattr(loaders, "MAX_AT_ONCE", 6)
    query = "{ app { webhooks { eventDeliveries(first: 2) { edges { node { payload } } } } } }"
    with recorded_statements() as statements:
        answer = api.run(query, token)
    assert [len(one["eventDeliveries"]["edges"]) for one in answer["webhooks"]] == [2] * 5
    lengths = [
        keys.count(",") + 1
        for one in selects(statements)
        for keys in re.findall(r"IN \(([\d, ]+)\)", one)
    ]
    # The app's key, then those of deliveries.
    assert lengths == [1, 4, 4, 2]


def test_no_more_members_of_groups_are_listed_than_are_shown(ports: Ports, api: ApiClient) -> None:
    shown, hidden = (make_group(ports, name, STAFF) for name in ("shown", "hidden"))
    boss = make_user(ports, "boss@example.com", is_superuser=True, groups=[shown])
    for number, group in enumerate((shown, hidden, hidden)):
        make_user(ports, f"{number}@staff.example.com", is_staff=True, groups=[group])
    members = f"users {{ {ORDERS} }}"
    query = f"{{ me {{ editableGroups {{ id }} permissionGroups {{ {members} }} }} }}"
    with recorded_statements() as statements:
        (group,) = api.run(query, sign_in(ports, boss).access)["permissionGroups"]
    assert len(group["users"]) == 2
    # The caller's own are read by themselves.
    assert _parents(selects(statements), "orders.user_id") == 2


def test_members_are_read_once_for_each_place(ports: Ports, api: ApiClient, manager: str) -> None:
    for number in range(3):
        group = make_group(ports, f"{number}", STAFF)
        make_user(ports, f"{number}@staff.example.com", is_staff=True, groups=[group])
    places = f"a: users {{ id }} b: users {{ {ORDERS} }}"
    query = f"{{ permissionGroups(first: 5) {{ edges {{ node {{ {places} }} }} }} }}"
    with recorded_statements() as statements:
        api.run(query, manager)
    # The caller, the groups, the members twice, their orders.
    assert len(selects(statements)) == 5


def test_webhooks_of_apps_show_their_app_without_another_statement(
    ports: Ports, api: ApiClient
) -> None:
    app, token = make_app(ports, "an app", Permission.MANAGE_PRODUCTS)
    for _ in range(3):
        make_webhook(ports, app)
    with recorded_statements() as statements:
        found = api.run("{ app { name webhooks { app { name } } } }", token)
    assert [webhook["app"]["name"] for webhook in found["webhooks"]] == ["an app"] * 3
    # The caller, the app, its webhooks.
    assert len(selects(statements)) == 3


def test_attempts_are_read_at_those_deliveries_for_which_they_are_selected(
    ports: Ports, api: ApiClient
) -> None:
    app, token = make_app(ports, "an app", Permission.MANAGE_PRODUCTS)
    webhook = make_webhook(ports, app)
    for _ in range(5):
        store_attempt(ports, make_delivery(ports, webhook))
    query = f"""query ($id: ID!) {{ webhook(id: $id) {{
      all: eventDeliveries(first: 5) {{ edges {{ cursor }} }}
      one: eventDeliveries(first: 1) {{ edges {{ node {{ id {ATTEMPTS} }} }} }}
      same: eventDeliveries(first: 1) {{ edges {{ node {{ id {ATTEMPTS} }} }} }}
    }} }}"""
    with recorded_statements() as statements:
        found = api.run(query, token, id=to_global_id("Webhook", webhook))
    assert len(found["all"]["edges"]) == 5
    assert len(found["one"]["edges"][0]["node"]["attempts"]["edges"]) == 1
    assert found["same"] == found["one"]
    assert _parents(statements, "delivery_attempts.delivery_id") == 2


def test_aliases_of_edges_and_nodes_change_nothing(
    ports: Ports, api: ApiClient, customers: list[int], manager: str
) -> None:
    query = f"{{ customers(first: 5) {{ e: edges {{ n: node {{ o: {ORDERS} }} }} }} }}"
    with recorded_statements() as statements:
        found = api.run(query, manager)
    assert [len(edge["n"]["o"]["edges"]) for edge in found["e"]] == [1] * 5
    assert sum("page_parent" in one for one in selects(statements)) == 1


def test_later_operation_of_a_batch_sees_the_change_of_an_earlier_one(
    ports: Ports, api: ApiClient, customers: list[int]
) -> None:
    customer = actor_of(ports, customers[0])
    cart = checkout_id(make_cart(ports, customer))
    token = sign_in(ports, customers[0]).access
    before = {"query": "{ me { orders(first: 5) { edges { node { id } } } } }"}
    change = {
        "query": """mutation ($id: ID!) { me: checkoutComplete(id: $id) {
          order { user { orders(first: 5) { edges { node { id } } } } } } }""",
        "variables": {"id": cart},
    }
    first, second = api.post([before, change], token).json
    assert len(first["data"]["me"]["orders"]["edges"]) == 1
    assert len(second["data"]["me"]["order"]["user"]["orders"]["edges"]) == 2


def test_page_of_people_shows_own_orders_to_callers_who_see_no_others(
    ports: Ports, api: ApiClient
) -> None:
    own, *others = (make_staff(ports, f"{name}@example.com", STAFF) for name in "abc")
    for key in (own, *others):
        make_order(ports, actor_of(ports, key))
    token = sign_in(ports, own).access
    answer = api.ask(f"{{ staffUsers(first: 5) {{ edges {{ node {{ {ORDERS} }} }} }} }}", token)
    orders = [edge["node"]["orders"] for edge in answer["data"]["staffUsers"]["edges"]]
    assert [None if one is None else len(one["edges"]) for one in orders] == [1, None, None]
    paths = [["staffUsers", "edges", number, "node", "orders"] for number in (1, 2)]
    assert [error["path"] for error in answer["errors"]] == paths
    codes = {error["extensions"]["exception"]["code"] for error in answer["errors"]}
    assert codes == {"PermissionDenied"}
