"""The language of a user, chosen by themselves or by those who manage customers."""

import pytest

from app.domain.authorization.permissions import Permission
from app.ports import Ports
from tests.builders.people import make_staff, make_user, sign_in
from tests.graphql.shop_client import ApiClient

OWN = """mutation ($input: AccountInput!) {
  accountUpdate(input: $input) { errors { field code } user { languageCode } }
}"""
CREATE = """mutation ($input: UserCreateInput!) {
  customerCreate(input: $input) { errors { field code } user { id languageCode } }
}"""
UPDATE = """mutation ($id: ID!, $input: CustomerInput!) {
  customerUpdate(id: $id, input: $input) { errors { field code } user { languageCode } }
}"""
REGISTER = """mutation ($input: AccountRegisterInput!) {
  accountRegister(input: $input) { errors { field code } }
}"""
NEW = {"email": "new@example.com", "password": "a good long sentence"}


@pytest.fixture
def api(ports: Ports) -> ApiClient:
    return ApiClient(ports)


def boss(ports: Ports) -> str:
    """The access token of somebody who manages customers."""
    return sign_in(ports, make_staff(ports, "boss@example.com", Permission.MANAGE_USERS)).access


def test_language_is_english_until_chosen(ports: Ports, api: ApiClient) -> None:
    token = sign_in(ports, make_user(ports)).access
    assert api.run("{ me { languageCode } }", token) == {"languageCode": "EN"}
    chosen = api.run(OWN, token, input={"languageCode": "PT_BR"})
    assert chosen == {"errors": [], "user": {"languageCode": "PT_BR"}}
    assert api.run("{ me { languageCode } }", token) == {"languageCode": "PT_BR"}


@pytest.mark.parametrize("input_", [{"firstName": "Ann"}, {"languageCode": None}])
def test_language_stays_unless_another_is_sent(
    ports: Ports, api: ApiClient, input_: dict[str, object]
) -> None:
    token = sign_in(ports, make_user(ports)).access
    api.run(OWN, token, input={"languageCode": "DE"})
    assert api.run(OWN, token, input=input_)["user"] == {"languageCode": "DE"}


def test_registration_and_managers_set_the_language(ports: Ports, api: ApiClient) -> None:
    token = boss(ports)
    registered = api.run(
        REGISTER, input={**NEW, "languageCode": "FR", "redirectUrl": "http://localhost:3000/"}
    )
    assert registered == {"errors": []}
    find = "query ($email: String) { user(email: $email) { languageCode } }"
    assert api.run(find, token, email=NEW["email"]) == {"languageCode": "FR"}
    made = api.run(CREATE, token, input={"email": "jo@example.com", "languageCode": "PL"})
    assert made["user"]["languageCode"] == "PL"
    changed = api.run(UPDATE, token, id=made["user"]["id"], input={"languageCode": "ZH_HANT_TW"})
    assert changed == {"errors": [], "user": {"languageCode": "ZH_HANT_TW"}}


def test_unknown_language_is_refused(ports: Ports, api: ApiClient) -> None:
    token = sign_in(ports, make_user(ports)).access
    reply = api.post({"query": OWN, "variables": {"input": {"languageCode": "XX_YY"}}}, token)
    assert reply.status_code == 400
