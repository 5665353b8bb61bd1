"""Runs of adjacent characters on keyboards and in alphabets."""

_MIN_RUN_LENGTH = 3

_ROWS = (
    "abcdefghijklmnopqrstuvwxyz",
    "01234567890",
    "qwertyuiop[]",
    "asdfghjkl;'",
    "zxcvbnm,./",
    "qwertzuiopü",
    "azertyuiop",
    "qsdfghjklm",
    "wxcvbn",
    "!@#$%^&*()_+",
    "1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik,9ol.0p;/",
    "qazwsxedcrfvtgbyhnujmikolp",
    "1q2w3e4r5t6y7u8i9o0p",
    "q1w2e3r4t5y6u7i8o9p0",
    "a1b2c3d4e5f6g7h8i9",
    "1a2b3c4d5e6f7g8h9i",
    "абвгдеёжзийклмнопрстуфхцчшщъыьэюя",
    "йцукенгшщзхъ",
    "фывапролджэ",
    "ячсмитьбю",
)
_RUNS = frozenset(
    row[start : start + _MIN_RUN_LENGTH]
    for line in _ROWS
    for row in (line, line[::-1])
    for start in range(len(row) - _MIN_RUN_LENGTH + 1)
)


def is_made_of_runs(text: str) -> bool:
    """Whether ``text`` is nothing but runs of three or more neighbours or repetitions.

    ``qwerty123``, ``aaabbbccc`` and ``1qaz2wsx`` are; ``horse123`` is not. Also true for a few
    characters over and over: ``abababab``.
    """
    if len(text) < _MIN_RUN_LENGTH:
        return False
    if len(set(text)) < _MIN_RUN_LENGTH:
        return True
    position = 0
    while position < len(text):
        length = _run_at(text, position)
        if length < _MIN_RUN_LENGTH:
            return False
        position += length
    return True


def _run_at(text: str, start: int) -> int:
    """How many characters from ``start`` on belong to one run; 0 for fewer than three."""
    end = start
    while end + _MIN_RUN_LENGTH <= len(text) and _is_run(text[end : end + _MIN_RUN_LENGTH]):
        end += 1
    return end - start + _MIN_RUN_LENGTH - 1 if end > start else 0


def _is_run(three: str) -> bool:
    return three in _RUNS or len(set(three)) == 1
