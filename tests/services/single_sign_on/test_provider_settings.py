"""The settings of identity providers: contract, "What existing clients hold us to"."""

from dataclasses import replace

import pytest
from sqlalchemy import Engine, event

from app.domain.authorization.actor import OPERATOR, Actor, ActorKind
from app.domain.authorization.permissions import Permission
from app.domain.single_sign_on.provider_settings import MASK
from app.domain.single_sign_on.providers import DEFAULT_SLUG
from app.domain.values.errors import PermissionDenied, Refused
from app.domain.values.pages import PageRequest
from app.ports import Ports
from app.services.identity.providers import (
    client_secret_of,
    known_providers,
    list_external_authentications,
)
from app.services.single_sign_on.provider_settings import (
    Plugin,
    ProviderUpdate,
    list_plugins,
    save_provider,
    show_plugin,
    update_plugin,
)
from tests.builders.audit import trail
from tests.builders.people import NOBODY
from tests.builders.providers import identities, set_up
from tests.fixtures.cases import cases
from tests.servers.own_provider import SECRET, OwnProvider
from tests.services.provider_bearers import who

PLUGIN = "latchkey.authentication.openidconnect"
ACTIVE = True
STAFF = Actor(ActorKind.USER, 1, permissions=frozenset({Permission.MANAGE_PLUGINS}))
SSO = {
    "client_id": "shop",
    "json_web_key_set_url": "https://id.example.com/keys",
    "user_info_url": "https://id.example.com/userinfo",
}


def update(
    ports: Ports, active: bool | None = None, plugin: str = PLUGIN, /, **settings: str | None
) -> Plugin:
    return update_plugin(ports, STAFF, plugin, ProviderUpdate(settings, active))


def values(plugin: Plugin) -> dict[str, str | None]:
    return {setting.setting.name: setting.value for setting in plugin.settings}


def codes(ports: Ports, active: bool | None = None, /, **settings: str | None) -> set[object]:
    with pytest.raises(Refused) as refused:
        update(ports, active, **settings)
    return {(problem.field, problem.code) for problem in refused.value.problems}


def test_new_shop_has_one_inactive_provider(ports: Ports) -> None:
    page = list_plugins(ports, STAFF, PageRequest(10))
    (plugin,) = page.items
    assert (plugin.id, plugin.active, page.count()) == (PLUGIN, False, 1)
    assert list_external_authentications(ports, NOBODY) == ()


def test_absent_settings_stay_and_null_or_empty_clears(ports: Ports) -> None:
    update(ports, audience="https://shop.example.com", **SSO)
    changed = values(update(ports, client_id=None, audience="", enable_refresh_token="False"))
    assert (changed["client_id"], changed["audience"]) == (None, None)
    assert changed["enable_refresh_token"] == "false"
    assert changed["user_info_url"] == SSO["user_info_url"]
    assert values(update(ports, enable_refresh_token=None))["enable_refresh_token"] == "true"


def test_secret_reads_back_masked_and_the_mask_keeps_it(ports: Ports) -> None:
    assert values(update(ports, client_secret="s3cret"))["client_secret"] == MASK
    update(ports, client_secret=MASK)
    (provider,) = known_providers(ports)
    assert client_secret_of(ports, provider) == "s3cret"
    assert "s3cret" not in provider.client_secret
    assert "s3cret" not in repr(provider)
    assert values(update(ports, client_secret=""))["client_secret"] is None


@cases(
    ("name", "value"),
    [
        ("no_such_setting", "x"),
        ("enable_refresh_token", "maybe"),
        ("oauth_token_url", "id.example.com/token"),
        ("oauth_token_url", "ftp://id.example.com/"),
        ("oauth_token_url", "https://user:password@id.example.com/"),
        ("user_info_url", f"https://id.example.com/{'x' * 2048}"),
        ("client_id", "two\nlines"),
        ("default_group_name_for_new_staff_users", "x" * 151),
    ],
)
def test_invalid_setting_changes_nothing(ports: Ports, name: str, value: str) -> None:
    settings = {"client_id": "shop", name: value}
    assert codes(ports, **settings) == {(name, "INVALID")}
    (plugin,) = list_plugins(ports, STAFF, PageRequest(1)).items
    assert values(plugin)["client_id"] is None


def test_unusable_provider_cannot_be_activated(ports: Ports) -> None:
    keys = ("json_web_key_set_url", "PLUGIN_MISCONFIGURED")
    info = ("user_info_url", "PLUGIN_MISCONFIGURED")
    client = ("client_id", "PLUGIN_MISCONFIGURED")
    assert codes(ports, ACTIVE) == {client, keys, info}
    assert codes(ports, ACTIVE, user_info_url=SSO["user_info_url"]) == {client, keys}
    assert codes(ports, ACTIVE, **{**SSO, "client_id": None}) == {client}
    assert update(ports, ACTIVE, **SSO).active is True
    flow = ("oauth_authorization_url", "oauth_token_url")
    assert codes(ports, user_info_url=None) == {(name, "PLUGIN_MISCONFIGURED") for name in flow}


