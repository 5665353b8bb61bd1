"""Metadata by GraphQL: of users and apps, read and changed."""

import pytest

from app.domain.authorization.permissions import Permission
from app.domain.values.ids import to_global_id
from app.ports import Ports
from tests.builders.apps import make_app
from tests.builders.people import PASSWORD, make_staff, make_user, sign_in
from tests.fixtures.statements import recorded_statements, selects
from tests.graphql.shop_client import ApiClient

FIELDS = """
  metadata { key value } metafield(key: "a") metafields(keys: ["a", "none"])
"""
PRIVATE_FIELDS = """
  privateMetadata { key value } privateMetafield(key: "a") privateMetafields
"""


@pytest.fixture
def api(ports: Ports) -> ApiClient:
    return ApiClient(ports)


def test_customer_sets_reads_and_deletes_metadata(ports: Ports, api: ApiClient) -> None:
    key = make_user(ports)
    token, id_ = sign_in(ports, key).access, to_global_id("User", key)
    update = f"""mutation ($id: ID!, $input: [MetadataInput!]!) {{
      updateMetadata(id: $id, input: $input) {{
        errors {{ field code }} metadataErrors {{ code }}
        item {{ __typename ... on User {{ id }} {FIELDS} }}
      }}
    }}"""
    pairs = [{"key": "b", "value": "2"}, {"key": "a", "value": "1"}]
    assert api.run(update, token, id=id_, input=pairs) == {
        "errors": [],
        "metadataErrors": [],
        "item": {
            "__typename": "User",
            "id": id_,
            "metadata": [{"key": "a", "value": "1"}, {"key": "b", "value": "2"}],
            "metafield": "1",
            "metafields": {"a": "1"},
        },
    }
    delete = """mutation ($id: ID!) {
      deleteMetadata(id: $id, keys: ["a"]) { errors { code } item { metadata { key } } }
    }"""
    assert api.run(delete, token, id=id_)["item"] == {"metadata": [{"key": "b"}]}
    assert api.run("{ me { metadata { key value } } }", token) == {
        "metadata": [{"key": "b", "value": "2"}]
    }


def test_app_reads_its_own_private_metadata(ports: Ports, api: ApiClient) -> None:
    key, token = make_app(ports)
    update = f"""mutation ($id: ID!) {{
      updatePrivateMetadata(id: $id, input: [{{key: "a", value: "1"}}]) {{
        errors {{ code }} item {{ {PRIVATE_FIELDS} }}
      }}
    }}"""
    stored = {
        "privateMetadata": [{"key": "a", "value": "1"}],
        "privateMetafield": "1",
        "privateMetafields": {"a": "1"},
    }
    id_ = to_global_id("App", key)
    assert api.run(update, token, id=id_) == {"errors": [], "item": stored}
    assert api.run(f"{{ app {{ {PRIVATE_FIELDS} }} }}", token) == stored


@pytest.mark.parametrize("id_", ["", "garbage", to_global_id("Product", 1)])
def test_other_objects_have_no_metadata(ports: Ports, api: ApiClient, id_: str) -> None:
    mutation = """mutation ($id: ID!) {
      deletePrivateMetadata(id: $id, keys: []) { errors { field code } item { __typename } }
    }"""
    assert api.run(mutation, None, id=id_) == {
        "errors": [{"field": "id", "code": "NOT_FOUND"}],
        "item": None,
    }


def test_signing_in_shows_the_users_public_metadata(ports: Ports, api: ApiClient) -> None:
    key = make_user(ports)
    login = f"""mutation ($email: String!, $password: String!) {{
      tokenCreate(email: $email, password: $password) {{ user {{ {FIELDS} }} }}
    }}"""
    shown = api.run(login, None, email="customer@example.com", password=PASSWORD)
    assert shown == {"user": {"metadata": [], "metafield": None, "metafields": {}}}
    assert key


def test_metadata_of_a_list_is_one_statement(ports: Ports, api: ApiClient) -> None:
    permissions = (Permission.MANAGE_USERS, Permission.MANAGE_STAFF)
    token = sign_in(ports, make_staff(ports, "boss@example.com", *permissions)).access
    query = "{ customers(first: 100) { edges { node { metadata { key } privateMetafields } } } }"
    counts = []
    for name in "abc":
        make_user(ports, f"{name}@example.com")
        with recorded_statements() as statements:
            api.run(query, token)
        counts.append(len(selects(statements)))
    assert counts[0] == counts[-1]
