"""Each promise of SECURITY.md names the tested requirements that it rests on."""

import re
from pathlib import Path

from docs.asvs import sections

_PAGE = Path(__file__).parents[2] / "SECURITY.md"
_SHOWN_BY = re.compile(r"<!-- shown by: (.+?) -->")


def promises(page: str) -> list[str]:
    """Return the list items between the promises' heading and the next one."""
    part = page.partition("## What we promise\n")[2].partition("\n## ")[0]
    return re.findall(r"^- .+?(?=^- |^\S|\Z)", part, flags=re.MULTILINE | re.DOTALL)


def test_every_promise_names_requirements_that_tests_show() -> None:
    tested = {one.what for items in sections().values() for one in items if one.tests}
    found = promises(_PAGE.read_text())
    assert len(found) > 20
    for promise in found:
        named = _SHOWN_BY.findall(promise)
        assert named, f"name its requirement of docs/security/asvs.toml: {promise[:80]}"
        assert set(named) <= tested, promise[:80]


def test_promise_without_a_requirement_is_found() -> None:
    page = (
        "## What we promise\n\n- A.\n  <!-- shown by: x -->\n- B\n  more.\n\n"
        "**C**\n\n- D.\n## Next\n"
    )
    assert [bool(_SHOWN_BY.search(one)) for one in promises(page)] == [True, False, False]
