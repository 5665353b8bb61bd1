"""What people read has no phrase of ``phrases.txt``: the list, and the search for it."""

import pytest

from tests.fixtures.cases import cases
from tests.house.phrases import is_read, matches, read_phrases, shown_texts, without_comments
from tests.house.sources import Source

pytestmark = pytest.mark.xdist_group("sources")

PHRASES = read_phrases()


def test_list_is_sorted_and_says_what_to_write() -> None:
    phrases = read_phrases()
    assert list(phrases) == sorted(phrases)
    assert all(phrase == phrase.lower() for phrase in phrases)
    assert [phrase for phrase, instead in phrases.items() if not instead] == []


@cases(
    ("text", "phrase"),
    [
        ("Whoever runs it can change it.", "whoever"),
        ("The webhook hears\n    of orders.", "hears of"),
        ("<p>It was switched off.</p>", "switched off"),
        ("Nothing fits", "nothing fits"),
    ],
)
def test_phrase_is_found_in_any_case_and_over_lines(text: str, phrase: str) -> None:
    assert [found for _, found in matches(PHRASES, text)] == [phrase]


@cases(
    "text", ["Anyone can change it.", "shallow", "whomever", "the-whoever-option", "switched_off"]
)
def test_parts_of_words_and_names_are_not_found(text: str) -> None:
    assert list(matches(PHRASES, text)) == []


@cases(
    ("name", "expected"),
    [
        ("README.md", True),
        ("docs/reference/commands.md", True),
        ("docs/latchkey.1", True),
        (".env.example", True),
        ("Makefile", True),
        ("app/templates/mail/layout.html", True),
        ("tests/commands/golden/user/list.txt", True),
        ("tests/commands/golden/webhook/edit.plain", True),
        ("tests/house/phrases.txt", False),
        ("tests/commands/test_demo.py", False),
    ],
)
def test_files_that_people_read_are_searched(name: str, *, expected: bool) -> None:
    assert is_read(name) is expected


def test_line_of_a_phrase_is_counted() -> None:
    template = without_comments("{# whoever\n shall #}\nwhom\n")
    assert list(matches(PHRASES, template)) == [(3, "whom")]


def test_docstrings_and_comments_are_not_searched() -> None:
    code = '"""Whoever."""\n# whom\ndef show(name):\n    """Shall."""\n    return f"{name} said"\n'
    source = Source("app/x.py", code)
    assert [(text.value, text.lineno) for text in shown_texts(source)] == [(" said", 5)]
