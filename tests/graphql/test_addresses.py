"""Addresses by GraphQL: a customer's own, and those of customers for staff."""

from typing import Any

import orjson
import pytest

from app.domain.authorization.permissions import Permission
from app.domain.values.ids import to_global_id
from app.ports import Ports
from tests.builders.addresses import make_address
from tests.builders.apps import make_app
from tests.builders.people import PASSWORD, make_staff, make_user, sign_in
from tests.fixtures.one_of_each import InTurn
from tests.fixtures.statements import recorded_statements, selects
from tests.graphql.shop_client import ApiClient

ADDRESS = """
  firstName lastName companyName streetAddress1 streetAddress2 city cityArea postalCode
  country { code country } countryArea phone isDefaultBillingAddress isDefaultShippingAddress
"""
CREATE = f"""mutation ($input: AddressInput!, $type: AddressTypeEnum) {{
  accountAddressCreate(input: $input, type: $type) {{
    errors {{ field code }} accountErrors {{ field code }}
    address {{ id {ADDRESS} }}
    user {{ addresses {{ id }} defaultShippingAddress {{ id }} defaultBillingAddress {{ id }} }}
  }}
}}"""
UPDATE = """mutation ($id: ID!, $input: AddressInput!) {
  accountAddressUpdate(id: $id, input: $input) {
    errors { field code } address { firstName city phone country { code } }
  }
}"""
POLISH = {
    "firstName": "Ann",
    "streetAddress1": "Tęczowa 7",
    "city": "Wrocław",
    "postalCode": "53-601",
    "country": "PL",
    "phone": "713448150",
}


@pytest.fixture
def api(ports: Ports) -> ApiClient:
    return ApiClient(ports)


@pytest.fixture
def customer(ports: Ports) -> str:
    """The token of a customer."""
    return sign_in(ports, make_user(ports)).access


def test_customer_adds_a_default_address(api: ApiClient, customer: str) -> None:
    made = api.run(CREATE, customer, input=POLISH, type="SHIPPING")
    id_ = made["address"].pop("id")
    assert made == {
        "errors": [],
        "accountErrors": [],
        "address": {
            "firstName": "Ann",
            "lastName": "",
            "companyName": "",
            "streetAddress1": "Tęczowa 7",
            "streetAddress2": "",
            "city": "WROCŁAW",
            "cityArea": "",
            "postalCode": "53-601",
            "country": {"code": "PL", "country": "Poland"},
            "countryArea": "",
            "phone": "+48713448150",
            "isDefaultBillingAddress": False,
            "isDefaultShippingAddress": True,
        },
        "user": {
            "addresses": [{"id": id_}],
            "defaultShippingAddress": {"id": id_},
            "defaultBillingAddress": None,
        },
    }
    assert api.run("query ($id: ID!) { address(id: $id) { id } }", customer, id=id_) == {"id": id_}


def test_update_keeps_what_is_left_out_and_clears_what_is_null(
    api: ApiClient, customer: str
) -> None:
    id_ = api.run(CREATE, customer, input=POLISH)["address"]["id"]
    assert api.run(
        UPDATE, customer, id=id_, input={"firstName": "Bea", "phone": None, "country": "PL"}
    ) == {
        "errors": [],
        "address": {
            "firstName": "Bea",
            "city": "WROCŁAW",
            "phone": None,
            "country": {"code": "PL"},
        },
    }
    cleared = api.run(UPDATE, customer, id=id_, input={"country": None})
    assert cleared["errors"] == [{"field": "country", "code": "REQUIRED"}]


def test_invalid_address_names_every_input_at_fault(api: ApiClient, customer: str) -> None:
    refused = api.run(CREATE, customer, input={"country": "US", "postalCode": "x"})
    expected = ["city", "countryArea", "postalCode", "streetAddress1"]
    assert sorted(error["field"] for error in refused["errors"]) == expected
    assert (refused["errors"], refused["address"], refused["user"]) == (
        refused["accountErrors"],
        None,
        None,
    )


