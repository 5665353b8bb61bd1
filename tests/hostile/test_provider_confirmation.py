"""Who may only manage plugins gains nothing by a provider of their own making."""

from collections.abc import Iterator

import pytest
from sqlalchemy import select, update

from app import models
from app.domain.authorization.actor import OPERATOR, Actor, ActorKind
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission, in_order
from app.domain.single_sign_on.providers import Provider
from app.domain.single_sign_on.waiting_changes import read_waiting
from app.domain.values.errors import Refused, TokenFault
from app.ports import Ports
from app.services.identity.providers import known_providers
from app.services.single_sign_on.provider_sessions import refresh_external_session
from app.services.single_sign_on.provider_settings import (
    ProviderUpdate,
    confirm_provider,
    save_provider,
    update_plugin,
)
from tests.builders.apps import make_app
from tests.builders.people import NOBODY, actor_of, change_user, make_group, make_staff, make_user
from tests.builders.providers import identities, set_up
from tests.fakes.clock import FakeClock
from tests.servers.http import Reply
from tests.servers.own_provider import AUDIENCE, OwnProvider, as_json, own_provider
from tests.services.provider_bearers import fault, who
from tests.services.provider_logins import CODE, PLUGIN, begin, codes, finish, sign_in

PLUGINS, ORDERS = Permission.MANAGE_PLUGINS, Permission.MANAGE_ORDERS
SCOPES = "openid latchkey:manage_plugins latchkey:manage_orders latchkey:staff"
BOSS = "boss@sso.example"


@pytest.fixture
def attacker(ports: Ports) -> Actor:
    return actor_of(ports, make_staff(ports, "mallory@example.com", PLUGINS))


@pytest.fixture
def server(ports: Ports, clock: FakeClock) -> Iterator[OwnProvider]:
    """The attacker's own provider."""
    with own_provider(clock) as running:
        yield running


@pytest.fixture
def boss(ports: Ports) -> int:
    return make_user(ports, BOSS, is_staff=True, is_superuser=True)


def take_over(
    ports: Ports, attacker: Actor, provider: OwnProvider, server: OwnProvider, **more: str
) -> None:
    """Point everything but the issuer at the attacker's server, as `pluginUpdate` does it."""
    urls = {name: value for name, value in server.settings.items() if name.endswith("_url")}
    changes = ProviderUpdate({**urls, "audience": AUDIENCE, **more})
    plugin = update_plugin(ports, attacker, PLUGIN, changes)
    values = {shown.setting.name: shown.value for shown in plugin.settings}
    assert values["json_web_key_set_url"] == server.settings["json_web_key_set_url"]
    assert plugin.waiting


def forged(server: OwnProvider, provider: OwnProvider, sub: str, /, **claims: object) -> str:
    """Return a token of the attacker's server in the name of the shop's issuer."""
    return server.access_token(sub, iss=provider.url, **claims)


def confirm(ports: Ports, actor: Actor = OPERATOR) -> Provider:
    (provider, *_others) = known_providers(ports)
    return confirm_provider(ports, actor, provider.slug, provider.trust_version)


def test_own_key_set_signs_in_no_superuser_until_one_confirms_it(
    ports: Ports, provider: OwnProvider, server: OwnProvider, attacker: Actor, boss: int
) -> None:
    who(ports, provider.access_token("boss"))
    take_over(ports, attacker, provider, server)

    assert fault(ports, forged(server, provider, "boss")) is TokenFault.INVALID
    assert fault(ports, forged(server, provider, "new", sub="other")) is TokenFault.INVALID
    assert who(ports, forged(server, provider, "carol")).user is not None, "a new customer"
    assert identities(ports)[0] == (provider.url, "boss", True), "the link is kept"
    confirm(ports, actor_of(ports, boss))
    actor = who(ports, forged(server, provider, "boss", jti="later")).actor
    assert (actor.user_id, actor.permissions) == (boss, ALL_PERMISSIONS)


