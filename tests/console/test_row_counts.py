"""How many items each list says that it has."""

import html
import re

from app.console.integrations import apps, deliveries, webhooks
from app.console.lists.list_page import RowCount
from app.console.people import customers, groups, mails, staff
from app.console.security import audit, sign_ins, single_sign_on
from app.domain.authorization.permissions import Permission
from app.domain.values.pages import MAX_COUNTED, Counts
from app.ports import Ports
from tests.builders.people import make_user
from tests.console.conftest import StaffConsole, Statements
from tests.fixtures.cases import cases

CUSTOMERS = "/console/customers/"
LISTS = [
    (apps.APPS.count, "app", "apps"),
    (webhooks.WEBHOOKS.count, "webhook", "webhooks"),
    (deliveries.DELIVERIES.count, "delivery", "deliveries"),
    (customers.CUSTOMERS.count, "customer", "customers"),
    (staff.PEOPLE_COUNT, "person", "people"),
    (groups.GROUPS.count, "group", "groups"),
    (mails.MAILS.count, "email", "emails"),
    (sign_ins.SIGN_INS.count, "entry", "entries"),
    (audit.AUDIT_LOG.count, "entry", "entries"),
]


@cases(("count", "one", "many"), LISTS)
@cases(
    ("matching", "total", "sentence"),
    [
        (0, 0, "No {many}"),
        (0, 7, "No matching {many}"),
        (1, 1, "1 {one}"),
        (1, 7, "1 of 7 {many}"),
        (1, 1284, "1 of 1,284 {many}"),
        (1284, 1284, "1,284 {many}"),
        (44, MAX_COUNTED + 1, "44 of more than 10,000 {many}"),
        (MAX_COUNTED, MAX_COUNTED, "10,000 {many}"),
        (MAX_COUNTED + 1, MAX_COUNTED + 1, "More than 10,000 {many}"),
    ],
)
def test_list_says_how_many_match(
    count: RowCount, one: str, many: str, matching: int, total: int, sentence: str
) -> None:
    assert count.sentence(Counts(matching, total)) == sentence.format(one=one, many=many)


def test_providers_are_counted_by_their_short_name() -> None:
    count = single_sign_on.PROVIDERS.count
    assert count.sentence(Counts(0, 0)) == "No identity providers"
    assert count.sentence(Counts(1, 1)) == "1 provider"
    assert count.sentence(Counts(1, 2)) == "1 of 2 providers"


def test_count_is_of_the_list_and_not_of_the_page(
    staff_console: StaffConsole, shop: Ports, statements: Statements
) -> None:
    console = staff_console(Permission.MANAGE_USERS)
    assert "No customers" in console.open(CUSTOMERS).text
    for number in range(30):
        make_user(shop, f"buyer{number}@example.com")
    with statements() as seen:
        page = console.open(CUSTOMERS)
    assert "30 customers" in page.text
    assert len(seen) <= 4
    (older,) = re.findall(r'href="([^"]*)" rel="next">Older<', page.html)
    oldest = console.open(html.unescape(older))
    assert "30 customers" in oldest.text
    assert 'rel="prev">Newer<' in oldest.html
    assert "1 of 30 customers" in console.open(f"{CUSTOMERS}?q=buyer17").text
    assert "No matching customers" in console.open(f"{CUSTOMERS}?q=nobody").text
