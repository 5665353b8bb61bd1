"""The pages under ``docs/`` say what the code says."""

import pytest

from docs import FOLDER, PAGES
from tests.fixtures.cases import cases

OF_EVENTS = "reference/events.md"
"""Its payloads are those of a shop that is made for it, which takes a second."""


@cases("name", [name for name in PAGES if name != OF_EVENTS])
def test_printed_docs_are_current(name: str) -> None:
    check(name)


@pytest.mark.first
def test_printed_events_are_current() -> None:
    check(OF_EVENTS)


def check(name: str) -> None:
    written = (FOLDER / name).read_text()
    assert written == PAGES[name](), "run `make docs` and commit what it writes"