def test_app_with_the_permission_gains_no_more(
    ports: Ports, provider: OwnProvider, server: OwnProvider, boss: int
) -> None:
    app, _token = make_app(ports, "plugins", PLUGINS)
    caller = Actor(ActorKind.APP, app_id=app, permissions=frozenset({PLUGINS}))
    take_over(ports, caller, provider, server)
    assert fault(ports, forged(server, provider, "boss")) is TokenFault.INVALID
    assert who(ports, forged(server, provider, "carol")).actor.is_user


def test_existing_customers_are_neither_linked_nor_signed_in(
    ports: Ports, provider: OwnProvider, server: OwnProvider, attacker: Actor
) -> None:
    customer = make_user(ports, "dora@sso.example")
    known = who(ports, provider.access_token()).actor.user_id
    take_over(ports, attacker, provider, server)
    asked = len(server.server.calls("/userinfo"))

    assert fault(ports, forged(server, provider, "alice")) is TokenFault.INVALID
    assert len(server.server.calls("/userinfo")) == asked, "a known person's token goes nowhere"
    assert fault(ports, forged(server, provider, "dora")) is TokenFault.INVALID
    assert len(identities(ports)) == 1
    confirm(ports)
    assert who(ports, forged(server, provider, "alice", jti="2")).actor.user_id == known
    assert who(ports, forged(server, provider, "dora", jti="2")).actor.user_id == customer


def test_domains_and_groups_make_no_staff(
    ports: Ports, provider: OwnProvider, server: OwnProvider, attacker: Actor
) -> None:
    make_group(ports, "Bosses", *in_order(ALL_PERMISSIONS))
    take_over(
        ports,
        attacker,
        provider,
        server,
        staff_user_domains="sso.example",
        default_group_name_for_new_staff_users="Bosses",
    )
    actor = who(ports, forged(server, provider, "carol")).actor
    assert (actor.is_user, actor.is_staff, actor.permissions) == (True, False, frozenset())
    confirm(ports)
    actor = who(ports, forged(server, provider, "carol", jti="2")).actor
    assert (actor.is_staff, actor.permissions) == (True, ALL_PERMISSIONS)


def test_scopes_grant_what_the_changer_holds_now(
    ports: Ports, provider: OwnProvider, server: OwnProvider, attacker: Actor
) -> None:
    take_over(ports, attacker, provider, server, use_oauth_scope_permissions="true")
    token = forged(server, provider, "carol", scope=SCOPES)
    session = by_code(ports, provider, server, "eve", token_scope=SCOPES)
    for credential in (token, session):
        actor = who(ports, credential).actor
        assert (actor.permissions, actor.is_staff) == (frozenset({PLUGINS}), False)
    assert attacker.user_id is not None
    change_user(ports, attacker.user_id, is_active=False)
    for credential in (token, session):
        assert who(ports, credential).actor.permissions == frozenset()
    confirm(ports)
    token = forged(server, provider, "carol", scope=SCOPES, jti="2")
    assert who(ports, token).actor.permissions == {PLUGINS, ORDERS}


def by_code(
    ports: Ports, provider: OwnProvider, server: OwnProvider, sub: str, *, token_scope: str
) -> str:
    parameters = begin(ports)
    claims = server.id_claims(parameters["nonce"], sub, iss=provider.url)
    server.server.answer("/token", _granted(server, claims, token_scope))
    return finish(ports, parameters["state"], CODE).access


def _granted(server: OwnProvider, claims: dict[str, object], scope: str) -> Reply:
    return as_json(
        {
            "access_token": "opaque",
            "token_type": "Bearer",
            "scope": scope,
            "id_token": server.sign(claims),
            "refresh_token": "of eve",
        }
    )


