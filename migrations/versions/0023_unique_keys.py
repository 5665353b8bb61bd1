"""Never give a key again: AUTOINCREMENT on every table of SQLite whose rows it numbers.

PostgreSQL does so by itself. SQLite needs each table made anew, which takes about ten seconds for
a million rows, in one transaction. Numbering goes on above every key that is known, also from
rows that are gone: the audit log and deliveries tell of those.
"""

import sqlalchemy as sa
from alembic import op

revision = "0023_unique_keys"
down_revision = "0022_link_answers"

TABLES = (
    "account_links",
    "app_extensions",
    "app_installations",
    "app_tokens",
    "apps",
    "audit",
    "checkout_lines",
    "checkouts",
    "deliveries",
    "delivery_attempts",
    "external_identities",
    "identity_providers",
    "order_lines",
    "orders",
    "outbox_events",
    "outbox_mails",
    "permission_groups",
    "reset_requests",
    "sessions",
    "users",
    "webhooks",
)

_AUDITED = {
    "app_installations": "AppInstallation",
    "app_tokens": "AppToken",
    "apps": "App",
    "deliveries": "EventDelivery",
    "permission_groups": "Group",
    "users": "User",
    "webhooks": "Webhook",
}
"""The audit log's name for what stands in a table."""

_MENTIONED = {
    "apps": "SELECT max(actor_app_id) FROM audit",
    "outbox_events": "SELECT max(note_id) FROM deliveries",
    "users": "SELECT max(actor_user_id) FROM audit",
}


def upgrade() -> None:
    if op.get_bind().dialect.name != "sqlite":
        return
    for table in TABLES:
        _rebuild(table, autoincrement=True)
        _go_on_above(table, _highest_known(table))


def downgrade() -> None:
    if op.get_bind().dialect.name != "sqlite":
        return
    for table in TABLES:
        _rebuild(table, autoincrement=False)


def _rebuild(table: str, *, autoincrement: bool) -> None:
    connection = op.get_bind()
    found = sa.text(
        "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = :table "
        "AND sql IS NOT NULL ORDER BY rowid"
    )
    indexes = connection.execute(found, {"table": table}).all()
    options = {"sqlite_autoincrement": autoincrement}
    with op.batch_alter_table(table, recreate="always", table_kwargs=options):
        pass
    # Of two indexes that serve equally well, SQLite takes the one that was created last.
    for name, statement in indexes:
        op.drop_index(name, table)
        connection.exec_driver_sql(statement)


def _highest_known(table: str) -> int:
    """The highest key that ``table`` has given, as far as anything still tells."""
    audited = sa.text(
        "SELECT max(CAST(subject_id AS INTEGER)) FROM audit WHERE subject_type = :subject"
    )
    keys = [op.get_bind().scalar(audited, {"subject": _AUDITED.get(table)})]
    if table in _MENTIONED:
        keys.append(op.get_bind().scalar(sa.text(_MENTIONED[table])))
    keys.append(op.get_bind().scalar(sa.text(f"SELECT max(id) FROM {table}")))  # noqa: S608
    return max((key for key in keys if key is not None), default=0)


def _go_on_above(table: str, key: int) -> None:
    """Let the next row of ``table`` have a higher key than ``key``."""
    values = {"table": table, "key": key}
    op.get_bind().execute(sa.text("DELETE FROM sqlite_sequence WHERE name = :table"), values)
    insert = "INSERT INTO sqlite_sequence (name, seq) VALUES (:table, :key)"
    op.get_bind().execute(sa.text(insert), values)
