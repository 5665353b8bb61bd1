"""Permissions: their names, areas and groups, and the scopes by which providers grant them.

A scope has the form ``<shop>:manage_products`` (contract, "Single sign-on"). Some operations
require a kind of caller instead of a permission; these have names here too.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from app.domain.values.text import Sentence, translatable


class Permission(StrEnum):
    """The permissions of the public interface (``PermissionEnum``)."""

    MANAGE_USERS = "MANAGE_USERS"
    MANAGE_STAFF = "MANAGE_STAFF"
    IMPERSONATE_USER = "IMPERSONATE_USER"
    MANAGE_APPS = "MANAGE_APPS"
    MANAGE_OBSERVABILITY = "MANAGE_OBSERVABILITY"
    MANAGE_CHECKOUTS = "MANAGE_CHECKOUTS"
    HANDLE_CHECKOUTS = "HANDLE_CHECKOUTS"
    HANDLE_TAXES = "HANDLE_TAXES"
    MANAGE_TAXES = "MANAGE_TAXES"
    MANAGE_CHANNELS = "MANAGE_CHANNELS"
    MANAGE_CUSTOMER_TYPES_AND_ATTRIBUTES = "MANAGE_CUSTOMER_TYPES_AND_ATTRIBUTES"
    MANAGE_DISCOUNTS = "MANAGE_DISCOUNTS"
    MANAGE_GIFT_CARD = "MANAGE_GIFT_CARD"
    MANAGE_MENUS = "MANAGE_MENUS"
    MANAGE_ORDERS = "MANAGE_ORDERS"
    MANAGE_ORDERS_IMPORT = "MANAGE_ORDERS_IMPORT"
    MANAGE_PAGES = "MANAGE_PAGES"
    MANAGE_PAGE_TYPES_AND_ATTRIBUTES = "MANAGE_PAGE_TYPES_AND_ATTRIBUTES"
    HANDLE_PAYMENTS = "HANDLE_PAYMENTS"
    MANAGE_PLUGINS = "MANAGE_PLUGINS"
    MANAGE_PRODUCTS = "MANAGE_PRODUCTS"
    MANAGE_PRODUCT_TYPES_AND_ATTRIBUTES = "MANAGE_PRODUCT_TYPES_AND_ATTRIBUTES"
    MANAGE_SHIPPING = "MANAGE_SHIPPING"
    MANAGE_SETTINGS = "MANAGE_SETTINGS"
    MANAGE_TRANSLATIONS = "MANAGE_TRANSLATIONS"

    @property
    def label(self) -> str:
        """The permission in plain words: ``MANAGE_GIFT_CARD`` is "Manage gift card"."""
        return self.value.replace("_", " ").capitalize()

    @property
    def allows(self) -> str:
        """What the permission allows, in a few words."""
        return _ALLOWS[self]


_ALLOWS: Mapping[Permission, Sentence] = {
    Permission.MANAGE_USERS: "Read and edit customers and their addresses",
    Permission.MANAGE_STAFF: "Invite, edit and deactivate staff, edit groups",
    Permission.IMPERSONATE_USER: "Act as a customer",
    Permission.MANAGE_APPS: "Install and edit apps, their tokens and webhooks",
    Permission.MANAGE_OBSERVABILITY: "Receive logs of API calls and webhooks",
    Permission.MANAGE_CHECKOUTS: "Read and edit carts",
    Permission.HANDLE_CHECKOUTS: "Process carts for customers",
    Permission.HANDLE_TAXES: "Calculate the taxes of carts and orders",
    Permission.MANAGE_TAXES: "Edit tax settings",
    Permission.MANAGE_CHANNELS: "Create, edit and delete channels",
    Permission.MANAGE_CUSTOMER_TYPES_AND_ATTRIBUTES: "Define customer types and their attributes",
    Permission.MANAGE_DISCOUNTS: "Create and edit promotions and vouchers",
    Permission.MANAGE_GIFT_CARD: "Issue and edit gift cards",
    Permission.MANAGE_MENUS: "Edit the storefront's menus",
    Permission.MANAGE_ORDERS: "Read and edit orders, fulfill and cancel them",
    Permission.MANAGE_ORDERS_IMPORT: "Import orders from another system",
    Permission.MANAGE_PAGES: "Create and edit content pages",
    Permission.MANAGE_PAGE_TYPES_AND_ATTRIBUTES: "Define page types and their attributes",
    Permission.HANDLE_PAYMENTS: "Process payments and refunds",
    Permission.MANAGE_PLUGINS: "Set up identity providers and plugins",
    Permission.MANAGE_PRODUCTS: "Read and edit products, variants and prices",
    Permission.MANAGE_PRODUCT_TYPES_AND_ATTRIBUTES: "Define product types and their attributes",
    Permission.MANAGE_SHIPPING: "Edit shipping zones, methods and prices",
    Permission.MANAGE_SETTINGS: "Change the shop's settings, access and emails",
    Permission.MANAGE_TRANSLATIONS: "Translate products and content",
}

ALL_PERMISSIONS = frozenset(Permission)

_BY_CHANNEL = frozenset(
    {
        Permission.HANDLE_CHECKOUTS,
        Permission.MANAGE_CHANNELS,
        Permission.MANAGE_CHECKOUTS,
        Permission.MANAGE_ORDERS,
    }
)
"""The permissions that groups can restrict to some channels."""


def held_everywhere(
    permissions: frozenset[Permission], channel_ids: frozenset[int] | None
) -> frozenset[Permission]:
    """Return those of ``permissions`` that hold in all channels, as an app's do.

    ``channel_ids`` are the channels in which they hold, ``None`` for all of them.
    """
    return permissions if channel_ids is None else permissions - _BY_CHANNEL


_ORDER = {
    permission: place
    for place, permission in enumerate(sorted(Permission, key=lambda each: each.value.lower()))
}


def in_order(permissions: frozenset[Permission]) -> tuple[Permission, ...]:
    """``permissions`` by name, as lists of them are always shown."""
    return tuple(sorted(permissions, key=_ORDER.__getitem__))


class Caller(StrEnum):
    """The kinds of caller that an operation may ask for, as ``PermissionDenied`` names them."""

    USER = "AUTHENTICATED_USER"
    STAFF = "AUTHENTICATED_STAFF_USER"
    APP = "AUTHENTICATED_APP"


def known_permissions(names: object) -> frozenset[Permission]:
    """The permissions among ``names`` that exist; others (of an older version) count as none."""
    if not isinstance(names, (list, tuple, set, frozenset)):
        return frozenset()
    return frozenset(_BY_NAME[name] for name in names if name in _BY_NAME)


def joined_names(permissions: frozenset[Permission]) -> str:
    """``permissions`` as one text, fit to be stored: ``MANAGE_ORDERS,MANAGE_USERS``."""
    return ",".join(sorted(permission.value for permission in permissions))


def split_names(text: str) -> frozenset[Permission]:
    """Return the permissions in a stored text."""
    return known_permissions(text.split(","))


_BY_NAME = {permission.value: permission for permission in Permission}

AREAS: Mapping[str, tuple[Permission, ...]] = {
    translatable("Sales"): (
        Permission.MANAGE_ORDERS,
        Permission.MANAGE_ORDERS_IMPORT,
        Permission.MANAGE_CHECKOUTS,
        Permission.HANDLE_CHECKOUTS,
        Permission.HANDLE_PAYMENTS,
        Permission.MANAGE_DISCOUNTS,
        Permission.MANAGE_GIFT_CARD,
        Permission.MANAGE_TAXES,
        Permission.HANDLE_TAXES,
    ),
    translatable("Catalog"): (
        Permission.MANAGE_PRODUCTS,
        Permission.MANAGE_PRODUCT_TYPES_AND_ATTRIBUTES,
        Permission.MANAGE_PAGES,
        Permission.MANAGE_PAGE_TYPES_AND_ATTRIBUTES,
        Permission.MANAGE_MENUS,
    ),
    translatable("Shipping"): (Permission.MANAGE_SHIPPING,),
    translatable("People"): (
        Permission.MANAGE_USERS,
        Permission.MANAGE_CUSTOMER_TYPES_AND_ATTRIBUTES,
        Permission.MANAGE_STAFF,
        Permission.IMPERSONATE_USER,
    ),
    translatable("Shop"): (
        Permission.MANAGE_SETTINGS,
        Permission.MANAGE_CHANNELS,
        Permission.MANAGE_TRANSLATIONS,
        Permission.MANAGE_PLUGINS,
        Permission.MANAGE_APPS,
        Permission.MANAGE_OBSERVABILITY,
    ),
}
"""Every permission, once, by the area it belongs to."""


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
    found = _permissions_of_scopes(scoped, shop) or _permissions_of_scopes(listed, shop)
    return ScopeGrant(found, bool(found) or staff_scope(shop) in (*scoped, *listed))


def write_grant(grant: ScopeGrant | None) -> str | None:
    """``grant`` as it is stored with a session."""
    if grant is None:
        return None
    staff = [_STAFF] if grant.is_staff else []
    return " ".join([*staff, *(permission.value for permission in in_order(grant.permissions))])


def read_grant(stored: object) -> ScopeGrant | None:
    """Return the grant that was stored so; permissions of another version count as none."""
    if stored is None:
        return None
    words = str(stored).split()
    return ScopeGrant(known_permissions(words), _STAFF in words)


def _permissions_of_scopes(words: Iterable[str], shop: str) -> frozenset[Permission]:
    by_scope = {scope_of(permission, shop): permission for permission in Permission}
    return frozenset(by_scope[word] for word in words if word in by_scope)


def scope_words(value: object) -> tuple[str, ...]:
    """``value``, a claim with scopes, as words: a text with blanks between, or a list of texts."""
    if isinstance(value, str):
        return tuple(value.split(" "))
    if isinstance(value, (list, tuple)):
        return tuple(word for word in value if isinstance(word, str))
    return ()


@dataclass(frozen=True, slots=True)
class PermissionGroup:
    """A group, what its members can do by it, and how many they are.

    ``channel_ids`` are the channels they have access to, ``None`` for all of them.
    """

    id: int
    name: str
    permissions: frozenset[Permission]
    members: int
    channel_ids: frozenset[int] | None = None
