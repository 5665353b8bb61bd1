"""A provider's client acts as the app that it is linked to (client credentials, RFC 6749, 4.4)."""

import pytest

from app.domain.authorization.actor import OPERATOR, ActorKind
from app.domain.authorization.permissions import Permission
from app.domain.shop.settings import PasswordLoginMode
from app.domain.values.errors import PermissionDenied, TokenFault, TokenRejected
from app.ports import Ports
from app.services.apps.app_tokens import NewClientLink, link_app_client, unlink_app_client
from app.services.authorization.register import require_current_rights
from app.services.inspector.inspect import inspect_token
from app.services.single_sign_on.provider_settings import ProviderUpdate, save_provider
from tests.builders.apps import change_app, make_app
from tests.builders.people import actor_of, make_staff
from tests.builders.shop import close_storefront, set_mode
from tests.fakes.clock import FakeClock
from tests.fixtures.statements import recorded_statements
from tests.graphql.shop_client import ApiClient
from tests.servers.own_provider import LIFETIME, OwnProvider
from tests.services.linked_clients import CLIENT_ID, NEW, ORDERS, Linked, link_client
from tests.services.provider_bearers import calls, fault, who

WHO = "{ app { name permissions { code } } me { id } }"


@pytest.fixture
def linked(ports: Ports, provider: OwnProvider) -> Linked:
    return link_client(ports, provider)


def test_clients_token_is_the_apps_with_its_permissions(ports: Ports, linked: Linked) -> None:
    identity = who(ports, linked.token())
    actor = identity.actor
    assert (actor.kind, actor.app_id, actor.user_id) == (ActorKind.APP, linked.app_id, None)
    assert actor.permissions == {ORDERS}
    assert identity.expires == linked.provider.now() + LIFETIME
    assert ApiClient(ports).ask(WHO, linked.token())["data"] == {
        "app": {"name": "Stock", "permissions": [{"code": "MANAGE_ORDERS"}]},
        "me": None,
    }


def test_scope_openid_is_not_asked_of_a_client(ports: Ports, linked: Linked) -> None:
    assert who(ports, linked.token(scope="orders:read")).actor.is_app


@pytest.mark.both_databases
def test_known_clients_token_takes_one_statement_and_no_call(ports: Ports, linked: Linked) -> None:
    token = linked.token()
    who(ports, token)
    before = calls(ports)
    with recorded_statements() as statements:
        assert who(ports, token).actor.is_app
    assert len(statements) == 1
    assert calls(ports) == before
    assert not linked.provider.server.calls("/userinfo")


def test_clients_token_ends_with_its_expiry(
    ports: Ports, linked: Linked, clock: FakeClock
) -> None:
    token = linked.token()
    assert fault(ports, token) is None
    clock.pass_(seconds=LIFETIME)
    assert fault(ports, token) is TokenFault.EXPIRED


def test_inactive_app_is_refused_at_once_and_works_again_when_active(
    ports: Ports, linked: Linked
) -> None:
    token = linked.token()
    assert fault(ports, token) is None
    change_app(ports, linked.app_id, is_active=False)
    assert fault(ports, token) is TokenFault.INVALID
    assert fault(ports, linked.token(jti="a new one")) is TokenFault.INVALID
    change_app(ports, linked.app_id, is_active=True)
    assert fault(ports, token) is None


def test_unlinked_client_is_refused_at_once_and_linked_again_accepted(
    ports: Ports, second_process: Ports, linked: Linked
) -> None:
    token = linked.token()
    assert fault(second_process, token) is None
    unlink_app_client(ports, OPERATOR, linked.link.id)
    assert fault(second_process, token) is TokenFault.INVALID
    assert fault(second_process, linked.token(jti="a new one")) is TokenFault.INVALID
    link_app_client(ports, OPERATOR, linked.app_id, NEW)
    for process in (ports, second_process):
        assert fault(process, linked.token(jti="another")) is None


@pytest.mark.parametrize("value", ["false", "true"])
def test_deactivated_provider_refuses_its_clients_at_once(
    ports: Ports, linked: Linked, value: str
) -> None:
    token = linked.token()
    assert fault(ports, token) is None
    update = ProviderUpdate({}, active=value == "true")
    save_provider(ports, OPERATOR, "default", update)
    assert (fault(ports, token) is None) is (value == "true")


