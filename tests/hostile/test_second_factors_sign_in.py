"""Attacks on a sign-in with a second factor, by someone who has the password or a session."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier

import pytest
from sqlalchemy import update
from typing_extensions import override

from app import models
from app.domain.accounts.email_links import LinkPurpose
from app.domain.authorization.actor import Actor, SessionOrigin
from app.domain.mails.mail import MailKind
from app.domain.second_factors import MAX_CHALLENGE_FAILURES, ChallengePurpose
from app.domain.sign_in.login_throttle import MAX_GUESSES
from app.domain.values.errors import PermissionDenied, Refused
from app.ports import Ports
from app.ports.passwords import Match
from app.services.accounts.email_changes import request_email_change
from app.services.accounts.password_changes import change_password, set_password
from app.services.identity.identify import identify
from app.services.second_factors.challenges import SecondFactorRequired
from app.services.sign_in.second_factor_sign_in import ask_for_proof
from app.services.sign_in.tokens import refresh_token
from tests.builders.links import link_for
from tests.builders.outbox import mails
from tests.builders.people import NOBODY, PASSWORD, make_user, sign_in, visit
from tests.builders.second_factors import make_recovery_codes, one_time_code
from tests.builders.tokens import claims_in
from tests.fakes.clock import FakeClock
from tests.fakes.passwords import FakeHasher
from tests.fixtures.statements import recorded_statements
from tests.services.logins import EMAIL, OTHER, log_in, stored_sessions
from tests.services.sign_in.second_factors import (
    WRONG_CODE,
    Protected,
    challenged,
    make_protected,
    refusal_of_code,
    stored_challenges,
    verify,
)

NEW = "nine lazy Störche by the sea"
FACTOR_TABLES = ("passkeys", "authenticator_apps", "recovery_codes", "second_factor_challenges")
ENDED = ("challenge", "INVALID")
INCORRECT = ("code", "INVALID_SECOND_FACTOR")
DELAYED = (None, "LOGIN_ATTEMPT_DELAYED")


def from_address(number: int) -> Actor:
    """Return a caller at another IP address each."""
    return replace(NOBODY, address=f"203.0.113.{number}")


def session_of(ports: Ports, user: Protected, *amr: str) -> Actor:
    """Return the actor of a session that began at a provider, so without a factor of ours."""
    pair = sign_in(ports, user.id, SessionOrigin.OIDC, amr=amr)
    return identify(ports, visit(pair.access)).actor


def change_challenges(ports: Ports, **values: object) -> None:
    """Write ``values`` into all stored challenges."""
    with ports.database.transaction() as session:
        session.execute(update(models.SecondFactorChallenge).values(**values))


def test_code_answers_no_challenge_of_another_account(ports: Ports, clock: FakeClock) -> None:
    mine, theirs = make_protected(ports), make_protected(ports, OTHER)
    challenge = challenged(ports, theirs.email)
    code = one_time_code(ports, mine.secret)
    assert refusal_of_code(ports, challenge.token, code) == INCORRECT
    clock.pass_(seconds=1)
    assert verify(ports, challenged(ports).token, code).user.id == mine.id


def test_challenge_of_a_session_is_no_other_sessions_to_answer(ports: Ports) -> None:
    user, other = make_protected(ports), make_protected(ports, OTHER)
    stolen, own = session_of(ports, user), session_of(ports, user)
    challenge = ask_for_proof(ports, stolen)
    code = one_time_code(ports, user.secret)
    for actor in (NOBODY, own, session_of(ports, other), replace(stolen, app_id=1)):
        assert refusal_of_code(ports, challenge.token, code, actor) == ENDED
    assert verify(ports, challenge.token, code, stolen).user.id == user.id


def test_challenge_for_another_purpose_signs_nobody_in(ports: Ports) -> None:
    user = make_protected(ports)
    challenge = challenged(ports)
    code = one_time_code(ports, user.secret)
    for purpose in (ChallengePurpose.ADD_PASSKEY, ChallengePurpose.PASSKEY_SIGN_IN):
        change_challenges(ports, purpose=purpose.value)
        assert refusal_of_code(ports, challenge.token, code) == ENDED, purpose
    change_challenges(ports, purpose=ChallengePurpose.SIGN_IN.value)
    verify(ports, challenge.token, code)


def test_challenge_of_the_console_gives_no_tokens(ports: Ports) -> None:
    user = make_protected(ports, is_staff=True)
    challenge = challenged(ports)
    change_challenges(ports, in_console=True)
    code = one_time_code(ports, user.secret)
    assert refusal_of_code(ports, challenge.token, code) == ENDED
    change_challenges(ports, in_console=False)
    verify(ports, challenge.token, code)


def test_invented_challenge_is_refused(ports: Ports) -> None:
    user = make_protected(ports)
    code = one_time_code(ports, user.secret)
    for number, challenge in enumerate(("", "x", "\ud800", "\0", "a" * 100_000)):
        refused = refusal_of_code(ports, challenge, code, from_address(number))
        assert refused == ENDED, challenge[:9]
    verify(ports, challenged(ports).token, code)


@pytest.mark.parametrize(
    "code", ["", " ", "\ud800", "\0", "\N{ARABIC-INDIC DIGIT ONE}" * 6, "1" * 100_000]
)
def test_odd_code_is_incorrect(ports: Ports, code: str) -> None:
    make_protected(ports)
    assert refusal_of_code(ports, challenged(ports).token, code) == INCORRECT


def test_fifth_wrong_code_ends_the_challenge(ports: Ports, clock: FakeClock) -> None:
    user = make_protected(ports)
    challenge = challenged(ports)
    for number in range(MAX_CHALLENGE_FAILURES):
        caller = from_address(number)
        assert refusal_of_code(ports, challenge.token, WRONG_CODE, caller) == INCORRECT
    code = one_time_code(ports, user.secret)
    assert refusal_of_code(ports, challenge.token, code, from_address(90)) == ENDED
    assert stored_sessions(ports) == []


def test_codes_of_an_account_are_guessed_five_times_in_all(ports: Ports, clock: FakeClock) -> None:
    """And its owner is told."""
    user = make_protected(ports)
    for number in range(MAX_GUESSES):
        token = challenged(ports, actor=from_address(number)).token
        assert mails(ports, MailKind.INCORRECT_CODES) == []
        assert refusal_of_code(ports, token, WRONG_CODE, from_address(number)) == INCORRECT
    [mail] = mails(ports, MailKind.INCORRECT_CODES)
    assert mail.recipient == EMAIL
    token = challenged(ports, actor=from_address(90)).token
    code = one_time_code(ports, user.secret)
    assert refusal_of_code(ports, token, code, from_address(90)) == DELAYED
    assert stored_challenges(ports)[-1].failures == 0
    clock.pass_(seconds=3601)
    token = challenged(ports, actor=from_address(91)).token
    verify(ports, token, one_time_code(ports, user.secret), from_address(91))


class WaitingHasher(FakeHasher):
    """Compares all recovery codes at the same moment, as parallel requests have them compared."""

    def __init__(self, ports: Ports, together: Barrier) -> None:
        super().__init__(ports.database)
        self._together = together

    @override
    def verify(
        self, password_hash: str | None, password: str, imported_seconds: float = 0
    ) -> Match:
        self._together.wait(180)
        return super().verify(password_hash, password, imported_seconds)


@pytest.mark.both_databases
def test_parallel_wrong_codes_exceed_no_limit(ports: Ports) -> None:
    user = make_protected(ports)
    codes = make_recovery_codes(ports, user.id)
    tokens = [challenged(ports).token for _ in range(2)]
    together = replace(ports, passwords=WaitingHasher(ports, Barrier(MAX_GUESSES, timeout=60)))
    wrong = codes[0][:-1] + ("a" if codes[0][-1] != "a" else "b")

    def guess(number: int) -> str:
        return refusal_of_code(together, tokens[number % 2], wrong, from_address(number))[1]

    with ThreadPoolExecutor(10) as pool:
        answers = sorted(pool.map(guess, range(10)))
    assert answers.count("INVALID_SECOND_FACTOR") == MAX_GUESSES
    assert set(answers[MAX_GUESSES:]) <= {"LOGIN_ATTEMPT_DELAYED"}


def by_email_change(ports: Ports, actor: Actor) -> None:
    request_email_change(
        ports, actor, password=PASSWORD, new_email=OTHER, redirect_url="http://localhost:3000/"
    )


def by_password_change(ports: Ports, actor: Actor) -> None:
    change_password(ports, actor, old_password=PASSWORD, new_password=PASSWORD)


def test_right_password_resets_no_count_of_codes(ports: Ports) -> None:
    user = make_protected(ports)
    actor = session_of(ports, user)
    for number in range(MAX_GUESSES):
        token = challenged(ports, actor=from_address(number)).token
        assert refusal_of_code(ports, token, WRONG_CODE, from_address(number)) == INCORRECT
        if number < MAX_GUESSES - 1:
            confirm = by_password_change if number % 2 else by_email_change
            confirm(ports, actor)
    token = challenged(ports, actor=from_address(90)).token
    code = one_time_code(ports, user.secret)
    assert refusal_of_code(ports, token, code, from_address(90)) == DELAYED


def test_right_code_resets_the_count(ports: Ports, clock: FakeClock) -> None:
    user = make_protected(ports)
    for number in range(MAX_GUESSES - 1):
        token = challenged(ports, actor=from_address(number)).token
        assert refusal_of_code(ports, token, WRONG_CODE, from_address(number)) == INCORRECT
    verify(ports, challenged(ports).token, one_time_code(ports, user.secret))
    token = challenged(ports).token
    assert refusal_of_code(ports, token, WRONG_CODE) == INCORRECT
    assert refusal_of_code(ports, token, WRONG_CODE, from_address(91)) == INCORRECT


def test_fifth_wrong_code_in_a_session_ends_it(ports: Ports) -> None:
    user = make_protected(ports)
    stolen, other = session_of(ports, user), session_of(ports, user)
    for _ in range(MAX_GUESSES):
        assert [session.id for session in stored_sessions(ports)] == [
            stolen.session_id,
            other.session_id,
        ]
        token = ask_for_proof(ports, stolen).token
        assert refusal_of_code(ports, token, WRONG_CODE, stolen) == INCORRECT
    assert [session.id for session in stored_sessions(ports)] == [other.session_id]


def test_refreshing_gives_no_methods_to_a_session(ports: Ports, clock: FakeClock) -> None:
    user = make_protected(ports)
    pair = sign_in(ports, user.id, SessionOrigin.OIDC)
    clock.pass_(seconds=400)
    refreshed = refresh_token(ports, NOBODY, token=pair.refresh)
    assert "amr" not in claims_in(ports, refreshed.access)
    assert identify(ports, visit(refreshed.access)).actor.amr == ()


def test_signed_claim_alone_gives_no_methods(ports: Ports) -> None:
    """Tokens tell the methods; what counts is in the session's row."""
    user = make_protected(ports)
    pair = sign_in(ports, user.id, amr=("pwd", "otp", "mfa"))
    assert identify(ports, visit(pair.access)).actor.amr == ("pwd", "otp", "mfa")
    with ports.database.transaction() as session:
        for stored in stored_sessions(ports):
            session.merge(stored).amr = ""
    assert identify(ports, visit(pair.access)).actor.amr == ()


