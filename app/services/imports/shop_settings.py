"""Import the settings of the shop and its two switches."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from sqlalchemy import select, update
from sqlalchemy.orm import Session
from typing_extensions import override

from app import models
from app.domain.authorization.actor import anonymous
from app.domain.authorization.permissions import Permission
from app.domain.imports import shop_settings
from app.domain.imports.people import is_restricted
from app.domain.imports.provider import METADATA, USERS, has_subject
from app.domain.imports.runs import Converted, Finding, Part
from app.domain.shop.lockouts import AccessChange, LockoutReason, SettingsManagers, check_lockout
from app.domain.shop.settings import PasswordLoginMode
from app.ports.import_source import ImportSource, TableRow
from app.services.accounts.email_links import redirect_refusal
from app.services.imports.groups import (
    APP_PERMISSIONS,
    GROUP_PERMISSIONS,
    USER_PERMISSIONS,
    PermissionLinks,
    load_codenames,
    number,
)
from app.services.imports.providers import KIND, find_plugin, find_subject_key
from app.services.imports.sections import Row, Run, Section, State
from app.services.shop.lockout_guard import read_settings_managers, settings_manager_columns

_STAFF = ("is_active", "is_superuser", METADATA)
_RESTRICTED = "restricted_access_to_channels"


def _count_source_managers(run: Run) -> SettingsManagers:
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


_MODE = "password_login_mode"
_TRAFFIC = "allow_storefront_traffic"


class ShopSettings(Section):
    """The one row of settings here; what isn't imported keeps its value."""

    part = Part.SETTINGS
    kind = "shop_settings"
    title = "Shop settings"
    table = shop_settings.SITE_SETTINGS
    required = ("id",)
    optional = (*shop_settings.IMPORTED_SETTINGS, *shop_settings.UNPLACED_SETTINGS)
    removes_left_out = False

    def __init__(self) -> None:
        self._chosen: object = None
        """The ID of the first row: the source has one for each of its sites."""

    @override
    def convert(self, run: Run, rows: Sequence[TableRow]) -> Iterable[Converted[Row]]:
        with run.ports.database.reading() as session:
            here = _stored_settings(session)
        for row in rows:
            self._chosen = row["id"] if self._chosen is None else self._chosen
            if row["id"] != self._chosen:
                yield Converted(None, (shop_settings.not_chosen(row),))
                continue
            converted = shop_settings.convert_settings(
                row, lambda url: redirect_refusal(run.ports, url)
            )
            settings = converted.value
            if settings is None:
                raise TypeError("settings are never left out")
            state = {**here, **settings.values}
            found = _lockout_finding(run, settings.id, PasswordLoginMode(str(state[_MODE])))
            findings = (*converted.findings, *found)
            yield Converted(Row(settings.id, state), findings)

    @override
    def current(self, run: Run, session: Session, keys: Collection[int]) -> Mapping[int, State]:
        return dict.fromkeys(keys, _stored_settings(session))

    @override
    def insert(self, run: Run, session: Session, rows: Sequence[Row]) -> None:
        self.update(run, session, rows)

    @override
    def update(self, run: Run, session: Session, rows: Sequence[Row]) -> None:
        for row in rows:
            values = dict(row.state)
            was_open = _stored_settings(session)[_TRAFFIC]
            if values[_TRAFFIC] is not was_open:
                closed_at = None if values[_TRAFFIC] else run.ports.clock.now()
                values |= {"storefront_closed_at": closed_at, "storefront_rejections": 0}
                values |= {"storefront_note": "", "storefront_opens_at": None}
            session.execute(
                update(models.Shop).where(models.Shop.id == models.SHOP_ID).values(values)
            )

    @override
    def remove(self, run: Run, session: Session, keys: Collection[int]) -> None:
        """Keep the settings: a shop always has some."""

    @override
    def keys_at_source(self, run: Run, keys: Collection[int]) -> set[int]:
        return set(keys)


def _stored_settings(session: Session) -> dict[str, str | bool]:
    columns = [getattr(models.Shop, name) for name in shop_settings.IMPORTED_SETTINGS]
    row = session.execute(select(*columns).where(models.Shop.id == models.SHOP_ID)).one()
    return dict(zip(shop_settings.IMPORTED_SETTINGS, row, strict=True))


def _lockout_finding(run: Run, key: int, mode: PasswordLoginMode) -> tuple[Finding, ...]:
    """Return a finding if no one who manages settings could sign in with that mode.

    People, apps and providers were imported before; a dry run counts them at the source.
    """
    if mode is PasswordLoginMode.ENABLED:
        return ()
    with run.ports.database.reading() as session:
        row = session.execute(select(*settings_manager_columns(run.ports))).one()
    managers = [read_settings_managers(row)]
    if run.options.dry_run:
        managers.append(_count_source_managers(run))
    change = AccessChange(password_login_mode=mode)
    checks = [check_lockout(anonymous(), each, mode, change) for each in managers]
    if not all(check.is_locked_out for check in checks):
        return ()
    has_provider = any(each.providers for each in managers)
    reason = LockoutReason.NO_IDENTITY if has_provider else LockoutReason.NO_PROVIDER
    return (shop_settings.locks_out(key, mode, reason.value),)
