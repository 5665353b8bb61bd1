"""Permission groups with their members."""

from dataclasses import dataclass

from app.domain.authorization.permissions import Permission


@dataclass(frozen=True, slots=True)
class PermissionGroup:
    """A group, what its members may do by it, and how many they are."""

    id: int
    name: str
    permissions: frozenset[Permission]
    members: int