def test_default_is_changed_and_address_deleted(api: ApiClient, customer: str) -> None:
    ids = [api.run(CREATE, customer, input=POLISH)["address"]["id"] for _ in range(2)]
    default = """mutation ($id: ID!, $type: AddressTypeEnum!) {
      accountSetDefaultAddress(id: $id, type: $type) {
        errors { code } user { defaultBillingAddress { id } defaultShippingAddress { id } }
      }
    }"""
    for id_ in ids:
        assert api.run(default, customer, id=id_, type="BILLING") == {
            "errors": [],
            "user": {"defaultBillingAddress": {"id": id_}, "defaultShippingAddress": None},
        }
    delete = """mutation ($id: ID!) {
      accountAddressDelete(id: $id) {
        errors { code } address { id } user { addresses { id } defaultBillingAddress { id } }
      }
    }"""
    assert api.run(delete, customer, id=ids[1]) == {
        "errors": [],
        "address": {"id": ids[1]},
        "user": {"addresses": [{"id": ids[0]}], "defaultBillingAddress": None},
    }


def test_signing_in_shows_the_users_addresses(ports: Ports, api: ApiClient) -> None:
    key = make_user(ports)
    id_ = to_global_id("Address", make_address(ports, key))
    login = """mutation ($email: String!, $password: String!) {
      tokenCreate(email: $email, password: $password) {
        token user { addresses { id } defaultBillingAddress { id } }
      }
    }"""
    made = api.run(login, None, email="customer@example.com", password=PASSWORD)
    shown = {"addresses": [{"id": id_}], "defaultBillingAddress": {"id": id_}}
    assert made["user"] == shown
    verify = """mutation ($token: String!) {
      tokenVerify(token: $token) { user { addresses { id } defaultBillingAddress { id } } }
    }"""
    assert api.run(verify, None, token=made["token"]) == {"user": shown}


def test_app_manages_addresses_of_customers(ports: Ports, api: ApiClient) -> None:
    user_id = to_global_id("User", make_user(ports))
    token = make_app(ports, "an app", Permission.MANAGE_USERS)[1]
    create = """mutation ($input: AddressInput!, $user: ID!) {
      addressCreate(input: $input, userId: $user) { errors { field code } address { id } }
    }"""
    skipping: dict[str, Any] = {"country": "US", "skipValidation": True}
    id_ = api.run(create, token, input=skipping, user=user_id)["address"]["id"]
    default = """mutation ($id: ID!, $user: ID!) {
      addressSetDefault(addressId: $id, userId: $user, type: SHIPPING) {
        errors { code } user { defaultShippingAddress { id } }
      }
    }"""
    assert api.run(default, token, id=id_, user=user_id) == {
        "errors": [],
        "user": {"defaultShippingAddress": {"id": id_}},
    }
    update = """mutation ($id: ID!) {
      addressUpdate(id: $id, input: {firstName: "Ann", country: US, skipValidation: true}) {
        errors { code } address { firstName }
      }
    }"""
    assert api.run(update, token, id=id_)["address"] == {"firstName": "Ann"}
    delete = "mutation ($id: ID!) { addressDelete(id: $id) { user { addresses { id } } } }"
    assert api.run(delete, token, id=id_) == {"user": {"addresses": []}}


def test_addresses_of_a_list_are_one_statement(ports: Ports, api: ApiClient) -> None:
    token = sign_in(ports, make_staff(ports, "boss@example.com", Permission.MANAGE_USERS)).access
    query = """{ customers(first: 100) { edges { node {
      addresses { id } defaultShippingAddress { id }
    } } } }"""
    counts, page = [], None
    for name in "abc":
        make_address(ports, make_user(ports, f"{name}@example.com"))
        with recorded_statements() as statements:
            page = api.run(query, token)
        counts.append(len(selects(statements)))
    assert page is not None
    assert all(len(edge["node"]["addresses"]) == 1 for edge in page["edges"])
    assert counts[0] == counts[-1]


def test_payload_of_an_event_shows_addresses_and_metadata(ports: Ports, api: ApiClient) -> None:
    key = make_user(ports)
    make_address(ports, key)
    token = sign_in(ports, make_staff(ports, "boss@example.com", Permission.MANAGE_USERS)).access
    query = """subscription { event { ... on CustomerUpdated {
      user { addresses { city } metadata { key } privateMetadata { key } }
    } } }"""
    dry_run = """mutation ($id: ID!, $text: String!) {
      webhookDryRun(objectId: $id, query: $text) { payload errors { code } }
    }"""
    shown = api.run(dry_run, token, id=to_global_id("User", key), text=query)
    user = {"addresses": [{"city": "WROCŁAW"}], "metadata": [], "privateMetadata": []}
    assert (orjson.loads(shown["payload"]), shown["errors"]) == ({"user": user}, [])


