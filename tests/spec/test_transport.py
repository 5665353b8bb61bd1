"""Contract, part 1: "Transport"."""

import jwt
import pytest

from tests.builders.people import PASSWORD
from tests.spec.client import JSON, Client
from tests.spec.documents import LOGIN, ME, ME_QUERY
from tests.spec.recorded_shop import RecordedShop

pytestmark = pytest.mark.xdist_group("spec")


def test_json_body_carries_the_document_and_perhaps_variables_and_a_name(client: Client) -> None:
    body = {
        "query": "query A { __typename } query B($b: Boolean!) { shop @include(if: $b) { id } }",
        "variables": {"b": True},
        "operationName": "B",
    }
    assert client.post(body).data.keys() == {"shop"}


def test_batch_of_several_operations_is_accepted_in_one_request(client: Client) -> None:
    response = client.post([{"query": "{ shop { id } }"}, {"query": "{ me { id } }"}])
    assert response.status == 200
    assert [entry["data"].keys() for entry in response.body] == [{"shop"}, {"me"}]


def test_key_set_is_fetched_without_a_body(client: Client) -> None:
    response = client.send("GET", "/.well-known/jwks.json")
    assert response.status == 200
    assert all(key["kty"] == "RSA" for key in response.body["keys"])


@pytest.mark.parametrize(
    "header", ["Authorization: Bearer {}", "Authorization-Bearer: {}"], ids=["usual", "proxied"]
)
def test_same_shape_carries_the_tokens_of_users_and_of_apps(
    client: Client, shop: RecordedShop, header: str
) -> None:
    name, _, value = header.partition(": ")
    for token in (shop.access("manager"), shop.app_token("SETTINGS")):
        response = client.post(
            {"query": "{ shop { defaultMailSenderName } }"}, headers={name: value.format(token)}
        )
        assert response.data["shop"] == {"defaultMailSenderName": ""}


def test_authorization_bearer_works_behind_a_proxy_that_uses_authorization(
    client: Client, shop: RecordedShop
) -> None:
    headers = {
        "Authorization": "Basic cHJveHk6cHJveHk=",
        "Authorization-Bearer": shop.access("customer"),
    }
    response = client.post({"query": ME_QUERY}, headers=headers)
    assert response.data["me"] == {"email": "customer@example.com"}


def test_some_operations_are_public(client: Client) -> None:
    assert client.run("{ shop { name } }").data["shop"]["name"]


def test_users_and_apps_are_two_kinds_of_actors(client: Client, shop: RecordedShop) -> None:
    assert client.run(ME, shop.access("customer")).data["me"]["email"]
    assert client.run(ME, shop.app_token("PRODUCTS")).data["me"] is None


def test_playground_is_served_at_the_apis_url(client: Client) -> None:
    response = client.send("GET", headers={"Accept": "text/html"})
    assert response.status == 200
    assert response.headers["Content-Type"].startswith("text/html")


def test_url_without_slash_answers_post_and_options(client: Client, shop: RecordedShop) -> None:
    headers = {**JSON, "Authorization": f"Bearer {shop.access('customer')}"}
    response = client.send(path="/graphql", body={"query": ME_QUERY}, headers=headers)
    assert response.body["data"]["me"] == {"email": "customer@example.com"}
    preflight = client.send("OPTIONS", path="/graphql", headers={"Origin": "https://a.example"})
    assert (preflight.status, preflight.body) == (200, "")


def test_tokens_made_without_the_slash_name_the_url_with_it(client: Client) -> None:
    variables = {"email": "customer@example.com", "password": PASSWORD}
    body = {"query": LOGIN, "variables": variables}
    response = client.send(path="/graphql", body=body, headers=JSON)
    token = response.body["data"]["tokenCreate"]["token"]
    claims = jwt.decode(token, options={"verify_signature": False})
    assert claims["iss"] == client.server.issuer
    assert client.run(ME_QUERY, token).data["me"] == {"email": "customer@example.com"}


def test_other_methods_without_the_slash_are_no_requests_to_the_api(client: Client) -> None:
    for method, status in (("GET", 308), ("PUT", 404), ("DELETE", 404)):
        response = client.send(method, path="/graphql")
        assert response.status == status
        assert ("Location" in response.headers) is (method == "GET")
        assert response.headers["Access-Control-Allow-Origin"] == "*"
