"""The exchanges that need what is not built yet, by what they wait for; the list only shrinks."""

from collections.abc import Mapping

from tests.spec.exchanges import recorded

_GROUPS = {
    "webhooks": ("webhook",),
}

_NAMES = {
    "the management of staff and customers": (
        "app/extension_token_of_manager_customers",
        "app/extension_token_of_staff_customers",
        "oidc/scope_customers_denied",
        "permission/permissionGroupCreate_anonymous",
        "permission/permissionGroupCreate_app_products",
        "permission/permissionGroupCreate_out_of_scope",
        "permission/users_customers_list_anonymous",
        "permission/users_customers_list_app_noperm",
        "permission/users_customers_list_app_products",
        "permission/users_customers_list_customer",
        "permission/users_customers_list_garbage_token",
        "permission/users_customers_list_staff_noperm",
    ),
}


def waiting() -> Mapping[str, str]:
    """What each exchange that cannot be replayed yet waits for."""
    by_group = {
        exchange.id: reason
        for reason, groups in _GROUPS.items()
        for exchange in recorded().values()
        if exchange.group in groups
    }
    return by_group | {name: reason for reason, names in _NAMES.items() for name in names}
