"""The company's address and the shop's metadata, by GraphQL; emails end with the address."""

from typing import Any

import pytest

from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import Permission
from app.domain.shop.settings import ShopUpdate
from app.ports import Ports
from app.services.shop.settings import show_settings, update_shop
from tests.builders.people import make_staff, make_user, sign_in
from tests.fixtures.cases import cases
from tests.graphql.shop_client import ApiClient

UPDATE = """
mutation ($input: AddressInput) {
  shopAddressUpdate(input: $input) {
    shop {
      companyAddress { companyName streetAddress1 city postalCode country { code country } phone
        isDefaultBillingAddress metadata { key } }
      defaultCountry { code country }
    }
    errors { field code } shopErrors { code }
  }
}
"""
SHOWN = "{ shop { companyAddress { id companyName } defaultCountry { code } } }"
SETTINGS = """
mutation ($input: ShopSettingsInput!) {
  shopSettingsUpdate(input: $input) {
    shop { id metadata { key value } privateMetadata { key value } metafield(key: "pins") }
    errors { field code }
  }
}
"""
METADATA = """
mutation ($id: ID! $input: [MetadataInput!]!) {
  updateMetadata(id: $id input: $input) {
    item { __typename metadata { key value } } errors { field code }
  }
}
"""
ADDRESS = {
    "companyName": "Marigold GmbH",
    "streetAddress1": "Hauptstr. 1",
    "city": "BERLIN",
    "postalCode": "10115",
    "country": "DE",
}


@pytest.fixture
def api(ports: Ports) -> ApiClient:
    return ApiClient(ports)


@pytest.fixture
def manager(ports: Ports) -> str:
    return sign_in(ports, make_staff(ports, "m@example.com", Permission.MANAGE_SETTINGS)).access


def update(api: ApiClient, credential: str, **changed: object) -> Any:
    return api.run(UPDATE, credential, input=ADDRESS | changed)


def test_address_is_set_changed_and_deleted(api: ApiClient, manager: str) -> None:
    assert api.run(SHOWN) == {"companyAddress": None, "defaultCountry": None}
    answer = update(api, manager)
    assert (answer["errors"], answer["shopErrors"]) == ([], [])
    germany = {"code": "DE", "country": "Germany"}
    assert answer["shop"] == {
        "companyAddress": {
            "companyName": "Marigold GmbH",
            "streetAddress1": "Hauptstr. 1",
            "city": "BERLIN",
            "postalCode": "10115",
            "country": germany,
            "phone": None,
            "isDefaultBillingAddress": False,
            "metadata": [],
        },
        "defaultCountry": germany,
    }
    # What isn't named stays.
    changed = api.run(UPDATE, manager, input={"companyName": "Marigold AG", "country": "DE"})
    assert changed["shop"]["companyAddress"]["streetAddress1"] == "Hauptstr. 1"
    assert api.run(SHOWN)["companyAddress"]["companyName"] == "Marigold AG"
    assert api.run(UPDATE, manager, input=None)["shop"]["companyAddress"] is None
    assert api.run(SHOWN) == {"companyAddress": None, "defaultCountry": None}


@cases(
    ("changed", "expected"),
    [
        ({"postalCode": "1"}, ("postalCode", "INVALID")),
        ({"country": None}, ("country", "REQUIRED")),
        ({"metadata": [{"key": "a", "value": "b"}]}, ("metadata", "INVALID")),
    ],
)
def test_address_against_the_rules_is_refused(
    api: ApiClient, manager: str, changed: dict[str, object], expected: tuple[str, str]
) -> None:
    answer = update(api, manager, **changed)
    assert answer["shop"] is None
    assert [(error["field"], error["code"]) for error in answer["errors"]] == [expected]
    assert api.run(SHOWN)["companyAddress"] is None


def test_address_is_changed_with_manage_settings_alone(api: ApiClient, ports: Ports) -> None:
    staff = sign_in(ports, make_staff(ports, "s@example.com", Permission.MANAGE_USERS)).access
    for credential in (None, staff, sign_in(ports, make_user(ports)).access):
        assert api.code(UPDATE, credential, input=ADDRESS) == "PermissionDenied"


def test_emails_end_with_the_address_without_a_legal_line(
    api: ApiClient, manager: str, ports: Ports
) -> None:
    update(api, manager)
    shown = show_settings(ports, OPERATOR).shown_legal_line
    assert shown == "Marigold GmbH, Hauptstr. 1, 10115 BERLIN, Germany"
    update_shop(ports, OPERATOR, ShopUpdate(mail_legal_line="HRB 1"))
    assert show_settings(ports, OPERATOR).shown_legal_line == "HRB 1"


def test_settings_input_sets_metadata_with_the_settings_or_neither(
    api: ApiClient, manager: str, ports: Ports
) -> None:
    pins = [{"key": "pins", "value": "[1]"}]
    changed = api.run(SETTINGS, manager, input={"metadata": pins, "privateMetadata": pins})
    shop = changed["shop"]
    assert (shop["metadata"], shop["privateMetadata"], shop["metafield"]) == (pins, pins, "[1]")
    bad = [{"key": " ", "value": ""}]
    refused = api.run(SETTINGS, manager, input={"metadata": bad, "name": "Other"})
    assert refused["errors"] == [{"field": "metadata", "code": "REQUIRED"}]
    shown = "{ shop { name metadata { key value } } }"
    assert api.run(shown) == {"name": show_settings(ports, OPERATOR).name, "metadata": pins}
    assert show_settings(ports, OPERATOR).name != "Other"
    private = "{ shop { privateMetadata { key } } }"
    assert api.code(private) == "PermissionDenied"


def test_metadata_of_the_shop_is_changed_by_its_id(api: ApiClient, manager: str) -> None:
    key = api.run("{ shop { id } }")["id"]
    pins = [{"key": "pins", "value": "[2]"}]
    changed = api.run(METADATA, manager, id=key, input=pins)
    assert changed == {"item": {"__typename": "Shop", "metadata": pins}, "errors": []}
    assert api.code(METADATA, id=key, input=pins) == "PermissionDenied"
    unknown = api.run(METADATA, manager, id="U2hvcDoy", input=pins)
    assert unknown["errors"] == [{"field": "id", "code": "NOT_FOUND"}]
