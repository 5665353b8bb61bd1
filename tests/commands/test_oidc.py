"""``flask oidc``."""

from app.adapters.system import SystemClock
from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import Permission
from app.domain.shop.settings import PasswordLoginMode
from app.ports import Ports
from app.services.identity.providers import client_secret_of, known_providers
from app.services.outbox.base_url import save_base_url
from app.services.single_sign_on.provider_settings import ProviderUpdate, save_provider
from tests.builders.people import actor_of, make_staff
from tests.builders.provider_records import link_identity, make_provider
from tests.builders.providers import set_up
from tests.builders.shop import set_mode
from tests.commands.shell import run, run_json
from tests.servers.http import Reply
from tests.servers.own_provider import SECRET, own_provider


def test_default_provider_is_shown_with_its_logout_url(ports: Ports) -> None:
    shown = run_json(ports, "oidc", "show")
    assert (shown["id"], shown["active"]) == ("latchkey.authentication.openidconnect", False)
    assert shown["backchannelLogout"].endswith("/oidc/default/backchannel-logout")
    assert shown["enable_refresh_token"] == "true"
    assert shown["client_secret"] is None
    save_base_url(ports, OPERATOR, "http://127.0.0.1:9000")
    logout_url = run_json(ports, "oidc", "show")["backchannelLogout"]
    assert logout_url == "http://127.0.0.1:9000/oidc/default/backchannel-logout"


def test_setting_is_changed_and_cleared(ports: Ports) -> None:
    assert run_json(ports, "oidc", "set", "client_id", "shop")["client_id"] == "shop"
    assert run_json(ports, "oidc", "set", "client_id", "")["client_id"] is None


def test_secret_comes_by_standard_input_and_is_never_shown(ports: Ports) -> None:
    result = run(ports, "oidc", "set", "client_secret", "-", stdin=f"{SECRET}\n")
    assert result.exit_code == 0
    assert SECRET not in result.output
    assert client_secret_of(ports, known_providers(ports)[0]) == SECRET


def test_another_provider_is_added_by_its_first_setting(ports: Ports) -> None:
    run(ports, "oidc", "set", "name", "Our staff", "--provider", "staff")
    shown = run_json(ports, "oidc", "show", "--all")
    assert [(one["provider"], one["name"]) for one in shown] == [
        ("default", "OpenID Connect"),
        ("staff", "Our staff"),
    ]


def test_what_is_refused_ends_with_3_and_what_is_no_setting_with_2(ports: Ports) -> None:
    refused = run(ports, "oidc", "set", "active", "true")
    assert (refused.exit_code, "json_web_key_set_url" in refused.stderr) == (3, True)
    assert run(ports, "oidc", "set", "colour", "green").exit_code == 2
    assert run(ports, "oidc", "set", "active", "perhaps").exit_code == 2
    assert run(ports, "oidc", "show", "--provider", "nobody").exit_code == 3
    assert run(ports, "oidc", "discover", "http://nowhere.invalid").exit_code == 3


def test_members_are_removed_only_by_what_can_end_the_mapping_of_groups(ports: Ports) -> None:
    for change in (
        ("audience", "shop"),
        ("active", "true"),
        ("use_oauth_scope_permissions", "false"),
    ):
        refused = run(ports, "oidc", "set", *change, "--remove-members")
        assert (refused.exit_code, "--remove-members works only" in refused.stderr) == (2, True)
    for change in (
        ("group_mapping", "{}"),
        ("active", "false"),
        ("use_oauth_scope_permissions", "true"),
    ):
        assert run(ports, "oidc", "set", *change, "--remove-members").exit_code == 0


def test_provider_that_is_not_set_up_fails_its_test(ports: Ports) -> None:
    tested = run(ports, "oidc", "test")
    assert tested.exit_code == 1
    assert "isn't set up" in tested.stdout
    assert "flask oidc discover ISSUER" in tested.stdout


def test_disabling_the_last_recovery_login_needs_confirmation(ports: Ports) -> None:
    make_provider(ports, name="Northlight ID")
    link_identity(ports, make_staff(ports, "chief@example.com", Permission.MANAGE_SETTINGS))
    set_mode(ports, PasswordLoginMode.DISABLED)
    change = ("oidc", "set", "issuer", "https://elsewhere.invalid")
    refused = run(ports, *change)
    assert refused.exit_code == 3
    assert "1 person signed in with Northlight ID, 1 of them staff" in refused.stderr
    assert "pass --yes" in refused.stderr
    assert known_providers(ports)[0].issuer != "https://elsewhere.invalid"
    assert run(ports, *change, "--yes").exit_code == 0
    assert known_providers(ports)[0].issuer == "https://elsewhere.invalid"


def test_provider_is_discovered_and_tried(ports: Ports) -> None:
    with own_provider(SystemClock()) as provider:
        provider.describe()
        shown = run_json(ports, "oidc", "discover", provider.url)
        assert shown["oauth_token_url"] == f"{provider.url}/token"
        set_up(ports, provider)
        for page in ("/authorize", "/logout"):
            provider.server.answer(page, Reply(200))
        assert {one["state"] for one in run_json(ports, "oidc", "test")} == {"fine"}
        provider.server.answer("/keys", Reply(500))
        assert run(ports, "oidc", "test").exit_code == 1


def test_operator_confirms_what_waits(ports: Ports) -> None:
    make_provider(ports, audience="shop")
    manager = actor_of(ports, make_staff(ports, "m@example.com", Permission.MANAGE_PLUGINS))
    changes = ProviderUpdate({"json_web_key_set_url": "https://mallory.example/keys"})
    save_provider(ports, manager, "default", changes)
    assert run_json(ports, "oidc", "show")["waiting"] == "json_web_key_set_url"
    unasked = run(ports, "oidc", "confirm")
    assert (unasked.exit_code, "--yes" in unasked.stderr) == (2, True)
    assert "https://mallory.example/keys" in unasked.stderr
    assert "m@example.com" in unasked.stderr
    assert run_json(ports, "oidc", "confirm", "--yes")["waiting"] == ""
    assert run(ports, "oidc", "confirm", "--yes").exit_code == 3
