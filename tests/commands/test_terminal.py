"""What a person at a terminal gets that a pipe does not: tables, colours, questions."""

import json
from pathlib import Path

import pytest

from app.domain.authorization.permissions import Permission
from app.domain.shop.settings import PasswordLoginMode
from app.ports import Ports
from app.services.authorization.shop_state import load_shop_state
from app.services.identity.identify import identify
from tests.builders.apps import make_app
from tests.builders.people import make_group, make_staff, make_user, visit
from tests.builders.provider_records import link_identity, make_provider
from tests.builders.shop import set_mode
from tests.commands.real_installation import Installation
from tests.commands.terminal import ESCAPE, INTERRUPT, run_in_terminal


@pytest.fixture
def installed(sqlite_url: str, tmp_path: Path) -> Installation:
    return Installation(tmp_path, {"DATABASE_URL": sqlite_url, "TERM": "xterm-256color"})


def test_list_is_a_table_under_titles(ports: Ports, installed: Installation) -> None:
    make_group(ports, "Support [b]team[/b]")
    shown = run_in_terminal(installed, "group", "list")
    assert "Members" in shown
    assert "Support [b]team[/b]" in shown
    assert ESCAPE in shown


def test_one_thing_is_a_line_for_each_of_its_facts(installed: Installation) -> None:
    shown = run_in_terminal(installed, "shop", "show")
    assert "Password login" in shown
    assert "ENABLED" in shown


def test_no_color_disables_colours(ports: Ports, installed: Installation) -> None:
    make_group(ports, "Support")
    shown = run_in_terminal(installed, "group", "list", NO_COLOR="1")
    assert "Support" in shown
    assert "\x1b[3" not in shown


def test_password_is_asked_for_twice_and_never_shown(installed: Installation) -> None:
    secret = "a long enough sentence"
    shown = run_in_terminal(
        installed,
        "user",
        "create",
        "ann@example.com",
        answers=[("Password", secret), ("Repeat password", secret)],
    )
    assert secret not in shown
    assert "ended with 0" in shown
    assert "has no password yet" not in shown


def test_two_answers_that_differ_are_asked_for_again(installed: Installation) -> None:
    secret = "a long enough sentence"
    shown = run_in_terminal(
        installed,
        *("user", "create", "ann@example.com"),
        answers=[
            ("Password", secret),
            ("Repeat password", "a long enough sentense"),
            ("Password", secret),
            ("Repeat password", secret),
        ],
    )
    assert "The passwords don't match." in shown
    assert "ended with 0" in shown


def test_empty_answer_is_no_password(installed: Installation) -> None:
    shown = run_in_terminal(
        installed, "user", "create", "ann@example.com", answers=[("Password", "")]
    )
    assert "ann@example.com has no password yet." in shown
    assert "ended with 0" in shown


CLOSE = ("shop", "set", "password-login-mode", "DISABLED")


def mode(ports: Ports) -> PasswordLoginMode:
    return load_shop_state(ports).switches.password_login_mode


@pytest.mark.parametrize("answer", ["n", "y"])
def test_what_locks_people_out_is_asked_first(
    ports: Ports, installed: Installation, answer: str
) -> None:
    question = "No one can sign in with a password. Continue?"
    shown = run_in_terminal(installed, *CLOSE, answers=[(question, answer)])
    done = answer == "y"
    assert f"ended with {0 if done else 1}" in shown
    assert mode(ports) is (PasswordLoginMode.DISABLED if done else PasswordLoginMode.ENABLED)


def test_confirmation_counts_who_loses_access(ports: Ports, installed: Installation) -> None:
    make_provider(ports)
    link_identity(ports, make_staff(ports, "ines@example.com"))
    for name in ("tom", "tim"):
        make_staff(ports, f"{name}@example.com", Permission.MANAGE_SETTINGS)
    make_user(ports, "carla@example.com")
    shown = run_in_terminal(installed, *CLOSE, answers=[("Continue?", "n")])
    question = " ".join(shown.split())
    assert "2 of 3 staff have no other way to sign in. 1 of 1 customers has no other" in question
    assert "No one could undo this in the console" in question
    limited = (*CLOSE[:-1], "CUSTOMERS_ONLY")
    shown = run_in_terminal(installed, *limited, answers=[("Continue?", "y")])
    assert "2 of 3 staff have no SSO identity and will lose staff access." in shown
    assert "Continue?" not in run_in_terminal(installed, *limited)


