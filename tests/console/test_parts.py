"""What the parts of pages say, without HTTP."""

import pytest

from app.console.parts import enumeration


@pytest.mark.parametrize(
    ("items", "sentence"),
    [
        ((), ""),
        (("3 tokens",), "3 tokens"),
        (("3 tokens", "1 webhook"), "3 tokens and 1 webhook"),
        (("3 tokens", "1 webhook", "2 extensions"), "3 tokens, 1 webhook and 2 extensions"),
    ],
)
def test_enumeration_joins_what_there_is(items: tuple[str, ...], sentence: str) -> None:
    assert enumeration(items) == sentence
