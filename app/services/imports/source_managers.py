"""Who at the platform can manage settings and sign in with SSO: what a dry run can't read here."""

from collections.abc import Collection, Mapping

from app.domain.authorization.permissions import Permission
from app.domain.imports.people import is_restricted
from app.domain.imports.provider import METADATA, USERS, has_subject
from app.domain.imports.runs import Part
from app.domain.shop.lockouts import SettingsManagers
from app.ports.import_source import ImportSource
from app.services.authorization.register import part
from app.services.imports.providers import KIND, find_plugin, find_subject_key
from app.services.imports.sections import Run
from app.services.imports.source_permissions import (
    APP_PERMISSIONS,
    GROUP_PERMISSIONS,
    USER_PERMISSIONS,
    PermissionLinks,
    load_codenames,
    number,
)

_STAFF = ("is_active", "is_superuser", METADATA)
_RESTRICTED = "restricted_access_to_channels"


@part
def count_source_managers(run: Run) -> SettingsManagers:
    """Count those that this run would import: people with SSO, apps, and a working provider."""
    parts = run.options.parts
    plugin = find_plugin(run.source) if Part.SSO in parts else None
    if plugin is None or not plugin.works or run.is_left_out(KIND, plugin.id):
        people, providers = 0, 0
    else:
        keeps_rights = not plugin.settings["use_oauth_scope_permissions"]
        people = _count_people(run) if keeps_rights and Part.STAFF in parts else 0
        providers = 1
    apps = _count_apps(run) if Part.APPS in parts else 0
    return SettingsManagers(people, people, 0, apps, providers)


def _count_people(run: Run) -> int:
    source, key = run.source, find_subject_key(run.source)
    holders = _holders(source)
    return sum(
        1
        for row in source.matching(USERS, _STAFF, "is_staff", [True])
        if row["is_active"]
        and (row["is_superuser"] or row["id"] in holders)
        and has_subject(row[METADATA], key)
        and not run.is_left_out("user", number(row["id"]))
        and not run.is_left_out("external_identity", number(row["id"]))
    )


def _count_apps(run: Run) -> int:
    source = run.source
    holders = _linked(source, APP_PERMISSIONS, _permission_ids(source))
    active = [
        row["id"]
        for row in source.matching("app_app", ("is_active", "removed_at"), "id", holders)
        if row["is_active"] and row.get("removed_at") is None
    ]
    tokens = source.matching("app_apptoken", ("app_id",), "app_id", active)
    return len({row["app_id"] for row in tokens})


def _holders(source: ImportSource) -> set[int]:
    """Return the IDs of people with the permission, except from groups without members here."""
    permissions = _permission_ids(source)
    groups = _linked(source, GROUP_PERMISSIONS, permissions)
    free = [
        number(row["id"])
        for row in source.matching("account_group", (_RESTRICTED,), "id", groups)
        if not is_restricted(row)
    ]
    members = source.matching("account_user_groups", ("user_id",), "group_id", free)
    direct = _linked(source, USER_PERMISSIONS, permissions)
    return direct | {number(row["user_id"]) for row in members}


def _permission_ids(source: ImportSource) -> Collection[int]:
    codenames: Mapping[int, str] = load_codenames(source)
    wanted = Permission.MANAGE_SETTINGS.value
    return [key for key, codename in codenames.items() if codename.upper() == wanted]


def _linked(
    source: ImportSource, links: PermissionLinks, permissions: Collection[int]
) -> set[int]:
    rows = source.matching(links.table, (links.column,), "permission_id", permissions)
    return {number(row[links.column]) for row in rows}
