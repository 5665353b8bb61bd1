"""Runs migrations on the connection that ``app.adapters.migrations`` hands over."""

from alembic import context

from app.models.record import UtcDateTime, complete_metadata


def render_item(kind: str, item: object, _context: object) -> str | bool:
    """Write our own column type by what it is in the database."""
    if kind == "type" and isinstance(item, UtcDateTime):
        return "sa.DateTime(timezone=True)"
    return False


context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=complete_metadata(),
    render_as_batch=True,
    compare_type=True,
    render_item=render_item,
)
with context.begin_transaction():
    context.run_migrations()
