"""Emails whose domain was stored in Punycode get the spelling that is looked up.

Where an account has that spelling already, both stay as they are: each signs in by its own, and
`flask doctor` reports them.
"""

import logging

import sqlalchemy as sa
from alembic import op

from app.domain.accounts.emails import normalize_email
from app.domain.accounts.search import words_of

revision = "0055_email_spellings"
down_revision = "0054_form_answers"

_LOG = logging.getLogger("alembic.runtime.migration")


def upgrade() -> None:
    connection = op.get_bind()
    columns = ("id", "email", "first_name", "last_name", "is_staff")
    users = sa.table("users", *(sa.column(name) for name in columns))
    encoded = sa.select(*users.c).where(users.c.email.like("%@%xn--%")).order_by(users.c.id)
    twins = 0
    for user in connection.execute(encoded).all():
        email = normalize_email(user.email)
        if email == user.email:
            continue
        if connection.scalar(sa.select(users.c.id).where(users.c.email == email)) is not None:
            twins += 1
            continue
        connection.execute(users.update().where(users.c.id == user.id).values(email=email))
        _replace_words(connection, user, email)
    if twins:
        _LOG.warning("%s emails have two accounts, in two spellings. See: flask doctor", twins)


def downgrade() -> None:
    """Both spellings are valid emails, so they stay."""


def _replace_words(
    connection: sa.Connection, user: sa.Row[tuple[object, ...]], email: str
) -> None:
    words = sa.table("user_words", *(sa.column(name) for name in ("user_id", "word", "is_staff")))
    connection.execute(words.delete().where(words.c.user_id == user.id))
    found = words_of(email, user.first_name, user.last_name)
    connection.execute(
        sa.insert(words),
        [{"user_id": user.id, "word": word, "is_staff": bool(user.is_staff)} for word in found],
    )
