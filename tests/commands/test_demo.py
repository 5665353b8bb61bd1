"""``flask demo``."""

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from app.domain.authorization.actor import OPERATOR, WORKER
from app.domain.mails.mail import MailKind
from app.ports import Ports
from app.services.accounts.password_resets import answer_reset_requests
from app.services.demo.shop import is_in_use
from app.services.sign_in.password_login import create_token
from tests.builders.outbox import mails
from tests.builders.people import NOBODY, make_user
from tests.commands.real_installation import Installation, end, wait_until
from tests.commands.shell import run, run_json
from tests.commands.terminal import run_in_terminal
from tests.servers.http import Reply, http_server

pytestmark = pytest.mark.first


class InterruptedRandomness:
    """Somebody presses Ctrl-C when the first cart is begun."""

    def token(self, length: int) -> str:
        raise KeyboardInterrupt

    def secret(self, size: int) -> bytes:
        raise KeyboardInterrupt


def test_sign_ins_are_printed_once_and_work(ports: Ports) -> None:
    shown = run_json(ports, "demo")
    admin = next(row for row in shown if row["role"] == "superuser")
    pair = create_token(ports, NOBODY, email=admin["name"], password=admin["secret"])
    assert pair.user.is_superuser
    again = run(ports, "demo")
    assert (again.exit_code, again.stdout) == (0, "")
    assert "flask user create EMAIL --superuser" in again.stderr
    assert run_json(ports, "demo", "--once") == []
    output = run(ports, "demo", "--once").stderr
    assert not any(row["secret"] in output for row in shown)
    who_is_left_can_get_new_passwords(ports, output)


def who_is_left_can_get_new_passwords(ports: Ports, output: str) -> None:
    """Follow what a second run says."""
    assert "admin@example.com (superuser), manager@example.com (manager), support@" in output
    line = next(line for line in output.splitlines() if "To reset a password: flask " in line)
    assert run(ports, *line.partition(": flask ")[2].split()).exit_code == 0
    answer_reset_requests(ports, WORKER)
    [mail] = mails(ports, MailKind.PASSWORD_RESET)
    assert mail.recipient == "admin@example.com"
    assert mail.values["link"].startswith("http://localhost:8000/console/set-password?")
    run(ports, "user", "delete", "admin@example.com", "--yes")
    output = run(ports, "demo", "--once").stderr
    assert "admin@example.com" not in output
    assert "flask user reset-password manager@example.com" in output
    assert run_json(ports, "demo", "--once") == []


def test_once_does_not_fill_a_shop_with_users(ports: Ports) -> None:
    make_user(ports, "ann@example.com")
    assert run_json(ports, "demo", "--once") == []
    assert run(ports, "user", "list", "--short").stdout == "ann@example.com\n"


def test_interruption_shows_no_password_and_the_next_time_shows_all(ports: Ports) -> None:
    """Outside development, where it takes a yes."""
    real = replace(ports, configuration=replace(ports.configuration, development=False))
    refused = run(real, "demo")
    assert (refused.exit_code, refused.stdout) == (3, "")
    assert "--yes" in refused.stderr
    assert not is_in_use(real, OPERATOR)
    once = ("demo", "--once", "--yes")
    broken = run(replace(real, randomness=InterruptedRandomness()), *once)
    assert broken.exit_code != 0
    assert broken.stdout == ""
    shown = run_json(real, *once)
    assert is_in_use(real, OPERATOR)
    assert [row["role"] for row in shown] == ["superuser", "manager", "support", "customer", "app"]
    create_token(real, NOBODY, email=shown[0]["name"], password=shown[0]["secret"])
    assert run_json(real, *once) == []


def test_existing_webhooks_receive_no_demo_events_and_a_terminal_shows_progress(
    sqlite_url: str, tmp_path: Path
) -> None:
    options = {"DATABASE_URL": sqlite_url, "OUTGOING_ALLOWED_NETWORKS": "127.0.0.0/8"}
    installed = Installation(tmp_path, options)
    with http_server() as receiver, ExitStack() as cleanup:
        url = receiver.answer("/hook", Reply(200))
        names = ("MANAGE_USERS", "MANAGE_STAFF", "MANAGE_ORDERS", "MANAGE_PRODUCTS")
        permissions = [word for name in names for word in ("--permission", name)]
        for command in (
            ("app", "create", "Mailer", *permissions),
            ("webhook", "create", "--target-url", url, "--event", "ANY_EVENTS", "--no-input"),
        ):
            assert installed.run(*command).returncode == 0
        cleanup.callback(end, installed.start("worker"))
        shown = run_in_terminal(installed, "demo", "--yes", TERM="xterm-256color", COLUMNS="200")
        # Events are sent in their order: this one is behind all of the demo's.
        assert installed.run("group", "create", "Editors").returncode == 0
        wait_until(lambda: bool(receiver.calls("/hook")), "the webhook is called")
        received = [call.headers["latchkey-event"] for call in receiver.calls("/hook")]
    assert received == ["permission_group_created"]
    assert "ended with 0" in shown
    bar, _, result = shown.partition("Sign in as")
    assert "Adding demo data" in bar, "a bar shows the progress"
    assert "per second" in bar
    assert "Adding demo data" not in result, "the bar is gone before the result"
