"""``flask webhook edit`` in an editor: what was typed is saved, or kept in a file."""

import os
import pty
import re
import signal
from pathlib import Path

import pytest
from typing_extensions import override

from app.commands.webhooks.edit import OpenedWebhook, Unreadable
from app.commands.webhooks.instance_option import LocalInstance
from app.domain.authorization.actor import OPERATOR
from app.domain.events import EventType
from app.ports import Ports
from app.ports.instance import InstanceWebhook, WebhookDraft
from app.services.webhooks.changes import WebhookInput, update_webhook
from tests.builders.apps import make_app
from tests.builders.webhooks import make_webhook
from tests.commands.fake_remote_shop import count_requests, other_shop
from tests.commands.real_installation import (
    TIMEOUT_SECONDS,
    Installation,
    at_a_terminal,
    wait_until,
)
from tests.commands.terminal import INTERRUPT, read_rest, run_in_terminal
from tests.commands.webhooks.paired_shops import Shops
from tests.commands.webhooks.test_terminal_and_pipe import editor, hook
from tests.servers.forked_commands import ForkedCommand

NOWHERE = "sqlite:////nowhere/shop"
MISTAKE = "text = text.replace('active = true', 'active = maybe')"


@pytest.fixture
def installed(ports: Ports, sqlite_url: str, tmp_path: Path) -> Installation:
    app, _ = make_app(ports, "Warehouse")
    make_webhook(ports, app, EventType.PRODUCT_UPDATED)
    return at_a_terminal(sqlite_url, tmp_path, TMPDIR=str(tmp_path))


def kept_text(shown: str) -> str:
    """What is in the file that was named."""
    match = re.search(r"Your text is kept in (\S+)", shown)
    assert match, shown
    file = Path(match[1])
    assert file.stat().st_mode & 0o077 == 0
    return file.read_text(errors="replace")


def left_over(folder: Path) -> list[Path]:
    return list(folder.glob("latchkey-*"))


@pytest.mark.first
@pytest.mark.parametrize(("answer", "code"), [("n", 1), (INTERRUPT, 130)])
def test_mistyped_text_is_kept_with_its_error(
    installed: Installation, answer: str, code: int
) -> None:
    shown = run_in_terminal(
        installed,
        *("webhook", "edit", "hook"),
        answers=[("Edit again?", answer)],
        EDITOR=editor(installed.folder, MISTAKE),
    )
    assert f"ended with {code}" in shown
    text = kept_text(shown)
    assert text.startswith("# Error: Invalid value")
    assert "active = maybe" in text


@pytest.mark.first
def test_editor_shows_the_last_error_above_the_text(installed: Installation) -> None:
    seen = installed.folder / "seen"
    program = (
        f"open({str(seen)!r}, 'a').write(text + '=====')\n"
        "if 'Error' not in text: text = text.replace('active = true', 'active = maybe')\n"
        "elif 'maybe' in text: text = text.replace('maybe', 'false').replace('name =', 'nam =')\n"
        "else: text = text.replace('nam =', 'name =')"
    )
    shown = run_in_terminal(
        installed,
        *("webhook", "edit", "hook"),
        answers=[("Edit again?", "y"), ("Edit again?", "y")],
        EDITOR=editor(installed.folder, program),
    )
    assert "ended with 0" in shown
    errors = [
        [line for line in text.splitlines() if line.startswith("# Error: ")]
        for text in seen.read_text().split("=====")[:-1]
    ]
    assert [len(lines) for lines in errors] == [0, 1, 1]
    assert errors[2][0].startswith("# Error: Unknown field nam.")
    assert hook(installed)["isActive"] is False
    assert left_over(installed.folder) == []


@pytest.mark.first
@pytest.mark.parametrize(
    "ending",
    [
        "file.write_text('name = 7'); raise SystemExit(1)",
        "file.write_bytes(b'name = ' + bytes([255])); raise SystemExit",
    ],
)
def test_text_of_an_editor_that_fails_is_kept(installed: Installation, ending: str) -> None:
    shown = run_in_terminal(
        installed, "webhook", "edit", "hook", EDITOR=editor(installed.folder, ending)
    )
    assert "ended with 1" in shown
    assert kept_text(shown).startswith("name = ")


