"""The permission matrix: which group, or which staff member, holds what."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from flask import request
from werkzeug.wrappers import Response as BaseResponse

from app.console.lists import RowCount, requested_page, turns
from app.console.navigation import Entry, PageGroup
from app.console.page_layout import page
from app.console.people.group_pages import COUNT as GROUP_COUNT
from app.console.people.person_page import name_of
from app.console.people.staff_pages import COUNT as PERSON_COUNT
from app.console.session import actor, ports
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission, in_order
from app.domain.values.pages import Page
from app.services.people.directory import list_staff
from app.services.people.group_lists import list_groups
from app.web.translation import text

COLUMNS = 6
"""Columns that fit on a page."""

blueprint = PageGroup(
    "permission_matrix",
    __name__,
    Entry("Permission matrix", "person-badge", "who may what", needs=list_groups),
    url_prefix="/matrix",
)


@dataclass(frozen=True, slots=True)
class Column:
    """A group or a person."""

    id: int
    name: str
    permissions: frozenset[Permission]


@dataclass(frozen=True, slots=True)
class Cell:
    """Whether the column's group or person holds the row's permission."""

    name: str
    is_held: bool


@dataclass(frozen=True, slots=True)
class Row:
    """A permission; ``can_grant`` says whether the viewer holds it too."""

    name: str
    label: str
    can_grant: bool
    cells: tuple[Cell, ...]


@blueprint.get("/")
def index() -> BaseResponse:
    """Permissions against groups, or against people (``by=people``)."""
    by_people = request.args.get("by") == "people"
    columns, found, count = _people() if by_people else _groups()
    return page(
        "staff/matrix.html",
        by_people=by_people,
        columns=columns,
        rows=make_rows(columns, actor().permissions),
        summary=count.of(found.counts),
        turns=turns(found),
    )


def make_rows(columns: Sequence[Column], held: Collection[Permission]) -> tuple[Row, ...]:
    """Return a row for each permission; the viewer can grant those that they hold."""
    return tuple(
        Row(
            name=permission.value,
            label=text(permission.label),
            can_grant=permission in held,
            cells=tuple(Cell(column.name, permission in column.permissions) for column in columns),
        )
        for permission in in_order(ALL_PERMISSIONS)
    )


def _people() -> tuple[list[Column], Page[object], RowCount]:
    found = list_staff(ports(), actor(), requested_page(COLUMNS))
    return (
        [Column(person.id, name_of(person), person.permissions) for person in found.items],
        found,
        PERSON_COUNT,
    )


def _groups() -> tuple[list[Column], Page[object], RowCount]:
    found = list_groups(ports(), actor(), requested_page(COLUMNS))
    return (
        [Column(group.id, group.name, group.permissions) for group in found.items],
        found,
        GROUP_COUNT,
    )
