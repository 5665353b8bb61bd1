"""A code that was used, or is being used, finishes no other sign-in."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier

import pytest
from typing_extensions import override

from app.domain.authorization.actor import Actor
from app.domain.values.errors import Refused
from app.ports import Ports
from app.ports.passwords import Match
from tests.builders.people import NOBODY
from tests.builders.second_factors import make_recovery_codes, one_time_code
from tests.fakes.clock import FakeClock
from tests.fakes.passwords import FakeHasher
from tests.services.logins import stored_sessions
from tests.services.sign_in.second_factors import (
    challenged,
    make_protected,
    refusal_of_code,
    verify,
)

INCORRECT = ("code", "INVALID_SECOND_FACTOR")


class WaitingHasher(FakeHasher):
    """Compares codes at the same moment, as parallel requests have them compared."""

    def __init__(self, ports: Ports, together: Barrier) -> None:
        super().__init__(ports.database)
        self._together = together

    @override
    def verify(
        self, password_hash: str | None, password: str, imported_seconds: float = 0
    ) -> Match:
        is_right = super().verify(password_hash, password, imported_seconds)
        self._together.wait(180)
        return is_right


@pytest.mark.parametrize("seconds", [0, 30])
def test_code_that_was_overheard_finishes_no_other_sign_in(
    ports: Ports, clock: FakeClock, seconds: int
) -> None:
    user = make_protected(ports)
    overheard = one_time_code(ports, user.secret)
    assert verify(ports, challenged(ports).token, overheard).user.id == user.id
    clock.pass_(seconds=seconds)
    assert refusal_of_code(ports, challenged(ports).token, overheard) == INCORRECT
    clock.pass_(seconds=30)
    fresh = one_time_code(ports, user.secret)
    assert verify(ports, challenged(ports).token, fresh).user.id == user.id


@pytest.mark.both_databases
def test_recovery_code_finishes_one_of_two_parallel_sign_ins(ports: Ports) -> None:
    user = make_protected(ports)
    code = make_recovery_codes(ports, user.id)[0]
    rivals = [replace(NOBODY, address=f"203.0.113.{number}") for number in range(2)]
    asked = [(actor, challenged(ports, actor=actor).token) for actor in rivals]
    waiting = replace(ports, passwords=WaitingHasher(ports, Barrier(2, timeout=60)))

    def answer(asked: tuple[Actor, str]) -> bool:
        actor, challenge = asked
        try:
            return verify(waiting, challenge, code, actor).user.id == user.id
        except Refused:
            return False

    with ThreadPoolExecutor(2) as threads:
        assert sorted(threads.map(answer, asked)) == [False, True]
    assert len(stored_sessions(ports)) == 1
