"""A console session whose owner proved long ago who they are: what it can't do any more."""

import ast
import inspect
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import pytest
from flask import Flask

from app import models
from app.domain.apps.apps import JobStatus
from app.domain.authorization.actor import OPERATOR, SessionOrigin
from app.domain.authorization.permissions import Permission
from app.domain.events import EventType
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.services.apps.installation_requests import InstallationRequest, install_app
from app.services.authorization.declarations import name_of
from app.services.authorization.register import REGISTER
from tests.builders.oauth import make_client
from tests.builders.people import PASSWORD
from tests.builders.webhooks import make_delivery, make_webhook
from tests.console.populated_shop import ADMIN, CUSTOMER, open_console, populate
from tests.console.route_requests import records
from tests.console.staff_client import ConsoleClient, loaded_of
from tests.fakes.clock import FakeClock
from tests.fixtures.kept_application import AppOn
from tests.fixtures.ports import fake_ports
from tests.servers.apps import AppServer, app_server

LINKS = EventType.STAFF_SET_PASSWORD_REQUESTED.value
HOOK = {"target_url": "https://hooks.example.com/", "events": LINKS, "app": "1", "warned": "y"}
ORDERS = Permission.MANAGE_ORDERS.value
SUPPORT = to_global_id("Group", 1)

FORMS: dict[str, tuple[str, dict[str, Any]]] = {
    "access.set_storefront": ("access/storefront", {"open": "false"}),
    "account_actions.export": ("people/2/export", {}),
    "account_actions.reset_factors": ("people/1/second-factors/reset", {}),
    "app_clients.link": (
        "apps/1/clients/new",
        {"provider": "default", "client_id": "till", "subject": "till@clients"},
    ),
    "app_installation.agree": ("apps/install/agree", {"permissions": ORDERS}),
    "app_installation.retry": ("apps/install/1/retry", {}),
    "app_tokens.make": ("apps/1/tokens/new", {"life": ""}),
    "app_tokens.rotate": ("apps/1/tokens/1/rotate", {}),
    "apps.connect": ("apps/connect", {"name": "Till", "permissions": ORDERS}),
    "apps.save_permissions": ("apps/1/permissions", {"permissions": ORDERS}),
    "deliveries.redeliver": ("deliveries/2/redeliver", {"enable": "yes"}),
    "keys.rotate": ("keys/rotate", {}),
    "keys.withdraw": ("keys/withdraw", {"kid": "A" * 43}),
    "mail_templates.save": (
        "emails/templates/password_changed/save",
        {"subject": "Changed", "html": "<p>Changed</p>", "text": "Changed"},
    ),
    "oauth_clients.new": (
        "oauth-clients/new",
        {"name": "Till", "kind": "web", "redirect_uris": "https://till.example.com/back"},
    ),
    "oauth_clients.save_details": ("oauth-clients/2/details", {"name": "Renamed"}),
    "oauth_clients.save_sign_in": (
        "oauth-clients/2/sign-in",
        {"redirect_uris": "https://other.example.com/back", "scopes": "openid"},
    ),
    "oauth_clients.save_logo": (
        "oauth-clients/2/logo",
        {"image": ("docs/pictures/home-dark.png", "logo.png")},
    ),
    "oauth_clients.remove_logo": ("oauth-clients/2/logo/remove", {}),
    "oauth_clients.rotate": ("oauth-clients/2/rotate", {}),
    "oauth_clients.disable": ("oauth-clients/2/disable", {}),
    "oauth_clients.enable": ("oauth-clients/2/enable", {}),
    "oauth_clients.delete": ("oauth-clients/2/delete", {}),
    "passkeys.add": ("account/security/passkeys/add", {"name": "Phone"}),
    "passkeys.begin": ("account/security/passkeys/new", {}),
    "passkeys.delete": ("account/security/passkeys/1/delete", {}),
    "provider_editing.discover": (
        "single-sign-on/default/discover",
        {"issuer": "http://127.0.0.1:9/"},
    ),
    "provider_editing.edit": ("single-sign-on/default/edit", {"name": "Another"}),
    "provider_editing.new": ("single-sign-on/new", {"provider": "other", "name": "Other"}),
    "second_factors.confirm": ("account/security/app/confirm", {"code": "000000"}),
    "second_factors.link": ("account/security/sso/latchkey.authentication.openidconnect/link", {}),
    "second_factors.new_codes": ("account/security/codes", {}),
    "second_factors.start": ("account/security/app", {}),
    "second_factors.turn_off": ("account/security/app/turn-off", {}),
    "second_factors.unlink": ("account/security/sso/1/unlink", {}),
    "shop_settings.set_second_factor": (
        "settings/second-factor",
        {"factor": "OPTIONAL", "grace": "14"},
    ),
    "single_sign_on.confirm": ("single-sign-on/default/confirm", {"version": "1"}),
    "single_sign_on.switch": ("single-sign-on/default/switch", {"to": "off"}),
    "staff.groups.add_member": ("staff/groups/1/members", {"email": CUSTOMER}),
    "staff.groups.new": ("staff/groups/new", {"name": "Tills", "permissions": ORDERS}),
    "staff.groups.save": ("staff/groups/1/save", {"name": "Support", "permissions": ORDERS}),
    "staff.invitations.index": ("staff/invite/", {"email": "new@example.com"}),
    "staff.invitations.make_link": ("staff/invite/4/link", {}),
    "staff.save_groups": ("staff/1/groups", {"groups": SUPPORT}),
    "webhook_editing.edit": ("webhooks/2/edit", HOOK),
    "webhook_editing.new": ("webhooks/new", HOOK),
    "webhooks.grant": ("webhooks/2/grant", {}),
    "webhooks.enable": ("webhooks/2/enable", {}),
    "webhooks.resume": ("webhooks/2/resume", {}),
    "account_actions.erase": ("people/2/erase", {}),
    "access.set_mode": ("access/mode", {"mode": "DISABLED", "phrase": "NOBODY"}),
}
"""A form for every page that calls a use case with a fresh proof; the mode comes last."""

