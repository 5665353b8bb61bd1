"""Contract, part 3: the documents that the storefront client @saleor/sdk 0.7.0 sends for accounts.

Each selects the fields that the client selects, and is sent to a running server.
"""

import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from graphql import parse, validate

from app.graphql.schema import schema
from tests.builders.people import PASSWORD
from tests.spec.client import Client
from tests.spec.recorded_shop import RecordedShop
from tests.spec.replay import NEW_PASSWORD

pytestmark = pytest.mark.xdist_group("spec")

CUSTOMER = "customer@example.com"
PAGE = "http://localhost:3000/account"
CHANNEL = "default-channel"
PLUGIN = "mirumee.authentication.openidconnect"
FRAGMENTS = """
fragment AccountErrorFragment on AccountError { code field message }
fragment AddressFragment on Address {
  id firstName lastName companyName streetAddress1 streetAddress2 city cityArea postalCode
  country { code country } countryArea phone isDefaultBillingAddress isDefaultShippingAddress
}
fragment UserBaseFragment on User {
  id email firstName lastName isStaff userPermissions { code name }
}
fragment UserDetailsFragment on User {
  ...UserBaseFragment
  metadata { key value }
  defaultShippingAddress { ...AddressFragment }
  defaultBillingAddress { ...AddressFragment }
  addresses { ...AddressFragment }
}"""
ERRORS = "errors { ...AccountErrorFragment }"
USER = "user { ...UserDetailsFragment }"
BASE = "user { ...UserBaseFragment }"
EMAIL, TOKEN, REFRESH = "$email: String!", "$token: String!", "$refreshToken: String!"
PASSWORD_, ID = "$password: String!", "$id: ID!"
EXTERNAL = f'$pluginId: String = "{PLUGIN}", $input: JSONString!'
EXTERNAL_CALL = "pluginId: $pluginId, input: $input"
PAGE_VARIABLES = "$channel: String!, $redirectUrl: String!"


def mutation(variables: str, call: str, selected: str) -> str:
    """Return a document of one mutation, with the client's fragments that it uses."""
    document = f"mutation ({variables}) {{ {call} {{ {selected} }} }}"
    used: list[str] = []
    waiting = [document]
    while waiting:
        for name in re.findall(r"\.\.\.(\w+)", waiting.pop()):
            [text] = re.findall(rf"fragment {name} on.*?(?=\nfragment|\Z)", FRAGMENTS, re.DOTALL)
            if text not in used:
                used.append(text)
                waiting.append(text)
    return "\n".join([document, *used])


