"""The worked example of a list in ARCHITECTURE.md, opened at the console."""

import re
from pathlib import Path

import pytest

from app.composition.factory import create_app
from app.composition.settings import Settings
from app.console.frame import navigation, parts, session
from app.console.lists import filters, list_page
from app.console.overview import pages
from app.domain.accounts.search import UserFilter
from app.domain.accounts.users import User
from app.ports import Ports
from app.services.people.directory import list_customers
from tests.builders.people import make_user
from tests.console.list_cells import active_filters
from tests.console.staff_client import ConsoleClient

ROOT = Path(__file__).parents[2]
EXAMPLE = re.compile(r"### Worked example: a list .*?```python\n(.*?)```", re.DOTALL)
NAMES = {
    **vars(navigation),
    **vars(parts),
    **vars(filters),
    **vars(list_page),
    **vars(session),
    "BaseResponse": object,
    "User": User,
    "UserFilter": UserFilter,
    "list_customers": list_customers,
}


@pytest.fixture
def console(shop: Ports, monkeypatch: pytest.MonkeyPatch) -> ConsoleClient:
    """The console with that list, for somebody with every permission."""
    found = EXAMPLE.search((ROOT / "ARCHITECTURE.md").read_text())
    assert found is not None
    names = {**NAMES, "__name__": "newcomers"}
    exec(found[1], names)  # noqa: S102 - the example that we wrote
    monkeypatch.setattr(pages, "PAGES", (*pages.PAGES, names["blueprint"]))
    make_user(shop, "admin@example.com", is_superuser=True)
    client = ConsoleClient(create_app(shop, Settings()).test_client(), shop)
    client.enter("admin@example.com")
    return client


def test_list_of_the_example_is_shown_filtered_and_exported(
    console: ConsoleClient, shop: Ports
) -> None:
    make_user(shop, "ann@example.com")
    make_user(shop, "bob@example.com", is_active=False)
    page = console.open("/console/newcomers/")
    assert "2 customers" in page.text
    assert page.html.count("/console/customers/") >= 2
    one = console.open("/console/newcomers/?on=no")
    assert "1 of 2 customers" in one.text
    assert active_filters(one.html) == ["Active: No"]
    assert "Save filter" in one.text
    assert "“maybe” isn't valid" in console.open("/console/newcomers/?on=maybe").text
    lines = console.open("/console/newcomers/export.csv?on=yes").html.splitlines()
    assert lines[0] == "email,joined_at"
    assert [line.partition(",")[0] for line in lines[1:]] == ["ann@example.com"]
