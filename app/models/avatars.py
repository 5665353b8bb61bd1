"""The pictures that people show of themselves, as we encoded them."""

from sqlalchemy import ForeignKey, LargeBinary, String
from sqlalchemy.orm import Mapped, mapped_column

from app.models.record import Record


class AvatarRecord(Record):
    """One size of the avatar ``name``, which is random; deleted with its user.

    In the database rather than in a folder: every process on every machine serves it, and it
    changes in the transaction of its user.
    """

    __tablename__ = "avatars"

    name: Mapped[str] = mapped_column(String(64), primary_key=True)
    size: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    data: Mapped[bytes] = mapped_column(LargeBinary)
