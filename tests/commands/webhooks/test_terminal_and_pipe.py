"""``flask webhook`` for people at a terminal, and for pipes: real processes."""

import json
import os
import re
import sys
from pathlib import Path

import pytest

from app.domain.events import EventType
from app.ports import Ports
from tests.builders.apps import make_app
from tests.builders.webhooks import make_delivery, make_webhook
from tests.commands.fake_remote_shop import other_shop
from tests.commands.real_installation import ROOT, TIMEOUT_SECONDS, Installation, at_a_terminal
from tests.commands.terminal import ESCAPE, INTERRUPT, run_in_terminal
from tests.commands.webhooks.paired_shops import Shops

pytestmark = pytest.mark.first


@pytest.fixture
def installed(ports: Ports, sqlite_url: str, tmp_path: Path) -> Installation:
    app, _ = make_app(ports, "Warehouse")
    make_webhook(ports, app, EventType.PRODUCT_UPDATED)
    return at_a_terminal(sqlite_url, tmp_path)


def hook(installed: Installation, name: str = "hook") -> dict[str, object]:
    comparable_output = installed.run("webhook", "show", name, "--json")
    found: dict[str, object] = json.loads(comparable_output.stdout)
    return found


def test_list_is_a_table_on_a_terminal_and_lines_in_a_pipe(installed: Installation) -> None:
    comparable_output = run_in_terminal(installed, "webhook", "list")
    assert "Target" in comparable_output
    assert ESCAPE in comparable_output
    assert "\x1b[3" not in run_in_terminal(installed, "webhook", "list", NO_COLOR="1")
    piped = installed.run("webhook", "list")
    assert piped.stdout.split("\t")[1:3] == ["hook", "Warehouse"]


def test_what_is_missing_is_asked_for_on_a_terminal(installed: Installation) -> None:
    answers = [
        ("Endpoint URL", "https://app.example.com/new"),
        ("Events, separated", "order-paid, PRODUCT_CREATED"),
        ("Name", "asked"),
        ("Secret to sign", ""),
    ]
    comparable_output = run_in_terminal(installed, "webhook", "create", answers=answers)
    assert "ended with 0" in comparable_output
    made = hook(installed, "asked")
    assert made["targetUrl"] == "https://app.example.com/new"
    assert made["events"] == ["ORDER_PAID", "PRODUCT_CREATED"]


def test_secret_is_generated_and_shown_once(installed: Installation) -> None:
    answers = [
        ("Endpoint URL", "https://app.example.com/new"),
        ("Name", "new"),
        ("Secret to sign", "generate"),
    ]
    words = ("webhook", "create", "--event", "ORDER_PAID")
    shown = run_in_terminal(installed, *words, answers=answers)
    shown = re.sub(r"\x1b\[[\d;]*m", "", shown)
    assert re.search(r"Secret\s+whsec_[\w+/]{32}\s*$", shown, re.MULTILINE)
    assert "Store the secret now. It won't be shown again." in shown
    assert hook(installed, "new")["hasSecret"] is True
    assert "whsec_" not in installed.run("webhook", "show", "new", "--json").stdout


def test_typed_secret_is_never_shown(installed: Installation) -> None:
    answers = [
        ("Endpoint URL", "https://app.example.com/new"),
        ("Name", "new"),
        ("Secret to sign", "type"),
        ("Secret:", "whsec_b2xkZXI="),
        ("Repeat for confirmation", "whsec_b2xkZXI="),
    ]
    words = ("webhook", "create", "--event", "ORDER_PAID")
    shown = run_in_terminal(installed, *words, answers=answers)
    assert "ended with 0" in shown
    assert "whsec_" not in shown
    assert hook(installed, "new")["hasSecret"] is True


def test_invalid_answer_is_asked_again(ports: Ports, installed: Installation) -> None:
    make_app(ports, "Bookkeeping")
    answers = [
        ("App (Warehouse, Bookkeeping)", "Bokkeeping"),
        ("No matching app.", "Bookkeeping"),
        ("Endpoint URL", "nowhere"),
        ("Enter a full URL", "https://app.example.com/new"),
        ("Events, separated", "order-payd"),
        ("Did you mean ORDER_PAID?", ","),
        ("Enter at least one event", "order-paid"),
        ("Name", "asked"),
        ("Secret to sign", ""),
    ]
    assert "ended with 0" in run_in_terminal(installed, "webhook", "create", answers=answers)
    made = hook(installed, "asked")
    assert (made["app"], made["events"]) == ("Bookkeeping", ["ORDER_PAID"])


