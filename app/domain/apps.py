"""Apps: integrations with permissions of their own, and the tokens that they come in by."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from app.domain.permissions import Permission


class AppType(StrEnum):
    """``LOCAL`` was created here, ``THIRDPARTY`` installed from its manifest."""

    LOCAL = "LOCAL"
    THIRDPARTY = "THIRDPARTY"


@dataclass(frozen=True, slots=True)
class App:
    """An app and what it may do."""

    id: int
    name: str
    identifier: str
    type: AppType
    is_active: bool
    created_at: datetime
    permissions: frozenset[Permission]


@dataclass(frozen=True, slots=True)
class AppToken:
    """What may be told of an app's token; ``expires_at`` is ``None`` for one without end."""

    id: int
    app_id: int
    name: str
    last_four: str
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None


@dataclass(frozen=True, slots=True)
class NewAppToken:
    """A token that has just been made; ``secret`` is told now and never again."""

    token: AppToken
    secret: str = field(repr=False)
