"""New passwords: which are refused and why, and that everything else is taken as typed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.passwords.common_names import COMMON_NAMES
from app.domain.passwords.common_words import COMMON_WORDS
from app.domain.passwords.keyboard_runs import is_made_of_runs
from app.domain.passwords.passwords import (
    MAX_LENGTH,
    is_common,
    own_words,
    password_problems,
    similar_word,
)

ANNA = own_words("anna.schmidt@blumen-koenig.example", "Anna-Lena", "Schmidt", "Blumen König")

GOOD = (
    "correct horse battery staple",
    "Tr0ub4dor&3x",
    "vB7!kq2Zp",
    "zwölf große Störche fliegen",
    "пятнадцать лисиц 42",
    "七転び八起き七転び八起",
    "🦊🐻🐼🐨🐯🦁🐮🐷",
    "  spaces around matter  ",
    "tab\tand\nline break too",
    "x" * 7 + "yz" * 60,
    "l'été dernier à Brest",
)


def codes(password: str, words: tuple[str, ...] = ()) -> list[str]:
    return [problem.code for problem in password_problems(password, "password", words)]


@pytest.mark.parametrize("password", GOOD)
def test_strong_password_is_accepted_in_every_script(password: str) -> None:
    assert codes(password, ANNA) == []


def test_short_password_is_reported_alone() -> None:
    assert codes("123") == ["PASSWORD_TOO_SHORT"]
    assert codes("") == ["PASSWORD_TOO_SHORT"]
    assert codes("ananas7", ("ananas",)) == ["PASSWORD_TOO_SHORT"]


def test_eight_characters_of_any_script_are_enough() -> None:
    assert codes("vB7!kq2") == ["PASSWORD_TOO_SHORT"]
    assert codes("vB7!kq2Z") == []
    assert codes("🦊🐻🐼🐨🐯🦁🐮") == ["PASSWORD_TOO_SHORT"]


def test_passwords_of_128_and_more_characters_are_accepted() -> None:
    long = "a sentence that goes on and on, " * 4
    assert len(long) == 128
    assert codes(long + "!") == []
    longest = "".join(chr(0x4E00 + place) for place in range(MAX_LENGTH))
    assert codes(longest) == []


def test_overlong_password_is_refused() -> None:
    (problem,) = password_problems("ab c" * 257, "newPassword")
    assert (problem.code, problem.field) == ("INVALID", "newPassword")
    assert "1024" in problem.message


@pytest.mark.parametrize(
    "password",
    [
        "password",
        "Password1",
        "PASSWORD123!",
        "P@ssw0rd",
        "p455w0rd!",
        "$unsh1ne",
        "1loveyou",
        "drowssap1",
        "sunshine2024",
        "!!!monkey!!!",
        "dragon12345678",
        "footballfootball",
        "lolalola",
        "Michael88",
        "qwertyui",
        "qwerty123456",
        "1q2w3e4r",
        "1qaz2wsx",
        "zaq12wsx",
        "qwertz12345",
        "abcdefgh",
        "hgfedcba",
        "abc123abc123",
        "aaaaaaaa",
        "abababab",
        "aaaabbbb",
        "        ",
        "йцукенгш",
        "пароль123",  # noqa: RUF001
        "trustno1",
        "a1234567",
        "ｐａｓｓｗｏｒｄ",  # noqa: RUF001
        "WELCOME_1",
    ],
)
def test_popular_password_is_too_common(password: str) -> None:
    assert codes(password) == ["PASSWORD_TOO_COMMON"]


@pytest.mark.parametrize("password", ["4927501836", "٤٩٢٧٥٠١٨٣٦"])
def test_password_of_only_digits_is_refused_in_every_script(password: str) -> None:
    assert codes(password) == ["PASSWORD_ENTIRELY_NUMERIC"]


def test_every_reason_is_reported_at_once() -> None:
    assert codes("12345678") == ["PASSWORD_TOO_COMMON", "PASSWORD_ENTIRELY_NUMERIC"]
    assert codes("Michael88", ("michael.88",)) == ["PASSWORD_TOO_COMMON", "PASSWORD_TOO_SIMILAR"]


@pytest.mark.parametrize(
    "password",
    [
        "anna.schmidt",
        "ANNA.SCHMIDT1",
        "Schmidt-Anna-85",
        "annaschmidt2024",
        "4nn4.$chm1dt",
        "blumenkoenig",
        "Blumen König!",
        "BLUMEN KÖNIG",
        "anna.schmidt@blumen-koenig.example",
        "lena Anna lena",
    ],
)
def test_password_similar_to_the_account_is_refused(password: str) -> None:
    assert codes(password, ANNA) == ["PASSWORD_TOO_SIMILAR"]


def test_message_names_the_word_that_is_too_similar() -> None:
    (problem,) = password_problems("annaschmidt2024", "password", ANNA)
    assert "'Schmidt'" in problem.message


def test_long_password_can_contain_known_words() -> None:
    assert codes("my friends call me anna when it rains", ANNA) == []


def test_anagram_of_an_account_word_is_allowed() -> None:
    assert similar_word("harbuorlight", ("harbourlight",)) == "harbourlight"
    assert similar_word("lhiagrhbtour", ("harbourlight",)) is None


def test_short_account_words_are_not_compared() -> None:
    assert own_words("jo@x.example", "", "Li") == ("jo@x.example", "example")


def test_account_without_words_has_no_similar_password() -> None:
    assert similar_word("anything at all", ("", "a", *own_words())) is None
    assert similar_word("", ("", "a")) is None


def test_lists_hold_several_thousand_words_in_lower_case() -> None:
    words = COMMON_WORDS | COMMON_NAMES
    assert len(words) > 4000
    assert {word for word in words if word != word.casefold()} == set()


_LETTERS = sorted(word for word in COMMON_WORDS | COMMON_NAMES if word.isalpha())


@given(st.sampled_from(_LETTERS), st.sampled_from(["", "1", "99", "!!"]))
def test_listed_word_with_a_short_suffix_is_common(word: str, behind: str) -> None:
    assert is_common(word + behind)
    assert is_common(word.upper() + behind)


@given(st.text(max_size=60), st.lists(st.text(max_size=30), max_size=4))
def test_any_text_is_accepted_or_refused_with_a_reason(password: str, words: list[str]) -> None:
    problems = password_problems(password, "password", words)
    assert all(problem.message and problem.field == "password" for problem in problems)


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("qwe", True),
        ("qwerty123", True),
        ("aaa", True),
        ("ab", False),
        ("horse123", False),
        ("123horse", False),
        ("", False),
    ],
)
def test_keyboard_runs_are_recognized(text: str, made: bool) -> None:
    assert is_made_of_runs(text) is made