def test_query_keeps_its_lines_for_people(ports: Ports, installed: Installation) -> None:
    query = "subscription {\n  event {\n\t... on OrderPaid { order { id } }\n  }\n}"
    comparable_output = installed.run("webhook", "edit", "hook", "--query", query)
    assert comparable_output.returncode == 0, comparable_output.stderr
    output = re.sub(r"\x1b\[[\d;]*m", "", run_in_terminal(installed, "webhook", "show", "hook"))
    lines = [line.rstrip() for line in output.splitlines()]
    start = next(place for place, line in enumerate(lines) if "subscription {" in line)
    indent = " " * lines[start].index("subscription")
    assert lines[start + 1 : start + 5] == [
        f"{indent}  event {{",
        f"{indent}        ... on OrderPaid {{ order {{ id }} }}",
        f"{indent}  }}",
        f"{indent}}}",
    ]
    assert "\\n" in installed.run("webhook", "show", "hook").stdout


def test_new_secret_is_printed_on_one_line(installed: Installation) -> None:
    target = f"https://app.example.com/{'a-long-path/' * 5}"
    assert installed.run("webhook", "edit", "hook", "--target-url", target).returncode == 0
    words = ("webhook", "update", "--rotate-secret", "--yes")
    comparable_output = run_in_terminal(installed, *words, COLUMNS="80", NO_COLOR="1")
    assert re.search(r"whsec_[\w+/]{32}\s*$", comparable_output, re.MULTILINE)
    assert "Columns not shown: Target, New URL, Active." in comparable_output


def test_nothing_is_asked_with_no_input(installed: Installation) -> None:
    comparable_output = run_in_terminal(installed, "webhook", "create", "--no-input")
    assert "Missing --target-url and either --event or --query." in comparable_output
    assert "ended with 2" in comparable_output
    assert "ended with 2" in run_in_terminal(installed, "webhook", "edit", "hook", "--no-input")


def test_ctrl_c_at_a_question_ends_quietly(installed: Installation) -> None:
    comparable_output = run_in_terminal(
        installed, "webhook", "create", answers=[("Endpoint URL", INTERRUPT)]
    )
    assert "ended with 130" in comparable_output
    assert "Traceback" not in comparable_output
    assert "Aborted" not in comparable_output


def test_ctrl_c_ends_listening_quietly(installed: Installation) -> None:
    comparable_output = run_in_terminal(
        installed, "webhook", "listen", answers=[("Press Ctrl-C to stop", INTERRUPT)]
    )
    assert "ended with 130" in comparable_output
    assert "Traceback" not in comparable_output


def test_events_are_coloured_for_a_terminal_that_wants_colours(tmp_path: Path) -> None:
    here = at_a_terminal("sqlite:////nowhere/shop", tmp_path, LATCHKEY_TOKEN="a token")
    with other_shop() as shop:
        words = ("webhook", "listen", "--count", "1", "-u", shop.url)
        coloured = run_in_terminal(here, *words)
        plain = run_in_terminal(here, *words, NO_COLOR="1")
        piped = here.run(*words)
    assert "\x1b[36mORDER_PAID" in coloured
    assert "ORDER_PAID" in plain
    assert "\x1b[3" not in plain
    assert "--> ORDER_PAID [RXZlbnREZWxpdmVyeTox] hook 1" in piped.stdout
    assert ESCAPE not in piped.stdout


def test_deliveries_are_followed_until_ctrl_c(ports: Ports, installed: Installation) -> None:
    make_delivery(ports, 1)
    words = ("webhook", "deliveries", "hook", "--since", "2000-01-01", "--follow")
    comparable_output = run_in_terminal(installed, *words, answers=[("PENDING", INTERRUPT)])
    assert "ended with 130" in comparable_output
    assert "Traceback" not in comparable_output


def test_closed_pipe_ends_a_long_list_quietly(ports: Ports, installed: Installation) -> None:
    for _ in range(30):
        make_delivery(ports, 1, json.dumps({"product": {"name": "x" * 10_000}}))
    words = ("webhook", "deliveries", "--payload", "--json")
    reading, writing = os.pipe()
    with installed.running(*words, into=writing) as running:
        os.close(writing)
        first = os.read(reading, 1)
        os.close(reading)
        ended = running.finish(TIMEOUT_SECONDS)
    assert (first, ended.returncode, ended.stderr) == (b"[", 0, "")


@pytest.mark.parametrize("form", ["--json", "--short"])
def test_full_disk_is_reported(ports: Ports, installed: Installation, form: str) -> None:
    make_delivery(ports, 1)
    with Path("/dev/full").open("w") as full:
        done = installed.run("webhook", "list", form, into=full.fileno())
    no_room = "No space left for the output; the rest wasn't written."
    assert (done.returncode, done.stderr) == (1, f"Error: {no_room}\n")


