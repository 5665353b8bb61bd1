"""Tokens that want to be a linked app and aren't, and machines that want to be people."""

from dataclasses import replace
from typing import Any

import pytest

from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import Permission
from app.domain.shop.settings import PasswordLoginMode, ShopUpdate
from app.domain.values.errors import PermissionDenied, ProofRequired, Refused, TokenFault
from app.ports import Ports
from app.services.apps.app_changes import delete_app
from app.services.apps.app_tokens import (
    NewClientLink,
    link_app_client,
    list_app_clients,
    unlink_app_client,
)
from app.services.shop.settings import update_shop
from app.services.single_sign_on.provider_settings import ProviderUpdate, save_provider
from tests.builders.apps import make_app
from tests.builders.audit import trail
from tests.builders.people import actor_of, make_staff
from tests.builders.provider_records import link_identity
from tests.builders.providers import identities, set_up
from tests.fakes.sign_in_log import FakeSignInLog
from tests.fixtures.cases import cases
from tests.servers.own_provider import AUDIENCE, OwnProvider, rsa_key
from tests.services.linked_clients import CLIENT_ID, NEW, ORDERS, SUBJECT, Linked, link_client
from tests.services.provider_bearers import fault, who

APPS, PLUGINS = Permission.MANAGE_APPS, Permission.MANAGE_PLUGINS


@pytest.fixture
def database_url(sqlite_url: str) -> str:
    """One database is enough: claims are compared."""
    return sqlite_url


@pytest.fixture
def linked(ports: Ports, provider: OwnProvider) -> Linked:
    return link_client(ports, provider)


def test_token_that_differs_from_the_link_is_neither_the_app_nor_a_person(
    ports: Ports, linked: Linked
) -> None:
    claims: tuple[dict[str, Any], ...] = (
        {"email": "ann@example.com"},
        {"email": ""},
        {"sid": "a session"},
        {"auth_time": 1},
        {"amr": ["pwd"]},
        {"amr": []},
        {"nonce": "n"},
        {"act": {"sub": "ann"}},
        {"azp": "another"},
        {"client_id": "another"},
        {"azp": "another", "client_id": "another"},
        {"azp": ..., "client_id": ...},
        {"azp": [CLIENT_ID]},
        {"azp": CLIENT_ID.upper(), "client_id": CLIENT_ID.upper()},
        {"azp": f"{CLIENT_ID} ", "client_id": f"{CLIENT_ID} "},
        {"cid": "another"},
        {"appid": "another"},
        {"aud": "another service"},
        {"aud": ...},
        {"aud": [CLIENT_ID]},
        {"exp": ...},
        {"typ": "ID"},
        {"at_hash": "x"},
        {"events": {}},
        {"token_use": "id"},
    )
    for changes in claims:
        token = linked.token(**changes)
        linked.provider.known(token, SUBJECT)
        assert fault(ports, token) is TokenFault.INVALID, changes
    assert identities(ports) == []
    assert who(ports, linked.token()).actor.is_app


def test_other_issuer_is_not_the_app(ports: Ports, linked: Linked) -> None:
    token = linked.token(iss="https://evil.example.com")
    assert who(ports, token).actor.fault is not None
    assert identities(ports) == []


def test_subject_in_another_spelling_is_not_the_app(ports: Ports, linked: Linked) -> None:
    for subject in (SUBJECT.upper(), f"{SUBJECT} ", f" {SUBJECT}", CLIENT_ID):
        assert not who(ports, linked.token(sub=subject)).actor.is_app


MACHINES: list[dict[str, Any]] = [
    {"sub": "robot", "azp": "robot", "client_id": ...},
    {"sub": "robot", "azp": ..., "client_id": "robot"},
    {"sub": "robot@clients", "azp": "robot", "client_id": ...},
    {"sub": "x", "azp": "robot", "client_id": ..., "gty": "client-credentials"},
    {"sub": "x", "azp": "robot", "client_id": ..., "idtyp": "app"},
    {"sub": "x", "azp": "Robot", "preferred_username": "service-account-robot"},
]


