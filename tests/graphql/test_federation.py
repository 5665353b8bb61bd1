"""A member of a federated graph: its schema, and its objects by their keys."""

from functools import cache
from typing import Any

import pytest
from graphql import ObjectTypeDefinitionNode, build_schema, parse, print_ast

from app.composition.settings import Settings
from app.domain.authorization.permissions import Permission
from app.domain.shop.settings import PasswordLoginMode
from app.domain.values.ids import to_global_id
from app.graphql.events import EVENT_TYPES
from app.graphql.federation import ENTITIES, SHAREABLE, SPECIFICATION, subgraph_sdl
from app.graphql.schema import schema
from app.graphql.unavailable import TYPES
from app.ports import Ports
from tests.builders.addresses import make_address
from tests.builders.apps import make_app
from tests.builders.orders import make_order
from tests.builders.people import actor_of, make_group, make_staff, make_user, sign_in
from tests.builders.products import make_product, product_id
from tests.builders.shop import set_mode
from tests.fixtures.statements import recorded_statements, selects
from tests.graphql.shop_client import ApiClient

SHOWN = """
__typename ... on User { email isStaff } ... on App { app: name } ... on Group { name }
... on Order { number } ... on Product { slug channel } ... on Address { city }"""
QUERY = f"query ($wanted: [_Any!]!) {{ _entities(representations: $wanted) {{ {SHOWN} }} }}"

_NO_OBJECT = "Pass an object with `__typename` and the fields of a key."
_NO_ENTITY = "`__typename` must be one of Address, App, Group, Order, Product, User."
_NO_ID = "`id` must be a text that isn't empty."
MALFORMED: tuple[tuple[object, str], ...] = (
    (1, _NO_OBJECT),
    ([], _NO_OBJECT),
    ({"id": to_global_id("User", 1)}, _NO_ENTITY),
    ({"__typename": 1}, _NO_ENTITY),
    ({"__typename": "Shop"}, _NO_ENTITY),
    ({"__typename": "User"}, _NO_ID),
    ({"__typename": "Order", "id": 7}, _NO_ID),
    ({"__typename": "Order", "id": ""}, _NO_ID),
    ({"__typename": "Order", "email": "a@example.com"}, "Order has no field 'email'."),
    ({"__typename": "User", "email": 7}, "`email` must be a text that isn't empty."),
    ({"__typename": "User", "__name__": "x"}, "User has no field '__name__'."),
    (
        {"__typename": "Product", "id": to_global_id("Product", 1), "channel": 1},
        "`channel` must be a text or null.",
    ),
    (
        {"__typename": "Order", "id": "Zm9v"},
        "Couldn't resolve to a Order: 'Zm9v' is not an ID of one.",
    ),
    (
        {"__typename": "Order", "id": to_global_id("User", 1)},
        "Couldn't resolve to a Order: 'VXNlcjox' is not an ID of one.",
    ),
)
"""Representations, and what is wrong with them."""


@pytest.fixture
def api(ports: Ports) -> ApiClient:
    return ApiClient(ports)


@pytest.fixture
def boss(ports: Ports) -> str:
    """A superuser's token."""
    return sign_in(ports, make_user(ports, "boss@example.com", is_superuser=True)).access


def of(kind: str, key: int, **more: object) -> dict[str, object]:
    """Return the representation of an object."""
    return {"__typename": kind, "id": to_global_id(kind, key), **more}


def by_email(email: str) -> dict[str, object]:
    return {"__typename": "User", "email": email}


def entities(api: ApiClient, token: str | None, *wanted: object) -> Any:
    return api.run(QUERY, token, wanted=list(wanted))


@cache
def subgraph() -> str:
    return subgraph_sdl(schema.graphql_schema)


@cache
def definitions() -> dict[str, ObjectTypeDefinitionNode]:
    return {
        node.name.value: node
        for node in parse(subgraph()).definitions
        if isinstance(node, ObjectTypeDefinitionNode)
    }


def directives(name: str) -> list[str]:
    return [print_ast(one) for one in definitions()[name].directives]


def test_schema_links_the_specification_of_federation(api: ApiClient) -> None:
    sdl = api.run("{ _service { sdl } }")["sdl"]
    assert sdl == subgraph()
    assert sdl.startswith(f'extend schema @link(url: "{SPECIFICATION}", import: ')


