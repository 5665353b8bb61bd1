"""Answers to deliveries that carried a link are forgotten: an endpoint may have sent it back."""

import sqlalchemy as sa

from app.adapters.database.migrations import change_in_batches

revision = "0022_link_answers"
down_revision = "0021_delivery_searches"

_EVENTS = (
    "ACCOUNT_CONFIRMATION_REQUESTED",
    "ACCOUNT_CHANGE_EMAIL_REQUESTED",
    "ACCOUNT_SET_PASSWORD_REQUESTED",
    "STAFF_SET_PASSWORD_REQUESTED",
)
_NOTE = "(not stored: this event carries a link that gives access to an account)"

_deliveries = sa.table("deliveries", sa.column("id"), sa.column("event"))
_attempts = sa.table(
    "delivery_attempts",
    sa.column("delivery_id"),
    sa.column("response_status"),
    sa.column("response"),
    sa.column("response_headers", sa.JSON),
)


def upgrade() -> None:
    with_link = sa.select(_deliveries.c.id).where(_deliveries.c.event.in_(_EVENTS))
    answered = sa.and_(
        _attempts.c.delivery_id.in_(with_link), _attempts.c.response_status.is_not(None)
    )
    change_in_batches(
        "delivery_attempts",
        lambda rows: (
            sa.update(_attempts).where(rows, answered).values(response=_NOTE, response_headers={})
        ),
    )


def downgrade() -> None:
    """Leave the answers forgotten."""
