"""``flask user``."""

import json

from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import ALL_PERMISSIONS
from app.ports import Ports
from app.services.people.directory import find_user
from app.services.sign_in.password_login import create_token
from tests.builders.imports import SOURCE, make_imported_user
from tests.builders.people import (
    NOBODY,
    make_group,
    make_user,
    sessions_of,
    sign_in,
    user_as_stored,
)
from tests.commands.shell import run, run_json
from tests.fixtures.cases import cases
from tests.fixtures.foreign_hashes import FOREIGN

PASSWORD = "a long enough sentence"


def test_password_is_taken_from_standard_input_without_its_line_end(ports: Ports) -> None:
    created = run(
        ports, "user", "create", "ann@example.com", "--password-stdin", stdin=f"{PASSWORD}\n"
    )
    assert created.exit_code == 0
    assert PASSWORD not in created.output
    assert create_token(ports, NOBODY, email="ann@example.com", password=PASSWORD).access


def test_password_is_exactly_what_was_piped_in(ports: Ports) -> None:
    secret = "  two spaces around  "
    run(ports, "user", "create", "ann@example.com", "--password-stdin", stdin=f"{secret}\r\n")
    assert create_token(ports, NOBODY, email="ann@example.com", password=secret).access


def test_no_password_prompt_without_a_terminal(ports: Ports) -> None:
    created = run(ports, "user", "create", "ann@example.com", stdin="not a password\n")
    assert created.exit_code == 0
    assert "ann@example.com has no password yet." in created.stderr
    key = find_user(ports, OPERATOR, "ann@example.com").id
    assert user_as_stored(ports, key).password_hash is None


def test_user_is_created_with_all_options(ports: Ports) -> None:
    make_group(ports, "Support")
    shown = run_json(
        ports,
        *("user", "create", "Bob@Example.com", "--staff", "--first-name", "Bob"),
        *("--last-name", "Lee", "--permission", "MANAGE_ORDERS", "--permission", "manage-pages"),
        *("--group", "Support", "--no-input"),
    )
    assert shown["email"] == "bob@example.com"
    assert (shown["firstName"], shown["lastName"]) == ("Bob", "Lee")
    assert (shown["isStaff"], shown["isSuperuser"], shown["isActive"]) == (True, False, True)
    assert shown["permissions"] == ["MANAGE_ORDERS", "MANAGE_PAGES"]
    assert shown["groups"] == ["Support"]
    assert shown["lastLogin"] is None


def test_superuser_is_staff_and_may_do_everything(ports: Ports) -> None:
    shown = run_json(ports, "user", "create", "root@example.com", "--superuser")
    assert shown["isStaff"] is True
    assert set(shown["permissions"]) == ALL_PERMISSIONS


def test_permission_option_makes_the_user_staff(ports: Ports) -> None:
    shown = run_json(ports, "user", "create", "b@example.com", "--permission", "MANAGE_ORDERS")
    assert shown["isStaff"] is True


def test_mistyped_permission_gets_a_suggestion(ports: Ports) -> None:
    failed = run(ports, "user", "create", "b@example.com", "--permission", "MANAGE_ORDER")
    assert failed.exit_code == 2
    assert "Did you mean MANAGE_ORDERS" in failed.stderr


def test_show_tells_where_an_imported_account_came_from(ports: Ports) -> None:
    make_imported_user(ports, FOREIGN[0].hash, "ann@example.com")
    shown = run_json(ports, "user", "show", "ann@example.com")
    assert shown["importedFrom"] == SOURCE
    assert shown["importedAt"] == ports.clock.now().isoformat()
    assert (shown["importedPassword"], shown["passwordReplacedAt"]) == ("IMPORTED", None)
    selected = run(ports, "user", "show", "ann@example.com", "--fields", "email,importedPassword")
    assert "IMPORTED" in selected.stdout


def test_weak_password_is_taken_from_the_operator_with_a_warning(ports: Ports) -> None:
    stdin = "password1"
    created = run(ports, "user", "create", "ann@example.com", "--password-stdin", stdin=stdin)
    assert created.exit_code == 0
    assert "this password is weak" in created.stderr


