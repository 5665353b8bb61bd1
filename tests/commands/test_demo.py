"""``flask demo``."""

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
from tests.commands.real_installation import Installation
from tests.commands.shell import run, run_json
from tests.commands.terminal import run_in_terminal

pytestmark = pytest.mark.first


class InterruptedRandomness:
    """Somebody presses Ctrl-C when the first cart is begun."""

    def token(self, length: int) -> str:
        raise KeyboardInterrupt

    def secret(self, size: int) -> bytes:
        raise KeyboardInterrupt


def test_interrupted_demo_is_made_the_next_time_with_sign_ins_that_are_shown_once(
    ports: Ports,
) -> None:
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
    pair = create_token(ports, NOBODY, email=shown[0]["name"], password=shown[0]["secret"])
    assert pair.user.is_superuser
    assert run_json(real, *once) == []
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


def test_terminal_shows_progress(sqlite_url: str, tmp_path: Path) -> None:
    installed = Installation(tmp_path, {"DATABASE_URL": sqlite_url})
    shown = run_in_terminal(installed, "demo", "--yes", TERM="xterm-256color", COLUMNS="200")
    assert "ended with 0" in shown
    bar, _, result = shown.partition("Sign in as")
    assert "Adding demo data" in bar, "a bar shows the progress"
    assert "per second" in bar
    assert "Adding demo data" not in result, "the bar is gone before the result"