WITHOUT_EFFECT = {
    "apps.save_details",
    "device.index",
    "emails.save_look",
    "emails.save_sending",
    "shop_settings.save",
    "staff.groups.remove_member",
    "staff.save_details",
    "staff.save_permissions",
    "webhooks.disable",
    "webhooks.pause",
}
"""They call such a use case with an input that gives nothing to anybody, and ask for a proof for
others: a device that is let in is ``tests/console/test_device.py``'s.
"""


@pytest.fixture
def shop(sqlite_url: str, clock: FakeClock) -> Ports:
    """A shop with one of everything, a webhook for links, and an installation that failed."""
    made = fake_ports(sqlite_url, clock)
    populate(made)
    make_client(made)
    make_delivery(made, make_webhook(made, 1, EventType.STAFF_SET_PASSWORD_REQUESTED))
    install_app(made, OPERATOR, InstallationRequest("Failed", "https://apps.example.com/manifest"))
    with made.database.transaction() as session:
        session.query(models.AppInstallation).one().status = JobStatus.FAILED.value
        session.query(models.IdentityProvider).one().audience = "https://shop.example/api"
    return made


@pytest.fixture
def console_app(shop: Ports, app_on: AppOn) -> Flask:
    return app_on(shop)


@pytest.fixture
def served_app(console_app: Flask) -> Iterator[AppServer]:
    with app_server() as served:
        yield served


@pytest.mark.first
def test_stale_reauthentication_is_refused_and_a_fresh_one_accepted(
    console_app: Flask, shop: Ports, clock: FakeClock, served_app: AppServer
) -> None:
    console = open_console(console_app, shop, ADMIN)
    for endpoint, (path, form) in FORMS.items():
        if endpoint == "access.set_mode":
            _come_by_sign_on(shop)
        sent = {**form, "url": served_app.manifest_url}
        clock.pass_(minutes=6)
        before = records(shop)

        attack = _send(console, path, sent)
        assert (attack.status, attack.title.split(" ·")[0]) == (403, "Confirm your password"), (
            endpoint
        )
        assert "You're about to " in attack.text, endpoint
        assert records(shop) == before, endpoint

        control = _send(console, path, {**sent, "proof_password": PASSWORD})
        assert control.status in (200, 303, 422), endpoint
        assert "Confirm your password" not in control.text, endpoint


def test_choice_between_two_versions_needs_a_fresh_proof_to_be_saved(
    console_app: Flask, shop: Ports, clock: FakeClock
) -> None:
    """What the proof is for depends on the choice, so the choice comes first; it saves nothing."""
    console = open_console(console_app, shop, ADMIN)
    path = "/console/apps/1/permissions"
    clock.pass_(minutes=6)
    before = records(shop)
    unseen = {"permissions": [ORDERS, Permission.MANAGE_USERS.value], "loaded": "{}"}
    conflict = console.send(path, unseen, seen_at="/console/keyboard")
    assert conflict.status == 409
    chosen = {**unseen, **loaded_of(conflict.html, path, {}), "choice-permissions": "yours"}
    asked = console.send(path, chosen, seen_at="/console/keyboard")
    assert (asked.status, "Confirm your password" in asked.text) == (403, True)
    assert records(shop) == before
    proved = {**chosen, "proof_password": PASSWORD}
    assert console.send(path, proved, seen_at="/console/keyboard").status == 303
    assert records(shop) != before