def test_plugin_has_the_requested_id(ports: Ports) -> None:
    other = "another.authentication.openidconnect"
    assert update(ports, None, other, client_id="shop").id == other
    shown = show_plugin(ports, STAFF, PLUGIN)
    assert shown is not None
    assert values(shown)["client_id"] == "shop"
    assert show_plugin(ports, STAFF, "no.such.plugin") is None
    with pytest.raises(Refused) as refused:
        update(ports, None, "no.such.plugin")
    assert [(problem.field, problem.code) for problem in refused.value.problems] == [
        ("id", "NOT_FOUND")
    ]


@cases("word", ["latchkey", "mirumee", "saleor", "default", "acme"])
def test_words_of_existing_clients_always_name_the_default_provider(
    ports: Ports, word: str
) -> None:
    renamed = replace(ports, configuration=replace(ports.configuration, vendor="Acme"))
    plugin_id = f"{word}.authentication.openidconnect"

    update(renamed, ACTIVE, plugin_id, **SSO)
    if word != DEFAULT_SLUG:
        with pytest.raises(Refused) as refused:
            save_provider(renamed, OPERATOR, word, ProviderUpdate(SSO, active=True))
        assert [problem.code for problem in refused.value.problems] == ["UNIQUE"]

    shown = show_plugin(renamed, STAFF, plugin_id)
    assert shown is not None
    assert (shown.id, shown.slug) == (plugin_id, DEFAULT_SLUG)


def test_each_provider_has_its_own_plugin_id(ports: Ports) -> None:
    update(ports, ACTIVE, **SSO)
    save_provider(ports, OPERATOR, "staff", ProviderUpdate(SSO, active=True, name="Our staff"))
    save_provider(ports, OPERATOR, "idle", ProviderUpdate({}))

    assert [
        (provider.id, provider.name) for provider in list_external_authentications(ports, NOBODY)
    ] == [(PLUGIN, "OpenID Connect"), ("staff.authentication.openidconnect", "Our staff")]
    found = list_plugins(ports, STAFF, PageRequest(10), search="our").items
    assert [provider.slug for provider in found] == ["staff"]


@cases("slug", ["", "Staff", "a b", "-x", "x/y", "x" * 64])
def test_provider_slug_must_fit_into_a_url(ports: Ports, slug: str) -> None:
    with pytest.raises(Refused) as refused:
        save_provider(ports, OPERATOR, slug, ProviderUpdate({}))
    assert [(problem.field, problem.code) for problem in refused.value.problems] == [
        ("provider", "INVALID")
    ]


def test_plugins_require_manage_plugins(ports: Ports) -> None:
    other = Actor(ActorKind.USER, 1, permissions=frozenset({Permission.MANAGE_SETTINGS}))
    for actor in (NOBODY, other):
        with pytest.raises(PermissionDenied):
            list_plugins(ports, actor, PageRequest(1))
        with pytest.raises(PermissionDenied):
            show_plugin(ports, actor, PLUGIN)
        with pytest.raises(PermissionDenied):
            update_plugin(ports, actor, PLUGIN, ProviderUpdate({}))


def test_plugin_change_is_audited_without_secrets(ports: Ports) -> None:
    update(ports, client_id="shop", client_secret="s3cret")
    update(ports, client_secret="an0ther")
    update(ports)
    first, second = trail(ports, "provider.update")
    assert first.before == {"client_id": None, "client_secret": None}
    assert first.after == {"client_id": "shop", "client_secret": MASK}
    assert second.after == {"client_secret": f"{MASK} (another)"}


@pytest.mark.both_databases
def test_change_applies_to_the_next_request_in_every_process(
    ports: Ports, second_process: Ports
) -> None:
    assert list_external_authentications(second_process, NOBODY) == ()
    update(ports, ACTIVE, **SSO)
    assert len(list_external_authentications(second_process, NOBODY)) == 1


def test_people_keep_their_accounts_when_the_issuer_is_configured(
    ports: Ports, provider: OwnProvider
) -> None:
    set_up(ports, provider, issuer=None)
    before = who(ports, provider.access_token()).actor.user_id
    who(ports, provider.known("an-opaque-token", "bob"))

    set_up(ports, provider)

    assert who(ports, provider.access_token(jti="later")).actor.user_id == before
    assert [issuer for issuer, _, _ in identities(ports)] == [provider.url] * 2
    assert SECRET not in str(trail(ports, "provider.update")[-1].after)


def test_provider_added_while_the_list_is_read_is_no_error(ports: Ports) -> None:
    added: list[object] = []

    def add(*of_statement: object) -> None:
        statement = str(of_statement[2])
        if "identity_providers.slug" in statement and "client_id" not in statement and not added:
            added.append(None)
            save_provider(ports, OPERATOR, "second", ProviderUpdate({}))

    event.listen(Engine, "before_cursor_execute", add)
    try:
        page = list_plugins(ports, STAFF, PageRequest(10))
    finally:
        event.remove(Engine, "before_cursor_execute", add)
    assert added
    assert page.items[0].id == PLUGIN
