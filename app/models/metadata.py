"""The two columns of records that have metadata."""

from sqlalchemy import JSON
from sqlalchemy.orm import Mapped, mapped_column


class HasMetadata:
    """Public and private metadata: texts by key.

    Neither is loaded with the record, because few who read the record need them: select the
    columns.
    """

    public_metadata: Mapped[dict[str, object]] = mapped_column(
        JSON, default=dict, server_default="{}", deferred=True, deferred_raiseload=True
    )
    private_metadata: Mapped[dict[str, object]] = mapped_column(
        JSON, default=dict, server_default="{}", deferred=True, deferred_raiseload=True
    )
