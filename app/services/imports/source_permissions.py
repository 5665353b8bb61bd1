"""Permissions at the platform: their names by ID, and who has them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from app.ports.import_source import ImportSource
from app.services.authorization.register import part


@dataclass(frozen=True, slots=True)
class PermissionLinks:
    """A table that links rows to permissions: its name, and the column of the row's ID."""

    table: str
    column: str


USER_PERMISSIONS = PermissionLinks("account_user_user_permissions", "user_id")
GROUP_PERMISSIONS = PermissionLinks("account_group_permissions", "group_id")
APP_PERMISSIONS = PermissionLinks("app_app_permissions", "app_id")
EXTENSION_PERMISSIONS = PermissionLinks("app_appextension_permissions", "appextension_id")


@part
def load_codenames(source: ImportSource) -> Mapping[int, str]:
    """Return the names of all permissions of the source by ID: ``manage_products``."""
    pages = source.batches("permission_permission", ("codename",), 1_000)
    return {number(row["id"]): str(row["codename"]) for rows in pages for row in rows}


@part
def find_codenames(
    source: ImportSource,
    codenames: Mapping[int, str],
    links: PermissionLinks,
    keys: Collection[int],
) -> Mapping[int, tuple[str, ...]]:
    """Return the names of the permissions that each of these rows has."""
    found: dict[int, tuple[str, ...]] = {}
    columns = (links.column, "permission_id")
    for row in source.matching(links.table, columns, links.column, keys):
        key, permission = number(row[links.column]), number(row["permission_id"])
        found[key] = (*found.get(key, ()), codenames.get(permission, f"permission {permission}"))
    return found


@part
def number(value: object) -> int:
    """Return an ID; raises ``TypeError`` if it isn't one."""
    if not isinstance(value, int):
        message = f"An ID must be an integer, got {type(value).__name__}."
        raise TypeError(message)
    return value
