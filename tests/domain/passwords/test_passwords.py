"""New passwords: which are refused and why, and that everything else is taken as typed."""

from hypothesis import given
from hypothesis import strategies as st

from app.domain.passwords.passwords import (
    MAX_LENGTH,
    Strength,
    normalize_password,
    own_words,
    password_problems,
    similar_word,
)
from tests.fixtures.cases import cases

ANNA = own_words("anna.schmidt@blumen-koenig.example", "Anna-Lena", "Schmidt", "Blumen König")
STRONG = Strength(is_leaked=False, is_guessable=False)
GUESSABLE = Strength(is_leaked=False, is_guessable=True)
LEAKED = Strength(is_leaked=True, is_guessable=False)


def test_length_counts_the_normalized_form() -> None:
    decomposed = "a\u0308" * 7
    (problem,) = password_problems(decomposed, STRONG)
    assert problem.code == "PASSWORD_TOO_SHORT"
    assert password_problems(decomposed + "a\u0308", STRONG) == ()


def test_endless_marks_are_not_normalized() -> None:
    endless = "a" + "\u0315\u0300" * MAX_LENGTH
    assert normalize_password(endless) == endless


def codes(password: str, words: tuple[str, ...] = (), *, strength: Strength = STRONG) -> list[str]:
    problems = password_problems(password, strength, "password", words)
    return [problem.code for problem in problems]


def test_short_password_is_reported_alone() -> None:
    assert codes("123", strength=LEAKED) == ["PASSWORD_TOO_SHORT"]
    assert codes("", strength=GUESSABLE) == ["PASSWORD_TOO_SHORT"]
    assert codes("ananas7", ("ananas",)) == ["PASSWORD_TOO_SHORT"]


def test_eight_characters_of_any_script_are_enough() -> None:
    assert codes("vB7!kq2") == ["PASSWORD_TOO_SHORT"]
    assert codes("vB7!kq2Z") == []
    assert codes("🦊🐻🐼🐨🐯🦁🐮") == ["PASSWORD_TOO_SHORT"]
    assert codes("🦊🐻🐼🐨🐯🦁🐮🐷") == []


def test_passwords_of_128_and_more_characters_are_accepted() -> None:
    long = "a sentence that goes on and on, " * 4
    assert len(long) == 128
    assert codes(long + "!") == []
    longest = "".join(chr(0x4E00 + place) for place in range(MAX_LENGTH))
    assert codes(longest) == []


def test_overlong_password_is_refused() -> None:
    (problem,) = password_problems("ab c" * 257, GUESSABLE, "newPassword")
    assert (problem.code, problem.field) == ("INVALID", "newPassword")
    assert "1024" in problem.message


@cases("strength", [GUESSABLE, LEAKED])
def test_guessable_or_leaked_password_is_too_common(strength: Strength) -> None:
    (problem,) = password_problems("trustno1", strength, "newPassword")
    assert (problem.code, problem.field) == ("PASSWORD_TOO_COMMON", "newPassword")
    assert problem.message == "This password is too common. Choose one that's harder to guess."


@cases("password", ["4927501836", "٤٩٢٧٥٠١٨٣٦"])
def test_password_of_only_digits_is_refused_in_every_script(password: str) -> None:
    assert codes(password) == ["PASSWORD_ENTIRELY_NUMERIC"]


def test_every_reason_is_reported_at_once() -> None:
    assert codes("12345678", strength=GUESSABLE) == [
        "PASSWORD_TOO_COMMON",
        "PASSWORD_ENTIRELY_NUMERIC",
    ]
    assert codes("michael88", ("michael",), strength=LEAKED) == [
        "PASSWORD_TOO_COMMON",
        "PASSWORD_TOO_SIMILAR",
    ]


def test_password_that_only_the_account_makes_guessable_is_too_similar() -> None:
    assert codes("annaschmidt2024", ANNA, strength=GUESSABLE) == ["PASSWORD_TOO_SIMILAR"]


@cases(
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
    (problem,) = password_problems("annaschmidt2024", STRONG, "password", ANNA)
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


@given(
    st.text(max_size=60),
    st.lists(st.text(max_size=30), max_size=4),
    st.sampled_from([STRONG, GUESSABLE, LEAKED]),
)
def test_any_text_is_accepted_or_refused_with_a_reason(
    password: str, words: list[str], strength: Strength
) -> None:
    problems = password_problems(password, strength, "password", words)
    assert all(problem.message and problem.field == "password" for problem in problems)
