"""Attacks by the keys of a federated graph: what is asked through `_entities` stays as closed."""

from typing import Any

import pytest

from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission
from app.domain.shop.settings import PasswordLoginMode
from app.domain.values.ids import to_global_id
from app.ports import Ports
from tests.builders.addresses import make_address
from tests.builders.apps import extension_token, make_app, make_extension_app
from tests.builders.orders import make_order
from tests.builders.people import actor_of, make_group, make_staff, make_user, sign_in
from tests.builders.products import make_product
from tests.builders.shop import close_storefront, set_mode
from tests.fixtures.statements import recorded_statements, selects
from tests.graphql.endpoint_client import Reply
from tests.graphql.shop_client import ApiClient

VICTIM = "victim@example.com"
MISSING = "nobody@example.com"
UNUSED = 4711
"""A key that nothing has."""

QUERY = """
query ($wanted: [_Any!]!) {
  _entities(representations: $wanted) {
    ... on User { email } ... on Address { city } ... on Order { number } ... on App { app: name }
    ... on Group { name }
  }
}"""


@pytest.fixture
def api(ports: Ports) -> ApiClient:
    return ApiClient(ports)


def ask(api: ApiClient, token: str | None, *wanted: object) -> Reply:
    return api.post({"query": QUERY, "variables": {"wanted": wanted}}, token)


def of(kind: str, key: int) -> dict[str, object]:
    return {"__typename": kind, "id": to_global_id(kind, key)}


def by_email(email: str) -> dict[str, object]:
    return {"__typename": "User", "email": email}


def limit_of(reply: Reply) -> Any:
    assert reply.status_code == 400
    [error] = reply.json["errors"]
    return error["extensions"]["limit"]


def _callers(ports: Ports) -> dict[str, str | None]:
    """Return the credentials of callers who can't look up people, groups, apps or orders."""
    app = make_extension_app(ports, "extension", *ALL_PERMISSIONS)
    plain = make_staff(ports, "plain@example.com", Permission.MANAGE_PRODUCTS)
    return {
        "anonymous": None,
        "customer": sign_in(ports, make_user(ports, "curious@example.com")).access,
        "staff": sign_in(ports, plain).access,
        "app": make_app(ports, "reviews", Permission.MANAGE_PRODUCTS)[1],
        "extension": extension_token(ports, actor_of(ports, plain), app),
    }


def test_no_caller_learns_whether_an_email_or_a_key_exists(ports: Ports, api: ApiClient) -> None:
    victim = make_user(ports, VICTIM)
    pairs = [
        (by_email(VICTIM), by_email(MISSING)),
        (by_email(VICTIM.upper()), by_email(MISSING.upper())),
        (of("User", victim), of("User", UNUSED)),
        (of("Address", make_address(ports, victim)), of("Address", UNUSED)),
        (of("Order", make_order(ports, actor_of(ports, victim)).id), of("Order", UNUSED)),
        (of("Group", make_group(ports, "Packers")), of("Group", UNUSED)),
    ]
    for who, token in _callers(ports).items():
        for existing, missing in pairs:
            with recorded_statements() as about_existing:
                answer = ask(api, token, existing)
            with recorded_statements() as about_missing:
                expected = ask(api, token, missing)
            assert answer.json == {"data": {"_entities": [None]}}, who
            assert answer.data == expected.data
            assert len(selects(about_existing)) == len(selects(about_missing)), (who, existing)


def test_who_manages_customers_learns_nothing_of_the_staff(ports: Ports, api: ApiClient) -> None:
    staff, customer = make_staff(ports, "clerk@example.com"), make_user(ports, VICTIM)
    wanted = [by_email("clerk@example.com"), of("User", staff), of("User", customer)]
    _, token = make_app(ports, "crm", Permission.MANAGE_USERS)
    assert ask(api, token, *wanted).json["data"]["_entities"] == [None, None, {"email": VICTIM}]
    address = of("Address", make_address(ports, staff))
    assert ask(api, token, address).json["data"]["_entities"] == [None]


def test_orders_of_a_channel_are_shown_to_those_who_have_access_to_it(
    ports: Ports, api: ApiClient
) -> None:
    buyer = actor_of(ports, make_user(ports, VICTIM))
    order = of("Order", make_order(ports, buyer).id)
    for channels, is_shown in ((None, True), ((), False)):
        group = make_group(ports, f"{channels}", Permission.MANAGE_ORDERS, channels=channels)
        clerk = make_user(ports, f"{is_shown}@example.com", is_staff=True, groups=[group])
        [found] = ask(api, sign_in(ports, clerk).access, order).json["data"]["_entities"]
        assert (found is not None) is is_shown


def test_key_of_another_type_has_the_same_error_whether_it_exists_or_not(
    ports: Ports, api: ApiClient
) -> None:
    group = make_group(ports, "Packers")
    boss = sign_in(ports, make_user(ports, "boss@example.com", is_superuser=True)).access
    for token in (None, boss):
        for key in (group, UNUSED):
            disguised = to_global_id("Group", key)
            [error] = ask(api, token, {"__typename": "User", "id": disguised}).json["errors"]
            expected = f"Couldn't resolve to a User: '{disguised}' is not an ID of one."
            assert error["message"] == f"representations[0]: {expected}"


def test_number_of_representations_is_limited(ports: Ports, api: ApiClient) -> None:
    for count in (101, 2_000):
        limit = limit_of(ask(api, None, *[by_email(VICTIM)] * count))
        assert limit == {"name": "entities", "limit": 100, "actual": count}
    assert ask(api, None, *[by_email(VICTIM)] * 10_000).status_code == 400
    assert ask(api, None, *[by_email(VICTIM)] * 100).status_code == 200


