"""Identity providers, set up by GraphQL under the names that clients know."""

import json
from typing import Any

import pytest

from app.domain.authorization.actor import SessionOrigin
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission
from app.domain.shop.settings import PasswordLoginMode
from app.domain.single_sign_on.provider_settings import MASK, SETTINGS
from app.ports import Ports
from app.services.identity.providers import client_secret_of, known_providers
from tests.builders.apps import make_app
from tests.builders.people import make_staff, make_user, sign_in
from tests.builders.provider_records import link_identity, make_provider
from tests.builders.shop import set_mode
from tests.fixtures.cases import cases
from tests.graphql.shop_client import ApiClient

PLUGIN = "latchkey.authentication.openidconnect"
FIELDS = """
  id name description
  globalConfiguration { active configuration { name value type label helpText } }
  channelConfigurations { active }
"""
SHOW = f"query ($id: ID!) {{ plugin(id: $id) {{ {FIELDS} }} }}"
LIST = f"""
query ($filter: PluginFilterInput) {{
  plugins(first: 9, filter: $filter) {{ totalCount edges {{ node {{ {FIELDS} }} }} }}
}}"""
UPDATE = f"""
mutation ($id: ID!, $input: PluginUpdateInput!) {{
  pluginUpdate(id: $id, input: $input) {{ plugin {{ {FIELDS} }} errors {{ field code message }} }}
}}"""
ACTIVE = True
LOGINS = "{ shop { availableExternalAuthentications { id name } } }"
SSO = {
    "client_id": "shop",
    "client_secret": "hunter2",
    "json_web_key_set_url": "https://id.example.com/keys",
    "user_info_url": "https://id.example.com/userinfo",
}


@pytest.fixture
def api(ports: Ports) -> ApiClient:
    return ApiClient(ports)


@pytest.fixture
def manager(ports: Ports) -> str:
    manager = make_staff(ports, "boss@example.com", Permission.MANAGE_PLUGINS)
    return sign_in(ports, manager).access


def change(api: ApiClient, manager: str, active: bool | None = None, /, **settings: object) -> Any:
    items = [{"name": name, "value": value} for name, value in settings.items()]
    input_ = {"configuration": items} | ({} if active is None else {"active": active})
    return api.run(UPDATE, manager, id=PLUGIN, input=input_)


def values(plugin: dict[str, Any]) -> dict[str, str | None]:
    return {item["name"]: item["value"] for item in plugin["globalConfiguration"]["configuration"]}


def test_configured_provider_is_listed_for_sign_in(api: ApiClient, manager: str) -> None:
    assert api.run(LOGINS)["availableExternalAuthentications"] == []
    changed = change(api, manager, ACTIVE, **SSO)
    assert changed["errors"] == []
    assert changed["plugin"]["globalConfiguration"]["active"] is True
    assert api.run(SHOW, manager, id=PLUGIN) == changed["plugin"]
    assert api.run(LOGINS)["availableExternalAuthentications"] == [
        {"id": PLUGIN, "name": "OpenID Connect"}
    ]


def test_every_setting_is_shown_with_type_and_help(api: ApiClient, manager: str) -> None:
    plugin = api.run(SHOW, manager, id=PLUGIN)
    shown = plugin["globalConfiguration"]["configuration"]
    assert [
        (setting["name"], setting["type"], setting["label"], setting["helpText"])
        for setting in shown
    ] == [(setting.name, setting.type.value, setting.label, setting.help) for setting in SETTINGS]
    assert plugin["channelConfigurations"] == []


def test_secret_is_never_read_back(api: ApiClient, manager: str, ports: Ports) -> None:
    changed = change(api, manager, **SSO)
    assert values(changed["plugin"])["client_secret"] == MASK
    answers = (changed, api.ask(SHOW, manager, id=PLUGIN), api.ask(LIST, manager))
    assert "hunter2" not in json.dumps(answers)
    change(api, manager, client_secret=MASK, client_id="other")
    assert client_secret_of(ports, known_providers(ports)[0]) == "hunter2"


def test_absent_settings_stay_and_null_or_empty_clears(api: ApiClient, manager: str) -> None:
    change(api, manager, audience="one", **SSO)
    changed = values(change(api, manager, client_id=None, user_info_url="")["plugin"])
    assert (changed["client_id"], changed["user_info_url"]) == (None, None)
    assert changed["audience"] == "one"
    assert values(api.run(UPDATE, manager, id=PLUGIN, input={})["plugin"]) == changed


