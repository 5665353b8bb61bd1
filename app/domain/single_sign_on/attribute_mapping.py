"""The attribute mapping preview: account, staff status and permissions from a token."""

from dataclasses import dataclass
from enum import StrEnum

from app.domain.authorization.permissions import Permission
from app.domain.single_sign_on.provider_users import ExternalPerson


class MappedKind(StrEnum):
    """The kind of token that a pasted text was read as."""

    ACCESS = "access token"
    ID = "ID token"
    OPAQUE = "opaque access token"


class MappedTo(StrEnum):
    """What happens to the person's account."""

    KNOWN = "known"
    LINKED = "linked"
    MADE = "made"
    NOBODY = "nobody"


@dataclass(frozen=True, slots=True)
class MappingPreview:
    """The result of a preview; nothing has changed.

    ``reason`` is why sign-in would be refused. ``person`` is the provider's, ``user_id`` and
    ``email`` the account's (no id for a new one). ``permissions`` are the effective ones: the
    provider's if it rules them (``provider_rules``), else those kept here; ``None`` if this token
    doesn't contain them, or (``rights_hidden``) if the caller can't see them. ``groups`` are the
    account's, ``joins`` the group it would be added to.
    """

    kind: MappedKind
    outcome: MappedTo
    reason: str = ""
    person: ExternalPerson | None = None
    user_id: int | None = None
    email: str = ""
    name: str = ""
    is_staff: bool = False
    becomes_staff: bool = False
    provider_rules: bool = False
    permissions: tuple[Permission, ...] | None = ()
    rights_hidden: bool = False
    groups: tuple[str, ...] = ()
    joins: str = ""