def test_aliases_and_batches_of_entities_are_summed_into_the_cost(
    ports: Ports, api: ApiClient
) -> None:
    selected = "... on User { email firstName lastName isStaff dateJoined }"
    fields = " ".join(
        f"e{number}: _entities(representations: $wanted) {{ {selected} }}" for number in range(20)
    )
    entry = {
        "query": f"query ($wanted: [_Any!]!) {{ {fields} }}",
        "variables": {"wanted": [by_email(VICTIM)] * 100},
    }
    assert limit_of(api.post(entry))["name"] == "cost"
    few = entry | {"variables": {"wanted": [by_email(VICTIM)] * 10}}
    assert api.post(few).status_code == 200
    [*_, refused] = api.post([few] * 8).json
    assert refused["errors"][0]["extensions"]["limit"]["name"] == "cost"


def test_pages_within_entities_multiply(ports: Ports, api: ApiClient) -> None:
    query = """query ($wanted: [_Any!]!) { _entities(representations: $wanted) {
        ... on User { orders(first: 100) { edges { node { id number } } } } } }"""
    for count, is_refused in ((100, True), (10, False)):
        body = {"query": query, "variables": {"wanted": [by_email(VICTIM)] * count}}
        assert (api.post(body).status_code == 400) is is_refused


def test_schema_is_not_served_a_hundred_times_over(ports: Ports, api: ApiClient) -> None:
    fields = " ".join(f"s{number}: _service {{ sdl }}" for number in range(100))
    assert limit_of(api.post({"query": f"{{ {fields} }}"}))["name"] == "cost"


def test_deeply_nested_representations_are_refused(ports: Ports, api: ApiClient) -> None:
    nested: object = "x"
    for _ in range(90):
        nested = [nested]
    wanted = {"__typename": "User", "email": nested}
    [error] = ask(api, None, wanted).json["errors"]
    assert error["message"] == "representations[0]: `email` must be a text that isn't empty."
    for literal in ("[" * 150 + "]" * 150, "9" * 50_000, "1e999"):
        query = f"{{ _entities(representations: [{{ __typename: {literal} }}]) {{ __typename }} }}"
        [error] = api.post({"query": query}).json["errors"]
        assert error["message"].startswith("representations[0]: `__typename` must be one of ")


def test_odd_texts_find_nothing(ports: Ports, api: ApiClient) -> None:
    boss = sign_in(ports, make_user(ports, "boss@example.com", is_superuser=True)).access
    odd = ["\0", "%", "_@example.com", "a" * 10_000, "\ufffe", "' OR 1=1 --"]
    answer = ask(api, boss, *map(by_email, odd))
    assert answer.json == {"data": {"_entities": [None] * len(odd)}}


@pytest.mark.first
def test_closed_storefront_refuses_the_router_like_every_visitor(
    ports: Ports, api: ApiClient
) -> None:
    customer = make_user(ports, VICTIM)
    staff = make_staff(ports, "staff@example.com")
    tokens = sign_in(ports, customer).access, sign_in(ports, staff).access
    close_storefront(ports)
    for body in (
        {"query": "{ _service { sdl } }"},
        {"query": QUERY, "variables": {"wanted": [of("User", customer)]}},
    ):
        for token in (None, "garbage", tokens[0]):
            reply = api.post(body, token)
            assert reply.status_code == 401
            assert (
                reply.json["errors"][0]["extensions"]["code"] == "STOREFRONT_TRAFFIC_NOT_ALLOWED"
            )
        assert "errors" not in api.post(body, tokens[1]).json


def test_password_sessions_of_staff_look_nobody_up_in_a_restricted_mode(
    ports: Ports, api: ApiClient
) -> None:
    victim = make_user(ports, VICTIM)
    staff = make_staff(ports, "staff@example.com", Permission.MANAGE_USERS)
    token = sign_in(ports, staff).access
    assert ask(api, token, of("User", victim)).json["data"]["_entities"] == [{"email": VICTIM}]
    set_mode(ports, PasswordLoginMode.CUSTOMERS_ONLY)
    assert ask(api, token, of("User", victim)).json["data"]["_entities"] == [None]
    set_mode(ports, PasswordLoginMode.DISABLED)
    [error] = ask(api, token, of("User", victim)).json["errors"]
    assert error["extensions"]["exception"]["code"] == "InvalidTokenError"


def test_text_for_a_channel_is_not_repeated_for_each_product(ports: Ports, api: ApiClient) -> None:
    """One long text in a request would come back for each product and each alias of its field."""
    keys = [make_product(ports, name) for name in ("Cup", "Bowl")]
    aliased = " ".join(f"a{number}: channel" for number in range(20))
    queries = (
        "query ($c: String) { products(first: 2, channel: $c) { edges { node { FIELDS } } } }",
        "query ($c: String, $id: ID) { product(id: $id, channel: $c) { FIELDS } }",
        "query ($w: [_Any!]!) { _entities(representations: $w) { ... on Product { FIELDS } } }",
    )
    for query in queries:
        for channel, fits in (("poland", True), ("x" * 255, True), ("x" * 100_000, False)):
            wanted = [{**of("Product", key), "channel": channel} for key in keys]
            variables = {"c": channel, "w": wanted, "id": wanted[0]["id"]}
            document = query.replace("FIELDS", aliased)
            reply = api.post({"query": document, "variables": variables})
            assert ("errors" not in reply.json) is fits, query
            assert reply.text.count(channel) in ((20, 40) if fits else (0,)), query
            assert "at most 255 characters" in reply.text or fits
