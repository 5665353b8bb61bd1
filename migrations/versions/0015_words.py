"""Apps and webhooks are found by words; sessions, app permissions and retries by indexes."""

from urllib.parse import urlsplit

import sqlalchemy as sa
from alembic import op

from app.domain.accounts.search import words_in

revision = "0015_words"
down_revision = "0014_worker_pulse"

AT_ONCE = 5000
_RETRIED = sa.text("status = 'SUCCESS' AND attempts > 1")
_TABLES = {"app_words": ("app_id", "apps"), "webhook_words": ("webhook_id", "webhooks")}


def upgrade() -> None:
    for table, (key, other) in _TABLES.items():
        op.create_table(
            table,
            sa.Column(key, sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
            sa.Column(
                "word",
                sa.String(length=254).with_variant(sa.String(254, collation="C"), "postgresql"),
                nullable=False,
            ),
            sa.ForeignKeyConstraint(
                [key], [f"{other}.id"], name=op.f(f"fk_{table}_{key}"), ondelete="CASCADE"
            ),
            sa.PrimaryKeyConstraint(key, "word", name=op.f(f"pk_{table}")),
            sqlite_with_rowid=False,
        )
    find_words(op.get_bind(), "apps", "identifier")
    find_words(op.get_bind(), "webhooks", "target_url")
    for table, (key, _) in _TABLES.items():
        op.create_index(f"ix_{table}_search", table, ["word", key])

    op.create_index("ix_sessions_by_user", "sessions", ["user_id", "origin", "expires_at"])
    op.drop_index("ix_sessions_user_id", "sessions")
    op.create_index("ix_app_permissions_permission", "app_permissions", ["permission", "app_id"])
    op.create_index(
        "ix_deliveries_retried",
        "deliveries",
        ["created_at"],
        sqlite_where=_RETRIED,
        postgresql_where=_RETRIED,
    )


def downgrade() -> None:
    op.drop_index("ix_deliveries_retried", "deliveries")
    op.drop_index("ix_app_permissions_permission", "app_permissions")
    op.create_index("ix_sessions_user_id", "sessions", ["user_id"])
    op.drop_index("ix_sessions_by_user", "sessions")
    for table in _TABLES:
        op.drop_table(table)


def find_words(connection: sa.Connection, table: str, other: str) -> None:
    """The words of what is there already."""
    things = sa.table(table, sa.column("id"), sa.column("name"), sa.column(other))
    key = f"{table[:-1]}_id"
    words = sa.table(f"{table[:-1]}_words", sa.column(key), sa.column("word"))
    some = sa.select(*things.c).order_by(things.c.id).limit(AT_ONCE)
    last = 0
    while rows := connection.execute(some.where(things.c.id > last)).all():
        found = [
            {key: number, "word": word}
            for number, name, more in rows
            for word in words_in(name, more if other == "identifier" else host_of(more))
        ]
        if found:
            connection.execute(sa.insert(words), found)
        last = rows[-1].id


def host_of(url: str) -> str:
    """The host that a target names; empty where it names none."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