def test_schema_names_the_keys_of_entities() -> None:
    assert directives("User") == ['@key(fields: "id")', '@key(fields: "email")']
    assert directives("Product") == ['@key(fields: "id channel")']
    for name in ("Address", "App", "Group", "Order"):
        assert directives(name) == ['@key(fields: "id")']
    keyed = {name for name in definitions() if any("@key" in one for one in directives(name))}
    assert keyed == set(ENTITIES)


def test_values_that_other_subgraphs_define_too_are_shareable() -> None:
    for name in SHAREABLE:
        assert directives(name) == ["@shareable"]
        has_id = "id" in {field.name.value for field in definitions()[name].fields}
        assert has_id is (name == "Channel")


def test_schema_has_everything_but_subscriptions_and_the_fields_of_federation() -> None:
    known = f"directive @link(url: String, import: [String]) on SCHEMA {subgraph()}"
    for directive in ("key(fields: String) repeatable", "shareable"):
        known += f" directive @{directive} on OBJECT"
    shown = set(build_schema(known).type_map)
    served = schema.graphql_schema.type_map
    assert not {"_Any", "_Entity", "_Service", "Subscription", "Event"} & shown
    missing = {name for name in set(served) - shown if not name.startswith("_")}
    events = {str(kind) for kind in EVENT_TYPES.values()}
    edges = {name for name in missing if name.endswith("Edge")}
    unavailable = {*TYPES, *edges}
    assert missing - events - unavailable == {"Event", "IssuingPrincipal", "Subscription"}
    assert "_entities" not in subgraph()


def test_other_services_can_define_what_is_not_here() -> None:
    """A catalogue with categories and pictures of products composes with this subgraph."""
    shown = definitions()
    assert not {"Category", "Collection", "ProductVariant", "Voucher", "Warehouse"} & set(shown)
    fields = {
        name: {field.name.value for field in shown[name].fields} for name in ("Product", "Query")
    }
    assert not {"category", "thumbnail", "metadata", "productVariants"} & fields["Product"]
    assert not {"categories", "vouchers", "warehouse"} & fields["Query"]
    assert {"name", "price"} <= fields["Product"]
    assert {"products", "orders"} <= fields["Query"]


def test_objects_of_all_types_come_in_the_order_of_their_representations(
    api: ApiClient, ports: Ports, boss: str
) -> None:
    customer = make_user(ports, "ann@example.com")
    wanted = [
        by_email("ann@example.com"),
        of("Order", make_order(ports, actor_of(ports, customer)).id),
        of("User", 4711),
        of("App", make_app(ports, "Reviews")[0]),
        of("Group", make_group(ports, "Packers")),
        of("User", customer),
        of("Product", make_product(ports, "Bowl"), channel="fr"),
        of("Product", make_product(ports, "Cup"), channel=None),
        of("Address", make_address(ports, customer)),
        of("User", customer),
    ]
    found = entities(api, boss, *wanted)
    ann = {"__typename": "User", "email": "ann@example.com", "isStaff": False}
    assert [found[0], found[2], found[5], found[9]] == [ann, None, ann, ann]
    assert [each and each["__typename"] for each in found] == [
        each["__typename"] if position != 2 else None for position, each in enumerate(wanted)
    ]
    assert [found[6], found[7]] == [
        {"__typename": "Product", "slug": "bowl", "channel": "fr"},
        {"__typename": "Product", "slug": "cup", "channel": None},
    ]


def test_representations_can_stand_in_the_document(api: ApiClient, ports: Ports) -> None:
    key = product_id(make_product(ports, "Bowl"))
    query = """query ($id: ID!) {
        _entities(representations: {__typename: "Product", id: $id, channel: "fr"}) {
            ... on Product { slug channel }
        } }"""
    assert api.run(query, id=key) == [{"slug": "bowl", "channel": "fr"}]


def test_people_see_themselves_and_what_is_theirs(api: ApiClient, ports: Ports) -> None:
    ann, bob = make_user(ports, "ann@example.com"), make_user(ports, "bob@example.com")
    token = sign_in(ports, ann).access
    own, other = (
        [
            of("User", key),
            by_email(email),
            of("Address", make_address(ports, key)),
            of("Order", make_order(ports, actor_of(ports, key)).id),
        ]
        for key, email in ((ann, "ann@example.com"), (bob, "bob@example.com"))
    )
    assert all(entities(api, token, *own))
    assert entities(api, token, *other) == [None] * 4
    assert entities(api, None, *own, *other) == [None] * 8


