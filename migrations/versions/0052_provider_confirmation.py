"""What waits for confirmation at providers, and the clients whose tokens they accept.

Every provider that is set up counts as confirmed. One without an audience keeps staff rights for
tokens of any client, with a warning.
"""

import sqlalchemy as sa
from alembic import op

revision = "0052_provider_confirmation"
down_revision = "0051_subject_claim"

_PROVIDERS, _IDENTITIES = "identity_providers", "external_identities"


def upgrade() -> None:
    clients = sa.Column("accepted_clients", sa.String(2048), server_default="", nullable=False)
    op.add_column(_PROVIDERS, clients)
    op.add_column(
        _PROVIDERS,
        sa.Column(
            "serves_staff_of_any_client", sa.Boolean(), server_default=sa.false(), nullable=False
        ),
    )
    waiting = sa.Column("waiting_changes", sa.Text(), server_default="", nullable=False)
    op.add_column(_PROVIDERS, waiting)
    version = sa.Column("trust_version", sa.Integer(), server_default="0", nullable=False)
    op.add_column(_PROVIDERS, version)
    valid_after = sa.Column("tokens_valid_after", sa.Double(), server_default="0", nullable=False)
    op.add_column(_PROVIDERS, valid_after)
    mark = sa.Column("waiting_mark", sa.String(64), server_default="", nullable=False)
    op.add_column(_IDENTITIES, mark)
    provider = sa.table(
        _PROVIDERS,
        sa.column("serves_staff_of_any_client", sa.Boolean()),
        *(sa.column(name) for name in ("audience", "json_web_key_set_url", "user_info_url")),
    )
    op.execute(
        provider.update()
        .where(
            provider.c.audience == "",
            provider.c.json_web_key_set_url != "",
            provider.c.user_info_url != "",
        )
        .values(serves_staff_of_any_client=sa.true())
    )


def downgrade() -> None:
    op.drop_column(_IDENTITIES, "waiting_mark")
    for name in (
        "tokens_valid_after",
        "trust_version",
        "waiting_changes",
        "serves_staff_of_any_client",
        "accepted_clients",
    ):
        op.drop_column(_PROVIDERS, name)
