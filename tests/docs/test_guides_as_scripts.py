"""The programs of a guide work as pasted: its blocks, one after the other, in one file.

``test_blocks`` keeps the blocks equal to sections of files that other tests run. Here, those files
have nothing else that the blocks need. ``not_run.txt`` lists the blocks that can't be run.
"""

import ast
import re
import subprocess
import sys
from pathlib import Path

from tests.clients.conftest import FOLDER
from tests.docs.blocks import pasted, programs
from tests.servers.provider import node
from tests.servers.run import ROOT
from tests.servers.sandbox import PATIENCE

_SECTION = re.compile(
    r"^[^\n]*--8<-- \[start:([\w-]+)\][^\n]*\n.*?--8<-- \[end:\1\][^\n]*\n",
    re.DOTALL | re.MULTILINE,
)
_FOR_TESTS = "// For the tests alone: "


def test_guides_show_whole_programs_in_their_order() -> None:
    wrong = []
    for path, blocks in programs().items():
        text = (ROOT / path).read_text()
        sections = [block.file.partition(":")[2] for block in blocks]
        if sections != [""] and sections != _SECTION.findall(text):
            wrong.append(f"{path}: {sections}")
        if sections != [""] and (rest := _rest(path, _SECTION.sub("", text))):
            wrong.append(f"{path}, not on the page: {rest}")
    assert wrong == []


def _rest(path: str, text: str) -> str:
    """Return what is in a program besides its sections, a comment and the part for tests."""
    if path.endswith(".py"):
        body = ast.parse(text).body
        return "" if [type(one) for one in body] == [ast.Expr] else text
    shown, _, _ = text.partition(_FOR_TESTS)
    lines = (line.strip() for line in shown.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//"))


def test_pasted_python_defines_its_names() -> None:
    for path in programs():
        if path.endswith(".py"):
            assert _missing_in_python(pasted(path)) == "", path
    control = pasted("tests/clients/plain_app.py").replace("import jwt\n", "")
    assert "Undefined name `jwt`" in _missing_in_python(control)


def _missing_in_python(source: str) -> str:
    command = [
        sys.executable,
        "-m",
        "ruff",
        "check",
        "--isolated",
        "--quiet",
        "--select=F821",
        "-",
    ]
    done = subprocess.run(
        command, input=source, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert not done.stderr
    return done.stdout


def test_pasted_javascript_defines_its_names_and_typescript_is_right(tmp_path: Path) -> None:
    names, types = tmp_path / "control.mjs", tmp_path / "control.ts"
    names.write_text(pasted("tests/clients/account-links.mjs").replace("import {", "// import {"))
    types.write_text("const text: string = 1;\n")
    files = [names]
    for number, path in enumerate(name for name in programs() if not name.endswith(".py")):
        files.append(tmp_path / f"{number}-{Path(path).name}")
        files[-1].write_text(pasted(path))
    typed = [types, *(ROOT / path for path in typed_programs())]
    found = compiler("right", *files, "--", *typed).splitlines()
    assert [line for line in found if not line.startswith(f"{tmp_path}/control.")] == []
    assert any(line.startswith(f"{names}:") for line in found)
    assert any("Cannot find name 'request'" in line for line in found)
    assert f"{types}:1: Type 'number' is not assignable to type 'string'." in found


def compiler(command: str, *files: Path | str) -> str:
    """Return what TypeScript's compiler finds wrong in ``files``."""
    done = subprocess.run(
        [node(), "checks/compiler.mjs", command, *map(str, files)],
        cwd=FOLDER,
        capture_output=True,
        text=True,
        timeout=3 * PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def typed_programs() -> list[str]:
    typed = [path for path in programs() if path.endswith((".ts", ".tsx"))]
    assert len(typed) > 5
    return typed


def test_typescript_is_the_javascript_that_runs() -> None:
    typed = typed_programs()
    plain = {path.rpartition(".")[0]: ROOT / path for path in programs() if path not in typed}
    pairs = [
        (ROOT / path, plain[path.replace("/typescript/", "/").rpartition(".")[0]])
        for path in typed
    ]
    control = (pairs[0][0], ROOT / "tests/clients/urql.mjs")
    found = compiler("same", *control, *(path for pair in pairs for path in pair))
    assert re.findall("^(.*) differs:$", found, re.MULTILINE) == [str(control[0])], found
