"""The statements that docs/operations/sizing.md gives for large tables."""

import psycopg

from tests.servers.run import ROOT


def test_documented_statements_let_autovacuum_begin_earlier(postgresql_url: str) -> None:
    statements = (ROOT / "deploy" / "autovacuum.sql").read_text()
    with psycopg.connect(postgresql_url) as connection:
        connection.execute(statements.encode())
        changed = connection.execute(
            "SELECT relname, reloptions FROM pg_class"
            " WHERE relkind = 'r' AND reloptions IS NOT NULL ORDER BY relname"
        ).fetchall()
        connection.rollback()
    options = ["autovacuum_vacuum_scale_factor=0.02"]
    assert changed == [("deliveries", options), ("outbox_events", options)]
