"""How many processes the database can take."""

from dataclasses import replace

import psycopg
import pytest

from app.domain.authorization.actor import OPERATOR
from app.ports import Ports
from app.services.operations.health_checks import Capacity, database_capacity


def limit(url: str, connections: int) -> None:
    """Let the database accept ``connections`` (-1: as many as the server)."""
    with psycopg.connect(url, autocommit=True) as connection:
        name = connection.info.dbname
        connection.execute(f"ALTER DATABASE {name} CONNECTION LIMIT {connections}".encode())


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_least_of_the_limits_counts(ports: Ports, database_url: str) -> None:
    assert database_capacity(ports, OPERATOR) == Capacity(per_process=16, accepted=295)
    limit(database_url, 40)
    try:
        capacity = database_capacity(ports, OPERATOR)
    finally:
        limit(database_url, -1)
    assert capacity == Capacity(per_process=16, accepted=40)
    assert capacity.processes == 2


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_pooler_has_no_limit_of_this_kind(ports: Ports) -> None:
    configuration = replace(ports.configuration, database_transaction_pooling=True)
    assert database_capacity(replace(ports, configuration=configuration), OPERATOR) is None


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_sqlite_has_no_limit(ports: Ports) -> None:
    assert database_capacity(ports, OPERATOR) is None