def test_choice_between_two_versions_does_not_show_the_password_that_came_with_one(
    console_app: Flask, shop: Ports, clock: FakeClock
) -> None:
    console = open_console(console_app, shop, ADMIN)
    path = "/console/apps/1/permissions"
    clock.pass_(minutes=6)
    proof = {"proof_password": PASSWORD, "proof_challenge": "asked", "proof_act": "this"}
    unseen = {"permissions": [ORDERS, Permission.MANAGE_USERS.value], "loaded": "{}"}
    conflict = console.send(path, {**unseen, **proof}, seen_at="/console/keyboard")
    assert (conflict.status, PASSWORD in conflict.html) == (409, False)
    assert 'name="proof_' not in conflict.html
    # It was taken as a proof, so the choice needs no other.
    chosen = {**unseen, **loaded_of(conflict.html, path, {}), "choice-permissions": "yours"}
    assert console.send(path, chosen, seen_at="/console/keyboard").status == 303


def test_form_input_is_sent_again_with_the_password(
    console_app: Flask, shop: Ports, clock: FakeClock
) -> None:
    console = open_console(console_app, shop, ADMIN)
    clock.pass_(minutes=6)
    response = _send(console, *FORMS["staff.groups.new"])
    assert '<input type="hidden" name="name" value="Tills">' in response.html
    assert f'<input type="hidden" name="permissions" value="{ORDERS}">' in response.html

    assert '<input type="hidden" name="proof_act" value="people.groups.create_group:it">' in (
        response.html
    )
    path, form = _with("staff.groups.new", "not mine")
    wrong = _send(console, path, {**form, "proof_act": "people.groups.create_group:it"})
    assert (wrong.status, "Confirm your password" in wrong.text) == (422, True)
    assert "You're about to create a group with permissions or members." in wrong.text
    right = _send(console, *_with("staff.groups.new", PASSWORD))
    assert right.leads_to.startswith("/console/staff/groups/")


@pytest.mark.first
def test_every_page_that_calls_a_declared_use_case_is_tested(console_app: Flask) -> None:
    found = {
        rule.endpoint.removeprefix("console.")
        for rule in console_app.url_map.iter_rules()
        if rule.rule.startswith("/console/")
        and "POST" in (rule.methods or ())
        and _calls_declared(console_app.view_functions[rule.endpoint])
    }

    assert found == {*FORMS, *WITHOUT_EFFECT}


def test_harmless_input_needs_no_reauthentication(
    console_app: Flask, shop: Ports, clock: FakeClock
) -> None:
    console = open_console(console_app, shop, ADMIN)
    clock.pass_(minutes=6)
    for path, form in (
        ("apps/connect", {"name": "Till"}),
        ("apps/1/details", {"name": "Renamed"}),
        ("apps/1/tokens/new", {"life": "30"}),
        ("staff/groups/new", {"name": "Empty"}),
        ("webhooks/2/disable", {}),
        ("access/storefront", {"open": "true"}),
    ):
        response = _send(console, path, form)
        assert response.status in (200, 303), path
        assert "Confirm your password" not in response.text, path


def _with(endpoint: str, password: str) -> tuple[str, dict[str, Any]]:
    path, form = FORMS[endpoint]
    return path, {**form, "proof_password": password}


def _send(console: ConsoleClient, path: str, form: dict[str, Any]) -> Any:
    return console.send(f"/console/{path}", form, seen_at="/console/keyboard")


def _come_by_sign_on(shop: Ports) -> None:
    with shop.database.transaction() as session:
        for stored in session.query(models.Session):
            stored.origin = SessionOrigin.OIDC.value


def _calls_declared(view: Any) -> bool:
    """Whether a page, or what it calls in its own module, calls a use case with a fresh proof.

    So does a use case that calls another.
    """
    module = inspect.getmodule(inspect.unwrap(view))
    assert isinstance(module, ModuleType)
    bodies = _names_in_functions(Path(str(module.__file__)))
    seen: set[str] = set()
    waiting = {inspect.unwrap(view).__name__}
    while waiting:
        name = waiting.pop()
        seen.add(name)
        waiting |= bodies.get(name, set()) - seen
    seen.discard(inspect.unwrap(view).__name__)
    return any(_is_declared(_find_named(module, name)) for name in seen)


@cache
def _names_in_functions(file: Path) -> dict[str, set[str]]:
    return {
        node.name: {
            ast.unparse(child)
            for child in ast.walk(node)
            if isinstance(child, (ast.Name, ast.Attribute))
        }
        for node in ast.parse(file.read_text()).body
        if isinstance(node, ast.FunctionDef)
    }


def _find_named(module: ModuleType, name: str) -> Any:
    """Return the value of a name, or of a name in an imported module; ``None`` for others."""
    owner, _, attribute = name.rpartition(".")
    place = getattr(module, owner, None) if owner else module
    return getattr(place, attribute, None) if isinstance(place, ModuleType) else None


def _is_declared(value: Any) -> bool:
    return inspect.isfunction(value) and _needs_proof(value)


@cache
def _needs_proof(use_case: FunctionType) -> bool:
    declared = REGISTER.get(name_of(use_case))
    return declared is not None and (declared.proof is not None or _calls_declared(use_case))
