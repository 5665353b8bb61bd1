"""Hashing passwords: behind everybody else's back, and never more than fit."""

import os
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import islice
from threading import Event, get_native_id
from typing import Literal

import pytest
from argon2 import PasswordHasher, extract_parameters
from typing_extensions import override

from app.adapters.keys.passwords import Argon2Hasher
from app.domain.passwords.imported_hashes import KIBIBYTES
from app.ports.passwords import Match, PasswordsBusy
from app.web.server import THREADS
from tests.fixtures.cases import cases
from tests.servers.cheap_hashes import lower_priority

CHEAP = PasswordHasher(1, 8, 1)
LONG_ENOUGH = 30.0


class SlowHasher(PasswordHasher):
    """Hashes when it is let; tells how nice the thread is that does it."""

    def __init__(self) -> None:
        super().__init__(1, 8, 1)
        self.begun, self.go_on = Event(), Event()
        self.niceness = 0

    @override
    def hash(self, password: str | bytes, *, salt: bytes | None = None) -> str:
        if sys.platform == "linux":
            self.niceness = os.getpriority(os.PRIO_PROCESS, get_native_id())
        self.begun.set()
        assert self.go_on.wait(LONG_ENOUGH)
        return super().hash(password, salt=salt)


def test_only_the_correct_password_matches() -> None:
    hasher = Argon2Hasher(CHEAP)
    stored = hasher.hash("correct horse")
    assert hasher.verify(stored, "correct horse")
    assert not hasher.verify(stored, "correct horse ")
    assert not hasher.verify("no hash at all", "correct horse")


def test_no_password_matches_without_a_hash() -> None:
    assert not Argon2Hasher(CHEAP).verify(None, "a password that nobody has")


def test_password_is_compared_with_a_real_hash_also_without_a_stored_one() -> None:
    """An unknown email would be told by how quick the refusal is."""
    compared = []

    class RecordingHasher(PasswordHasher):
        @override
        def verify(self, hash: str | bytes, password: str | bytes) -> Literal[True]:
            compared.append(extract_parameters(str(hash)))
            return super().verify(hash, password)

    hasher = Argon2Hasher(RecordingHasher(1, 8, 1))
    assert not hasher.verify_sign_in(hasher.hash("right"), "wrong")
    assert not hasher.verify_sign_in(None, "wrong")

    known, unknown = compared
    assert known == unknown


class CountingHasher(PasswordHasher):
    """Counts the hashes that passwords are compared with."""

    def __init__(self) -> None:
        super().__init__(1, 8, 1)
        self.compared = 0

    @override
    def verify(self, hash: str | bytes, password: str | bytes) -> Literal[True]:
        self.compared += 1
        return super().verify(hash, password)


COMPOSED, DECOMPOSED = "gr\xfcne B\xe4ume", "gru\u0308ne Ba\u0308ume"


@cases(
    ("stored", "typed", "match", "compared"),
    [
        (COMPOSED, COMPOSED, Match.RIGHT, 1),
        (COMPOSED, DECOMPOSED, Match.RIGHT, 2),
        (DECOMPOSED, DECOMPOSED, Match.AS_TYPED, 1),
        (DECOMPOSED, COMPOSED, Match.NONE, 1),
        (COMPOSED, "gru\u0308ne Baume", Match.NONE, 2),
        ("\xfb01re escape", "fire escape", Match.NONE, 1),
        (None, COMPOSED, Match.NONE, 1),
        (None, DECOMPOSED, Match.NONE, 2),
    ],
)
def test_password_is_compared_as_typed_and_then_normalized(
    stored: str | None, typed: str, match: Match, compared: int
) -> None:
    """A refusal costs the same with and without a stored hash."""
    counting = CountingHasher()
    hasher = Argon2Hasher(counting)
    stored_hash = None if stored is None else CHEAP.hash(stored)
    assert hasher.verify_sign_in(stored_hash, typed) is match
    assert counting.compared == compared
    assert match is not Match.AS_TYPED or hasher.needs_rehash(str(stored_hash), match)


def test_new_hash_is_of_the_normalized_form() -> None:
    hasher = Argon2Hasher(CHEAP)
    stored = hasher.hash(DECOMPOSED)
    assert CHEAP.verify(stored, COMPOSED)
    assert hasher.verify(stored, COMPOSED) is Match.RIGHT
    assert not hasher.needs_rehash(stored, Match.RIGHT)


def test_a_process_that_does_not_serve_waits_for_its_turn() -> None:
    slow = SlowHasher()
    hasher = Argon2Hasher(slow, serves=False, patience=0)
    with ThreadPoolExecutor() as threads:
        first = threads.submit(hasher.hash, "correct horse")
        second = threads.submit(hasher.hash, "correct horse")
        assert slow.begun.wait(LONG_ENOUGH)
        assert not first.done()
        slow.go_on.set()
        assert CHEAP.verify(first.result(LONG_ENOUGH), "correct horse")
        assert CHEAP.verify(second.result(LONG_ENOUGH), "correct horse")


