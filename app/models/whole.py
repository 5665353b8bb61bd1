"""All records at once: for whoever makes their tables, and for whoever writes."""

from functools import cache

from sqlalchemy import MetaData

import app.models
from app.models.record import Record, never_reuse_keys, tell_where


@cache
def map_all() -> None:
    """Map every record that there is."""
    for name in app.models.__all__:
        # One is mapped when it is asked for.
        getattr(app.models, name)


@cache
def complete_metadata() -> MetaData:
    """Every table as the migrations make it."""
    map_all()
    for table in Record.metadata.tables.values():
        never_reuse_keys(table)
        for index in table.indexes:
            tell_where(index)
    return Record.metadata
