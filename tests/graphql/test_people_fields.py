"""Fields of people and addresses that Saleor's dashboard and tests use."""

from typing import Any

import pytest

from app.domain.authorization.permissions import Permission
from app.domain.values.ids import to_global_id
from app.ports import Ports
from tests.builders.addresses import make_address
from tests.builders.people import PASSWORD, make_staff, make_user, sign_in
from tests.fixtures.statements import recorded_statements, selects
from tests.graphql.shop_client import ApiClient

POLISH = {"firstName": "Ann", "streetAddress1": "Tęczowa 7", "city": "Wrocław", "country": "PL"}
GOOD = POLISH | {"postalCode": "53-601"}
COLOR = [{"key": "color", "value": "red"}]
METADATA = "metadata { key value } privateMetadata { key value }"
BOTH = {"metadata": COLOR, "privateMetadata": [{"key": "vat", "value": "1"}]}
SHOWN = {"metadata": COLOR, "privateMetadata": [{"key": "vat", "value": "1"}]}
REGISTER = """mutation ($input: AccountRegisterInput!) {
  accountRegister(input: $input) {
    requiresConfirmation errors { field code }
    user { id email firstName isStaff isActive isConfirmed metadata { key value } }
  }
}"""


@pytest.fixture
def api(ports: Ports) -> ApiClient:
    return ApiClient(ports)


@pytest.fixture
def manager(ports: Ports) -> str:
    permissions = (Permission.MANAGE_USERS, Permission.MANAGE_STAFF)
    return sign_in(ports, make_staff(ports, "boss@example.com", *permissions)).access


def test_errors_of_two_addresses_say_which_one_they_are_about(
    ports: Ports, api: ApiClient, manager: str
) -> None:
    create = """mutation ($input: UserCreateInput!) {
      customerCreate(input: $input) { errors { field code addressType } }
    }"""
    new = {"email": "ann@example.com", "defaultShippingAddress": GOOD}
    refused = api.run(create, manager, input=new | {"defaultBillingAddress": POLISH})
    assert refused["errors"] == [
        {"field": "postalCode", "code": "REQUIRED", "addressType": "BILLING"}
    ]
    assert api.run(create, manager, input=new)["errors"] == []
    own = sign_in(ports, make_user(ports, "own@example.com")).access
    update = """mutation ($input: AccountInput!) {
      accountUpdate(input: $input) { errors { field addressType } }
    }"""
    refused = api.run(update, own, input={"defaultShippingAddress": POLISH})
    assert refused["errors"] == [{"field": "postalCode", "addressType": "SHIPPING"}]


@pytest.mark.parametrize(("sent", "shown"), [("SHIPPING", "SHIPPING"), (None, None)])
def test_errors_of_one_address_have_the_type_that_was_sent(
    ports: Ports, api: ApiClient, sent: str | None, shown: str | None
) -> None:
    own = sign_in(ports, make_user(ports)).access
    create = """mutation ($input: AddressInput!, $type: AddressTypeEnum) {
      accountAddressCreate(input: $input, type: $type) { errors { addressType } }
    }"""
    assert api.run(create, own, input=POLISH, type=sent)["errors"] == [{"addressType": shown}]


def test_customers_are_created_and_updated_with_metadata(api: ApiClient, manager: str) -> None:
    create = f"""mutation ($input: UserCreateInput!) {{
      customerCreate(input: $input) {{
        errors {{ field code }} user {{ id isConfirmed {METADATA} }}
      }}
    }}"""
    made = api.run(
        create, manager, input={"email": "ann@example.com", "isConfirmed": True, **BOTH}
    )
    assert made["errors"] == []
    id_ = made["user"].pop("id")
    assert made["user"] == {"isConfirmed": False, **SHOWN}
    update = f"""mutation ($id: ID, $input: CustomerInput!) {{
      customerUpdate(id: $id, input: $input) {{ errors {{ field code }} user {{ {METADATA} }} }}
    }}"""
    more = [{"key": "size", "value": "L"}]
    updated = api.run(update, manager, id=id_, input={"metadata": more})
    assert updated["user"] == SHOWN | {"metadata": COLOR + more}
    bad = [{"key": " ", "value": "1"}]
    for field in ("metadata", "privateMetadata"):
        refused = api.run(update, manager, id=id_, input={"firstName": "No", field: bad})
        assert refused["errors"] == [{"field": field, "code": "REQUIRED"}]