def test_sign_in_by_code_and_refresh_are_limited_too(
    ports: Ports, provider: OwnProvider, server: OwnProvider, attacker: Actor, boss: int
) -> None:
    tokens = sign_in(ports, provider, "boss")
    started = begin(ports)
    take_over(ports, attacker, provider, server)

    assert codes(ports, started["state"]) == [("state", "INVALID")], "begun with other settings"
    with pytest.raises(Refused, match="isn't confirmed"):
        by_code(ports, provider, server, "boss", token_scope="openid")
    sent = len(server.server.calls("/token"))
    with pytest.raises(Refused, match="isn't confirmed"):
        refresh_external_session(ports, NOBODY, plugin_id=PLUGIN, token=tokens.refresh)
    assert len(server.server.calls("/token")) == sent, "the refresh token stays here"
    assert who(ports, tokens.access).actor.user_id == boss, "the session from before goes on"


def test_token_url_that_waits_gets_no_secret_of_others(
    ports: Ports, provider: OwnProvider, server: OwnProvider, attacker: Actor
) -> None:
    take_over(ports, attacker, provider, server)
    by_code(ports, provider, server, "eve", token_scope="openid")
    (call,) = server.server.calls("/token")
    assert "authorization" not in call.headers
    assert b"secret" not in call.body
    save_provider(ports, attacker, "default", ProviderUpdate({"client_secret": "mine"}))
    by_code(ports, provider, server, "finn", token_scope="openid")
    assert "authorization" in server.server.calls("/token")[1].headers


def test_going_back_leaves_no_session_and_no_link(
    ports: Ports, provider: OwnProvider, server: OwnProvider, attacker: Actor, clock: FakeClock
) -> None:
    (before,) = known_providers(ports)
    take_over(ports, attacker, provider, server)
    session = by_code(ports, provider, server, "boss", token_scope="openid")
    planted = who(ports, session).actor.user_id
    stolen = provider.access_token("victim")
    clock.pass_(seconds=5)

    urls = {name: value for name, value in provider.settings.items() if name.endswith("_url")}
    update_plugin(ports, attacker, PLUGIN, ProviderUpdate({**urls, "audience": ""}))

    (after,) = known_providers(ports)
    assert after.json_web_key_set_url == before.json_web_key_set_url
    assert not after.waits
    assert fault(ports, session) is TokenFault.INVALID
    assert fault(ports, stolen) is TokenFault.INVALID, "the attacker's server may have it"
    clock.pass_(seconds=1)
    assert who(ports, provider.access_token("boss")).actor.user_id == planted, "their own email"
    assert fault(ports, session) is TokenFault.INVALID
    assert [verified for _, _, verified in identities(ports)] == [True]
    assert who(ports, provider.access_token("victim", jti="2")).actor.is_user


def test_superusers_other_change_confirms_nothing_unseen(
    ports: Ports, provider: OwnProvider, server: OwnProvider, attacker: Actor, boss: int
) -> None:
    take_over(ports, attacker, provider, server)
    chief = actor_of(ports, boss)
    update_plugin(ports, chief, PLUGIN, ProviderUpdate({"scope_prefix": "mine"}))
    assert fault(ports, forged(server, provider, "boss")) is TokenFault.INVALID
    update_plugin(ports, attacker, PLUGIN, ProviderUpdate({"audience": ""}))
    (current,) = known_providers(ports)
    waiting = {change.setting for change in read_waiting(current.waiting_changes)}
    assert "audience" in waiting, "going back to what nobody confirmed with the superuser's change"


def test_superusers_own_configuration_works_at_once(
    ports: Ports, server: OwnProvider, boss: int
) -> None:
    changes = ProviderUpdate({**server.settings, "audience": AUDIENCE}, active=True)
    plugin = update_plugin(ports, actor_of(ports, boss), PLUGIN, changes)
    assert plugin.waiting == ()
    assert who(ports, server.access_token("boss")).actor.user_id == boss


def test_second_provider_of_the_same_issuer_gets_no_tokens_of_the_first(
    ports: Ports, server: OwnProvider, clock: FakeClock, attacker: Actor, boss: int
) -> None:
    with own_provider(clock) as first:
        set_up(ports, first, "first", audience=AUDIENCE)
        changes = ProviderUpdate({**server.settings, "issuer": first.url}, active=True)
        save_provider(ports, attacker, "default", changes)
        assert who(ports, first.access_token("boss")).actor.user_id == boss
        assert fault(ports, forged(server, first, "boss", jti="2")) is not TokenFault.EXPIRED
        assert server.server.calls("/userinfo") == []


