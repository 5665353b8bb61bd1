"""People are found by the words of their addresses."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import sqlalchemy as sa
from alembic import op

from app.domain.accounts.search import ADDRESS_FIELDS, words_of

revision = "0057_address_words"
down_revision = "0056_webhook_headers"

AT_ONCE = 1000
_NAMES = ("email", "first_name", "last_name")
_USERS = sa.table("users", *map(sa.column, ("id", "is_staff", *_NAMES)))
_ADDRESSES = sa.table("addresses", *map(sa.column, ("id", "user_id", *ADDRESS_FIELDS)))
_WORDS = sa.table("user_words", *map(sa.column, ("user_id", "word", "is_staff")))


def upgrade() -> None:
    write_words(with_addresses=True)


def downgrade() -> None:
    write_words(with_addresses=False)


def write_words(*, with_addresses: bool) -> None:
    """The words of everybody who has addresses, anew."""
    connection = op.get_bind()
    owner = _ADDRESSES.c.user_id
    some = sa.select(owner).group_by(owner).order_by(owner).limit(AT_ONCE)
    last = 0
    while keys := connection.scalars(some.where(owner > last)).all():
        addresses = addresses_of(connection, keys) if with_addresses else {}
        rows = [
            {"user_id": user.id, "word": word, "is_staff": bool(user.is_staff)}
            for user in connection.execute(sa.select(_USERS).where(_USERS.c.id.in_(keys)))
            for word in words_of(
                *(getattr(user, name) for name in _NAMES), addresses.get(user.id, ())
            )
        ]
        connection.execute(_WORDS.delete().where(_WORDS.c.user_id.in_(keys)))
        connection.execute(sa.insert(_WORDS), rows)
        last = keys[-1]


def addresses_of(
    connection: sa.Connection, keys: Sequence[int]
) -> Mapping[int, list[Mapping[str, str]]]:
    """The addresses of each, the newest first."""
    found: dict[int, list[Mapping[str, str]]] = defaultdict(list)
    owned = sa.select(_ADDRESSES).where(_ADDRESSES.c.user_id.in_(keys))
    for row in connection.execute(owned.order_by(_ADDRESSES.c.id.desc())):
        found[row.user_id].append({name: getattr(row, name) for name in ADDRESS_FIELDS})
    return found