def test_staff_are_created_and_updated_with_metadata(
    ports: Ports, api: ApiClient, manager: str
) -> None:
    create = f"""mutation ($input: StaffCreateInput!) {{
      staffCreate(input: $input) {{ staffErrors {{ field }} user {{ id {METADATA} }} }}
    }}"""
    made = api.run(create, manager, input={"email": "ann@example.com", **BOTH})
    id_ = made["user"].pop("id")
    assert made == {"staffErrors": [], "user": SHOWN}
    make_user(ports, "bob@example.com")
    promoted = api.run(create, manager, input={"email": "bob@example.com", **BOTH})
    assert promoted["user"].pop("id") != id_
    assert promoted["user"] == SHOWN
    update = f"""mutation ($id: ID!, $input: StaffUpdateInput!) {{
      staffUpdate(id: $id, input: $input) {{ user {{ {METADATA} }} }}
    }}"""
    changed = [{"key": "color", "value": "blue"}]
    updated = api.run(update, manager, id=id_, input={"metadata": changed})
    assert updated["user"] == SHOWN | {"metadata": changed}


def test_addresses_keep_metadata(ports: Ports, api: ApiClient, manager: str) -> None:
    own = sign_in(ports, make_user(ports)).access
    create = """mutation ($input: AddressInput!) {
      accountAddressCreate(input: $input) { address { id metadata { key value } } }
    }"""
    address = api.run(create, own, input=GOOD | {"metadata": COLOR})["address"]
    assert address["metadata"] == COLOR
    id_ = address["id"]
    update = """mutation ($id: ID!, $input: AddressInput!) {
      accountAddressUpdate(id: $id, input: $input) {
        address { metafield(key: "size") metadata { key } }
      }
    }"""
    size = [{"key": "size", "value": "L"}]
    updated = api.run(update, own, id=id_, input={"country": "PL", "metadata": size})
    assert updated["address"] == {
        "metafield": "L",
        "metadata": [{"key": "color"}, {"key": "size"}],
    }
    delete = (
        "mutation ($id: ID!) { accountAddressDelete(id: $id) { address { metadata { key } } } }"
    )
    gone = api.run(delete, own, id=id_)
    assert gone["address"] == {"metadata": [{"key": "color"}, {"key": "size"}]}


def test_metadata_of_an_address_is_changed_by_its_owner_and_by_managers(
    ports: Ports, api: ApiClient, manager: str
) -> None:
    customer = make_user(ports, "ann@example.com")
    id_ = to_global_id("Address", make_address(ports, customer))
    change = """mutation ($id: ID!, $input: [MetadataInput!]!) {
      updateMetadata(id: $id, input: $input) {
        errors { field code } item { __typename metadata { key value } }
      }
    }"""
    item = {"__typename": "Address", "metadata": COLOR}
    own = sign_in(ports, customer).access
    assert api.run(change, own, id=id_, input=COLOR) == {"errors": [], "item": item}
    assert api.run(change, manager, id=id_, input=COLOR)["item"] == item
    other = sign_in(ports, make_user(ports, "bob@example.com")).access
    refused = api.run(change, other, id=id_, input=COLOR)
    assert refused["errors"] == [{"field": "id", "code": "NOT_FOUND"}]
    private = change.replace("updateMetadata", "updatePrivateMetadata")
    assert api.code(private, own, id=id_, input=COLOR) == "PermissionDenied"
    assert api.run(private, manager, id=id_, input=COLOR)["errors"] == []


def test_metadata_of_a_list_of_addresses_is_one_statement(
    ports: Ports, api: ApiClient, manager: str
) -> None:
    for name in ("ann", "bob", "cy"):
        make_address(ports, make_user(ports, f"{name}@example.com"))
    query = "{ customers(first: 9) { edges { node { addresses { metadata { key } } } } } }"
    with recorded_statements() as statements:
        api.run(query, manager)
    assert len([one for one in selects(statements) if "addresses.public_metadata" in one]) == 1


