"""The areas of the shop that permissions are listed under."""

from collections.abc import Mapping

from app.domain.authorization.permissions import Permission
from app.domain.values.text import translatable

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
