"""Imports from other installations."""

import sqlalchemy as sa
from alembic import op

revision = "0038_imports"
down_revision = "0037_languages"

_KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_MOMENT = sa.DateTime(timezone=True)

_COLUMNS: list[tuple[str, sa.Column[object]]] = [
    ("users", sa.Column("note", sa.Text(), server_default="", nullable=False)),
    ("users", sa.Column("external_reference", sa.String(length=250))),
    ("app_tokens", sa.Column("imported_hash", sa.String(length=255))),
    (
        "identity_providers",
        sa.Column("scope_prefix", sa.String(length=64), server_default="", nullable=False),
    ),
]


def upgrade() -> None:
    for table, column in _COLUMNS:
        op.add_column(table, column)
    op.create_table(
        "imports",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("source", sa.String(length=1024), nullable=False),
        sa.Column("reserved_ids", _KEY, server_default="0", nullable=False),
        sa.Column("started_at", _MOMENT, nullable=False),
        sa.Column("last_run_at", _MOMENT, nullable=False),
        sa.Column("finished_at", _MOMENT),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_imports")),
        sa.UniqueConstraint("source", name=op.f("uq_imports_source")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "imported_rows",
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("row_id", _KEY, autoincrement=False, nullable=False),
        sa.Column("import_id", _KEY, nullable=False),
        sa.Column("source_digest", sa.String(length=32), nullable=False),
        sa.Column("written_digest", sa.String(length=32), nullable=False),
        sa.ForeignKeyConstraint(
            ["import_id"],
            ["imports.id"],
            name=op.f("fk_imported_rows_import_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("kind", "row_id", name=op.f("pk_imported_rows")),
    )
    op.create_table(
        "imported_passwords",
        sa.Column("user_id", _KEY, autoincrement=False, nullable=False),
        sa.Column("import_id", _KEY, nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("source_digest", sa.String(length=32), nullable=False),
        sa.Column("written_digest", sa.String(length=32), nullable=False),
        sa.Column("replaced_at", _MOMENT),
        sa.ForeignKeyConstraint(
            ["user_id"],
            ["users.id"],
            name=op.f("fk_imported_passwords_user_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["import_id"],
            ["imports.id"],
            name=op.f("fk_imported_passwords_import_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("user_id", name=op.f("pk_imported_passwords")),
    )
    waiting = sa.text("state = 'IMPORTED'")
    op.create_index(
        "ix_imported_passwords_waiting",
        "imported_passwords",
        ["user_id"],
        sqlite_where=waiting,
        postgresql_where=waiting,
    )


def downgrade() -> None:
    for table in ("imported_passwords", "imported_rows", "imports"):
        op.drop_table(table)
    for table, column in _COLUMNS:
        op.drop_column(table, column.name)