def test_provider_that_waits_for_confirmation_refuses_its_clients_at_once(
    ports: Ports, linked: Linked
) -> None:
    token = linked.token()
    assert fault(ports, token) is None
    manager = actor_of(ports, make_staff(ports, "m@example.com", Permission.MANAGE_PLUGINS))
    save_provider(ports, manager, "default", ProviderUpdate({"second_factor_amr": "otp"}))
    assert fault(ports, token) is TokenFault.INVALID
    assert fault(ports, linked.token(jti="a new one")) is TokenFault.INVALID


def test_app_keeps_working_through_login_modes_and_a_closed_storefront(
    ports: Ports, linked: Linked
) -> None:
    set_mode(ports, PasswordLoginMode.DISABLED)
    close_storefront(ports)
    response = ApiClient(ports).post({"query": "{ app { name } }"}, linked.token())
    assert response.json == {"data": {"app": {"name": "Stock"}}}


def test_rights_are_read_again_before_a_change_is_committed(ports: Ports, linked: Linked) -> None:
    actor = who(ports, linked.token()).actor
    require_current_rights(ports, actor)
    change_app(ports, linked.app_id, is_active=False)
    with pytest.raises(TokenRejected):
        require_current_rights(ports, actor)


def test_permission_that_the_app_lost_is_lost_to_the_client(ports: Ports, linked: Linked) -> None:
    actor = who(ports, linked.token()).actor
    other = make_app(ports, "Other", Permission.MANAGE_USERS)[0]
    unlink_app_client(ports, OPERATOR, linked.link.id)
    moved = link_app_client(ports, OPERATOR, other, NEW)
    with pytest.raises((TokenRejected, PermissionDenied)):
        require_current_rights(ports, actor)
    assert who(ports, linked.token()).actor.app_id == moved.app_id == other


def test_inspector_tells_the_app_of_a_clients_token(ports: Ports, linked: Linked) -> None:
    staff = actor_of(ports, make_staff(ports, "ann@example.com", ORDERS))
    shown = inspect_token(ports, staff, linked.token())
    assert shown.is_valid
    assert shown.app is not None
    assert (shown.app.id, shown.effective) == (linked.app_id, (ORDERS,))
    assert who(ports, linked.token()).actor.is_app


def test_inspector_tells_the_true_reason(ports: Ports, linked: Linked) -> None:
    staff = actor_of(ports, make_staff(ports, "ann@example.com", ORDERS))
    reasons: tuple[tuple[dict[str, object], str], ...] = (
        ({"sub": CLIENT_ID}, "no active app is linked"),
        ({"azp": "other", "client_id": "other"}, "no active app is linked"),
        ({"email": "a@example.com"}, "the claim email"),
        ({"aud": "elsewhere"}, "another audience"),
        ({"exp": 1}, "expired"),
    )
    for changes, reason in reasons:
        shown = inspect_token(ports, staff, linked.token(**changes))
        assert not shown.is_valid, changes
        assert reason in shown.checks[-1].text, changes


def test_inspector_tells_that_the_app_is_inactive(ports: Ports, linked: Linked) -> None:
    change_app(ports, linked.app_id, is_active=False)
    staff = actor_of(ports, make_staff(ports, "ann@example.com", ORDERS))
    shown = inspect_token(ports, staff, linked.token())
    assert not shown.is_valid
    assert shown.checks[-1].text == "The app is deactivated."


def test_two_clients_of_one_provider_can_be_two_apps(ports: Ports, linked: Linked) -> None:
    other = make_app(ports, "Other", Permission.MANAGE_USERS)[0]
    new = NewClientLink("default", "reports", "account-of-reports")
    link_app_client(ports, OPERATOR, other, new)
    token = linked.token(sub="account-of-reports", azp="reports", client_id="reports")
    assert who(ports, token).actor.app_id == other
    assert who(ports, linked.token()).actor.app_id == linked.app_id
    crossed = linked.token(sub="account-of-reports")
    assert fault(ports, crossed) is TokenFault.INVALID


def test_person_of_the_same_provider_still_signs_in(
    ports: Ports, linked: Linked, provider: OwnProvider
) -> None:
    person = provider.access_token("alice", azp=CLIENT_ID)
    assert who(ports, person).actor.is_user
