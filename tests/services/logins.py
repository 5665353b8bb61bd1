"""Helpers to sign in, and the refusals of a sign-in."""

import pytest
from sqlalchemy import select

from app import models
from app.domain.authorization.actor import Actor
from app.domain.values.errors import Problem, Refused
from app.ports import Ports
from app.services.sign_in.password_login import create_token
from app.services.sign_in.tokens import TokenPair
from tests.builders.people import ADDRESS, NOBODY, PASSWORD

EMAIL = "customer@example.com"
OTHER = "other@example.com"
GHOST = "nobody@example.com"
WRONG = "wrong"


def log_in(
    ports: Ports, email: str | None = EMAIL, password: str | None = PASSWORD, actor: Actor = NOBODY
) -> TokenPair:
    return create_token(ports, actor, email=email, password=password)


def problems_of(
    ports: Ports, email: str | None = EMAIL, password: str | None = PASSWORD, actor: Actor = NOBODY
) -> tuple[Problem, ...]:
    """Return the problems of a refused login."""
    with pytest.raises(Refused) as refused:
        log_in(ports, email, password, actor)
    return refused.value.problems


def refusal_of(
    ports: Ports, email: str | None = EMAIL, password: str | None = PASSWORD, actor: Actor = NOBODY
) -> tuple[str | None, str]:
    """Return field and code of the only problem of a refused login."""
    [problem] = problems_of(ports, email, password, actor)
    return problem.field, problem.code


def code_of(
    ports: Ports, email: str = EMAIL, password: str = PASSWORD, actor: Actor = NOBODY
) -> str | None:
    """Return the code of a refused login, ``None`` for a successful one."""
    try:
        log_in(ports, email, password, actor)
    except Refused as refused:
        [problem] = refused.problems
        return problem.code
    return None


def fail(ports: Ports, email: str = EMAIL) -> None:
    assert code_of(ports, email, WRONG) == "INVALID_CREDENTIALS"


def succeed(ports: Ports, email: str = EMAIL) -> None:
    assert code_of(ports, email) is None


def counted(ports: Ports) -> tuple[int, int]:
    """Return N and k of the contract's throttle arithmetic."""
    found = ports.throttle.find(ADDRESS, ports.clock.timestamp())
    return (0, 0) if found is None else (found.known_failures, found.failures)


def stored_sessions(ports: Ports) -> list[models.Session]:
    with ports.database.reading() as session:
        return list(session.scalars(select(models.Session).order_by(models.Session.id)))
