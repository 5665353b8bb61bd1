"""A change of a provider that would keep out everybody who could take it back."""

from dataclasses import replace

import pytest

from app.domain.authorization.actor import OPERATOR, Actor, ActorKind, SessionOrigin
from app.domain.authorization.permissions import Permission
from app.domain.shop.lockouts import LockoutRefused
from app.domain.shop.settings import PasswordLoginMode
from app.domain.values.errors import Problem, Refused
from app.ports import Ports
from app.services.identity.providers import known_providers
from app.services.single_sign_on.provider_settings import (
    ProviderUpdate,
    save_provider,
    update_plugin,
)
from tests.builders.apps import make_app
from tests.builders.audit import trail
from tests.builders.people import actor_of, make_staff, make_user
from tests.builders.provider_records import (
    ISSUER_THERE,
    link_identity,
    make_provider,
    sign_in_by_grant,
)
from tests.builders.shop import set_mode
from tests.fixtures.cases import cases

PLUGIN = "latchkey.authentication.openidconnect"
SETTINGS = Permission.MANAGE_SETTINGS
ELSEWHERE = "https://elsewhere.invalid"
OFF = ProviderUpdate({}, active=False, asks_first=True)
ISSUER = ProviderUpdate({"issuer": ELSEWHERE}, asks_first=True)
NO_ISSUER = ProviderUpdate({"issuer": None}, asks_first=True)
CLIENT = ProviderUpdate({"client_id": "another"}, asks_first=True)


@pytest.fixture
def chief(ports: Ports) -> Actor:
    """Who may manage all, and came in by single sign-on while passwords are shut off."""
    make_provider(ports, client_id="shop", name="Northlight ID")
    key = make_staff(ports, "chief@example.com", SETTINGS, Permission.MANAGE_PLUGINS)
    link_identity(ports, key)
    link_identity(ports, make_user(ports), subject="a customer")
    set_mode(ports, PasswordLoginMode.CUSTOMERS_ONLY)
    return actor_of(ports, key, SessionOrigin.OIDC)


def refusal(ports: Ports, actor: Actor, changes: ProviderUpdate) -> Problem:
    with pytest.raises(LockoutRefused) as refused:
        update_plugin(ports, actor, PLUGIN, changes)
    [problem] = refused.value.problems
    return problem


@cases(
    ("changes", "setting"),
    [(OFF, "active"), (ISSUER, "issuer"), (NO_ISSUER, "issuer"), (CLIENT, "client_id")],
)
def test_last_sign_in_method_is_kept_with_counts_in_the_message(
    ports: Ports, chief: Actor, changes: ProviderUpdate, setting: str
) -> None:
    (before,) = known_providers(ports)
    problem = refusal(ports, chief, changes)
    assert (problem.code, problem.field) == ("INVALID", setting)
    assert problem.message.startswith(
        "2 people signed in with Northlight ID, 1 of them staff, and "
    )
    assert "this couldn't be undone" in problem.message
    assert problem.message.endswith(
        "You can change it while everyone can sign in with a password."
    )
    assert known_providers(ports) == (before,)
    assert trail(ports, "provider.update") == []


@pytest.mark.parametrize("changes", [OFF, ISSUER, CLIENT], ids=["off", "issuer", "client"])
def test_provider_is_disabled_with_another_recovery(
    ports: Ports, chief: Actor, changes: ProviderUpdate
) -> None:
    make_app(ports, "Settings", SETTINGS)
    update_plugin(ports, chief, PLUGIN, changes)
    assert len(trail(ports, "provider.update")) == 1


@pytest.mark.parametrize("changes", [OFF, ISSUER, CLIENT], ids=["off", "issuer", "client"])
def test_second_provider_with_their_identities_is_a_recovery(
    ports: Ports, chief: Actor, changes: ProviderUpdate
) -> None:
    make_provider(ports, "other", issuer="https://other.invalid")
    link_identity(ports, chief.user_id or 0, issuer="https://other.invalid")
    update_plugin(ports, chief, PLUGIN, changes)


def test_password_is_a_recovery_while_enabled(ports: Ports, chief: Actor) -> None:
    set_mode(ports, PasswordLoginMode.ENABLED)
    update_plugin(ports, chief, PLUGIN, ISSUER)


@pytest.mark.parametrize(
    "changes",
    [
        replace(ISSUER, settings={"issuer": ISSUER_THERE, "client_id": "shop"}, active=True),
        replace(ISSUER, settings={"audience": "https://shop.example.com"}, name="Other"),
    ],
    ids=["as it is", "nothing of that kind"],
)
def test_change_without_lockout_is_not_refused(
    ports: Ports, chief: Actor, changes: ProviderUpdate
) -> None:
    update_plugin(ports, chief, PLUGIN, changes)


def test_identities_move_to_a_newly_configured_issuer(ports: Ports) -> None:
    make_provider(ports, issuer="")
    key = make_user(ports, "chief@example.com", is_staff=True, is_superuser=True)
    link_identity(ports, key, issuer=f"default|{ISSUER_THERE}")
    set_mode(ports, PasswordLoginMode.DISABLED)
    chief = actor_of(ports, key, SessionOrigin.OIDC)
    assert refusal(ports, chief, ISSUER).field == "issuer"
    update_plugin(ports, chief, PLUGIN, replace(ISSUER, settings={"issuer": ISSUER_THERE}))


def test_wrong_issuer_can_be_corrected(ports: Ports, chief: Actor) -> None:
    save_provider(ports, OPERATOR, "default", replace(ISSUER, asks_first=False))
    helper = Actor(ActorKind.APP, app_id=1, permissions=frozenset({Permission.MANAGE_PLUGINS}))
    update_plugin(ports, helper, PLUGIN, CLIENT)  # nobody could undo that before either
    update_plugin(ports, chief, PLUGIN, replace(ISSUER, settings={"issuer": ISSUER_THERE}))


def test_provider_rights_belong_to_the_identity(ports: Ports, chief: Actor) -> None:
    key = make_provider(ports, use_oauth_scope_permissions=True)
    sign_in_by_grant(ports, chief.user_id or 0, key, "STAFF MANAGE_SETTINGS")
    assert refusal(ports, chief, ISSUER).field == "issuer"
    update_plugin(ports, chief, PLUGIN, replace(ISSUER, settings={"audience": "x"}))


def test_operator_can_override_after_confirmation(ports: Ports, chief: Actor) -> None:
    assert chief.user_id
    with pytest.raises(Refused) as refused:
        save_provider(ports, OPERATOR, "default", ISSUER)
    assert "2 people signed in with Northlight ID" in str(refused.value)
    save_provider(ports, OPERATOR, "default", replace(ISSUER, asks_first=False))
    assert known_providers(ports)[0].issuer == ELSEWHERE


def test_graphql_ignores_the_lockout_guard(ports: Ports, chief: Actor) -> None:
    update_plugin(ports, chief, PLUGIN, replace(ISSUER, asks_first=False))
    assert known_providers(ports)[0].issuer == ELSEWHERE
