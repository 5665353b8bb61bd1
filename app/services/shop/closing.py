"""What a closed storefront says: why, since when, and until when."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement

from app.models import ShopRecord
from app.ports import NamedRow
from app.services.authorization.register import part


@dataclass(frozen=True, slots=True)
class Closing:
    """A closed storefront; ``closed_at`` is ``None`` if it was closed by an older version.

    ``opens_at`` is when it opens by itself, ``None`` for never.
    """

    note: str
    closed_at: datetime | None
    opens_at: datetime | None


@part
def closing_columns() -> tuple[ColumnElement[Any], ...]:
    """Return the columns of the shop that ``read_closing`` reads."""
    return (
        ShopRecord.allow_storefront_traffic.label("storefront"),
        ShopRecord.storefront_note.label("closing_note"),
        ShopRecord.storefront_closed_at.label("closed_at"),
        ShopRecord.storefront_opens_at.label("opens_at"),
    )


@part
def read_closing(row: NamedRow) -> Closing | None:
    """Return the closing in a row that has ``closing_columns``; ``None`` while open."""
    if row.storefront:
        return None
    return Closing(row.closing_note, row.closed_at, row.opens_at)
