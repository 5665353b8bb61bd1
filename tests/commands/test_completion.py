"""``flask completion``, and what a shell is told on TAB."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.ports import Ports
from tests.commands.real_installation import ROOT, TIMEOUT_SECONDS
from tests.commands.shell import completion_items, run, run_json

PROGRAMS = Path(sys.executable).parent
ENVIRONMENT = {"PATH": f"{PROGRAMS}{os.pathsep}{os.defpath}", "DATABASE_URL": "sqlite://"}


def completions(shell: str, line: str) -> list[str]:
    """What ``flask`` answers to that shell's script for the last word of ``line``."""
    last = str(line.count(" "))
    shown = subprocess.run(
        [str(PROGRAMS / "flask")],
        cwd=ROOT,
        env={
            **ENVIRONMENT,
            "_FLASK_COMPLETE": f"{shell}_complete",
            "COMP_WORDS": line,
            "COMP_CWORD": last,
        },
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=True,
    )
    return shown.stdout.splitlines()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_script_calls_flask(ports: Ports, shell: str) -> None:
    script = run(ports, "completion", shell).stdout
    assert f"_FLASK_COMPLETE={shell}_complete" in script
    assert run_json(ports, "completion", shell) == {"script": script.strip()}


def test_another_shell_is_a_usage_error(ports: Ports) -> None:
    failed = run(ports, "completion", "tcsh", "--json")
    assert failed.exit_code == 2
    assert "fish" in json.loads(failed.stdout)["errors"][0]["message"]


@pytest.mark.first
def test_zsh_gets_commands_with_descriptions() -> None:
    assert "plain\nkeys\nList, rotate and withdraw the signing keys." in "\n".join(
        completions("zsh", "flask ke")
    )


def test_options_choices_permissions_and_descriptions_are_completed(ports: Ports) -> None:
    [only] = completion_items(ports, "flask user sign")
    assert only.value == "sign-out"
    assert (only.help or "").startswith("End all sessions of a person")
    for line, offered in {
        "flask user list --inac": ["--inactive"],
        "flask oidc set audi": ["audience"],
        "flask group create x --permission manage-ord": ["MANAGE_ORDERS", "MANAGE_ORDERS_IMPORT"],
    }.items():
        assert [item.value for item in completion_items(ports, line)] == offered