def test_machine_without_a_link_is_nobody_and_makes_no_account(
    ports: Ports, linked: Linked
) -> None:
    for changes in MACHINES:
        own = {"scope": "openid profile email", "client_id": ..., **changes}
        token = linked.token(**own)
        linked.provider.known(token, str(changes["sub"]))
        assert fault(ports, token) is TokenFault.INVALID, changes
        assert identities(ports) == [], changes
    assert linked.provider.server.calls("/userinfo") == []
    assert who(ports, linked.provider.access_token("alice", azp="robot")).actor.is_user


def test_person_with_the_linked_clients_token_is_never_the_app(
    ports: Ports, linked: Linked
) -> None:
    token = linked.provider.access_token("alice", azp=CLIENT_ID, client_id=CLIENT_ID)
    actor = who(ports, token).actor
    assert (actor.is_user, actor.app_id, actor.permissions) == (True, None, frozenset())


def test_forged_signature_is_not_the_app(ports: Ports, linked: Linked) -> None:
    forged = linked.provider.sign(linked.claims(), rsa_key(7), typ="at+jwt")
    assert fault(ports, forged) is not None
    assert not who(ports, forged).actor.is_app


def test_second_provider_with_the_same_issuer_is_not_believed(
    ports: Ports, linked: Linked, other_provider: OwnProvider
) -> None:
    """Who can manage plugins adds a provider that claims the issuer and has other keys."""
    manager = actor_of(ports, make_staff(ports, "m@example.com", PLUGINS))
    settings = {**other_provider.settings, "issuer": linked.provider.url, "audience": AUDIENCE}
    save_provider(ports, manager, "evil", ProviderUpdate(settings, active=True))
    forged = linked.provider.sign(linked.claims(), rsa_key(7), typ="at+jwt")
    assert not who(ports, forged).actor.is_app
    assert identities(ports) == []
    assert who(ports, linked.token()).actor.is_app


def test_changed_keys_of_the_provider_assert_no_app_until_they_are_confirmed(
    ports: Ports, linked: Linked, other_provider: OwnProvider
) -> None:
    assert who(ports, linked.token()).actor.is_app
    manager = actor_of(ports, make_staff(ports, "m@example.com", PLUGINS))
    changes = ProviderUpdate({"json_web_key_set_url": f"{other_provider.url}/keys"})
    save_provider(ports, manager, "default", changes)
    assert fault(ports, linked.token()) is TokenFault.INVALID
    assert identities(ports) == []


def test_app_of_a_client_restricts_no_login_mode(ports: Ports, provider: OwnProvider) -> None:
    linked = link_client(ports, provider, Permission.MANAGE_SETTINGS)
    actor = who(ports, linked.token()).actor
    change = ShopUpdate(password_login_mode=PasswordLoginMode.DISABLED)
    with pytest.raises(Refused) as refused:
        update_shop(ports, actor, change)
    assert refused.value.problems[0].code == "PASSWORD_AUTH_RESTRICTION"
    assert update_shop(ports, actor, ShopUpdate(name="Renamed")).name == "Renamed"


def test_client_is_linked_by_those_who_can_manage_the_app(
    ports: Ports, provider: OwnProvider
) -> None:
    set_up(ports, provider, audience=AUDIENCE)
    app_id, _ = make_app(ports, "Stock", ORDERS)
    lacking = actor_of(ports, make_staff(ports, "a@example.com", APPS))
    holding = actor_of(ports, make_staff(ports, "b@example.com", APPS, ORDERS))
    nobody = actor_of(ports, make_staff(ports, "c@example.com", ORDERS))
    with pytest.raises(PermissionDenied):
        link_app_client(ports, nobody, app_id, NEW)
    with pytest.raises(Refused) as refused:
        link_app_client(ports, lacking, app_id, NEW)
    assert refused.value.problems[0].code == "OUT_OF_SCOPE_APP"
    link = link_app_client(ports, holding, app_id, NEW)
    with pytest.raises(Refused) as refused:
        unlink_app_client(ports, lacking, link.id)
    assert refused.value.problems[0].code == "OUT_OF_SCOPE_APP"
    assert list_app_clients(ports, lacking, app_id) == (link,)
    unlink_app_client(ports, holding, link.id)
    [linking] = trail(ports, "app_client.link")
    assert (linking.actor_name, linking.subject_name) == ("b@example.com", "Stock")
    assert linking.after == {
        "provider": "default",
        "issuer": provider.url,
        "client_id": CLIENT_ID,
        "subject": SUBJECT,
    }
    [unlinking] = trail(ports, "app_client.unlink")
    assert unlinking.before == linking.after


