"""What the shop tells its clients: countries, languages, where it is; and lists of checkouts."""

import pytest

from app.composition.settings import Settings
from app.domain.authorization.permissions import Permission
from app.ports import Ports
from tests.builders.orders import checkout_id, make_cart
from tests.builders.people import NOBODY, actor_of, make_staff, make_user, sign_in
from tests.builders.products import make_product
from tests.graphql.shop_client import ApiClient


@pytest.fixture
def api(ports: Ports) -> ApiClient:
    return ApiClient(ports, Settings())


def test_countries_and_languages_are_those_that_inputs_accept(api: ApiClient) -> None:
    shop = api.run(
        """{ shop {
          countries { code country }
          shippedTo: countries(filter: {attachedToShippingZones: true}) { code }
          others: countries(languageCode: DE filter: {attachedToShippingZones: false}) { code }
          languages { code language }
          phonePrefixes channelCurrencies
        } }"""
    )
    assert {"code": "DE", "country": "Germany"} in shop["countries"]
    assert len(shop["countries"]) == len(shop["others"]) > 240
    assert shop["shippedTo"] == []
    assert {"code": "PT_BR", "language": "Portuguese (Brazil)"} in shop["languages"]
    assert {"1", "44", "49"} <= set(shop["phonePrefixes"])
    assert len(set(shop["phonePrefixes"])) == len(shop["phonePrefixes"])
    assert shop["channelCurrencies"] == ["EUR"]


def test_domain_is_where_the_request_was_sent(api: ApiClient) -> None:
    assert api.run("{ shop { domain { host url sslEnabled } } }")["domain"] == {
        "host": "localhost:8000",
        "url": "http://localhost:8000/",
        "sslEnabled": False,
    }


def test_products_are_in_stock(ports: Ports, api: ApiClient) -> None:
    make_product(ports)
    query = "query ($stock: StockAvailability) {"
    query += " products(filter: {stockAvailability: $stock}) { totalCount } }"
    counts = [api.run(query, stock=stock) for stock in (None, "IN_STOCK", "OUT_OF_STOCK")]
    assert counts == [{"totalCount": 1}, {"totalCount": 1}, {"totalCount": 0}]


def test_checkouts_are_listed_newest_first_for_those_who_manage_them(
    ports: Ports, api: ApiClient
) -> None:
    customer = actor_of(ports, make_user(ports, "c@example.com"))
    carts = [checkout_id(make_cart(ports, actor)) for actor in (NOBODY, customer)]
    staff = sign_in(ports, make_staff(ports, "s@example.com", Permission.MANAGE_CHECKOUTS)).access
    found = api.run("{ checkouts(first: 10) { totalCount edges { node { id } } } }", staff)
    assert found["totalCount"] == len(carts)
    assert [edge["node"]["id"] for edge in found["edges"]] == carts[::-1]
    newest = api.run("{ checkouts(first: 1) { edges { node { id lines { quantity } } } } }", staff)
    assert newest["edges"][0]["node"]["id"] == carts[-1]
    assert newest["edges"][0]["node"]["lines"]


def test_long_lists_of_the_shop_count_as_long_as_they_are(api: ApiClient) -> None:
    """Without page arguments they were taken for ten items, each of 90 names for 1,300."""
    field = "shop { countries { code country } languages { code language } }"
    once = api.run(f"{{ {field} }}")
    assert len(once["countries"]) + len(once["languages"]) > 1_200
    many = " ".join(f"a{number}: {field}" for number in range(20))
    refused = api.post({"query": f"{{ {many} }}"})
    assert refused.json["errors"][0]["extensions"]["limit"]["name"] == "cost"