def test_lone_surrogate_is_hashed_as_typed() -> None:
    hasher = Argon2Hasher(CHEAP)
    assert hasher.verify(hasher.hash("\ud83d"), "\ud83d")


def test_profile_exceeds_owasps_minimum_and_other_hashes_are_renewed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("app.adapters.keys.passwords.KIBIBYTES", KIBIBYTES)
    hasher = Argon2Hasher()
    stored = hasher.hash("correct horse")
    profile = extract_parameters(stored)
    assert (profile.memory_cost, profile.time_cost, profile.parallelism) == (47_104, 2, 1)
    assert not hasher.needs_rehash(stored)
    older = CHEAP.hash("correct horse")
    assert hasher.needs_rehash(older)
    assert hasher.verify(older, "correct horse")


@pytest.mark.skipif(sys.platform != "linux", reason="threads have priorities on Linux alone")
def test_hashing_runs_at_a_lower_priority(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.adapters.keys.passwords._lower_priority", lower_priority)
    slow = SlowHasher()
    slow.go_on.set()
    Argon2Hasher(slow).hash("correct horse")
    assert slow.niceness > os.getpriority(os.PRIO_PROCESS, get_native_id())


def test_full_waiting_list_is_refused_with_a_retry_time() -> None:
    slow = SlowHasher()
    hasher = Argon2Hasher(slow, places=1)
    with ThreadPoolExecutor() as clients:
        first = clients.submit(hasher.hash, "correct horse")
        assert slow.begun.wait(LONG_ENOUGH)
        with pytest.raises(PasswordsBusy, match=r"Try again in \d+ s") as refused:
            hasher.verify(None, "correct horse")
        slow.go_on.set()
        assert CHEAP.verify(first.result(LONG_ENOUGH), "correct horse")
    assert refused.value.problems[0].code == "LOGIN_ATTEMPT_DELAYED"
    assert hasher.verify(hasher.hash("correct horse"), "correct horse")


def waiting_hashes(hasher: Argon2Hasher) -> float:
    """Return how many hashes of passwords go on or wait."""
    return sum(value for _, value, (lane,) in hasher.measure() if lane == "passwords")


def test_timed_out_wait_frees_its_place() -> None:
    slow = SlowHasher()
    hasher = Argon2Hasher(slow, places=2, patience=0.05)
    with ThreadPoolExecutor() as clients:
        # A busy machine can give the first one up before it begins.
        first = clients.submit(hasher.hash, "correct horse")
        while not slow.begun.wait(0.1):
            assert isinstance(first.exception(LONG_ENOUGH), PasswordsBusy)
            first = clients.submit(hasher.hash, "correct horse")
        assert isinstance(first.exception(LONG_ENOUGH), PasswordsBusy)
        for _ in range(3):
            with pytest.raises(PasswordsBusy):
                hasher.verify(None, "correct horse")
            assert waiting_hashes(hasher) == 1
        slow.go_on.set()


def test_server_has_free_threads_when_every_hashing_slot_is_used() -> None:
    slow = SlowHasher()
    hasher = Argon2Hasher(slow)
    with ThreadPoolExecutor(THREADS) as threads:
        logins = [threads.submit(hasher.hash, "correct horse") for _ in range(THREADS)]
        # A server's thread that is free answers this, while passwords are waited for.
        assert threads.submit(str, "me").result(LONG_ENOUGH) == "me"
        slow.go_on.set()
        refused = [
            future for future in logins if isinstance(future.exception(LONG_ENOUGH), PasswordsBusy)
        ]
    assert 0 < len(refused) < THREADS


def test_server_has_free_threads_when_slots_of_both_kinds_are_used() -> None:
    slow = SlowHasher()
    hasher = Argon2Hasher(slow)

    def sign_in() -> str:
        return str(hasher.verify_sign_in(None, "correct horse"))

    with ThreadPoolExecutor(2 * THREADS) as threads:
        waiting = [threads.submit(hasher.hash, "correct horse") for _ in range(THREADS)]
        waiting += [threads.submit(sign_in) for _ in range(THREADS)]
        # So many are refused at once that the others leave a server's threads free.
        refused = list(islice(as_completed(waiting, LONG_ENOUGH), THREADS + 3))
        slow.go_on.set()
    assert all(isinstance(future.exception(180), PasswordsBusy) for future in refused)


def test_sign_ins_have_their_own_share() -> None:
    slow = SlowHasher()
    hasher = Argon2Hasher(slow)
    stored = CHEAP.hash("correct horse")
    slow.go_on.set()
    assert hasher.verify_sign_in(stored, "correct horse")  # the decoy is made
    slow.go_on.clear()
    with ThreadPoolExecutor(THREADS) as threads:
        flood = [threads.submit(hasher.hash, "correct horse") for _ in range(THREADS - 2)]
        assert slow.begun.wait(LONG_ENOUGH)
        assert threads.submit(hasher.verify_sign_in, stored, "correct horse").result(LONG_ENOUGH)
        assert not threads.submit(hasher.verify_sign_in, stored, "wrong").result(LONG_ENOUGH)
        slow.go_on.set()
        assert any(future.exception(LONG_ENOUGH) is None for future in flood)