def test_no_app_links_a_client(ports: Ports, provider: OwnProvider) -> None:
    linked = link_client(ports, provider, Permission.MANAGE_SETTINGS)
    actor = who(ports, linked.token()).actor
    with pytest.raises((PermissionDenied, Refused)):
        link_app_client(ports, actor, linked.app_id, NEW)
    with pytest.raises((PermissionDenied, Refused)):
        unlink_app_client(ports, actor, linked.link.id)


@pytest.fixture
def unlinked(ports: Ports, provider: OwnProvider) -> int:
    """Return an app that is linked to nothing, beside one and a person who are."""
    set_up(ports, provider, audience=AUDIENCE)
    other = make_app(ports, "Other")[0]
    link_app_client(ports, OPERATOR, other, NewClientLink("default", "taken", "taken"))
    link_identity(
        ports, make_staff(ports, "alice@example.com"), issuer=provider.url, subject="alice"
    )
    return make_app(ports, "Stock")[0]


@cases(
    ("new", "settings", "field", "code"),
    [
        (NewClientLink("none", CLIENT_ID, SUBJECT), {}, "provider", "NOT_FOUND"),
        (NewClientLink("default", "", SUBJECT), {}, "clientId", "REQUIRED"),
        (NewClientLink("default", CLIENT_ID, " "), {}, "subject", "REQUIRED"),
        (NewClientLink("default", "a\nb", SUBJECT), {}, "clientId", "INVALID"),
        (NewClientLink("default", "a" * 256, SUBJECT), {}, "clientId", "INVALID"),
        (NEW, {"audience": None}, "provider", "INVALID"),
        (NEW, {"issuer": None}, "provider", "INVALID"),
        (NEW, {"user_info_url": None}, "provider", "INVALID"),
        (NewClientLink("default", CLIENT_ID, "alice"), {}, "subject", "INVALID"),
        (NewClientLink("default", "taken", "other"), {}, "clientId", "UNIQUE"),
    ],
)
def test_link_that_could_not_work_is_refused(
    ports: Ports,
    provider: OwnProvider,
    unlinked: int,
    new: NewClientLink,
    settings: dict[str, str | None],
    field: str,
    code: str,
) -> None:
    set_up(ports, provider, "default", **{"audience": AUDIENCE, **settings})
    with pytest.raises(Refused) as refused:
        link_app_client(ports, OPERATOR, unlinked, new)
    [problem] = refused.value.problems
    assert (problem.field, problem.code) == (field, code)


def test_linking_asks_for_a_fresh_proof(ports: Ports, linked: Linked) -> None:
    boss = actor_of(ports, make_staff(ports, "b@example.com", APPS, ORDERS))
    new = NewClientLink("default", "another", "another")
    with pytest.raises(ProofRequired):
        link_app_client(ports, replace(boss, proof_is_old=True), linked.app_id, new)
    link_app_client(ports, boss, linked.app_id, new)


def test_deleted_app_takes_its_links_with_it(ports: Ports, linked: Linked) -> None:
    token = linked.token()
    assert who(ports, token).actor.is_app
    delete_app(ports, OPERATOR, linked.app_id)
    assert fault(ports, token) is TokenFault.INVALID


def test_refusals_are_counted_together_in_the_sign_in_log(ports: Ports, linked: Linked) -> None:
    unlink_app_client(ports, OPERATOR, linked.link.id)
    for number in range(5):
        assert fault(ports, linked.token(jti=str(number), sub=CLIENT_ID)) is TokenFault.INVALID
    assert isinstance(ports.sign_in_log, FakeSignInLog)
    [refusal] = {*ports.sign_in_log.refusals}
    assert "no active app is linked" in refusal.detail
    assert refusal.provider
