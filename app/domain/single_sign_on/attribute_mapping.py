"""What a provider's token would make of its bearer: who, staff or not, with which rights."""

from dataclasses import dataclass
from enum import StrEnum

from app.domain.authorization.permissions import Permission
from app.domain.single_sign_on.provider_users import ExternalPerson


class MappedKind(StrEnum):
    """What a pasted text was read as."""

    ACCESS = "access token"
    ID = "ID token"
    OPAQUE = "opaque access token"


class MappedTo(StrEnum):
    """What becomes of whoever comes in with it."""

    KNOWN = "known"
    LINKED = "linked"
    MADE = "made"
    NOBODY = "nobody"


@dataclass(frozen=True, slots=True)
class MappingPreview:
    """What would happen; nothing has.

    ``reason`` is why nobody is let in. ``person`` is who the provider tells of, ``user_id`` and
    ``email`` the account here (no id for one that would be made). ``permissions`` are those that
    count afterwards: the provider's where it rules (``provider_rules``), else those kept here;
    ``None`` where this token does not tell them, or (``rights_hidden``) where the caller may not
    see them. ``groups`` are those of the account, ``joins`` the group it would be put into.
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
