"""The pages under ``docs/`` say what the code says."""

from docs import FOLDER, PAGES
from tests.fixtures.cases import cases


@cases("name", PAGES)
def test_printed_docs_are_current(name: str) -> None:
    written = (FOLDER / name).read_text()
    assert written == PAGES[name](), "run `make docs` and commit what it writes"
