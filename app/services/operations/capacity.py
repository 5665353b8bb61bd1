"""Whether the database accepts as many connections as this machine's processes can open."""

from dataclasses import dataclass

from sqlalchemy import text

from app.domain.authorization.actor import Actor
from app.ports import Ports
from app.services.authorization.register import internal

# Connections that an ordinary account can open: the least of the limits of the server, the
# database and the account (-1: unlimited). PostgreSQL 15 has no reserved_connections.
_ACCEPTED = text("""
SELECT least(
  current_setting('max_connections')::int
    - current_setting('superuser_reserved_connections')::int
    - coalesce(current_setting('reserved_connections', true)::int, 0),
  (SELECT nullif(datconnlimit, -1) FROM pg_database WHERE datname = current_database()),
  (SELECT nullif(rolconnlimit, -1) FROM pg_roles WHERE rolname = current_user)
)""")


@dataclass(frozen=True, slots=True)
class Capacity:
    """Connections that one process opens at most, and those that the database accepts in all."""

    per_process: int
    accepted: int

    @property
    def processes(self) -> int:
        """How many processes can have all of their connections at the same time."""
        return self.accepted // self.per_process


@internal
def database_capacity(ports: Ports, actor: Actor) -> Capacity | None:
    """Return what the database can take; ``None`` for SQLite and behind a pooler.

    A pooler accepts far more connections than its server, which is what it is for.
    """
    if ports.configuration.database_transaction_pooling:
        return None
    with ports.database.reading() as session:
        if session.get_bind().dialect.name != "postgresql":
            return None
        accepted = session.execute(_ACCEPTED).scalar_one()
    return Capacity(ports.configuration.database_connections, int(accepted))
