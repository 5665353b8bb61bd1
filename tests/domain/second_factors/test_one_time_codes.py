"""Time steps and entered codes of authenticator apps."""

from app.domain.second_factors import (
    accepted_steps,
    encode_secret,
    find_step,
    read_one_time_code,
    setup_key,
)
from tests.fixtures.cases import cases

NOW = 1_000_000 * 30 + 5.5
"""In time step 1000000."""


def code_at(step: int) -> str:
    return f"{step % 1_000_000:06}"


@cases(
    ("entered", "code"),
    [
        ("287082", "287082"),
        (" 287 082 ", "287082"),
        ("287-082", "287082"),
        ("000000", "000000"),
        ("28708", ""),
        ("2870821", ""),
        ("28708a", ""),
        ("٢٨٧٠٨٢", ""),
        ("²⁸⁷⁰⁸²", ""),
        ("", ""),
    ],
)
def test_entered_code_is_read(entered: str, code: str) -> None:
    assert read_one_time_code(entered) == code


def test_codes_of_three_steps_are_accepted() -> None:
    assert list(accepted_steps(NOW)) == [1_000_001, 1_000_000, 999_999]
    found = [find_step(code_at(1_000_000 + step), NOW, 0, code_at) for step in range(-2, 3)]
    assert found == [None, 999_999, 1_000_000, 1_000_001, None]


@cases(("last_step", "is_accepted"), [(999_999, True), (1_000_000, False), (1_000_001, False)])
def test_code_of_a_used_or_earlier_step_is_not_accepted(
    last_step: int, *, is_accepted: bool
) -> None:
    found = find_step(code_at(1_000_000), NOW, last_step, code_at)
    assert (found is not None) is is_accepted


def test_code_of_two_steps_counts_for_the_later_one() -> None:
    assert find_step("111111", NOW, 0, lambda _step: "111111") == 1_000_001


def test_secret_is_shown_in_groups_of_four() -> None:
    secret = encode_secret(b"12345678901234567890")
    assert setup_key(secret) == "GEZD GNBV GY3T QOJQ GEZD GNBV GY3T QOJQ"
