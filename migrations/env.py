"""Runs migrations on the connection that ``app.adapters.database.migrations`` hands over."""

from alembic import context

from app.models.record import RETIRED_COLUMNS, UtcDateTime, complete_metadata


def render_item(kind: str, item: object, _context: object) -> str | bool:
    """Write our own column type by what it is in the database."""
    if kind == "type" and isinstance(item, UtcDateTime):
        return "sa.DateTime(timezone=True)"
    return False


def is_compared(item: object, name: str | None, kind: str, *_sides: object) -> bool:
    """Leave alone what is kept for the previous release."""
    table = getattr(getattr(item, "table", None), "name", None)
    return not (kind == "column" and (table, name) in RETIRED_COLUMNS)


attributes = context.config.attributes
context.configure(
    connection=attributes["connection"],
    target_metadata=complete_metadata(),
    render_as_batch=True,
    compare_type=True,
    include_object=is_compared,
    render_item=render_item,
    # What one migration locks is free again before the next begins, unless the connection is in a
    # transaction already.
    transaction_per_migration=True,
    on_version_apply=attributes.get("on_version_apply"),
)
with context.begin_transaction():
    context.run_migrations()