def editor(folder: Path, program: str) -> str:
    """An editor that does as ``program`` says with the text in ``text``."""
    file = folder / "editor.py"
    file.write_text(
        "import sys, pathlib\n"
        "file = pathlib.Path(sys.argv[1])\n"
        "text = file.read_text()\n"
        f"{program}\n"
        "file.write_text(text)\n"
    )
    return f"{sys.executable} {file}"


def test_whole_of_a_webhook_is_edited_in_an_editor(installed: Installation) -> None:
    program = (
        "text = text.replace('name = \"hook\"', 'name = \"edited\"')\n"
        "text = text.replace('headers = {}', 'headers = {X-Key = \"7\"}')\n"
        "text = text.replace('PRODUCT_UPDATED', 'PRODUCT_CREATED')"
    )
    comparable_output = run_in_terminal(
        installed, "webhook", "edit", "hook", EDITOR=editor(installed.folder, program)
    )
    assert "ended with 0" in comparable_output
    edited = hook(installed, "edited")
    assert edited["customHeaders"] == ["X-Key"]
    assert edited["events"] == ["PRODUCT_CREATED"]


def test_editor_that_changes_nothing_changes_nothing(installed: Installation) -> None:
    before = hook(installed)
    comparable_output = run_in_terminal(
        installed, "webhook", "edit", "hook", EDITOR=editor(installed.folder, "pass")
    )
    assert "No changes were made." in comparable_output
    assert hook(installed) == before


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("import os; os.remove(file); os._exit(0)", "No changes were made."),
        ("text = ''", "No changes were made."),
        ("file.write_bytes(bytes([255])); raise SystemExit", "The edited file isn't UTF-8 text"),
        ("raise SystemExit(1)", "Editing failed"),
    ],
)
def test_editor_that_leaves_no_sheet_changes_nothing(
    installed: Installation, program: str, message: str
) -> None:
    before = hook(installed)
    comparable_output = run_in_terminal(
        installed, "webhook", "edit", "hook", EDITOR=editor(installed.folder, program)
    )
    assert message in comparable_output
    assert "Traceback" not in comparable_output
    assert hook(installed) == before


def test_mistake_in_the_editor_can_be_mended(installed: Installation) -> None:
    program = (
        "text = text.replace('active = true', 'active = maybe') if 'maybe' not in text"
        " else text.replace('maybe', 'false')"
    )
    comparable_output = run_in_terminal(
        installed,
        *("webhook", "edit", "hook"),
        answers=[("Edit again?", "y")],
        EDITOR=editor(installed.folder, program),
    )
    assert "ended with 0" in comparable_output
    assert hook(installed)["isActive"] is False


def test_many_changes_are_shown_and_agreed_to(installed: Installation) -> None:
    words = ("webhook", "update", "--domain", "app.example.com", "new.example.com")
    moved = "hook (Warehouse): https://app.example.com/hook -> https://new.example.com/hook"
    refused = run_in_terminal(installed, *words, answers=[("Update 1 webhook?", "n")])
    assert moved in refused
    assert "ended with 1" in refused
    assert hook(installed)["targetUrl"] == "https://app.example.com/hook"
    agreed = run_in_terminal(installed, *words, answers=[("Update 1 webhook?", "y")])
    assert "ended with 0" in agreed
    assert hook(installed)["targetUrl"] == "https://new.example.com/hook"


def test_login_is_asked_for_and_never_shown(installed: Installation) -> None:
    comparable_output = run_in_terminal(
        installed,
        *("login", "http://127.0.0.1:1"),
        answers=[("Email", "ann@example.com"), ("Password", "geheim")],
    )
    assert "ended with 5" in comparable_output
    assert "geheim" not in comparable_output


def test_remote_commands_need_no_local_installation(shops: Shops, tmp_path: Path) -> None:
    environment = {
        "HOME": str(tmp_path),
        "PYTHONPATH": str(ROOT),
        "APP_ENV": "production",
        "DATABASE_URL": "postgresql://nobody@127.0.0.1:1/nowhere",
        "LATCHKEY_TOKEN": shops.remote_access.token,
    }
    alone = Installation(tmp_path, environment)
    done = alone.run("webhook", "list", "--short", "-u", shops.url)
    assert (done.returncode, done.stderr) == (0, "")
    assert [line.split("\t")[1] for line in done.stdout.splitlines()] == [
        *("plain", "asking", "silent")
    ]
    local = alone.run("webhook", "list", "--json")
    assert local.returncode == 1
    assert json.loads(local.stdout)["errors"][0]["code"] == "SETTINGS"
