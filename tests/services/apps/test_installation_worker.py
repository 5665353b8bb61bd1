"""Apps are installed from their manifests, by a handshake, whole or not at all."""

import json
from typing import Any

import pytest

from app.domain.apps.apps import JobStatus
from app.domain.authorization.actor import OPERATOR, WORKER
from app.domain.authorization.permissions import Permission
from app.domain.values.errors import PermissionDenied
from app.domain.values.pages import PageRequest
from app.ports import Ports
from app.services.apps.app_lists import list_apps, show_calling_app
from app.services.apps.extensions import extensions_of_apps
from app.services.apps.installation_requests import list_installations
from app.services.apps.installation_worker import install_next_app
from app.services.identity.identify import identify
from app.services.webhooks.lists import webhooks_of_apps
from tests.builders.audit import trail
from tests.builders.outbox import events
from tests.builders.people import ISSUER, visit
from tests.fakes.strict_http import WatchedHttp
from tests.servers.apps import QUERY, Handshake, app_server, refuse
from tests.servers.http import Reply
from tests.services.installation_helpers import boss, failed, left_behind, opens, want, work

ALL = PageRequest(100)


def test_installation_is_requested_and_then_run_by_the_worker(ports: Ports) -> None:
    with app_server() as app:
        installation = want(ports, app)
        assert (installation.status, installation.app_name) == (JobStatus.PENDING, "My app")
        assert list_installations(ports, OPERATOR) == (installation,)
        assert app.server.received == []
        assert work(ports) == 1
        assert work(ports) == 0
    assert list_installations(ports, OPERATOR) == ()
    [installed] = list_apps(ports, OPERATOR, ALL).items
    assert (installed.name, installed.identifier, installed.type.value) == (
        "My app",
        "example.app",
        "THIRDPARTY",
    )
    assert installed.is_active
    assert installed.permissions == {Permission.MANAGE_PRODUCTS}
    assert (installed.version, installed.manifest_url) == ("1.0.0", app.manifest_url)
    [handshake] = app.handshakes
    assert opens(ports, handshake.token)


def test_installation_creates_extensions_and_webhooks(ports: Ports) -> None:
    with app_server() as app:
        want(ports, app)
        work(ports)
    [installed] = list_apps(ports, OPERATOR, ALL).items
    [extension] = extensions_of_apps(ports, OPERATOR, [installed])[installed.id]
    assert (extension.label, extension.mount) == ("Edit", "PRODUCT_DETAILS_MORE_ACTIONS")
    assert extension.permissions == {Permission.MANAGE_PRODUCTS}
    assert extension.address == f"{app.server.url}/dashboard/edit"
    [webhook] = webhooks_of_apps(ports, OPERATOR, [installed.id])[installed.id]
    assert (webhook.name, webhook.query, webhook.is_active) == ("Staff", QUERY, True)
    assert [event.value for event in webhook.events] == ["STAFF_CREATED"]


def test_app_receives_its_token_and_the_api_url(ports: Ports) -> None:
    with app_server() as app:
        want(ports, app, boss(ports))
        work(ports)
    [handshake] = app.handshakes
    assert handshake.api_url == ISSUER
    assert handshake.headers["latchkey-domain"] == "localhost:8000"
    assert handshake.headers["latchkey-schema-version"] == "3.23"
    assert handshake.headers["latchkey-api-url"] == ISSUER
    assert handshake.headers["saleor-domain"] == "localhost:8000"
    assert handshake.headers["saleor-schema-version"] == "3.23"
    assert handshake.headers["x-saleor-domain"] == "localhost:8000"
    [call] = app.server.calls("/register")
    assert json.loads(call.body) == {"auth_token": handshake.token}


@pytest.mark.both_databases
def test_app_can_call_the_api_during_the_handshake(ports: Ports, second_process: Ports) -> None:
    seen: dict[str, Any] = {}

    def call_back(handshake: Handshake) -> Reply:
        caller = identify(second_process, visit(handshake.token)).actor
        seen["permissions"] = caller.permissions
        seen["itself"] = show_calling_app(second_process, caller)
        seen["listed"] = list_apps(second_process, OPERATOR, ALL).items
        seen["installation"] = list_installations(second_process, OPERATOR)
        return Reply()

    with app_server() as app:
        app.decide = call_back
        want(ports, app)
        work(ports)
    assert seen["permissions"] == {Permission.MANAGE_PRODUCTS}
    assert seen["itself"].identifier == "example.app"
    assert not seen["itself"].is_active
    assert seen["listed"] == ()
    assert [installation.status for installation in seen["installation"]] == [JobStatus.PENDING]
    assert list_apps(ports, OPERATOR, ALL).items[0].is_active


