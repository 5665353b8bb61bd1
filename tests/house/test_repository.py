"""What a clone holds: files that fit together, and nothing of the machine they were made on."""

import re
import tomllib
from importlib.metadata import PackageNotFoundError, requires

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from app.domain.values.installation import VERSION
from release.record import numbers, releases
from tests.fixtures.cases import cases
from tests.house.sources import ROOT, project_files

# It begins with a slash, which is searched for quickly, and looks back from there.
PLACE_OF_A_MACHINE = re.compile(rb"/(?<![\w.~$}*-]/)(?:home|root|Users|work)/[\w.]")
LOCK_FILES = ("requirements.txt", "requirements-dev.txt", "requirements-otel.txt")
PINNED = re.compile(
    r"(?P<name>[\w.-]+)(\[(?P<extras>[\w, -]+)\])?==\S+( ; [^#]+?)?"
    r"(\s+--hash=sha256:[0-9a-f]{64})+"
)


def test_readme_names_the_command_that_the_integration_runs() -> None:
    commands = re.findall(r"^make test\b.*$", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert commands == ["make test"]
    script = (ROOT / ".ci" / "run").read_text().splitlines()
    assert script[-1].removesuffix(" </dev/null") == commands[0]


@cases("name", LOCK_FILES)
def test_every_package_is_pinned_with_hashes(name: str) -> None:
    text = (ROOT / name).read_text().replace("\\\n", "")
    unpinned = [line for line in text.splitlines() if not PINNED.fullmatch(line)]
    assert unpinned == []


@cases("name", LOCK_FILES)
def test_packages_are_pinned_with_the_extras_that_others_ask_for(name: str) -> None:
    """Otherwise pip refuses the list as soon as one of them has a newer release."""
    text = (ROOT / name).read_text().replace("\\\n", "")
    pinned = {
        canonicalize_name(found["name"]): set(re.findall(r"[\w-]+", found["extras"] or ""))
        for line in text.splitlines()
        if (found := PINNED.fullmatch(line))
    }
    asked = [
        (package, Requirement(text))
        for package in pinned
        for text in _requirements(package)
        if "[" in text.partition(";")[0]
    ]
    missing = [
        f"{package} asks for {needed}"
        for package, needed in asked
        if _applies(needed, {"", *pinned[package]})
        and not needed.extras <= pinned[canonicalize_name(needed.name)]
    ]
    assert asked
    assert missing == []


def _applies(needed: Requirement, extras: set[str]) -> bool:
    marker = needed.marker
    return marker is None or any(marker.evaluate({"extra": extra}) for extra in extras)


def _requirements(package: str) -> list[str]:
    try:
        return requires(package) or []
    except PackageNotFoundError:  # one of another system or Python
        return []


@cases("name", [*LOCK_FILES, "requirements.in", "requirements-dev.in"])
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
    path = project["tool"]["hatch"]["version"]["path"]
    assert f'VERSION = "{VERSION}"' in (ROOT / path).read_text()
    assert numbers(VERSION)


def test_recorded_releases_are_in_the_changelog_newest_first() -> None:
    recorded = [f"{release.version}, {release.date}" for release in releases()]
    headings = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert headings[1:] == recorded
    versions = [numbers(release.version) for release in releases()]
    assert versions == sorted(versions, reverse=True)
    assert not versions or releases()[0].version == VERSION
