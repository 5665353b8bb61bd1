"""The worked example of a shop setting in ARCHITECTURE.md, carried out in a copy."""

import ast
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.builders.people import PASSWORD
from tests.commands.real_installation import ROOT, Installation
from translations.extraction import Code

pytestmark = pytest.mark.first

LINE = re.compile(r"^\| `([\w/.]+)` \| `(\w+)` \| `(.*support_phone.*)` \|$", re.MULTILINE)
REVISION = re.compile(r"`flask (db revision support_phone) \"([^\"]+)\"`")
COPIED = ("app", "migrations")
NUMBER = "+49 221 12345"
USES = """
import json, sys
from app.adapters.keys import passwords, signing_keys
passwords.ROUNDS, passwords.KIBIBYTES = 1, 8
from wsgi import app
from tests.console.staff_client import ConsoleClient
signing_keys._BITS = 2048  # as in tests/fakes/keys.py
def flask(*arguments, entered=""):
    done = app.test_cli_runner().invoke(args=arguments, input=entered)
    return done.exit_code, done.stdout, done.stderr
def ask(query, headers=None, **variables):
    sent = {"query": query, "variables": variables}
    return app.test_client().post("/graphql/", json=sent, headers=headers).json["data"]
owner, password, number, phone, message, *revision = sys.argv[1:]
prepared = [flask(*revision, message), flask("db", "upgrade")]
commands = [
    flask("user", "create", owner, "--superuser", "--password-stdin", entered=password),
    flask("shop", "set", "support-phone", number),
    flask("shop", "show", "--json"),
    flask("shop", "set", "support-phone", "1" * 33),
]
token = ask(f'mutation {{ tokenCreate(email: "{owner}", password: "{password}") {{ token }} }}')
bearer = {"Authorization": "Bearer " + token["tokenCreate"]["token"]}
update = '''mutation ($to: String) {
  shopSettingsUpdate(input: {supportPhone: $to}) { errors { field } }
}'''
refused = ask(update, bearer, to="1" * 33)
ask(update, bearer, to=phone)
read = ask("{ shop { supportPhone } }", bearer)
console = ConsoleClient(app.test_client(), None)
console.sign_in(owner, password)
pages = [console.open(f"/console/{name}/").html for name in ("settings", "audit")]
commands.append(flask("export", "-", "--only", "settings"))
found = {"refused": refused, "read": read, "pages": pages}
print(json.dumps({"prepared": prepared, "commands": commands, **found}))
"""
"""What uses a setting, in one process: starting each command takes longer than all of this."""


@pytest.fixture
def project(tmp_path: Path, _migrated_file: Path) -> Installation:
    """A copy of the project with the lines of the example, and a migrated database of its own.

    With its bytecode, so that only the files with these lines are compiled.
    """
    copy = tmp_path / "project"
    without = shutil.ignore_patterns("vendor")
    for name in COPIED:
        shutil.copytree(ROOT / name, copy / name, ignore=without)
    (copy / "app/static/vendor").symlink_to(ROOT / "app/static/vendor")
    (copy / "tests").symlink_to(ROOT / "tests")
    for name in ("wsgi.py", "cli.py"):
        shutil.copy(ROOT / name, copy)
    for path, where, line in example_lines():
        add_line(copy / path, where, line)
    shutil.copy(_migrated_file, tmp_path / "shop.db")
    environment = {
        "FLASK_APP": str(copy / "wsgi.py"),
        "PYTHONPATH": str(copy),
        "HOME": str(tmp_path),
        "APP_ENV": "development",
        "DATABASE_URL": f"sqlite:///{tmp_path / 'shop.db'}",
    }
    return Installation(copy, environment)


def test_setting_works_everywhere_with_the_lines_of_the_example(project: Installation) -> None:
    command, message = REVISION.findall((ROOT / "ARCHITECTURE.md").read_text())[0]
    told = ("owner@example.com", PASSWORD, NUMBER, "+49 30 1", message, *command.split())
    used = project.run_python("-c", USES, *told)
    assert used.returncode == 0, used.stderr
    found: dict[str, Any] = json.loads(used.stdout)
    assert [code for code, *_ in found["prepared"]] == [0, 0], found["prepared"]
    made, changed, shown, refused, exported = found["commands"]
    assert (made[0], changed[0], shown[0], exported[0]) == (0, 0, 0, 0), found["commands"]
    assert json.loads(shown[1])["supportPhone"] == NUMBER
    assert (refused[0], "32 characters" in refused[2]) == (3, True)

    assert found["refused"]["shopSettingsUpdate"]["errors"] == [{"field": "supportPhone"}]
    assert found["read"] == {"shop": {"supportPhone": "+49 30 1"}}
    for text in ("Support phone", "For customers.", 'value="+49 30 1"'):
        assert text in found["pages"][0]
    assert "Support phone" in found["pages"][1]

    lines = map(json.loads, exported[1].splitlines())
    assert [line["support_phone"] for line in lines if line["type"] == "settings"] == ["+49 30 1"]


def test_sentences_of_the_example_are_found_for_translation(tmp_path: Path) -> None:
    """Among the modules that say what a setting takes: reading all of them takes seconds."""
    for folder in ("domain/shop", "domain/values"):
        shutil.copytree(ROOT / "app" / folder, tmp_path / "app" / folder)
    for path, where, line in example_lines():
        if (tmp_path / path).exists():
            add_line(tmp_path / path, where, line)
    found = Code(tmp_path / "app").sentences("app.domain.shop.setting_table")
    assert {"Support phone", "For customers."} <= {sentence.singular for sentence in found}


def example_lines() -> list[tuple[str, str, str]]:
    """Return each file, where in it, and the line."""
    lines = LINE.findall((ROOT / "ARCHITECTURE.md").read_text())
    assert len(lines) == 4
    return lines


def add_line(path: Path, where: str, line: str) -> None:
    """Add ``line`` after the last field of the class ``where``, or to the tuple of that name."""
    text = path.read_text().splitlines()
    for node in ast.parse(path.read_text()).body:
        match node:
            case ast.ClassDef(name=name, body=body) if name == where:
                fields = [part for part in body if isinstance(part, ast.Assign | ast.AnnAssign)]
                text.insert(fields[-1].end_lineno or 0, f"    {line}")
            case ast.Assign(targets=[ast.Name(id=name)], end_lineno=int(end)) if name == where:
                text.insert(end - 1, f"    {line}")
    path.write_text("\n".join(text) + "\n")