@pytest.mark.first
def test_nothing_is_kept_without_a_change(installed: Installation) -> None:
    failing = editor(installed.folder, "raise SystemExit(1)")
    shown = run_in_terminal(installed, "webhook", "edit", "hook", EDITOR=failing)
    assert "ended with 1" in shown
    assert "Your text is kept" not in shown
    assert left_over(installed.folder) == []


@pytest.mark.first
def test_text_that_the_server_refuses_is_kept(shops: Shops, tmp_path: Path) -> None:
    here = at_a_terminal(NOWHERE, tmp_path, LATCHKEY_TOKEN=shops.remote_access.token)
    change = "text = text.replace('https://app.example.com/hook', 'http://10.0.0.1/hook')"
    shown = run_in_terminal(
        here,
        *("webhook", "edit", "plain", "-u", shops.url),
        answers=[("Edit again?", "n")],
        EDITOR=editor(tmp_path, change),
        TMPDIR=str(tmp_path),
    )
    assert "10.0.0.1 is in a private network." in shown
    assert 'target_url = "http://10.0.0.1/hook"' in kept_text(shown)


@pytest.mark.first
def test_text_is_kept_when_saving_is_interrupted(tmp_path: Path) -> None:
    here = at_a_terminal(NOWHERE, tmp_path, LATCHKEY_TOKEN="a token", TMPDIR=str(tmp_path))
    with other_shop() as shop:
        words = ("webhook", "edit", "hook 1", "-u", shop.url)
        change = editor(tmp_path, "text = text.replace('hook 1', 'renamed')")
        # It answers the first change, never the second.
        assert "ended with 0" in run_in_terminal(here, *words, EDITOR=change)
        ours, theirs = pty.openpty()
        environment = {**here.environment, "EDITOR": change}
        process = ForkedCommand(words, here.folder, environment, (theirs, theirs, theirs))
        os.close(theirs)
        wait_until(lambda: count_requests(shop, "Update") > 1, "it is saving")
        process.send_signal(signal.SIGINT)
        assert process.wait(TIMEOUT_SECONDS) == 130
        shown = read_rest(ours)
        os.close(ours)
    assert 'name = "renamed"' in kept_text(shown)


class _ChangedMeanwhile(LocalInstance):
    """Somebody saves the webhook right after each of the first few readings."""

    def __init__(self, ports: Ports, *changes: WebhookInput) -> None:
        super().__init__(ports)
        self._shop, self._changes = ports, list(changes)

    @override
    def webhooks(self) -> tuple[InstanceWebhook, ...]:
        read = super().webhooks()
        if self._changes:
            update_webhook(self._shop, OPERATOR, read[0].id, "", self._changes.pop(0))
        return read


def test_change_between_reading_and_saving_is_merged_or_told(ports: Ports) -> None:
    app, _ = make_app(ports, "Warehouse")
    make_webhook(ports, app, EventType.PRODUCT_UPDATED)
    [opened] = LocalInstance(ports).webhooks()
    others = [WebhookInput(target_url=f"https://{name}.example.com/") for name in ("one", "two")]
    editing = OpenedWebhook(_ChangedMeanwhile(ports, *others), opened, opened)
    saved = editing.save(WebhookDraft(name="Mine"))
    assert (saved.name, saved.target_url) == ("Mine", "https://two.example.com/")
    [opened] = LocalInstance(ports).webhooks()
    editing = OpenedWebhook(_ChangedMeanwhile(ports, WebhookInput(name="Theirs")), opened, opened)
    with pytest.raises(Unreadable, match="name was changed to 'Theirs'"):
        editing.save(WebhookDraft(name="Ours"))
    [stored] = LocalInstance(ports).webhooks()
    assert stored.name == "Theirs"
    # Told once, it is replaced.
    assert editing.save(WebhookDraft(name="Ours")).name == "Ours"