def test_own_account_is_shown_with_the_rights_of_the_session(api: ApiClient, ports: Ports) -> None:
    staff = make_staff(ports, "staff@example.com", Permission.MANAGE_STAFF)
    token = sign_in(ports, staff).access
    assert entities(api, token, of("User", staff))[0]["isStaff"]
    set_mode(ports, PasswordLoginMode.CUSTOMERS_ONLY)
    [shown] = entities(api, token, of("User", staff))
    assert shown == {"__typename": "User", "email": "staff@example.com", "isStaff": False}


def test_an_app_sees_itself_and_others_with_manage_apps(api: ApiClient, ports: Ports) -> None:
    app, token = make_app(ports, "Reviews")
    manager, manager_token = make_app(ports, "Manager", Permission.MANAGE_APPS)
    both = [of("App", app), of("App", manager)]
    assert [one and one["app"] for one in entities(api, token, *both)] == ["Reviews", None]
    assert all(entities(api, manager_token, *both))


def test_an_invalid_credential_is_the_error_of_what_needs_one(
    api: ApiClient, ports: Ports
) -> None:
    product = of("Product", make_product(ports, "Bowl"))
    answer = api.ask(QUERY, "garbage", wanted=[by_email("a@example.com"), product])
    assert answer["data"]["_entities"][0] is None
    assert answer["data"]["_entities"][1]["slug"] == "bowl"
    [error] = answer["errors"]
    assert error["path"] == ["_entities", 0]
    assert error["extensions"]["exception"]["code"] == "InvalidTokenError"


def test_each_type_is_read_in_one_statement(ports: Ports, boss: str) -> None:
    api = ApiClient(ports, Settings(graphql_cost_max=10**9))
    wanted = [_one_of_each(ports, str(number)) for number in range(4)]

    def statements(size: int) -> int:
        asked = [each for some in wanted[:size] for each in some]
        with recorded_statements() as recorded:
            found = api.run(NESTED, boss, wanted=asked)
        assert all(found)
        return len(selects(recorded))

    statements(1)
    assert statements(2) == statements(4)


NESTED = """
query ($wanted: [_Any!]!) { _entities(representations: $wanted) {
  ... on User {
    addresses { city } permissionGroups { name } orders(first: 2) { edges { node { id } } }
  }
  ... on App { webhooks { name } tokens { name } metadata { key } }
  ... on Group { users { email } }
  ... on Order { lines { quantity } user { email addresses { city } } }
  ... on Product { slug }
  ... on Address { city }
} }"""


def _one_of_each(ports: Ports, name: str) -> list[dict[str, object]]:
    customer = make_user(ports, f"{name}@example.com")
    make_user(ports, f"{name}@example.org")
    return [
        of("User", customer),
        by_email(f"{name}@example.org"),
        of("Group", make_group(ports, name)),
        of("Address", make_address(ports, customer)),
        of("Order", make_order(ports, actor_of(ports, customer)).id),
        of("App", make_app(ports, name)[0]),
        of("Product", make_product(ports, name)),
    ]


def test_malformed_representation_is_an_error_that_names_it(api: ApiClient, boss: str) -> None:
    for representation, message in MALFORMED:
        answer = api.ask(QUERY, boss, wanted=[by_email("boss@example.com"), representation])
        assert answer["data"] is None
        [error] = answer["errors"]
        assert error["message"] == f"representations[1]: {message}"
        assert error["extensions"]["exception"]["code"] == "GraphQLError"


def test_further_fields_of_a_representation_are_ignored(
    api: ApiClient, ports: Ports, boss: str
) -> None:
    ann = make_user(ports, "ann@example.com")
    [found] = entities(api, boss, of("User", ann, email="bob@example.com", firstName="Bob"))
    assert found["email"] == "ann@example.com"
    [found] = entities(api, boss, {"__typename": "User", "id": None, "email": "ann@example.com"})
    assert found["email"] == "ann@example.com"


def test_product_has_the_channel_that_it_was_requested_in(api: ApiClient, ports: Ports) -> None:
    key = product_id(make_product(ports, "Bowl"))
    one = "query ($id: ID!, $in: String) { product(id: $id, channel: $in) { channel } }"
    assert api.run(one, id=key, **{"in": "fr"}) == {"channel": "fr"}
    assert api.run(one, id=key) == {"channel": None}
    many = '{ products(first: 1, channel: "fr") { edges { node { slug channel } } } }'
    assert api.run(many)["edges"] == [{"node": {"slug": "bowl", "channel": "fr"}}]
