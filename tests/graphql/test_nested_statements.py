"""However long the lists are: what is nested in them takes as many statements."""

from collections import Counter
from collections.abc import Iterator
from itertools import count

import pytest
from graphql import (
    GraphQLField,
    GraphQLObjectType,
    get_named_type,
    is_leaf_type,
    is_object_type,
    is_required_argument,
)

from app.domain.authorization.permissions import Permission
from app.graphql.schema import schema
from app.models import AppExtensionRecord
from app.ports import Ports
from app.settings import Settings
from tests.builders.addresses import make_address
from tests.builders.apps import make_extension_app
from tests.builders.deliveries import store_attempt
from tests.builders.mails import make_mail
from tests.builders.orders import make_cart, make_order
from tests.builders.people import actor_of, make_group, make_user, sign_in
from tests.builders.products import make_product
from tests.builders.sign_in_events import make_sign_in
from tests.builders.webhooks import make_delivery, make_webhook
from tests.fixtures.statements import recorded_statements, selects
from tests.graphql.shop_client import ApiClient

DEPTH = 3
"""Objects below an item of a list."""

_ROOTS = {
    name: field
    for name, field in schema.graphql_schema.query_type.fields.items()
    if "edges" in getattr(get_named_type(field.type), "fields", {})
}
_UNCOUNTED = ("totalCount",)
"""The length of a nested list takes a statement each."""


def _selection(kind: GraphQLObjectType, depth: int, above: tuple[str, ...]) -> str:
    return " ".join(_fields(kind, depth, (*above, kind.name)))


def _fields(kind: GraphQLObjectType, depth: int, above: tuple[str, ...]) -> Iterator[str]:
    for name, field in kind.fields.items():
        if name in _UNCOUNTED or any(map(is_required_argument, field.args.values())):
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
                    yield f"{name}(first: 10) {{ edges {{ node {{ {inner} }} }} }}"
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
            AppExtensionRecord(
                app_id=app, label="Labels", url="/", mount="X", target="POPUP", settings={}
            )
            for _ in range(size)
        )


@pytest.mark.parametrize("root", _ROOTS)
def test_nested_fields_take_as_many_statements_for_longer_lists(
    ports: Ports, large_client: ApiClient, root: str
) -> None:
    numbers = count()
    boss = make_user(ports, "boss@example.com", is_superuser=True)
    token = sign_in(ports, boss).access
    node = _node(_ROOTS[root])
    assert node is not None
    query = f"{{ {root}(first: 50) {{ edges {{ node {{ {_selection(node, DEPTH, ())} }} }} }} }}"

    def statements() -> list[str]:
        large_client.ask(query, token)
        with recorded_statements() as recorded:
            answer = large_client.ask(query, token)
        assert "errors" not in answer, answer["errors"]
        assert answer["data"][root]["edges"]
        return selects(recorded)

    _fill(ports, numbers, 2)
    few = statements()
    _fill(ports, numbers, 3)
    many = statements()
    assert len(many) == len(few), list(Counter(many) - Counter(few))
