"""The permission matrix: which group, or who of the staff, holds what."""

from flask import request
from werkzeug.wrappers import Response as BaseResponse

from app.console.lists import asked_page, turns
from app.console.navigation import Entry, PageGroup
from app.console.page_layout import page
from app.console.people.account_actions import name_of
from app.console.session import actor, ports
from app.domain.accounts.users import User
from app.domain.authorization.permissions import ALL_PERMISSIONS, in_order
from app.domain.values.pages import Page
from app.services.people.directory import list_staff
from app.services.people.group_lists import list_groups

COLUMNS = 6
"""Columns that fit on a page."""

blueprint = PageGroup(
    "permission_matrix",
    __name__,
    Entry("Permission matrix", "person-badge", "who may what"),
    url_prefix="/matrix",
)


@blueprint.get("/")
def index() -> BaseResponse:
    """Permissions against groups, or against people (``by=people``)."""
    by_people = request.args.get("by") == "people"
    asked = asked_page(COLUMNS)
    found: Page[object] = (
        list_staff(ports(), actor(), asked) if by_people else list_groups(ports(), actor(), asked)
    )
    return page(
        "staff/matrix.html",
        by_people=by_people,
        columns=[(_name(one), one) for one in found.items],
        permissions=in_order(ALL_PERMISSIONS),
        mine=actor().permissions,
        turns=turns(found, "Before", "More"),
    )


def _name(one: object) -> str:
    return name_of(one) if isinstance(one, User) else str(getattr(one, "name", ""))
