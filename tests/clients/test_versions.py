"""The guides name the versions that the tests use."""

import json
import re

import pytest

from tests.clients.conftest import FOLDER
from tests.servers.run import ROOT

_ROW = re.compile(r"^\| `([^`]+)` \| (\d[\w.-]*) \|$", re.MULTILINE)


@pytest.mark.parametrize(
    ("guide", "folders"),
    [
        ("clients.md", ("nextjs", "sdk", ".")),
        ("federation.md", ("federation",)),
        ("openid-provider.md", (".",)),
    ],
)
def test_guide_names_the_locked_versions(guide: str, folders: tuple[str, ...]) -> None:
    locked: dict[str, dict[str, str]] = {}
    for folder in folders:
        locked |= json.loads((FOLDER / folder / "package-lock.json").read_text())["packages"]
    named = dict(_ROW.findall((ROOT / "docs" / "guides" / guide).read_text()))
    assert named
    assert named == {name: locked[f"node_modules/{name}"]["version"] for name in named}
