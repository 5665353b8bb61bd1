"""Dashboard extensions of apps."""

from sqlalchemy import ForeignKey, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.models.record import BigKey, Record, partial_index


class AppExtensionRecord(Record):
    """One entry that an app adds: where (``mount``), how (``target``), and for holders of what.

    ``permissions`` are joined by commas; ``settings`` are the dashboard's business.
    """

    __tablename__ = "app_extensions"
    __table_args__ = (
        partial_index(
            "uq_app_extensions_identifier",
            "app_id",
            "identifier",
            unique=True,
            where="identifier <> ''",
        ),
    )

    id: Mapped[int] = mapped_column(BigKey, primary_key=True)
    app_id: Mapped[int] = mapped_column(ForeignKey("apps.id", ondelete="CASCADE"), index=True)
    label: Mapped[str] = mapped_column(String(256))
    url: Mapped[str] = mapped_column(String(2048))
    mount: Mapped[str] = mapped_column(String(256), index=True)
    target: Mapped[str] = mapped_column(String(256))
    identifier: Mapped[str] = mapped_column(String(256), default="", server_default="")
    permissions: Mapped[str] = mapped_column(Text, default="", server_default="")
    settings: Mapped[dict[str, object]]
