"""The guide names the versions that the tests use."""

import json
import re

from tests.clients.conftest import FOLDER
from tests.servers.run import ROOT

_ROW = re.compile(r"^\| `([^`]+)` \| (\d[\w.-]*) \|$", re.MULTILINE)


def test_guide_names_the_locked_versions() -> None:
    locked: dict[str, dict[str, str]] = {}
    for folder in ("nextjs", "sdk", "."):
        locked |= json.loads((FOLDER / folder / "package-lock.json").read_text())["packages"]
    named = dict(_ROW.findall((ROOT / "docs" / "guides" / "clients.md").read_text()))
    assert named
    assert named == {name: locked[f"node_modules/{name}"]["version"] for name in named}
