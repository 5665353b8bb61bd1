"""Permissions as a provider grants them: scopes of the form ``<shop>:manage_products``.

Contract, "Single sign-on".
"""

from collections.abc import Iterable
from dataclasses import dataclass

from app.domain.authorization.permissions import Permission, in_order


def scope_of(permission: Permission, shop: str) -> str:
    """Return the scope of ``permission``: ``<shop>:manage_products``."""
    return f"{shop}:{permission.value.lower()}"


def staff_scope(shop: str) -> str:
    """Return the scope of staff without permissions."""
    return f"{shop}:staff"


@dataclass(frozen=True, slots=True)
class ScopeGrant:
    """The rights that a provider granted; they are the effective ones where it rules."""

    permissions: frozenset[Permission] = frozenset()
    is_staff: bool = False

    def within(self, other: "ScopeGrant") -> "ScopeGrant":
        """As much of this grant as ``other`` holds, too."""
        common = self.permissions & other.permissions
        return ScopeGrant(common, self.is_staff and other.is_staff)


_STAFF = "STAFF"


def granted_scopes(scope: object, permissions: object, shop: str) -> ScopeGrant:
    """Return what the claims ``scope`` and ``permissions`` of an access token grant.

    ``permissions`` counts only if ``scope`` contains no permission; the two are never merged
    (contract, "Single sign-on"). Anyone with a permission is staff, or with the scope
    ``<shop>:staff``.
    """
    scoped, listed = scope_words(scope), scope_words(permissions)
    found = _known(scoped, shop) or _known(listed, shop)
    return ScopeGrant(found, bool(found) or staff_scope(shop) in (*scoped, *listed))


def write_grant(grant: ScopeGrant | None) -> str | None:
    """``grant`` as it is stored with a session."""
    if grant is None:
        return None
    staff = [_STAFF] if grant.is_staff else []
    return " ".join([*staff, *(permission.value for permission in in_order(grant.permissions))])


def read_grant(stored: object) -> ScopeGrant | None:
    """The grant that was stored so; permissions of another version count as none."""
    if stored is None:
        return None
    words = str(stored).split()
    permissions = frozenset(_BY_VALUE[word] for word in words if word in _BY_VALUE)
    return ScopeGrant(permissions, _STAFF in words)


_BY_VALUE = {permission.value: permission for permission in Permission}


def _known(words: Iterable[str], shop: str) -> frozenset[Permission]:
    by_scope = {scope_of(permission, shop): permission for permission in Permission}
    return frozenset(by_scope[word] for word in words if word in by_scope)


def scope_words(value: object) -> tuple[str, ...]:
    """``value``, a claim with scopes, as words: a text with blanks between, or a list of texts."""
    if isinstance(value, str):
        return tuple(value.split(" "))
    if isinstance(value, (list, tuple)):
        return tuple(word for word in value if isinstance(word, str))
    return ()
