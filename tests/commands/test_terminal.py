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
from tests.commands.real_installation import Installation
from tests.commands.terminal import ESCAPE, INTERRUPT, run_in_terminal
from tests.fixtures.cases import cases

pytestmark = pytest.mark.first


@pytest.fixture
def installed(sqlite_url: str, tmp_path: Path) -> Installation:
    return Installation(tmp_path, {"DATABASE_URL": sqlite_url, "TERM": "xterm-256color"})


def test_list_is_a_table_under_titles(ports: Ports, installed: Installation) -> None:
    make_group(ports, "[b]Support[/b]", Permission.MANAGE_ORDERS)
    coloured = run_in_terminal(installed, "group", "list")
    plain = run_in_terminal(installed, "group", "list", NO_COLOR="1")
    for shown in (coloured, plain):
        assert "Members" in shown
        assert "[b]Support[/b]" in shown
    assert ESCAPE in coloured
    assert "\x1b[3" not in plain
    narrow = run_in_terminal(installed, "group", "list", COLUMNS="20")
    assert "Columns not shown: Members, Permissions. Use --json to see everything." in narrow


def test_one_thing_is_a_line_for_each_of_its_facts(installed: Installation) -> None:
    shown = run_in_terminal(installed, "shop", "show")
    assert "Password login" in shown
    assert "ENABLED" in shown


def test_password_is_asked_for_twice_and_never_shown(installed: Installation) -> None:
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
    assert secret not in shown
    assert "ended with 0" in shown
    assert "has no password yet" not in shown


def test_empty_answer_is_no_password(installed: Installation) -> None:
    shown = run_in_terminal(
        installed, "user", "create", "ann@example.com", answers=[("Password", "")]
    )
    assert "ann@example.com has no password yet." in shown
    assert "ended with 0" in shown


CLOSE = ("shop", "set", "password-login-mode", "DISABLED")


def mode(ports: Ports) -> PasswordLoginMode:
    return load_shop_state(ports).switches.password_login_mode


@cases("answer", ["n", "y"])
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


@cases("answered", ["--yes", "--no-input"])
def test_yes_option_skips_the_prompt_and_opening_access_has_none(
    ports: Ports, installed: Installation, answered: str
) -> None:
    assert "Continue?" not in run_in_terminal(installed, *CLOSE, answered)
    assert mode(ports) is PasswordLoginMode.DISABLED
    assert "Continue?" not in run_in_terminal(installed, *CLOSE[:-1], "ENABLED")
    assert mode(ports) is PasswordLoginMode.ENABLED


def test_app_is_deleted_after_confirmation(ports: Ports, installed: Installation) -> None:
    key, token = make_app(ports, "Warehouse")
    question = f"Delete Warehouse (app {key}) with its tokens and webhooks?"
    for answer, code in (("n", 1), ("y", 0)):
        answers = [(question, answer)]
        shown = run_in_terminal(installed, "app", "delete", "Warehouse", answers=answers)
        assert f"ended with {code}" in shown
        assert identify(ports, visit(token)).actor.is_app is (answer == "n")


def test_ctrl_c_at_a_question_ends_quietly_and_changes_nothing(
    ports: Ports, installed: Installation
) -> None:
    shown = run_in_terminal(installed, *CLOSE, answers=[("Continue?", INTERRUPT)])
    assert "ended with 130" in shown
    assert "Traceback" not in shown
    assert mode(ports) is PasswordLoginMode.ENABLED


def test_no_input_disables_prompts(ports: Ports, installed: Installation) -> None:
    make_group(ports, "Support")
    for arguments, message in (
        (("group", "delete", "Support"), "pass --yes when not running in a terminal."),
        (("oidc", "set", "client_secret", "-"), "pipe it in when not running in a terminal."),
        (("app", "token", "verify"), "pipe it in when not running in a terminal."),
    ):
        shown = run_in_terminal(installed, *arguments, "--no-input")
        assert message in shown
        assert "ended with 2" in shown


def test_no_is_json_too(installed: Installation) -> None:
    shown = run_in_terminal(installed, *CLOSE, "--json", answers=[("Continue?", "n")])
    assert "ended with 1" in shown
    assert '"code": "ABORTED"' in shown


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
