"""Contract, part 1: "Tokens and errors", and what existing clients hold us to about them."""

import pytest

from tests.builders.people import PASSWORD
from tests.spec.client import JSON, Client
from tests.spec.documents import LOGIN, ME_QUERY, REFRESH, SHOP
from tests.spec.forged_tokens import Forger
from tests.spec.recorded_shop import RecordedShop

pytestmark = pytest.mark.xdist_group("spec")

ACCOUNT_MUTATIONS = ("tokenCreate", "tokenRefresh", "tokenVerify", "tokensDeactivateAll")


@pytest.mark.parametrize(
    "query", [ME_QUERY, SHOP, "{ __typename }", "{ __schema { types { name } } }"]
)
def test_any_request_with_an_expired_token_gets_expired_signature_error(
    client: Client, shop: RecordedShop, query: str
) -> None:
    response = client.run(query, Forger(shop).expired())
    assert (response.status, response.code) == (200, "ExpiredSignatureError")
    assert response.errors[0]["message"] == "Signature has expired"


def test_me_with_an_invalid_token_is_an_error(client: Client) -> None:
    response = client.run(ME_QUERY, "garbage")
    assert response.status == 200
    assert response.body["data"] == {"me": None}
    assert response.code == "InvalidTokenError"


def test_top_level_error_has_message_location_path_and_code(client: Client) -> None:
    (error,) = client.run("{ me { id } }", "garbage").errors
    assert error == {
        "message": error["message"],
        "locations": [{"line": 1, "column": 3}],
        "path": ["me"],
        "extensions": {"exception": {"code": "InvalidTokenError"}},
    }


@pytest.mark.parametrize("mutation", ACCOUNT_MUTATIONS)
def test_every_account_mutation_has_both_errors_and_account_errors(
    client: Client, mutation: str
) -> None:
    query = "{ __schema { mutationType { fields { name type { fields(includeDeprecated: true) {"
    query += " name type { ofType { ofType { ofType { name } } } } } } } } } }"
    fields = client.run(query).data["__schema"]["mutationType"]["fields"]
    (payload,) = [field["type"]["fields"] for field in fields if field["name"] == mutation]
    listed = {
        field["name"]: field["type"]["ofType"]["ofType"]["ofType"]["name"]
        for field in payload
        if field["name"] in ("errors", "accountErrors")
    }
    assert listed == {"errors": "AccountError", "accountErrors": "AccountError"}


def test_errors_and_account_errors_are_equal(client: Client) -> None:
    query = (
        'mutation { tokenCreate(email: "nobody@example.com", password: "x") {'
        " errors { field message code } accountErrors { field message code } } }"
    )
    payload = client.run(query).data["tokenCreate"]
    assert payload["errors"] == payload["accountErrors"]
    assert payload["errors"][0]["field"] == "email"


def test_refused_mutation_is_200_with_an_object_and_a_list_of_errors(
    client: Client, shop: RecordedShop
) -> None:
    refused = (
        client.run(LOGIN, email="nobody@example.com", password="x").data["tokenCreate"],
        client.run(REFRESH, token="x").data["tokenRefresh"],
        client.run(REFRESH, "garbage", token="x").data["tokenRefresh"],
    )
    for payload in refused:
        assert payload["token"] is None
        assert len(payload["errors"]) == 1


def test_client_can_query_me_after_a_refused_refresh(client: Client) -> None:
    assert client.run(REFRESH, token="x").data["tokenRefresh"]["errors"]
    assert client.run(ME_QUERY).body == {"data": {"me": None}}


def test_responses_are_json_with_any_status(client: Client, shop: RecordedShop) -> None:
    shop.set_switches(allow_storefront_traffic=False)
    statuses = set()
    for response in (
        client.send(body=b"{not json", headers=JSON),
        client.post([5]),
        client.run("{ __typename }"),
        client.run("{ nothing }", shop.app_token("NOPERM")),
        client.post({"query": "x" * 1024 * 1024}),
        client.send(body=b"x", headers={"Content-Type": "text/plain"}),
    ):
        statuses.add(response.status)
        assert "errors" in response.body or "errors" in response.body[0]
    assert statuses == {400, 401, 413, 415}


def test_command_line_clients_requests_are_answered(client: Client, shop: RecordedShop) -> None:
    assert client.run("{__schema{__typename}}").data == {"__schema": {"__typename": "__Schema"}}
    headers = {"Authorization-Bearer": shop.app_token("PRODUCTS")}
    assert client.post({"query": "{ shop { name } }"}, headers=headers).data["shop"]["name"]


def test_responses_reveal_no_internals(client: Client) -> None:
    for query in (
        "{ nothing }",
        "{ shop { names } }",
        "mutation { tokenVerify(token: 5) { isValid } }",
    ):
        response = client.run(query)
        assert response.status == 400
        for word in ("Traceback", "/app/", ".py", "graphene", "sqlalchemy"):
            assert word not in str(response.body)


def test_responses_and_logs_contain_no_password_or_token(
    client: Client, shop: RecordedShop
) -> None:
    secrets = (PASSWORD, "a-wrong-password", shop.refresh("customer"))
    answers = [client.run(LOGIN, email="nobody@example.com", password=word) for word in secrets]
    answers.append(client.run(REFRESH, token=shop.access("customer")))
    answers.append(client.run(ME_QUERY, shop.refresh("customer")))
    output = str([answer.body for answer in answers]) + client.server.log.read_text()
    assert not [secret for secret in (*secrets, shop.access("customer")) if secret in output]