def test_emailed_links_and_password_changes_open_no_session_without_the_code(ports: Ports) -> None:
    user = make_protected(ports)
    for purpose in (LinkPurpose.SET_PASSWORD, LinkPurpose.INVITATION):
        link = link_for(ports, user.id, purpose)
        with pytest.raises(SecondFactorRequired):
            set_password(ports, NOBODY, email=EMAIL, password=NEW, token=link)
        assert stored_sessions(ports) == []


def test_changed_password_ends_unfinished_sign_ins(ports: Ports) -> None:
    user = make_protected(ports)
    thief = challenged(ports)
    owner = session_of(ports, user)
    change_password(ports, owner, old_password=PASSWORD, new_password=NEW)
    code = one_time_code(ports, user.secret)
    assert refusal_of_code(ports, thief.token, code) == ENDED
    verify(ports, challenged(ports, password=NEW).token, code)


@pytest.mark.both_databases
def test_wrong_password_is_answered_alike_with_and_without_a_factor(ports: Ports) -> None:
    """Refused before the account's factors are read: same statements, same work, same words."""
    make_protected(ports)
    make_user(ports, OTHER)
    hasher = ports.passwords
    assert isinstance(hasher, FakeHasher)
    log_in(ports, OTHER)  # what a process reads once isn't counted
    seen = []
    for number, email in enumerate((EMAIL, OTHER)):
        before = hasher.verifications
        with recorded_statements() as statements, pytest.raises(Refused) as refused:
            log_in(ports, email, "wrong", from_address(number))
        assert not any(table in " ".join(statements) for table in FACTOR_TABLES)
        work = (len(statements), hasher.verifications - before)
        seen.append((refused.value.problems, type(refused.value), work))
    assert seen[0] == seen[1]
    assert stored_challenges(ports) == []


def test_extension_token_neither_asks_nor_answers(ports: Ports) -> None:
    user = make_protected(ports)
    actor = session_of(ports, user)
    extension = replace(actor, app_id=1)
    with pytest.raises(PermissionDenied):
        ask_for_proof(ports, extension)
    challenge = ask_for_proof(ports, actor)
    code = one_time_code(ports, user.secret)
    assert refusal_of_code(ports, challenge.token, code, extension) == ENDED
