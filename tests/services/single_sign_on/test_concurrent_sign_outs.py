"""A session that somebody ends while it is being refreshed: they wait for their turn.

On PostgreSQL alone: SQLite lets nobody else write meanwhile.
"""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from sqlalchemy import delete, event, text
from sqlalchemy.orm import Session

from app import models
from app.domain.values.installation import DatabaseBusy
from app.ports import Ports
from app.services.sign_in.tokens import refresh_token
from app.services.single_sign_on.provider_sessions import refresh_external_session
from tests.builders.people import NOBODY, make_user, sign_in
from tests.servers.own_provider import OwnProvider
from tests.services.provider_logins import PLUGIN
from tests.services.provider_logins import sign_in as sign_in_there


@pytest.fixture
def database_url(postgresql_url: str) -> str:
    return postgresql_url


@pytest.fixture
def ports(ports: Ports) -> Ports:
    configuration = replace(ports.configuration, single_use_refresh_tokens=True)
    return replace(ports, configuration=configuration)


@pytest.fixture
def ending(second_process: Ports) -> Iterator[list[str]]:
    """What comes of ending all sessions, tried whenever a change of one is about to be written."""
    came: list[str] = []

    def end(session: Session, *_rest: object) -> None:
        if not any(isinstance(record, models.Session) for record in session.dirty):
            return
        try:
            with second_process.database.transaction() as other:
                other.execute(text("SET LOCAL lock_timeout = '300ms'"))
                other.execute(delete(models.Session))
        except DatabaseBusy:
            came.append("waited")
        else:
            came.append("ended")

    event.listen(Session, "before_flush", end)
    yield came
    event.remove(Session, "before_flush", end)


def test_ending_a_session_waits_for_its_refresh(ports: Ports, ending: list[str]) -> None:
    pair = sign_in(ports, make_user(ports))
    assert refresh_token(ports, NOBODY, token=pair.refresh).refresh
    assert ending == ["waited"]


def test_ending_a_provider_session_waits_for_its_refresh(
    ports: Ports, provider: OwnProvider, ending: list[str]
) -> None:
    tokens = sign_in_there(ports, provider)
    ending.clear()
    provider.grant("the first", refresh_token="the second")
    assert refresh_external_session(ports, NOBODY, plugin_id=PLUGIN, token=tokens.refresh)
    # Once while it takes its turn, once when it keeps what the provider has answered.
    assert ending == ["waited", "waited"]
