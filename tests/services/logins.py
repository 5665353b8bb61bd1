"""Signing in as the tests do it, and what it was refused for."""

import pytest
from sqlalchemy import select

from app.domain.authorization.actor import Actor
from app.domain.values.errors import Problem, Refused
from app.models import SessionRecord
from app.ports import Ports
from app.services.sign_in.password_login import create_token
from app.services.sign_in.sessions import TokenPair
from tests.builders.people import ADDRESS, NOBODY, PASSWORD

EMAIL = "customer@example.com"
OTHER = "other@example.com"
GHOST = "nobody@example.com"
WRONG = "wrong"


def log_in(
    ports: Ports,
    email: str | None = EMAIL,
    password: str | None = PASSWORD,
    actor: Actor = NOBODY,
) -> TokenPair:
    return create_token(ports, actor, email=email, password=password)


def problems_of(
    ports: Ports,
    email: str | None = EMAIL,
    password: str | None = PASSWORD,
    actor: Actor = NOBODY,
) -> tuple[Problem, ...]:
    """What a login is refused for."""
    with pytest.raises(Refused) as refused:
        log_in(ports, email, password, actor)
    return refused.value.problems


def refusal_of(
    ports: Ports,
    email: str | None = EMAIL,
    password: str | None = PASSWORD,
    actor: Actor = NOBODY,
) -> tuple[str | None, str]:
    """Field and code of the one problem that a login is refused for."""
    [problem] = problems_of(ports, email, password, actor)
    return problem.field, problem.code


def code_of(
    ports: Ports, email: str = EMAIL, password: str = PASSWORD, actor: Actor = NOBODY
) -> str | None:
    """The code that a login is refused with, ``None`` when it is not refused."""
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
    """N and k of the contract's arithmetic, as they stand."""
    found = ports.throttle.find(ADDRESS, ports.clock.timestamp())
    return (0, 0) if found is None else (found.known_failures, found.failures)


def stored_sessions(ports: Ports) -> list[SessionRecord]:
    with ports.database.reading() as session:
        return list(session.scalars(select(SessionRecord).order_by(SessionRecord.id)))
