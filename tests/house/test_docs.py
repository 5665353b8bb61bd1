"""The pages under ``docs/`` say what the code says."""

import pytest

from docs import FOLDER, PAGES


@pytest.mark.parametrize("name", PAGES)
def test_a_printed_page_is_as_the_code_prints_it(name: str) -> None:
    written = (FOLDER / name).read_text()
    assert written == PAGES[name](), "run `make docs` and commit what it writes"
