"""What was imported from another installation or a file, and what has become of it since.

Digests are the first 128 bits of SHA-256, in hex.
"""

from datetime import datetime

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from app.models.record import BigKey, Record, deleted_with, partial_index

WAITING = "state = 'IMPORTED'"
"""What the partial index of passwords holds; a query must say it in these very words."""


class Import(Record):
    """A source that was imported once or several times.

    ``kind`` is an ``ImportKind``, ``source`` names the database or file without credentials.
    ``reserved_ids`` is how many IDs above the source's highest are kept free for it until
    ``finished_at``.
    """

    __tablename__ = "imports"

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    kind: Mapped[str] = mapped_column(String(16))
    source: Mapped[str] = mapped_column(String(1024), unique=True)
    reserved_ids: Mapped[int] = mapped_column(BigKey, default=0, server_default="0")
    started_at: Mapped[datetime]
    last_run_at: Mapped[datetime]
    finished_at: Mapped[datetime | None]


class ImportedRow(Record):
    """A row that was imported; it stays when the row itself is deleted.

    ``kind`` names what it is (``user``, ``address``, ``group``, ``app``, ``app_token`` …) and
    ``row_id`` is its primary key, here and at the source. ``source_digest`` is of the row as the
    source last had it, ``written_digest`` of what the import last wrote: another digest today
    means that the row was edited here.
    """

    __tablename__ = "imported_rows"

    kind: Mapped[str] = mapped_column(String(32), primary_key=True)
    row_id: Mapped[int] = mapped_column(BigKey, primary_key=True, autoincrement=False)
    import_id: Mapped[int] = deleted_with("imports.id")
    source_digest: Mapped[str] = mapped_column(String(32))
    written_digest: Mapped[str] = mapped_column(String(32))


class ImportedPassword(Record):
    """The imported password of a user; ``state`` is an ``ImportedPasswordState``.

    ``written_digest`` is of the hash as the import wrote it or as a sign-in replaced it, so a user
    with another hash has set another password since. ``replaced_at`` is when a sign-in replaced
    the imported hash with an argon2id hash.
    """

    __tablename__ = "imported_passwords"
    __table_args__ = (partial_index("ix_imported_passwords_waiting", "user_id", where=WAITING),)

    user_id: Mapped[int] = deleted_with("users.id", primary_key=True, autoincrement=False)
    import_id: Mapped[int] = deleted_with("imports.id")
    state: Mapped[str] = mapped_column(String(16))
    source_digest: Mapped[str] = mapped_column(String(32))
    written_digest: Mapped[str] = mapped_column(String(32))
    replaced_at: Mapped[datetime | None]