DOCUMENTS = {
    "login": mutation(
        f"{EMAIL}, {PASSWORD_}",
        "tokenCreate(email: $email, password: $password)",
        f"token refreshToken {ERRORS} {USER}",
    ),
    "login without details": mutation(
        f"{EMAIL}, {PASSWORD_}",
        "tokenCreate(email: $email, password: $password)",
        f"refreshToken token {ERRORS} {BASE}",
    ),
    "register": mutation(
        "$input: AccountRegisterInput!",
        "accountRegister(input: $input)",
        f"{ERRORS} requiresConfirmation",
    ),
    "refresh": mutation(REFRESH, "tokenRefresh(refreshToken: $refreshToken)", f"token {ERRORS}"),
    "refresh with user": mutation(
        REFRESH, "tokenRefresh(refreshToken: $refreshToken)", f"token {USER} {ERRORS}"
    ),
    "verify": mutation(TOKEN, "tokenVerify(token: $token)", f"isValid payload {USER} {ERRORS}"),
    "external URL": mutation(
        EXTERNAL, f"externalAuthenticationUrl({EXTERNAL_CALL})", f"authenticationData {ERRORS}"
    ),
    "external tokens": mutation(
        EXTERNAL,
        f"externalObtainAccessTokens({EXTERNAL_CALL})",
        f"token refreshToken {USER} {ERRORS}",
    ),
    "external refresh": mutation(
        EXTERNAL, f"externalRefresh({EXTERNAL_CALL})", f"token refreshToken {ERRORS}"
    ),
    "external refresh with user": mutation(
        EXTERNAL, f"externalRefresh({EXTERNAL_CALL})", f"token refreshToken {USER} {ERRORS}"
    ),
    "external verify": mutation(
        EXTERNAL, f"externalVerify({EXTERNAL_CALL})", f"isValid verifyData {USER} {ERRORS}"
    ),
    "external logout": mutation(
        EXTERNAL, f"externalLogout({EXTERNAL_CALL})", f"logoutData {ERRORS}"
    ),
    "change password": mutation(
        "$newPassword: String!, $oldPassword: String!",
        "passwordChange(newPassword: $newPassword, oldPassword: $oldPassword)",
        ERRORS,
    ),
    "request reset": mutation(
        f"{EMAIL}, {PAGE_VARIABLES}",
        "requestPasswordReset(email: $email, redirectUrl: $redirectUrl, channel: $channel)",
        ERRORS,
    ),
    "set password": mutation(
        f"{TOKEN}, {EMAIL}, {PASSWORD_}",
        "setPassword(token: $token, email: $email, password: $password)",
        f"{ERRORS} token refreshToken {USER}",
    ),
    "request email change": mutation(
        f"$newEmail: String!, {PASSWORD_}, {PAGE_VARIABLES}",
        "requestEmailChange(channel: $channel, newEmail: $newEmail, password: $password,"
        " redirectUrl: $redirectUrl)",
        f"{ERRORS} {USER}",
    ),
    "confirm email change": mutation(
        f"$channel: String!, {TOKEN}",
        "confirmEmailChange(channel: $channel, token: $token)",
        f"{ERRORS} {USER}",
    ),
    "request deletion": mutation(
        PAGE_VARIABLES,
        "accountRequestDeletion(channel: $channel, redirectUrl: $redirectUrl)",
        ERRORS,
    ),
    "delete": mutation(TOKEN, "accountDelete(token: $token)", f"{ERRORS} {USER}"),
    "language": mutation(
        "$input: AccountInput!",
        "accountUpdate(input: $input)",
        f"{ERRORS} user {{ languageCode }}",
    ),
    "update": mutation(
        "$input: AccountInput!", "accountUpdate(input: $input)", f"{ERRORS} {USER}"
    ),
    "set default address": mutation(
        f"{ID}, $type: AddressTypeEnum!",
        "accountSetDefaultAddress(id: $id, type: $type)",
        f"{ERRORS} {USER}",
    ),
    "delete address": mutation(ID, "accountAddressDelete(id: $id)", f"{ERRORS} {USER}"),
    "create address": mutation(
        "$input: AddressInput!",
        "accountAddressCreate(input: $input)",
        f"address {{ ...AddressFragment }} {ERRORS} {USER}",
    ),
    "update address": mutation(
        f"$input: AddressInput!, {ID}",
        "accountAddressUpdate(input: $input, id: $id)",
        f"address {{ ...AddressFragment }} {ERRORS} {USER}",
    ),
    "confirm": mutation(
        f"{EMAIL}, {TOKEN}", "confirmAccount(email: $email, token: $token)", f"{USER} {ERRORS}"
    ),
}
ADDRESS = {
    "firstName": "Ann",
    "lastName": "Lee",
    "streetAddress1": "1600 Amphitheatre Pkwy",
    "city": "MOUNTAIN VIEW",
    "postalCode": "94043",
    "country": "US",
    "countryArea": "CA",
    "phone": "+16502530000",
}


def run(client: Client, name: str, credential: str | None = None, **variables: object) -> Any:
    """Send a document; its payload, which must hold no error."""
    [payload] = client.run(DOCUMENTS[name], credential, **variables).data.values()
    assert payload["errors"] == [], payload
    return payload


def token_in(shop: RecordedShop) -> str:
    """Return the token of the only link that was mailed."""
    [letter] = shop.work()
    found = re.search(rf"{PAGE}\S+", letter.text)
    assert found is not None
    [token] = parse_qs(urlsplit(found[0]).query)["token"]
    return token


def test_documents_are_valid() -> None:
    errors = {
        name: validate(schema.graphql_schema, parse(text)) for name, text in DOCUMENTS.items()
    }
    assert {name: found for name, found in errors.items() if found} == {}


def test_session_is_begun_refreshed_and_verified(client: Client, shop: RecordedShop) -> None:
    begun = run(client, "login", email=CUSTOMER, password=PASSWORD)
    user = begun["user"]
    assert {name: user[name] for name in ("email", "firstName", "lastName", "isStaff")} == {
        "email": CUSTOMER,
        "firstName": "Cus",
        "lastName": "Tomer",
        "isStaff": False,
    }
    assert (user["metadata"], user["addresses"]) == ([], [])
    assert user["defaultShippingAddress"] is user["defaultBillingAddress"] is None
    base = run(client, "login without details", email=CUSTOMER, password=PASSWORD)["user"]
    assert base == {name: user[name] for name in base}
    refreshed = run(client, "refresh with user", refreshToken=begun["refreshToken"])
    assert refreshed["user"] == user
    assert run(client, "refresh", refreshToken=begun["refreshToken"])["token"]
    verified = run(client, "verify", token=refreshed["token"])
    assert (verified["isValid"], verified["user"]) == (True, user)


def test_new_customer_registers_confirms_and_signs_in(client: Client, shop: RecordedShop) -> None:
    new = {"email": "new@example.com", "password": NEW_PASSWORD}
    metadata = [{"key": "newsletter", "value": "yes"}]
    input_ = {**new, "redirectUrl": PAGE, "channel": CHANNEL, "metadata": metadata}
    assert run(client, "register", input=input_)["requiresConfirmation"]
    confirmed = run(client, "confirm", email=new["email"], token=token_in(shop))["user"]
    assert confirmed["metadata"] == metadata
    assert run(client, "login", **new)["user"] == confirmed