def test_invalid_setting_is_named_and_changes_nothing(api: ApiClient, manager: str) -> None:
    refused = change(api, manager, ACTIVE, client_id="x", colour="green", user_info_url="nope")
    assert refused["plugin"] is None
    problems = [(error["field"], error["code"]) for error in refused["errors"]]
    assert problems == [("colour", "INVALID"), ("userInfoUrl", "INVALID")]
    refused = change(api, manager, ACTIVE, client_id="x")
    problems = [(error["field"], error["code"]) for error in refused["errors"]]
    missing = ["oauthAuthorizationUrl", "oauthTokenUrl", "jsonWebKeySetUrl"]
    assert problems == [(name, "PLUGIN_MISCONFIGURED") for name in missing]
    refused = change(api, manager, ACTIVE, **{**SSO, "client_id": ""})
    problems = [(error["field"], error["code"]) for error in refused["errors"]]
    assert problems == [("clientId", "PLUGIN_MISCONFIGURED")]
    assert values(api.run(SHOW, manager, id=PLUGIN))["client_id"] is None


def test_lockout_guard_of_the_console_does_not_affect_the_api(
    api: ApiClient, manager: str, ports: Ports
) -> None:
    make_provider(ports)
    chief = make_staff(ports, "chief@example.com", Permission.MANAGE_SETTINGS)
    link_identity(ports, chief)
    set_mode(ports, PasswordLoginMode.CUSTOMERS_ONLY)
    root = make_user(ports, "root@example.com", is_superuser=True)
    by_sign_on = sign_in(ports, root, SessionOrigin.OIDC).access
    assert change(api, by_sign_on, None, issuer="https://b.invalid")["errors"] == []
    assert change(api, by_sign_on, not ACTIVE)["errors"] == []
    assert not known_providers(ports)[0].active


@cases(
    ("filter_", "found"),
    [
        ({}, 1),
        (None, 1),
        ({"search": "CONNECT"}, 1),
        ({"search": "another"}, 0),
        ({"search": "%" * 60_000}, 0),
        ({"type": "GLOBAL"}, 1),
        ({"type": "PER_CHANNEL"}, 0),
    ],
)
def test_providers_are_listed(
    api: ApiClient, manager: str, filter_: dict[str, str] | None, found: int
) -> None:
    listed = api.run(LIST, manager, filter=filter_)
    assert (listed["totalCount"], len(listed["edges"])) == (found, found)


@cases("plugin", ["nothing", "", "mirumee.payments.dummy"])
def test_unknown_plugin_is_null(api: ApiClient, manager: str, plugin: str) -> None:
    assert api.run(SHOW, manager, id=plugin) is None
    refused = api.run(UPDATE, manager, id=plugin, input={"active": False})
    assert [(error["field"], error["code"]) for error in refused["errors"]] == [
        ("id", "NOT_FOUND")
    ]


def test_plugins_require_manage_plugins(api: ApiClient, ports: Ports) -> None:
    others = ALL_PERMISSIONS - {Permission.MANAGE_PLUGINS}
    _, app = make_app(ports, "app", *others)
    people = [make_staff(ports, "staff@example.com", *others), make_user(ports)]
    for credential in (None, app, *(sign_in(ports, person).access for person in people)):
        assert api.code(SHOW, credential, id=PLUGIN) == "PermissionDenied"
        assert api.code(LIST, credential) == "PermissionDenied"
        assert api.code(UPDATE, credential, id=PLUGIN, input={}) == "PermissionDenied"


def test_plugins_are_sorted_by_name_or_by_whether_they_are_active(ports: Ports) -> None:
    for slug, name, active in (("default", "M", True), ("one", "Z", False), ("two", "A", True)):
        make_provider(ports, slug, name=name, active=active)
    staff = sign_in(ports, make_staff(ports, "p@example.com", Permission.MANAGE_PLUGINS)).access
    query = "query ($sort: PluginSortingInput) { plugins(first: 9, sortBy: $sort) {"
    query += " edges { node { name globalConfiguration { channel { id } } } } } }"

    def names(**sort: str) -> str:
        edges = ApiClient(ports).run(query, staff, sort=sort or None)["edges"]
        assert all(edge["node"]["globalConfiguration"] == {"channel": None} for edge in edges)
        return "".join(edge["node"]["name"] for edge in edges)

    assert names() == "MZA"
    assert names(field="NAME", direction="ASC") == "AMZ"
    assert names(field="NAME", direction="DESC") == "ZMA"
    assert names(field="IS_ACTIVE", direction="ASC") == "ZMA"
    assert names(field="IS_ACTIVE", direction="DESC") == "AMZ"
