"""Texts made to be slow to match: each takes time that grows with its length alone."""

from collections.abc import Callable

import pytest

from app.adapters.keys.passwords import ZxcvbnStrength
from app.console.frame.formatting import coloured_json
from app.domain.accounts.emails import email_problem
from app.domain.accounts.search import read_search
from app.domain.apps.manifests import is_version_within
from app.domain.passwords.passwords import own_words, password_problems
from app.domain.values.text_rules import line_problem
from app.web.logs import blank_secrets
from tests.hostile.cpu import BOUND, slowest


def _is_range(text: str) -> None:
    with pytest.raises(ValueError, match="characters"):
        is_version_within("3.22", text)


def _password(text: str) -> None:
    words = own_words(f"{text[:64]}@example.com", text, text)
    password_problems(text, ZxcvbnStrength().estimate(text, words), words=words)


@pytest.mark.parametrize(
    ("match", "text"),
    [
        # What an endpoint answered, as the console shows it: 31 s before.
        (coloured_json, '"' + '\\"' * 32_000),
        (coloured_json, '"a" ' * 15_000),
        (coloured_json, '"a"' + " " * 64_000),
        (_password, "a" + "\u2474" * 1_022 + "a"),
        (_password, "a" + "!" * 1_022 + "a"),
        # zxcvbn tries what each sign could be read as: 600 ms for a hundred of them.
        (_password, "($0{|9@!1+<(!74+[506od" * 186),
        (_password, "\ufdfa" * 4_096),
        (email_problem, "a." * 500_000 + "@example.com"),
        (email_problem, "a@" + "a-" * 120 + "."),
        (read_search, "\ufdfa" * 900_000),
        (lambda text: line_problem(text, "name", max_length=1_000_000), "\u200d" * 900),
        (_is_range, "1 " * 400_000),
        (lambda text: blank_secrets(None, "info", {"event": text}), "eyJ" * 3_000),
    ],
    ids=[
        "unfinished string",
        "strings",
        "blanks",
        "folded signs",
        "signs",
        "look-alikes",
        "ligatures",
        "local part",
        "domain",
        "search",
        "joiners",
        "range of versions",
        "log",
    ],
)
def test_text_is_matched_within_the_allowed_cpu(match: Callable[[str], object], text: str) -> None:
    assert slowest(lambda: match(text)) < BOUND


def test_json_is_still_highlighted() -> None:
    shown = str(coloured_json({"a": 'say "b": c', "n": -1.5, "t": True}))
    assert '<span class="k">&#34;a&#34;</span>: <span class="s">&#34;say \\&#34;b' in shown
    assert '<span class="n">-1.5</span>' in shown
    assert '<span class="n">true</span>' in shown
