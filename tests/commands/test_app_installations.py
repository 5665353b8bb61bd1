"""``flask app install`` and ``flask app installations``."""

import json

from app.domain.authorization.actor import OPERATOR, WORKER
from app.domain.authorization.permissions import Permission
from app.ports import Ports
from app.services.apps.installation_requests import list_installations
from app.services.apps.installation_worker import install_next_app
from app.services.identity.identify import identify
from app.services.outbox.base_url import save_base_url
from tests.builders.apps import make_app
from tests.builders.audit import trail
from tests.builders.people import visit
from tests.commands.shell import run, run_json
from tests.fakes.clock import FakeClock
from tests.fixtures.cases import cases
from tests.fixtures.ports import fake_ports
from tests.servers.apps import TARGET, Handshake, accept, app_server, refuse
from tests.servers.http import Reply
from tests.services.installation_helpers import left_behind

PRODUCTS = Permission.MANAGE_PRODUCTS


def test_app_is_installed_and_shown_with_what_it_asked_for(ports: Ports) -> None:
    with app_server(author="Somebody", about="Does \x1b[31mthings\x1b[0m.") as app:
        done = run(ports, "app", "install", app.manifest_url, "--yes")
        [handshake] = app.handshakes
    assert done.exit_code == 0
    for line in (
        "App: An app 1.0.0 (example.app)",
        "Author: Somebody",
        "Requested permissions: MANAGE_PRODUCTS",
        "Granted permissions: MANAGE_PRODUCTS",
        f"Token sent to: {app.server.url}/register",
        f"Webhook endpoints: {TARGET}",
    ):
        assert line in done.stderr.splitlines()
    assert "\x1b" not in done.stderr
    assert handshake.token not in done.output
    assert handshake.api_url == "http://localhost:8000/graphql/"
    actor = identify(ports, visit(handshake.token)).actor
    assert actor.is_app
    assert actor.permissions == {PRODUCTS}
    shown = run_json(ports, "app", "show", "An app")
    assert (shown["isActive"], shown["manifestUrl"]) == (True, app.manifest_url)
    assert [row.actor_kind for row in trail(ports, "app.install")] == ["operator"]


def test_it_is_asked_about_before_anything_happens(ports: Ports) -> None:
    with app_server() as app:
        result = run(ports, "app", "install", app.manifest_url)
        assert app.handshakes == []
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Requested permissions: MANAGE_PRODUCTS" in result.stderr
    assert "Install An app?" in result.stderr
    assert list_installations(ports, OPERATOR) == ()
    assert left_behind(ports) == {}


def test_it_may_be_granted_something_else_have_another_name_and_stay_outside(ports: Ports) -> None:
    options = ("--permission", "manage-orders", "--name", "Ours", "--inactive")
    with app_server() as app:
        shown = run_json(ports, "app", "install", app.manifest_url, "--yes", *options)
    assert (shown["name"], shown["isActive"], shown["permissions"]) == (
        "Ours",
        False,
        ["MANAGE_ORDERS"],
    )


def test_app_receives_the_shop_url(ports: Ports) -> None:
    place = ("--served-at", "http://localhost:8123/")
    with app_server() as app:
        assert run(ports, "app", "install", app.manifest_url, "--yes", *place).exit_code == 0
        assert app.handshakes[0].api_url == "http://localhost:8123/graphql/"
        assert app.handshakes[0].headers["latchkey-domain"] == "localhost:8123"


def test_app_receives_the_url_that_the_shop_was_served_at_last(ports: Ports) -> None:
    save_base_url(ports, OPERATOR, "http://127.0.0.1:9000")
    with app_server() as app:
        assert run(ports, "app", "install", app.manifest_url, "--yes").exit_code == 0
        assert app.handshakes[0].api_url == "http://127.0.0.1:9000/graphql/"


def test_apps_refusal_message_is_shown_and_install_can_be_retried(ports: Ports) -> None:
    with app_server() as app:
        app.decide = lambda _told: refuse("Not this shop.")
        failed = run(ports, "app", "install", app.manifest_url, "--yes")
        assert (failed.exit_code, failed.stdout) == (3, "")
        assert "Error: Not this shop." in failed.stderr
        assert left_behind(ports) == {}
        [row] = run_json(ports, "app", "installations", "list")
        assert (row["appName"], row["status"], row["message"]) == (
            "An app",
            "FAILED",
            "Not this shop.",
        )
        again = ("app", "installations", "retry", str(row["id"]))
        assert f"To retry: flask {' '.join(again)}" in failed.stderr
        assert run(ports, *again).exit_code == 3
        app.decide = accept
        assert run_json(ports, *again)["identifier"] == "example.app"
    assert run_json(ports, "app", "installations", "list") == []


def test_failure_is_json_where_json_was_asked_for(ports: Ports) -> None:
    with app_server() as app:
        app.decide = lambda _told: refuse("Not this shop.")
        failed = run(ports, "app", "install", app.manifest_url, "--yes", "--json")
    assert failed.exit_code == 3
    error = {"code": "INSTALLATION_FAILED", "message": "Not this shop.", "field": None}
    assert json.loads(failed.stdout)["errors"] == [error]


def test_failure_can_be_forgotten(ports: Ports) -> None:
    with app_server() as app:
        app.decide = lambda _told: Reply(500)
        run(ports, "app", "install", app.manifest_url, "--yes")
    [row] = run_json(ports, "app", "installations", "list")
    gone = run_json(ports, "app", "installations", "delete", str(row["id"]))
    assert (gone["appName"], gone["status"]) == ("An app", "FAILED")
    for verb in ("delete", "retry"):
        missing = run(ports, "app", "installations", verb, str(row["id"]))
        assert (missing.exit_code, "Installation not found." in missing.stderr) == (3, True)


@cases(
    ("changes", "message"),
    [
        ({"permissions": ["MANAGE_APPS"]}, "permissions: "),
        ({"permissions": ["NOTHING"]}, "permissions: "),
        ({"id": ...}, "id: "),
        ({"tokenTargetUrl": "javascript:alert(1)"}, "tokenTargetUrl: "),
    ],
)
def test_invalid_manifest_is_reported_before_confirmation(
    ports: Ports, changes: dict[str, object], message: str
) -> None:
    with app_server("Latchkey", **changes) as app:
        failed = run(ports, "app", "install", app.manifest_url, "--yes")
    assert (failed.exit_code, failed.stdout) == (3, "")
    assert f"Error: {message}" in failed.stderr
    assert list_installations(ports, OPERATOR) == ()


def test_missing_manifest_is_reported(ports: Ports) -> None:
    for address in ("nope", "http://nowhere.invalid/manifest"):
        failed = run(ports, "app", "install", address, "--yes")
        assert (failed.exit_code, failed.stdout) == (3, "")
        assert "Error: manifestUrl: " in failed.stderr


def test_install_waits_for_the_worker(ports: Ports, sqlite_url: str, clock: FakeClock) -> None:
    remote_access = fake_ports(sqlite_url, clock, first_key=10)
    make_app(ports, "An app")  # this one is not taken for it
    with app_server() as app:

        def be_slow(_handshake: Handshake) -> Reply:
            app.decide = accept
            clock.pass_(minutes=3)
            assert install_next_app(remote_access, WORKER) == 1
            return refuse("Too late.")

        app.decide = be_slow
        shown = run_json(ports, "app", "install", app.manifest_url, "--yes")
    remote_access.database.close()
    assert (shown["identifier"], shown["isActive"]) == ("example.app", True)
    assert run_json(ports, "app", "installations", "list") == []