def test_installation_is_audited_and_published_for_its_requester(ports: Ports) -> None:
    asker = boss(ports)
    with app_server() as app:
        want(ports, app, asker)
        assert events(ports) == []
        work(ports)
    [installed] = list_apps(ports, OPERATOR, ALL).items
    [event] = events(ports)
    assert (event.type, event.subject_id) == ("APP_INSTALLED", installed.id)
    assert event.principal == ("User", asker.user_id)
    [row] = trail(ports, "app.install")
    assert (row.actor_name, row.subject_name) == ("boss@example.com", "My app")
    assert row.after["permissions"] == ["MANAGE_PRODUCTS"]
    assert app.handshakes[0].token not in json.dumps([row.after, row.before])


def test_app_can_be_installed_inactive(ports: Ports) -> None:
    with app_server() as app:
        want(ports, app, activate=False)
        work(ports)
    [installed] = list_apps(ports, OPERATOR, ALL).items
    assert not installed.is_active
    assert not opens(ports, app.handshakes[0].token)


def test_app_without_a_back_end_gets_no_token(ports: Ports) -> None:
    with app_server(tokenTargetUrl=...) as app:
        want(ports, app)
        assert work(ports) == 1
    [installed] = list_apps(ports, OPERATOR, ALL).items
    assert installed.is_active
    assert "app_tokens" not in left_behind(ports)


def test_only_the_worker_installs(ports: Ports) -> None:
    with pytest.raises(PermissionDenied):
        install_next_app(ports, boss(ports))
    assert install_next_app(ports, WORKER) == 0


REFUSALS: list[tuple[Reply, str]] = [
    (refuse("We do not serve this shop."), "We do not serve this shop."),
    (refuse("Down for repairs.", 503), "Down for repairs."),
    (refuse("No, and with a good status.", 200), "No, and with a good status."),
    (refuse("Two\nlines\x1b[31m"), "Two lines [31m"),
    (Reply(500), "The app rejected its token: HTTP 500."),
    (Reply(403, b"<html>no</html>"), "The app rejected its token: HTTP 403."),
    (
        Reply(400, b"Missing saleor-api-url header"),
        "The app rejected its token: HTTP 400. It answered: Missing saleor-api-url header",
    ),
    (
        Reply(400, b"\x1b[31m" + 300 * b"a\n"),
        f"The app rejected its token: HTTP 400. It answered: [31m{97 * 'a '}a…",
    ),
    (Reply(400, b'{"error": "text"}'), "The app rejected its token: HTTP 400."),
    (
        Reply(302, headers={"Location": "http://localhost/register"}),
        "The app rejected its token: HTTP 302.",
    ),
]
"""What the app answers to its token, and why the installation failed."""


def test_refused_installation_stores_only_the_apps_message(ports: Ports) -> None:
    replies = iter(REFUSALS)
    with app_server() as app:
        app.decide = lambda _told: next(replies)[0]
        for _ in REFUSALS:
            want(ports, app)
            assert work(ports) == 1
    installations = list_installations(ports, OPERATOR)
    assert {one.status for one in installations} == {JobStatus.FAILED}
    messages = [message for _, message in REFUSALS]
    assert sorted(one.message for one in installations) == sorted(messages)
    written = [row.after for row in trail(ports, "app_installation.fail")]
    assert written == [{"message": message} for message in messages]
    assert left_behind(ports) == {}
    assert not any(opens(ports, handshake.token) for handshake in app.handshakes)
    assert events(ports) == []


def test_token_echoed_by_the_app_is_not_shown(ports: Ports) -> None:
    with app_server() as app:
        app.decide = lambda handshake: refuse(f"I know {handshake.token}!")
        want(ports, app)
        work(ports)
    assert failed(ports) == "I know …!"


def test_token_echoed_in_plain_text_is_not_shown_even_in_part(ports: Ports) -> None:
    with app_server() as app:
        app.decide = lambda handshake: Reply(400, f"{190 * 'a'} {handshake.token}".encode())
        want(ports, app)
        work(ports)
    assert failed(ports).endswith("a …")


def test_any_2xx_response_accepts_the_installation(ports: Ports) -> None:
    with app_server() as app:
        app.decide = lambda _told: Reply(201, b"welcome")
        want(ports, app)
        work(ports)
    assert len(list_apps(ports, OPERATOR, ALL).items) == 1


def test_no_call_is_made_inside_a_transaction(ports: Ports) -> None:
    assert isinstance(ports.http, WatchedHttp)
    with app_server() as app:
        want(ports, app)
        work(ports)
    assert [call.method for call in ports.http.calls] == ["GET", "POST"]
