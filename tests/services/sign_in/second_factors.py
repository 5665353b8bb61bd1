"""Accounts with an authenticator app, and their challenges."""

from dataclasses import dataclass

import pytest
from sqlalchemy import select

from app import models
from app.domain.authorization.actor import Actor
from app.domain.second_factors import Challenge
from app.domain.values.errors import Problem, Refused
from app.ports import Ports
from app.services.second_factors.challenges import SecondFactorRequired
from app.services.sign_in.second_factor_sign_in import verify_second_factor
from app.services.sign_in.tokens import TokenPair
from tests.builders.people import NOBODY, PASSWORD, make_user
from tests.builders.second_factors import make_authenticator_app, one_time_code
from tests.services.logins import EMAIL, log_in

WRONG_CODE = "000000"


@dataclass(frozen=True, slots=True)
class Protected:
    """An account with an authenticator app."""

    id: int
    email: str
    secret: str


def make_protected(ports: Ports, email: str = EMAIL, **values: bool) -> Protected:
    user_id = make_user(ports, email, **values)  # type: ignore[arg-type]
    return Protected(user_id, email, make_authenticator_app(ports, user_id))


def challenged(
    ports: Ports, email: str = EMAIL, password: str = PASSWORD, actor: Actor = NOBODY
) -> Challenge:
    """Sign in with the right password; return the challenge."""
    with pytest.raises(SecondFactorRequired) as required:
        log_in(ports, email, password, actor)
    return required.value.challenge


def verify(ports: Ports, challenge: str, code: str, actor: Actor = NOBODY) -> TokenPair:
    return verify_second_factor(ports, actor, challenge=challenge, code=code)


def finish(ports: Ports, user: Protected, actor: Actor = NOBODY) -> TokenPair:
    """Sign in with password and code."""
    challenge = challenged(ports, user.email, actor=actor)
    return verify(ports, challenge.token, one_time_code(ports, user.secret), actor)


def problem_of_code(ports: Ports, challenge: str, code: str, actor: Actor = NOBODY) -> Problem:
    """Return the only problem of a refused code."""
    with pytest.raises(Refused) as refused:
        verify(ports, challenge, code, actor)
    [problem] = refused.value.problems
    return problem


def refusal_of_code(
    ports: Ports, challenge: str, code: str, actor: Actor = NOBODY
) -> tuple[str | None, str]:
    """Return field and code of the only problem of a refused code."""
    problem = problem_of_code(ports, challenge, code, actor)
    return problem.field, problem.code


def stored_challenges(ports: Ports) -> list[models.SecondFactorChallenge]:
    with ports.database.reading() as session:
        found = select(models.SecondFactorChallenge).order_by(models.SecondFactorChallenge.id)
        return list(session.scalars(found))
