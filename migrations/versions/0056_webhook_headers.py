"""Encrypt the values of webhooks' custom headers."""

from collections.abc import Callable

import sqlalchemy as sa
from alembic import op

revision = "0056_webhook_headers"
down_revision = "0055_email_spellings"

# Servers of the previous release would send encrypted values.
contract = True

_PURPOSE = "webhook header"
_webhooks = sa.table(
    "webhooks", sa.column("id", sa.BigInteger()), sa.column("custom_headers", sa.JSON())
)


def upgrade() -> None:
    rows = op.get_bind().execute(sa.select(_webhooks).with_for_update()).all()
    for key, headers in rows:
        plain = {name: value for name, value in headers.items() if not isinstance(value, dict)}
        if plain:
            _write(key, headers | {name: _encrypted(value) for name, value in plain.items()})


def _encrypted(value: object) -> dict[str, str]:
    config = op.get_context().config
    if config is None:
        raise RuntimeError("this migration needs the installation's secret key")
    encrypt: Callable[[str, str], str] = config.attributes["encrypt"]
    return {"encrypted": encrypt(_PURPOSE, str(value))}


def _write(key: int, headers: dict[str, object]) -> None:
    op.execute(sa.update(_webhooks).where(_webhooks.c.id == key).values(custom_headers=headers))


def downgrade() -> None:
    """Nothing: what is encrypted stays so."""