def test_provider_that_takes_anothers_issuer_gets_no_tokens_of_it(
    ports: Ports, server: OwnProvider, clock: FakeClock, attacker: Actor, boss: int
) -> None:
    """The first one has no issuer of its own: its tokens name the second one's."""
    with own_provider(clock) as first:
        set_up(ports, first, "first", audience=AUDIENCE, issuer=None)
        changes = ProviderUpdate({**server.settings, "issuer": first.url}, active=True)
        save_provider(ports, attacker, "default", changes)
        assert who(ports, first.access_token("boss")).actor.user_id == boss
        assert server.server.calls("/userinfo") == []


def test_only_who_holds_everything_confirms_and_only_what_was_shown(
    ports: Ports, provider: OwnProvider, server: OwnProvider, attacker: Actor, boss: int
) -> None:
    take_over(ports, attacker, provider, server)
    (shown,) = known_providers(ports)
    with pytest.raises(Refused) as refused:
        confirm(ports, attacker)
    assert refused.value.problems[0].code == "OUT_OF_SCOPE_PERMISSION"
    update_plugin(ports, attacker, PLUGIN, ProviderUpdate({"scope_prefix": "mine"}))
    with pytest.raises(Refused, match="changed since"):
        confirm_provider(ports, actor_of(ports, boss), "default", shown.trust_version)
    assert fault(ports, forged(server, provider, "boss")) is TokenFault.INVALID
    assert not confirm(ports, actor_of(ports, boss)).waits


def test_damaged_record_of_what_waits_asserts_nothing(
    ports: Ports, provider: OwnProvider, boss: int
) -> None:
    with ports.database.transaction() as session:
        session.execute(update(models.IdentityProvider).values(waiting_changes="[{]"))
        session.execute(update(models.Shop).values(providers_version=99))
    assert fault(ports, provider.access_token("boss")) is TokenFault.INVALID
    assert who(ports, provider.access_token()).actor.permissions == frozenset()


def test_refused_sign_in_leaves_no_session_and_no_link(
    ports: Ports, provider: OwnProvider, server: OwnProvider, attacker: Actor, boss: int
) -> None:
    take_over(ports, attacker, provider, server)
    with pytest.raises(Refused):
        by_code(ports, provider, server, "boss", token_scope="openid")
    with ports.database.reading() as session:
        of_boss = select(models.Session.id).where(models.Session.user_id == boss)
        links = select(models.ExternalIdentity.id).where(models.ExternalIdentity.user_id == boss)
        assert (session.scalars(of_boss).all(), session.scalars(links).all()) == ([], [])


def test_group_table_of_a_plugin_manager_changes_no_groups_until_it_is_confirmed(
    ports: Ports, provider: OwnProvider, attacker: Actor
) -> None:
    admins = make_group(ports, "Admins", *ALL_PERMISSIONS)
    set_up(ports, provider, audience=AUDIENCE)
    changes = ProviderUpdate({"groups_claim": "sub", "group_mapping": '{"mallory": "Admins"}'})
    update_plugin(ports, attacker, PLUGIN, changes)
    mallory = provider.access_token("mallory")
    provider.known(mallory, "mallory", email="new@sso.example")
    actor = who(ports, mallory).actor
    assert (actor.is_staff, actor.permissions) == (False, frozenset())
    staff = make_user(ports, "alice@sso.example", is_staff=True, groups=[admins])
    assert fault(ports, provider.access_token()) is TokenFault.INVALID
    assert actor_of(ports, staff).permissions == ALL_PERMISSIONS
    confirm(ports)
    confirmed = provider.access_token("mallory", jti="confirmed")
    provider.known(confirmed, "mallory", email="new@sso.example")
    assert who(ports, confirmed).actor.permissions == ALL_PERMISSIONS
