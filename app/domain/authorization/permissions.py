"""The permissions, and the names of the kinds of callers that some operations require."""

from enum import StrEnum

from app.domain.values.text import translatable


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
        return _LABELS[self]


_LABELS = {
    Permission.MANAGE_USERS: translatable("Manage users"),
    Permission.MANAGE_STAFF: translatable("Manage staff"),
    Permission.IMPERSONATE_USER: translatable("Impersonate user"),
    Permission.MANAGE_APPS: translatable("Manage apps"),
    Permission.MANAGE_OBSERVABILITY: translatable("Manage observability"),
    Permission.MANAGE_CHECKOUTS: translatable("Manage checkouts"),
    Permission.HANDLE_CHECKOUTS: translatable("Handle checkouts"),
    Permission.HANDLE_TAXES: translatable("Handle taxes"),
    Permission.MANAGE_TAXES: translatable("Manage taxes"),
    Permission.MANAGE_CHANNELS: translatable("Manage channels"),
    Permission.MANAGE_CUSTOMER_TYPES_AND_ATTRIBUTES: translatable(
        "Manage customer types and attributes"
    ),
    Permission.MANAGE_DISCOUNTS: translatable("Manage discounts"),
    Permission.MANAGE_GIFT_CARD: translatable("Manage gift card"),
    Permission.MANAGE_MENUS: translatable("Manage menus"),
    Permission.MANAGE_ORDERS: translatable("Manage orders"),
    Permission.MANAGE_ORDERS_IMPORT: translatable("Manage orders import"),
    Permission.MANAGE_PAGES: translatable("Manage pages"),
    Permission.MANAGE_PAGE_TYPES_AND_ATTRIBUTES: translatable("Manage page types and attributes"),
    Permission.HANDLE_PAYMENTS: translatable("Handle payments"),
    Permission.MANAGE_PLUGINS: translatable("Manage plugins"),
    Permission.MANAGE_PRODUCTS: translatable("Manage products"),
    Permission.MANAGE_PRODUCT_TYPES_AND_ATTRIBUTES: translatable(
        "Manage product types and attributes"
    ),
    Permission.MANAGE_SHIPPING: translatable("Manage shipping"),
    Permission.MANAGE_SETTINGS: translatable("Manage settings"),
    Permission.MANAGE_TRANSLATIONS: translatable("Manage translations"),
}

ALL_PERMISSIONS = frozenset(Permission)


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


def known(names: object) -> frozenset[Permission]:
    """The permissions among ``names`` that exist; others (of an older version) count as none."""
    if not isinstance(names, (list, tuple, set, frozenset)):
        return frozenset()
    return frozenset(Permission(name) for name in names if name in _BY_NAME)


def joined_names(permissions: frozenset[Permission]) -> str:
    """``permissions`` as one text, fit to be stored: ``MANAGE_ORDERS,MANAGE_USERS``."""
    return ",".join(sorted(permission.value for permission in permissions))


def split_names(text: str) -> frozenset[Permission]:
    """The permissions in a stored text."""
    return known(text.split(","))


_BY_NAME = frozenset(permission.value for permission in Permission)
