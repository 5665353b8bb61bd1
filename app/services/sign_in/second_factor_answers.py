"""Answers to a challenge, and codes: each is counted before it is looked at.

A challenge takes ``MAX_CHALLENGE_FAILURES`` answers, an account ``MAX_GUESSES`` wrong codes in a
row, however many challenges, sessions and IP addresses they come with.
"""

from math import ceil

from sqlalchemy import select

from app.domain.authorization.actor import Actor
from app.domain.mails.mail import MailKind
from app.domain.second_factors import (
    MAX_CHALLENGE_FAILURES,
    AuthenticationMethod,
    ChallengePurpose,
    digest_of_challenge,
)
from app.domain.sign_in.login_throttle import MAX_GUESSES
from app.domain.values.errors import Problem, Refused
from app.models import SecondFactorChallengeRecord
from app.ports import Ports
from app.ports.database import Subject, SubjectKind
from app.ports.throttle import ThrottleUnavailable
from app.services.authorization.register import part
from app.services.outbox.security_notices import notify
from app.services.second_factors.challenges import CHALLENGE_ENDED, count_answer
from app.services.second_factors.code_checks import check_code
from app.services.sign_in.login_attempts import UNCOUNTABLE


class WrongAnswer(Refused):
    """The code or passkey isn't right (INVALID_SECOND_FACTOR).

    ``is_last_guess``: the account's codes can't be guessed further for now.
    """

    def __init__(self, problem: Problem, *, is_last_guess: bool = False) -> None:
        super().__init__(problem)
        self.is_last_guess = is_last_guess


@part
def find_challenge(
    ports: Ports, actor: Actor, token: str, *purposes: ChallengePurpose, in_console: bool = False
) -> SecondFactorChallengeRecord:
    """Return the challenge of ``token`` if it can be answered here by ``actor``.

    Refuses CHALLENGE_ENDED for one that is unknown or over, is for another purpose, belongs to the
    other side of console and API, or to another session than the actor's own.
    """
    stored = SecondFactorChallengeRecord
    with ports.database.reading() as session:
        found: SecondFactorChallengeRecord | None = session.scalar(
            select(stored).where(
                stored.digest == digest_of_challenge(token),
                stored.purpose.in_([purpose.value for purpose in purposes]),
                stored.in_console.is_(in_console),
                stored.expires_at > ports.clock.now(),
                stored.failures < MAX_CHALLENGE_FAILURES,
            )
        )
    if found is None or not _can_answer(actor, found):
        raise Refused(CHALLENGE_ENDED)
    return found


@part
def answer_with_code(
    ports: Ports, actor: Actor, found: SecondFactorChallengeRecord, token: str, code: str
) -> AuthenticationMethod:
    """Return the method of a right ``code`` of the challenge's account; raises as ``use_code``.

    Never inside a transaction, and once per request.
    """
    if found.user_id is None:
        raise Refused(CHALLENGE_ENDED)  # a passkey alone says who it is
    return use_code(ports, actor, found.user_id, code, challenge=(found, token))


@part
def use_code(
    ports: Ports,
    actor: Actor,
    user_id: int,
    code: str,
    *,
    challenge: tuple[SecondFactorChallengeRecord, str] | None = None,
) -> AuthenticationMethod:
    """Use up a code of the account's authenticator app, or a recovery code.

    Raises ``WrongAnswer`` on ``code``; refuses LOGIN_ATTEMPT_DELAYED for an hour after
    ``MAX_GUESSES`` wrong ones in a row, of which the owner gets a mail. The count goes on until
    ``reset_guesses``: a right password doesn't reset it. Never inside a transaction.
    """
    try:
        number = count_code(ports, user_id)
        try:
            left = MAX_GUESSES - number
            if challenge is not None:
                left = min(
                    left, MAX_CHALLENGE_FAILURES - count_stored_answer(ports, *challenge).failures
                )
            used = check_code(ports, actor, user_id, code)
        except Exception:
            ports.throttle.undo_guess(user_id)  # nothing was compared
            raise
    except ThrottleUnavailable as error:
        raise Refused(UNCOUNTABLE) from error
    if used is None:
        is_last_guess = number >= MAX_GUESSES
        if is_last_guess:
            with ports.database.transaction() as session:
                notify(ports, actor, session, user_id, MailKind.INCORRECT_CODES)
        raise WrongAnswer(_wrong_code(left), is_last_guess=is_last_guess)
    return AuthenticationMethod.ONE_TIME_CODE


@part
def count_stored_answer(
    ports: Ports, found: SecondFactorChallengeRecord, token: str
) -> SecondFactorChallengeRecord:
    """Count an answer in a transaction, before it is looked at."""
    with ports.database.transaction(Subject(SubjectKind.SESSION, found.id)) as session:
        return count_answer(ports, session, ChallengePurpose(found.purpose), token)


@part
def count_code(ports: Ports, user_id: int) -> int:
    """Count a guess at the codes of an account, and return the number of guesses in a row.

    Refuses LOGIN_ATTEMPT_DELAYED after ``MAX_GUESSES``.
    """
    guess = ports.throttle.guess(user_id, ports.throttle.timestamp(ports.shared_clock))
    if guess.number:
        return guess.number
    raise Refused(
        Problem(
            "LOGIN_ATTEMPT_DELAYED",
            "Too many incorrect codes. Try again in {count} minute.",
            plural="Too many incorrect codes. Try again in {count} minutes.",
            values={"count": ceil(guess.wait / 60)},
        )
    )


def _can_answer(actor: Actor, found: SecondFactorChallengeRecord) -> bool:
    """Whether a challenge of a session comes back in that session, from its owner."""
    if found.session_id is None:
        return True
    return actor.is_account_owner and actor.session_id == found.session_id


def _wrong_code(left: int) -> Problem:
    if left <= 0:
        return Problem("INVALID_SECOND_FACTOR", "Incorrect code. No attempts are left.", "code")
    return Problem(
        "INVALID_SECOND_FACTOR",
        "Incorrect code. {count} attempt left.",
        "code",
        plural="Incorrect code. {count} attempts left.",
        values={"count": left},
    )
