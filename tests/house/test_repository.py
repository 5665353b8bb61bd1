"""What a clone holds: files that fit together, and nothing of the machine they were made on."""

import re
import tomllib

import pytest

from app.domain.values.version import VERSION
from tests.house.sources import ROOT, project_files

PLACE_OF_A_MACHINE = re.compile(rb"(?<![\w.~$}*-])/(?:home|root|Users|work)/[\w.]")
LOCK_FILES = ("requirements.txt", "requirements-dev.txt")


def test_readme_names_the_command_that_the_integration_runs() -> None:
    commands = re.findall(r"^make test\b.*$", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert commands == ["make test"]
    script = (ROOT / ".ci" / "run").read_text().splitlines()
    assert script[-1].removesuffix(" </dev/null") == commands[0]


@pytest.mark.parametrize("name", LOCK_FILES)
def test_every_package_is_pinned_with_hashes(name: str) -> None:
    text = (ROOT / name).read_text().replace("\\\n", "")
    unpinned = [
        line
        for line in text.splitlines()
        if not re.fullmatch(r"[\w.\[\],-]+==\S+( ; [^#]+?)?(\s+--hash=sha256:[0-9a-f]{64})+", line)
    ]
    assert unpinned == []


@pytest.mark.parametrize("name", [*LOCK_FILES, "requirements.in", "requirements-dev.in"])
def test_package_lists_name_no_source(name: str) -> None:
    text = (ROOT / name).read_text()
    assert not re.search(r"://|--(extra-)?index|--find-links|--trusted-host", text)


def test_files_contain_no_local_paths() -> None:
    naming = [
        f"{path.relative_to(ROOT)}: {found.group().decode()}"
        for path in project_files()
        if (found := PLACE_OF_A_MACHINE.search(path.read_bytes()))
    ]
    assert naming == []


def test_changelog_has_an_unreleased_section() -> None:
    headings = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert headings[0] == "Unreleased"


def test_version_is_defined_once() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert "version" in project["project"]["dynamic"]
    assert project["tool"]["setuptools"]["dynamic"]["version"]["attr"] == (
        "app.domain.values.version.VERSION"
    )
    assert re.fullmatch(r"\d+\.\d+\.\d+", VERSION)