@pytest.mark.parametrize("answered", ["--yes", "--no-input"])
def test_yes_option_skips_the_prompt(ports: Ports, installed: Installation, answered: str) -> None:
    assert "Continue?" not in run_in_terminal(installed, *CLOSE, answered)
    assert mode(ports) is PasswordLoginMode.DISABLED


def test_opening_access_needs_no_confirmation(ports: Ports, installed: Installation) -> None:
    set_mode(ports, PasswordLoginMode.DISABLED)
    assert "Continue?" not in run_in_terminal(
        installed, "shop", "set", "password-login-mode", "ENABLED"
    )
    assert mode(ports) is PasswordLoginMode.ENABLED


@pytest.mark.parametrize("answer", ["n", "y"])
def test_app_is_deleted_after_confirmation(
    ports: Ports, installed: Installation, answer: str
) -> None:
    key, token = make_app(ports, "Warehouse")
    question = f"Delete Warehouse (app {key}) with its tokens and webhooks?"
    shown = run_in_terminal(installed, "app", "delete", "Warehouse", answers=[(question, answer)])
    assert f"ended with {0 if answer == 'y' else 1}" in shown
    assert identify(ports, visit(token)).actor.is_app is (answer == "n")


@pytest.mark.first
def test_ctrl_c_at_a_question_ends_quietly_and_changes_nothing(
    ports: Ports, installed: Installation
) -> None:
    shown = run_in_terminal(installed, *CLOSE, answers=[("Continue?", INTERRUPT)])
    assert "ended with 130" in shown
    assert "Traceback" not in shown
    assert mode(ports) is PasswordLoginMode.ENABLED


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("group", "delete", "Support"), "pass --yes when not running in a terminal."),
        (("oidc", "set", "client_secret", "-"), "pipe it in when not running in a terminal."),
        (("app", "token", "verify"), "pipe it in when not running in a terminal."),
    ],
)
def test_no_input_disables_prompts(
    ports: Ports, installed: Installation, arguments: tuple[str, ...], message: str
) -> None:
    make_group(ports, "Support")
    shown = run_in_terminal(installed, *arguments, "--no-input")
    assert message in shown
    assert "ended with 2" in shown


def test_no_is_json_too(installed: Installation) -> None:
    shown = run_in_terminal(installed, *CLOSE, "--json", answers=[("Continue?", "n")])
    assert "ended with 1" in shown
    assert '"code": "ABORTED"' in shown


@pytest.mark.first
def test_table_names_what_a_narrow_terminal_has_no_room_for(
    ports: Ports, installed: Installation
) -> None:
    make_group(ports, "Support", Permission.MANAGE_ORDERS)
    shown = run_in_terminal(installed, "group", "list", COLUMNS="20")
    assert "Columns not shown: Members, Permissions. Use --json to see everything." in shown


def test_invalid_settings_are_reported_as_json(installed: Installation) -> None:
    wrong = {**installed.environment, "APP_ENV": "production"}
    failed = Installation(installed.folder, wrong).run("user", "list", "--json")
    assert failed.returncode == 1
    output = [error["message"].partition(":")[0] for error in json.loads(failed.stdout)["errors"]]
    assert output == ["SECRET_KEY", "PUBLIC_URL", "MAIL_URL"]


def test_unknown_group_is_reported_as_json(installed: Installation) -> None:
    failed = installed.run("usr", "--json")
    assert failed.returncode == 2
    assert "Did you mean 'user'?" in failed.stderr
    assert json.loads(failed.stdout)["errors"][0]["code"] == "USAGE"
