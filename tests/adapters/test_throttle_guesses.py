"""Guesses at the password of somebody who is signed in, wherever they are counted."""

from collections.abc import Callable
from threading import Barrier

import pytest

from app.domain.sign_in.login_throttle import GUESSES_EXPIRY_SECONDS, MAX_GUESSES
from app.ports.throttle import Throttle
from tests.adapters.throttle_backends import ANNA, BELA, NOW, Visitor, run_programs

pytestmark = pytest.mark.both_databases


def test_consecutive_password_guesses_are_limited(throttle: Throttle) -> None:
    numbers = [throttle.guess(ANNA, NOW + second).number for second in range(MAX_GUESSES + 1)]
    assert numbers == [1, 2, 3, 4, 5, 0]
    assert throttle.guess(BELA, NOW).number == 1
    refused = throttle.guess(ANNA, NOW + MAX_GUESSES)
    assert refused.wait == GUESSES_EXPIRY_SECONDS - 1
    assert throttle.guess(ANNA, NOW + MAX_GUESSES - 1 + GUESSES_EXPIRY_SECONDS).number == 1


def test_correct_password_resets_the_count(throttle: Throttle, visitor: Visitor) -> None:
    forgetting: list[Callable[[int], None]] = [throttle.reset_guesses, visitor.succeed]
    for forget in forgetting:
        numbers = [throttle.guess(ANNA, NOW).number for _ in range(MAX_GUESSES + 1)]
        assert numbers[-1] == 0
        forget(ANNA)
        assert throttle.guess(ANNA, NOW).number == 1
        throttle.reset_guesses(ANNA)


def test_released_guess_is_not_counted(throttle: Throttle) -> None:
    throttle.undo_guess(ANNA)
    for _ in range(MAX_GUESSES):
        throttle.guess(ANNA, NOW)
    throttle.undo_guess(ANNA)
    assert throttle.guess(ANNA, NOW).number == MAX_GUESSES
    assert not throttle.guess(ANNA, NOW).number


@pytest.mark.first
def test_guesses_at_the_same_moment_are_all_counted(throttle: Throttle) -> None:
    start, numbers = Barrier(20, timeout=60), list[int]()

    def act() -> None:
        start.wait(60)
        numbers.append(throttle.guess(ANNA, NOW).number)

    run_programs(act, 20)
    assert sorted(filter(None, numbers)) == [1, 2, 3, 4, 5]


def test_clock_set_back_does_not_extend_the_wait_for_a_guess(throttle: Throttle) -> None:
    for _ in range(MAX_GUESSES):
        throttle.guess(ANNA, NOW)
    assert throttle.guess(ANNA, NOW - 5).wait <= GUESSES_EXPIRY_SECONDS
    assert throttle.guess(ANNA, NOW - 7200).number == 1