def test_customer_keeps_addresses(client: Client, shop: RecordedShop) -> None:
    access = shop.access("customer")
    created = run(client, "create address", access, input=ADDRESS)
    address = created["address"]
    assert {name: address[name] for name in ADDRESS if name != "country"} == {
        name: value for name, value in ADDRESS.items() if name != "country"
    }
    assert address["country"] == {"code": "US", "country": "United States"}
    assert created["user"]["addresses"] == [address]
    default_of = {"id": address["id"], "type": "SHIPPING"}
    run(client, "set default address", access, **default_of)
    default_of["type"] = "BILLING"
    user = run(client, "set default address", access, **default_of)["user"]
    default = {**address, "isDefaultShippingAddress": True, "isDefaultBillingAddress": True}
    assert user["defaultShippingAddress"] == user["defaultBillingAddress"] == default
    moved = {**ADDRESS, "streetAddress1": "1601 Amphitheatre Pkwy"}
    updated = run(client, "update address", access, id=address["id"], input=moved)
    assert updated["address"] == {**default, "streetAddress1": "1601 Amphitheatre Pkwy"}
    assert run(client, "update", access, input={"firstName": "Ann"})["user"] == {
        **updated["user"],
        "firstName": "Ann",
    }
    both = {"defaultShippingAddress": ADDRESS, "defaultBillingAddress": ADDRESS}
    restored = run(client, "update", access, input=both)["user"]
    assert restored["addresses"] == [default]
    deleted = run(client, "delete address", access, id=address["id"])["user"]
    assert (deleted["addresses"], deleted["defaultShippingAddress"]) == ([], None)


def test_customer_changes_and_resets_their_password(client: Client, shop: RecordedShop) -> None:
    access = shop.access("customer")
    run(client, "change password", access, oldPassword=PASSWORD, newPassword=NEW_PASSWORD)
    shop.work()
    run(client, "request reset", email=CUSTOMER, redirectUrl=PAGE, channel=CHANNEL)
    values = {"email": CUSTOMER, "password": f"{NEW_PASSWORD} again", "token": token_in(shop)}
    begun = run(client, "set password", **values)
    assert run(client, "verify", token=begun["token"])["user"] == begun["user"]


def test_customer_moves_to_another_email_and_leaves(client: Client, shop: RecordedShop) -> None:
    access = shop.access("customer")
    page = {"channel": CHANNEL, "redirectUrl": PAGE}
    wanted = {"newEmail": "moved@example.com", "password": PASSWORD}
    asked = run(client, "request email change", access, **wanted, **page)
    assert asked["user"]["email"] == CUSTOMER
    run(client, "create address", access, input=ADDRESS)
    confirmed = {"channel": CHANNEL, "token": token_in(shop)}
    moved = run(client, "confirm email change", access, **confirmed)["user"]
    assert moved["email"] == "moved@example.com"
    shop.work()
    run(client, "request deletion", access, **page)
    gone = run(client, "delete", access, token=token_in(shop))["user"]
    assert (gone["email"], gone["addresses"], gone["metadata"]) == ("moved@example.com", [], [])


def test_external_documents_answer_while_no_provider_is_set_up(
    client: Client, shop: RecordedShop
) -> None:
    input_ = "{}"
    assert run(client, "external URL", input=input_)["authenticationData"] == "{}"
    assert run(client, "external tokens", input=input_)["token"] is None
    assert run(client, "external refresh", input=input_)["token"] is None
    assert run(client, "external refresh with user", input=input_)["user"] is None
    assert run(client, "external verify", input=input_)["isValid"] is False
    assert run(client, "external logout", input=input_)["logoutData"] == "{}"


def test_me_shows_what_signing_in_shows(client: Client, shop: RecordedShop) -> None:
    begun = run(client, "login", email=CUSTOMER, password=PASSWORD)
    query = "{ user: me { ...UserDetailsFragment } }"
    document = query + re.sub(r"\nfragment AccountErrorFragment.*", "", FRAGMENTS)
    assert client.run(document, begun["token"]).data == {"user": begun["user"]}


def test_customer_keeps_a_language(client: Client, shop: RecordedShop) -> None:
    access = shop.access("customer")
    updated = run(client, "language", access, input={"languageCode": "PL"})
    assert updated["user"] == {"languageCode": "PL"}
    assert client.run("{ me { languageCode } }", access).data == {"me": {"languageCode": "PL"}}


def test_form_for_addresses_is_built_by_the_rules_of_a_country(client: Client) -> None:
    query = """query ($countryCode: CountryCode!, $countryArea: String, $city: String) {
      addressValidationRules(
        countryCode: $countryCode, countryArea: $countryArea, city: $city, cityArea: null
      ) { requiredFields countryAreaChoices { raw verbose } postalCodeExamples }
    }"""
    rules = client.run(query, countryCode="US", countryArea="CA").data["addressValidationRules"]
    assert set(rules["requiredFields"]) == {"city", "countryArea", "postalCode", "streetAddress1"}
    assert ADDRESS["countryArea"] in [one["raw"] for one in rules["countryAreaChoices"]]