def test_refusal_exits_with_3_and_is_reported(ports: Ports) -> None:
    make_user(ports, "there@example.com")
    for arguments, stdin, field, code in (
        (["nonsense"], None, "email", "INVALID"),
        (["there@example.com"], None, "email", "UNIQUE"),
        (["a@example.com", "--password-stdin"], "short", "password", "PASSWORD_TOO_SHORT"),
        (["a@example.com", "--group", "Nobody"], None, "group", "NOT_FOUND"),
    ):
        plain = run(ports, "user", "create", *arguments, stdin=stdin)
        assert (plain.exit_code, plain.stdout) == (3, "")
        assert plain.stderr.startswith(f"Error: {field}: ")
        as_json = run(ports, "user", "create", *arguments, "--json", stdin=stdin)
        assert as_json.exit_code == 3
        [error] = json.loads(as_json.stdout)["errors"]
        assert (error["code"], error["field"]) == (code, field)


def test_list_is_json_lines_or_tabs(ports: Ports) -> None:
    make_user(ports, "ann@example.com", first_name="Ann")
    make_user(ports, "bob@example.com", is_staff=True)
    listed = run_json(ports, "user", "list")
    assert [(row["email"], row["isStaff"]) for row in listed] == [
        ("ann@example.com", False),
        ("bob@example.com", True),
    ]
    assert run(ports, "user", "list", "--short").stdout == "ann@example.com\nbob@example.com\n"
    first, second = run(ports, "user", "list").stdout.splitlines()
    assert first.split("\t")[1:5] == ["ann@example.com", "Ann", "", "no"]
    assert second.split("\t")[4] == "yes"


def test_list_can_be_narrowed_and_walked(ports: Ports) -> None:
    for number in range(3):
        make_user(ports, f"c{number}@example.com")
    make_user(ports, "bob@example.com", is_staff=True)
    assert run(ports, "user", "list", "--staff", "--short").stdout == "bob@example.com\n"
    assert run(ports, "user", "list", "--search", "c1", "--short").stdout == "c1@example.com\n"
    first = run(ports, "user", "list", "--customers", "--limit", "2", "--short")
    assert first.stdout == "c0@example.com\nc1@example.com\n"
    cursor = first.stderr.split("--after ")[1].strip()
    rest = run(ports, "user", "list", "--customers", "--after", cursor, "--short")
    assert (rest.stdout, rest.stderr) == ("c2@example.com\n", "")


def test_empty_list_is_empty_json_or_the_next_step(ports: Ports) -> None:
    assert run_json(ports, "user", "list") == []
    plain = run(ports, "user", "list")
    assert plain.stdout == ""
    assert "flask user create EMAIL" in plain.stderr


def test_control_characters_in_names_are_escaped(ports: Ports) -> None:
    make_user(ports, "ann@example.com", first_name="\x1b[2J\tx\ny")
    line = run(ports, "user", "list").stdout
    assert "\x1b" not in line
    assert line.count("\n") == 1
    assert line.split("\t")[2] == r"\x1b[2J\tx\ny"


def test_user_is_deactivated_and_activated(ports: Ports) -> None:
    key = make_user(ports, "ann@example.com")
    sign_in(ports, key)
    assert run_json(ports, "user", "deactivate", "Ann@example.com")["isActive"] is False
    assert sessions_of(ports, key) == []
    assert run_json(ports, "user", "activate", "ann@example.com")["isActive"] is True


def test_sign_out_reports_the_number_of_ended_sessions(ports: Ports) -> None:
    key = make_user(ports, "ann@example.com")
    sign_in(ports, key)
    sign_in(ports, key)
    assert run_json(ports, "user", "sign-out", "ann@example.com") == {"endedSessions": 2}
    assert sessions_of(ports, key) == []


@cases("verb", ["show", "deactivate", "activate", "sign-out"])
def test_unknown_user_is_not_found(ports: Ports, verb: str) -> None:
    failed = run(ports, "user", verb, "nobody@example.com")
    assert failed.exit_code == 3
    assert "No account has the email nobody@example.com." in failed.stderr
