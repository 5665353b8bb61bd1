"""Metadata by GraphQL: of users and apps, read and changed."""

import pytest
from sqlalchemy import update

from app import models
from app.domain.authorization.permissions import Permission
from app.domain.values.ids import to_global_id
from app.ports import Ports
from tests.builders.apps import extension_token, make_app, make_extension_app
from tests.builders.people import PASSWORD, actor_of, make_staff, make_user, sign_in
from tests.fixtures.cases import cases
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


def test_public_metadata_of_an_app_is_for_itself_its_extensions_and_app_managers(
    ports: Ports, api: ApiClient
) -> None:
    page = make_extension_app(ports, "page", Permission.MANAGE_PRODUCTS)
    other, other_token = make_app(ports, "other")
    with ports.database.transaction() as session:
        session.execute(update(models.App).values(public_metadata={"color": "red"}))
    staff = actor_of(ports, make_staff(ports, "staff@example.com", Permission.MANAGE_PRODUCTS))
    boss = sign_in(ports, make_staff(ports, "boss@example.com", Permission.MANAGE_APPS)).access
    tom = sign_in(ports, make_staff(ports, "tom@example.com", Permission.MANAGE_PRODUCTS)).access
    in_page = extension_token(ports, staff, page)
    query = """query ($id: ID!) { app(id: $id) {
        metadata { key value } metafield(key: "color") metafields(keys: ["color"]) } }"""
    shown = {
        "metadata": [{"key": "color", "value": "red"}],
        "metafield": "red",
        "metafields": {"color": "red"},
    }
    its, others = to_global_id("App", page.id), to_global_id("App", other)

    for credential, id_ in ((boss, its), (in_page, its), (other_token, others)):
        assert api.run(query, credential, id=id_) == shown
    for credential, id_ in ((tom, its), (in_page, others)):
        answer = api.ask(query, credential, id=id_)
        assert answer["data"]["app"] in (None, dict.fromkeys(shown))
        assert {error["extensions"]["requiredPermissions"][0] for error in answer["errors"]} == {
            "MANAGE_APPS"
        }
    listed = '{ apps(first: 9) { edges { node { name metafield(key: "color") } } } }'
    answer = api.ask(listed, in_page)
    by_name = {edge["node"]["name"]: edge["node"] for edge in answer["data"]["apps"]["edges"]}
    assert {name: node["metafield"] for name, node in by_name.items()} == {
        "page": "red",
        "other": None,
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


@cases("id_", ["", "garbage", to_global_id("Product", 1)])
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
