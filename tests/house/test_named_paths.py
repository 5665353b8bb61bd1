"""The pages for developers name files, modules and rooms that exist."""

import re
from collections.abc import Iterator

from tests.fixtures.cases import cases
from tests.house.sources import ROOT

PAGES = ("ARCHITECTURE.md", "CONTRIBUTING.md", "README.md")

_FENCE = re.compile(r"^( *)```\w*\n(.*?)^\1```", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`([^`\n]+)`")
_LINK = re.compile(r"\]\(([^)#:]+)\)")
_PATH = re.compile(r"(?:[\w.-]+/)+[\w.-]*|[\w.-]+\.(?:py|md|toml|yaml|in|txt|example)")
_MODULE = re.compile(r"app(?:\.\w+)+")


def _named(text: str) -> Iterator[str]:
    """Yield what the text names in code and links, without what it leaves open (``<room>``)."""
    text = _FENCE.sub("", text)
    for code in _CODE.findall(text):
        for word in code.split():
            path = word.partition("<")[0]
            if _MODULE.fullmatch(path):
                yield path.replace(".", "/")
            elif _PATH.fullmatch(path) and not path.startswith(".venv/"):
                yield path
    yield from _LINK.findall(text)


def _exists(path: str) -> bool:
    return (ROOT / path).exists() or (ROOT / f"{path}.py").exists()


@cases("page", PAGES)
def test_every_named_path_exists(page: str) -> None:
    named = set(_named((ROOT / page).read_text()))
    assert named
    assert {path for path in named if not _exists(path)} == set()


def test_missing_path_is_found() -> None:
    text = "`app/services/nowhere` `app.nowhere` [a page](docs/nowhere.md) `app/domain/<room>`"
    missing = [path for path in _named(text) if not _exists(path)]
    assert missing == ["app/services/nowhere", "app/nowhere", "docs/nowhere.md"]


@cases("folder", ["app", "app/services"])
def test_drawing_shows_every_room(folder: str) -> None:
    drawing = _FENCE.search((ROOT / "ARCHITECTURE.md").read_text())
    assert drawing
    rooms = {path.parent.name for path in (ROOT / folder).glob("*/__init__.py")}
    assert rooms - set(re.findall(r"\w+", drawing.group(2))) == set()


def test_pre_commit_hooks_run_what_make_check_runs() -> None:
    makefile = (ROOT / "Makefile").read_text()
    [needed] = re.findall(r"^check: ([\w ]+?) ##", makefile, re.MULTILINE)
    checked = {
        " ".join(command.split()[:2])
        for target in needed.split()
        for command in re.findall(
            r"^\t@(\$\(BIN\).+)",
            makefile.partition(f"\n{target}: ")[2].partition("\n\n")[0],
            re.MULTILINE,
        )
    }
    hooks = re.findall(
        r"entry: \.venv/(.+)", (ROOT / ".pre-commit-config.yaml").read_text(), re.MULTILINE
    )
    run = {re.sub(r"^bin/", "$(BIN)/", " ".join(hook.split()[:2])) for hook in hooks}
    assert run == checked
