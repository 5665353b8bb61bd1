"""Import permission groups and their permissions; members come with the people."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session
from typing_extensions import override

from app import models
from app.domain.imports.people import GROUPS, convert_group, is_restricted, state_of
from app.domain.imports.runs import Converted, Finding, Outcome, Part
from app.ports.import_source import ImportSource, TableRow
from app.services.authorization.register import building_block
from app.services.imports.bulk import insert_rows
from app.services.imports.sections import Row, Run, Section, State


@dataclass(frozen=True, slots=True)
class PermissionLinks:
    """A table that links rows to permissions: its name, and the column of the row's ID."""

    table: str
    column: str


USER_PERMISSIONS = PermissionLinks("account_user_user_permissions", "user_id")
GROUP_PERMISSIONS = PermissionLinks("account_group_permissions", "group_id")
APP_PERMISSIONS = PermissionLinks("app_app_permissions", "app_id")
EXTENSION_PERMISSIONS = PermissionLinks("app_appextension_permissions", "appextension_id")


@building_block
def load_codenames(source: ImportSource) -> Mapping[int, str]:
    """Return the names of all permissions of the source by ID: ``manage_products``."""
    pages = source.batches("permission_permission", ("codename",), 1_000)
    return {number(row["id"]): str(row["codename"]) for rows in pages for row in rows}


@building_block
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


@building_block
def number(value: object) -> int:
    """Return an ID; raises ``TypeError`` if it isn't one."""
    if not isinstance(value, int):
        message = f"An ID must be an integer, got {type(value).__name__}."
        raise TypeError(message)
    return value


RESTRICTED = "restricted group"
"""Under this name a run notes the groups that get no members."""


class Groups(Section):
    """Permission groups."""

    part = Part.STAFF
    kind = "group"
    title = "Groups"
    table = GROUPS
    required = ("id", "name")
    optional = ("restricted_access_to_channels",)
    record = models.Group

    def __init__(self) -> None:
        self._codenames: Mapping[int, str] = {}

    @override
    def prepare(self, run: Run) -> None:
        self._codenames = load_codenames(run.source)

    @override
    def convert(self, run: Run, rows: Sequence[TableRow]) -> Iterable[Converted[Row]]:
        keys = [number(row["id"]) for row in rows]
        codenames = find_codenames(run.source, self._codenames, GROUP_PERMISSIONS, keys)
        for key, row in zip(keys, rows, strict=True):
            converted = convert_group(row, codenames.get(key, ()))
            if is_restricted(row):
                run.leave_out(RESTRICTED, key)
            if converted.value is None:
                run.leave_out(self.kind, key)
                yield Converted(None, converted.findings)
            else:
                yield Converted(Row(key, state_of(converted.value)), converted.findings)

    @override
    def current(self, run: Run, session: Session, keys: Collection[int]) -> Mapping[int, State]:
        groups = session.execute(
            select(models.Group.id, models.Group.name).where(models.Group.id.in_(keys))
        ).all()
        permissions: dict[int, list[str]] = {row.id: [] for row in groups}
        for row in session.execute(
            select(models.GroupPermission.group_id, models.GroupPermission.permission).where(
                models.GroupPermission.group_id.in_(keys)
            )
        ):
            permissions[row.group_id].append(row.permission)
        return {
            row.id: {"name": row.name, "permissions": sorted(permissions[row.id])}
            for row in groups
        }

    @override
    def insert(self, run: Run, session: Session, rows: Sequence[Row]) -> None:
        values = [{"id": row.key, "name": row.state["name"]} for row in rows]
        insert_rows(session, models.Group, values)
        self._add_permissions(session, rows)

    @override
    def update(self, run: Run, session: Session, rows: Sequence[Row]) -> None:
        keys = [row.key for row in rows]
        for row in rows:
            change = update(models.Group).where(models.Group.id == row.key)
            session.execute(change.values(name=row.state["name"]))
        session.execute(
            delete(models.GroupPermission).where(models.GroupPermission.group_id.in_(keys))
        )
        self._add_permissions(session, rows)

    @override
    def conflicts(self, run: Run, session: Session, rows: Sequence[Row]) -> Mapping[int, Finding]:
        names = {row.state["name"]: row.key for row in rows}
        taken = session.execute(
            select(models.Group.id, models.Group.name).where(models.Group.name.in_(names))
        )
        holders = {row.name: row.id for row in taken}
        found = {}
        for row in rows:
            name = row.state["name"]
            # Of two new groups whose shortened names are alike, the last is imported.
            holder = holders.get(name, names[name])
            if holder != row.key:
                template = "Another group is called {name}: group {holder}."
                values = {"name": name, "holder": holder}
                found[row.key] = Finding(
                    GROUPS, row.key, "GROUP_NAME_TAKEN", template, Outcome.LEFT_OUT, values
                )
        return found

    def _add_permissions(self, session: Session, rows: Sequence[Row]) -> None:
        values = [
            {"group_id": row.key, "permission": name}
            for row in rows
            for name in row.texts("permissions")
        ]
        insert_rows(session, models.GroupPermission, values)
