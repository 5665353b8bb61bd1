"""Guesses at the password of a person whose session or provider token was stolen."""

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier

import pytest
from typing_extensions import override

from app.adapters.queue.throttle_redis import connect_redis_throttle
from app.domain.authorization.actor import Actor
from app.domain.sign_in.login_throttle import MAX_GUESSES
from app.domain.values.errors import Refused
from app.ports import Ports
from app.ports.passwords import Match, PasswordsBusy
from app.services.accounts.email_changes import request_email_change
from app.services.accounts.password_changes import change_password
from app.services.console.console_sessions import confirm_password_again
from tests.builders.people import PASSWORD, actor_of, make_user, sessions_of, sign_in
from tests.fakes.clock import FakeClock
from tests.fakes.passwords import FakeHasher
from tests.graphql.shop_client import ApiClient
from tests.services.logins import EMAIL, log_in

WRONG_PASSWORD = "wrong"
NEW = "nine lazy Störche by the sea"
WRONG, DELAYED = "INVALID_CREDENTIALS", "LOGIN_ATTEMPT_DELAYED"


class WaitingHasher(FakeHasher):
    """Compares all guesses at the same moment, as parallel requests have them compared."""

    def __init__(self, ports: Ports, together: Barrier) -> None:
        super().__init__(ports.database)
        self._together = together

    @override
    def verify(
        self, password_hash: str | None, password: str, imported_seconds: float = 0
    ) -> Match:
        self._together.wait(180)
        return super().verify(password_hash, password, imported_seconds)


class BusyHasher(FakeHasher):
    """Has no room for another hash."""

    @override
    def verify(
        self, password_hash: str | None, password: str, imported_seconds: float = 0
    ) -> Match:
        raise PasswordsBusy


@pytest.fixture
def user(ports: Ports) -> int:
    return make_user(ports, EMAIL)


def provider_token(ports: Ports, user: int) -> Actor:
    """The caller behind a provider's access token: no session of ours stands behind it."""
    return replace(actor_of(ports, user), session_id=None)


def guess(ports: Ports, actor: Actor, password: str = WRONG_PASSWORD) -> str:
    """The code that a password change is refused with; empty when it was made."""
    return code(lambda: change_password(ports, actor, old_password=password, new_password=NEW))


def use_up(ports: Ports, actor: Actor) -> None:
    """Guess until no further guess is compared."""
    answers = [guess(ports, actor) for _ in range(MAX_GUESSES + 1)]
    assert answers == [WRONG] * MAX_GUESSES + [DELAYED]


def code(act: Callable[[], object]) -> str:
    try:
        act()
    except Refused as refused:
        (problem,) = refused.problems
        return problem.code
    return ""


def test_provider_token_gives_no_more_guesses_than_a_session(
    ports: Ports, hasher: FakeHasher, user: int
) -> None:
    actor = provider_token(ports, user)
    answers = Counter(guess(ports, actor) for _ in range(80))
    assert answers == {WRONG: MAX_GUESSES, DELAYED: 80 - MAX_GUESSES}
    assert hasher.verifications == MAX_GUESSES
    assert guess(ports, actor, PASSWORD) == DELAYED


@pytest.mark.both_databases
def test_parallel_guesses_are_counted_before_they_are_compared(ports: Ports, user: int) -> None:
    actor = provider_token(ports, user)
    waiting = WaitingHasher(ports, Barrier(MAX_GUESSES, timeout=60))
    slow = replace(ports, passwords=waiting)
    with ThreadPoolExecutor(20) as threads:
        answers = Counter(threads.map(lambda _: guess(slow, actor), range(20)))
    assert answers == {WRONG: MAX_GUESSES, DELAYED: 20 - MAX_GUESSES}
    assert waiting.verifications == MAX_GUESSES


@pytest.mark.both_databases
def test_parallel_guesses_are_counted_in_redis_too(
    ports: Ports, user: int, redis_url: str
) -> None:
    shared = replace(ports, throttle=connect_redis_throttle(redis_url))
    actor = provider_token(ports, user)
    with ThreadPoolExecutor(20) as threads:
        answers = Counter(threads.map(lambda _: guess(shared, actor), range(20)))
    assert answers == {WRONG: MAX_GUESSES, DELAYED: 20 - MAX_GUESSES}


def test_several_sessions_share_the_guesses_of_their_person(ports: Ports, user: int) -> None:
    actors = [actor_of(ports, user) for _ in range(MAX_GUESSES + 1)]
    assert [guess(ports, actor) for actor in actors] == [WRONG] * MAX_GUESSES + [DELAYED]


def test_all_password_confirmations_share_the_guesses(ports: Ports, user: int) -> None:
    actor = provider_token(ports, user)

    def change_email() -> object:
        return request_email_change(
            ports,
            actor,
            new_email="new@example.com",
            password=WRONG_PASSWORD,
            redirect_url="http://localhost:3000/",
        )

    def prove() -> object:
        return confirm_password_again(ports, actor, password=WRONG_PASSWORD)

    answers = [
        code(act) for _ in range(2) for act in (change_email, prove, lambda: _change(ports, actor))
    ]
    assert answers == [WRONG] * MAX_GUESSES + [DELAYED]


def _change(ports: Ports, actor: Actor) -> object:
    return change_password(ports, actor, old_password=WRONG_PASSWORD, new_password=NEW)


def test_aliases_give_no_more_guesses(ports: Ports, hasher: FakeHasher, user: int) -> None:
    api, token = ApiClient(ports), sign_in(ports, user).access
    field = f'passwordChange(oldPassword: "wrong", newPassword: "{NEW}") {{ errors {{ code }} }}'
    aliased = " ".join(f"a{number}: {field}" for number in range(10))
    api.ask(f"mutation {{ {aliased} }}", token)
    assert hasher.verifications <= MAX_GUESSES
    assert sessions_of(ports, user) == [] or hasher.verifications < MAX_GUESSES


def test_right_password_after_wrong_ones_resets_the_count(ports: Ports, user: int) -> None:
    actor = provider_token(ports, user)
    for _ in range(3):
        for _ in range(MAX_GUESSES - 1):
            assert guess(ports, actor) == WRONG
        assert code(lambda: confirm_password_again(ports, actor, password=PASSWORD)) == ""


def test_signing_in_resets_the_count(ports: Ports, user: int) -> None:
    actor = provider_token(ports, user)
    use_up(ports, actor)
    log_in(ports)
    assert guess(ports, actor, PASSWORD) == ""


def test_guesses_expire_after_an_hour(ports: Ports, user: int, clock: FakeClock) -> None:
    actor = provider_token(ports, user)
    use_up(ports, actor)
    clock.pass_(minutes=59)
    assert guess(ports, actor, PASSWORD) == DELAYED
    clock.pass_(minutes=1)
    assert guess(ports, actor, PASSWORD) == ""


def test_guesses_that_were_not_compared_do_not_count(ports: Ports, user: int) -> None:
    actor = provider_token(ports, user)
    busy = replace(ports, passwords=BusyHasher(ports.database))
    for _ in range(3 * MAX_GUESSES):
        assert guess(busy, actor) == DELAYED
    assert guess(ports, actor, PASSWORD) == ""


def test_guesses_at_one_account_delay_no_other_account(ports: Ports, user: int) -> None:
    use_up(ports, provider_token(ports, user))
    other = make_user(ports, "other@example.com")
    assert guess(ports, actor_of(ports, other), PASSWORD) == ""