def test_staffs_addresses_show_metadata_to_those_who_manage_staff_alone(
    ports: Ports, api: ApiClient, manager: str
) -> None:
    key = make_staff(ports, "ann@example.com")
    make_address(ports, key)
    query = """query ($id: ID) {
      user(id: $id) { addresses { metadata { key } privateMetadata { key } } }
    }"""
    shown: Any = api.run(query, manager, id=to_global_id("User", key))
    assert shown["addresses"] == [{"metadata": [], "privateMetadata": []}]


def test_registration_shows_what_was_registered_without_an_id(
    ports: Ports, api: ApiClient
) -> None:
    make_user(ports, "known@example.com")
    for email in ("new@example.com", "known@example.com"):
        new = {
            "email": email,
            "password": PASSWORD,
            "firstName": "Ann",
            "redirectUrl": "http://localhost:3000/",
            "metadata": COLOR,
        }
        assert api.run(REGISTER, input=new) == {
            "requiresConfirmation": True,
            "errors": [],
            "user": {
                "id": "",
                "email": email,
                "firstName": "Ann",
                "isStaff": False,
                "isActive": True,
                "isConfirmed": False,
                "metadata": COLOR,
            },
        }


def test_registration_does_not_show_whose_email_it_is(ports: Ports, api: ApiClient) -> None:
    make_address(ports, make_user(ports, "known@example.com"))
    query = REGISTER.replace("id email", "addresses { id } externalReference id email")
    answers = []
    for email in ("new@example.com", "known@example.com"):
        new = {"email": email, "password": PASSWORD, "redirectUrl": "http://localhost:3000/"}
        answers.append(api.run(query, input=new)["user"] | {"email": ""})
    assert answers[0] == answers[1]
    assert answers[0]["addresses"] == []


def test_csrf_token_is_that_of_the_refresh_token(ports: Ports, api: ApiClient) -> None:
    make_user(ports, "ann@example.com", password=PASSWORD)
    create = """mutation ($password: String) {
      tokenCreate(email: "ann@example.com", password: $password) { csrfToken refreshToken }
    }"""
    made = api.run(create, password=PASSWORD)
    refresh = """mutation ($token: String, $csrf: String) {
      tokenRefresh(refreshToken: $token, csrfToken: $csrf) { token errors { code } }
    }"""
    claims = """mutation ($token: String) { tokenVerify(token: $token) { payload } }"""
    payload = api.run(claims, token=made["refreshToken"])["payload"]
    assert made["csrfToken"] == payload["csrf_token"]
    for csrf in (made["csrfToken"], "other", None):
        assert api.run(refresh, token=made["refreshToken"], csrf=csrf)["errors"] == []
    refused = api.run(create, password="wrong")
    assert refused == {"csrfToken": None, "refreshToken": None}


def test_european_union_is_no_address(ports: Ports, api: ApiClient) -> None:
    own = sign_in(ports, make_user(ports)).access
    create = """mutation ($input: AddressInput!) {
      accountAddressCreate(input: $input) {
        errors { field code } address { country { code country } }
      }
    }"""
    refused = api.run(create, own, input=POLISH | {"country": "EU"})
    assert refused["errors"] == [{"field": "country", "code": "INVALID"}]
    kosovo = {"firstName": "Ann", "streetAddress1": "Rruga 1", "city": "Prishtina"}
    made = api.run(create, own, input=kosovo | {"country": "XK", "postalCode": "10000"})
    assert made["address"]["country"] == {"code": "XK", "country": "Kosovo"}
    rules = "{ addressValidationRules(countryCode: EU) { countryName } }"
    assert api.code(rules) == "GraphQLError"


def test_objects_with_an_id_are_nodes(ports: Ports, api: ApiClient) -> None:
    own = sign_in(ports, make_user(ports)).access
    shown = api.run("{ me { ... on Node { id __typename } } }", own)
    assert shown == {"id": api.run("{ me { id } }", own)["id"], "__typename": "User"}
    nodes = api.run('{ __type(name: "Node") { possibleTypes { name } } }')["possibleTypes"]
    names = {one["name"] for one in nodes}
    assert names >= {"Address", "App", "Channel", "Group", "Order", "User", "Webhook"}
