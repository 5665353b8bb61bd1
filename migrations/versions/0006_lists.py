"""Long lists of people: orders to page by, words to search by; and avatars."""

import sqlalchemy as sa
from alembic import op

from app.domain.accounts.search import words_of

revision = "0006_lists"
down_revision = "0005_apps"

ORDERS = {
    "ix_users_by_age": ["is_staff", "id"],
    "ix_users_by_email": ["is_staff", "email"],
    "ix_users_by_first_name": ["is_staff", "first_name", "last_name", "id"],
    "ix_users_by_last_name": ["is_staff", "last_name", "first_name", "id"],
    "ix_users_by_joining": ["is_staff", "date_joined", "id"],
    "ix_users_by_change": ["is_staff", "updated_at", "id"],
}
AT_ONCE = 5000


def upgrade() -> None:
    op.create_table(
        "user_words",
        sa.Column("user_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column(
            "word",
            sa.String(length=254).with_variant(sa.String(254, collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.Column("is_staff", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_user_words_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("user_id", "word", name=op.f("pk_user_words")),
        sqlite_with_rowid=False,
    )
    find_words(op.get_bind())
    op.create_index("ix_user_words_search", "user_words", ["is_staff", "word", "user_id"])

    for name, columns in ORDERS.items():
        op.create_index(name, "users", columns)

    op.create_table(
        "avatars",
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("size", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("user_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_avatars_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("name", "size", name=op.f("pk_avatars")),
    )
    op.create_index(op.f("ix_avatars_user_id"), "avatars", ["user_id"])


def downgrade() -> None:
    op.drop_index(op.f("ix_avatars_user_id"), "avatars")
    op.drop_table("avatars")

    for name in ORDERS:
        op.drop_index(name, "users")

    op.drop_index("ix_user_words_search", "user_words")
    op.drop_table("user_words")


def find_words(connection: sa.Connection) -> None:
    """The words of everybody who is there already."""
    columns = ("id", "email", "first_name", "last_name", "is_staff")
    users = sa.table("users", *(sa.column(name) for name in columns))
    words = sa.table("user_words", *(sa.column(name) for name in ("user_id", "word", "is_staff")))
    some = sa.select(*users.c).order_by(users.c.id).limit(AT_ONCE)
    last = 0
    while rows := connection.execute(some.where(users.c.id > last)).all():
        found = [
            {"user_id": key, "word": word, "is_staff": bool(is_staff)}
            for key, email, first_name, last_name, is_staff in rows
            for word in words_of(email, first_name, last_name)
        ]
        connection.execute(sa.insert(words), found)
        last = rows[-1].id
