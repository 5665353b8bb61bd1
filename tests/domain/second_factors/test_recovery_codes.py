"""Recovery codes as they are made, written and read."""

import secrets

from app.domain.second_factors import (
    RECOVERY_ALPHABET,
    RECOVERY_BYTES,
    RECOVERY_CODES,
    make_recovery_codes,
    read_recovery_code,
    selector_of,
    write_recovery_code,
)
from tests.fixtures.cases import cases


def test_ten_codes_have_different_first_characters() -> None:
    for _ in range(50):
        codes = make_recovery_codes(secrets.token_bytes(RECOVERY_BYTES))
        selectors = [selector_of(code) for code in codes]
        assert len(set(selectors)) == RECOVERY_CODES
        assert selectors == sorted(selectors)
        assert all(read_recovery_code(code) == code for code in codes)


def test_every_character_occurs_in_every_place() -> None:
    codes = [
        code
        for _ in range(200)
        for code in make_recovery_codes(secrets.token_bytes(RECOVERY_BYTES))
    ]
    for place in range(8):
        assert {code[place] for code in codes} == set(RECOVERY_ALPHABET)


def test_code_is_shown_in_two_halves() -> None:
    assert write_recovery_code("4kq7m2xd") == "4kq7-m2xd"


@cases(
    ("entered", "code"),
    [
        ("4kq7-m2xd", "4kq7m2xd"),
        ("4KQ7 M2XD", "4kq7m2xd"),
        (" 4kq7m2xd\n", "4kq7m2xd"),
        ("OIL0-0110", "01100110"),
        ("4kq7-m2x", ""),
        ("4kq7-m2xdd", ""),
        ("4kq7-m2xu", ""),
        ("4kq7-m2x\u00df", ""),
        ("287082", ""),
        ("", ""),
    ],
)
def test_entered_code_is_read(entered: str, code: str) -> None:
    assert read_recovery_code(entered) == code