RULES = """query ($country: CountryCode!, $area: String) {
  addressValidationRules(countryCode: $country, countryArea: $area) {
    countryCode countryName addressFormat addressLatinFormat allowedFields requiredFields
    upperFields countryAreaType countryAreaChoices { raw verbose } cityType
    cityChoices { raw verbose } cityAreaType cityAreaChoices { raw verbose } postalCodeType
    postalCodeMatchers postalCodeExamples postalCodePrefix
  }
}"""


def test_anyone_reads_the_rules_of_a_country(api: ApiClient) -> None:
    rules = api.run(RULES, country="PL")
    assert rules == {
        "countryCode": "PL",
        "countryName": "POLAND",
        "addressFormat": "%N%n%O%n%A%n%Z %C",
        "addressLatinFormat": "%N%n%O%n%A%n%Z %C",
        "allowedFields": [
            "city",
            "companyName",
            "name",
            "postalCode",
            "streetAddress1",
            "streetAddress2",
        ],
        "requiredFields": ["city", "postalCode", "streetAddress1"],
        "upperFields": ["city"],
        "countryAreaType": "province",
        "countryAreaChoices": [],
        "cityType": "city",
        "cityChoices": [],
        "cityAreaType": "suburb",
        "cityAreaChoices": [],
        "postalCodeType": "postal",
        "postalCodeMatchers": [r"^\d{2}-\d{3}$"],
        "postalCodeExamples": rules["postalCodeExamples"],
        "postalCodePrefix": "",
    }
    assert "00-950" in rules["postalCodeExamples"]


def test_rules_of_an_area_add_its_cities_and_postal_codes(api: ApiClient) -> None:
    china = api.run(RULES, country="CN", area="Anhui Sheng")
    assert {"raw": "安庆市", "verbose": "Anqing Shi"} in china["cityChoices"]
    california = api.run(RULES, country="US", area="CA")
    assert len(california["postalCodeMatchers"]) == 2
    unknown = api.run(RULES, country="US", area="Nowhere")
    assert unknown == api.run(RULES, country="US")
    assert {"raw": "CA", "verbose": "California"} in unknown["countryAreaChoices"]


def test_every_country_has_rules(api: ApiClient, in_turn: InTurn) -> None:
    countries = api.run('{ __type(name: "CountryCode") { enumValues { name } } }')["enumValues"]
    for country in in_turn(countries, 60):
        if country["name"] == "EU":
            continue
        rules = api.run(RULES, country=country["name"])
        assert rules["countryName"], country
        assert "streetAddress1" in rules["allowedFields"], country


def test_managers_of_customers_send_default_addresses(ports: Ports, api: ApiClient) -> None:
    token = sign_in(ports, make_staff(ports, "boss@example.com", Permission.MANAGE_USERS)).access
    shown = """errors { field code } user { id
      defaultShippingAddress { id city } defaultBillingAddress { id city } }"""
    create = (
        f"mutation ($input: UserCreateInput!) {{ customerCreate(input: $input) {{ {shown} }} }}"
    )
    update = f"""mutation ($id: ID!, $input: CustomerInput!) {{
      customerUpdate(id: $id, input: $input) {{ {shown} }} }}"""
    new = {"email": "jo@example.com", "defaultShippingAddress": POLISH}
    made = api.run(create, token, input=new)
    assert made["errors"] == []
    user = made["user"]
    assert user["defaultShippingAddress"]["city"] == "WROCŁAW"
    assert user["defaultBillingAddress"] is None
    moved = {
        "defaultShippingAddress": {"city": "Kraków", "country": "PL"},
        "defaultBillingAddress": {**POLISH, "skipValidation": True, "postalCode": "?"},
    }
    changed = api.run(update, token, id=user["id"], input=moved)
    shipping = {"id": user["defaultShippingAddress"]["id"], "city": "KRAKÓW"}
    assert changed["user"]["defaultShippingAddress"] == shipping
    assert changed["user"]["defaultBillingAddress"]["city"] == "Wrocław"
    invalid = {"defaultBillingAddress": {**POLISH, "postalCode": "?"}, "firstName": "Jo"}
    refused = api.run(update, token, id=user["id"], input=invalid)
    assert refused == {"errors": [{"field": "postalCode", "code": "INVALID"}], "user": None}
    find = "query ($id: ID) { user(id: $id) { firstName } }"
    assert api.run(find, token, id=user["id"]) == {"firstName": ""}
