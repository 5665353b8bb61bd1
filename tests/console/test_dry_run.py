"""The dry run in the console: what would be sent, or why nothing would."""

from app.domain.authorization.permissions import Permission
from app.domain.events import EventType
from app.domain.values.ids import to_global_id
from app.models import DeliveryRecord
from app.ports import Ports
from tests.builders.apps import make_app
from tests.builders.products import make_product
from tests.builders.webhooks import make_delivery, make_webhook
from tests.console.conftest import StaffConsole, Statements
from tests.console.staff_client import ConsoleClient, Page

MAY = (Permission.MANAGE_APPS, Permission.MANAGE_PRODUCTS)
QUERY = "subscription { event { ... on ProductUpdated { product { name } } } }"
PAGE = "/console/dry-run/"


def run(console: ConsoleClient, **data: str) -> Page:
    return console.send(PAGE, {"event": "PRODUCT_UPDATED", "act": "run", **data})


def test_a_query_runs_on_the_newest_object_and_writes_nothing(
    staff_console: StaffConsole, shop: Ports
) -> None:
    make_product(shop, "Kettle <script>alert(1)</script>")
    told = run(staff_console(*MAY), query=QUERY)
    assert "Payload Valid" in told.text
    assert "Kettle <script>alert(1)</script>" in told.text
    assert "<script>alert" not in told.html
    with shop.database.transaction() as session:
        assert session.query(DeliveryRecord).count() == 0


def test_without_a_query_the_default_query_of_the_event_runs(
    staff_console: StaffConsole, shop: Ports
) -> None:
    product = make_product(shop, "Kettle")
    console = staff_console(*MAY)
    told = run(console, query="", object=to_global_id("Product", product))
    assert "“Kettle”" in told.text or '"Kettle"' in told.text
    usual = console.send(PAGE, {"event": "ORDER_PAID", "act": "default"})
    assert "... on OrderPaid" in usual.text


def test_an_object_is_found_by_its_name(staff_console: StaffConsole, shop: Ports) -> None:
    make_product(shop, "Kettle")
    kettle = make_product(shop, "Teapot")
    console = staff_console(*MAY)
    found = console.send(PAGE, {"event": "PRODUCT_UPDATED", "act": "find", "object": "teap"})
    assert "Select one, then run" in found.text
    assert to_global_id("Product", kettle) in found.html
    assert "Teapot" in run(console, query=QUERY, object="teap").text
    chosen = run(console, query=QUERY, object="e", chosen=to_global_id("Product", kettle))
    assert '"Teapot"' in chosen.text
    nothing = console.send(PAGE, {"event": "PRODUCT_UPDATED", "act": "find", "object": "zzz"})
    assert "No match that you can access." in nothing.text


def test_query_errors_name_their_lines(staff_console: StaffConsole, shop: Ports) -> None:
    make_product(shop)
    console = staff_console(*MAY)
    told = run(console, query="subscription {\n event { ... on ProductUpdated { nothing } } }")
    assert "Query failed" in told.text
    assert "Line 2" in told.text
    assert '<li class="is-bad">2</li>' in told.html
    assert "INVALID_ID" in run(console, query=QUERY, object=to_global_id("Order", 1)).text
    assert "NOT_FOUND" in run(console, query=QUERY, object=to_global_id("Product", 99)).text


def test_missing_app_permission_is_reported(staff_console: StaffConsole, shop: Ports) -> None:
    make_product(shop)
    app_id, _ = make_app(shop, "Labels")
    told = run(staff_console(*MAY), query=QUERY, app=str(app_id))
    assert "MISSING_PERMISSION" in told.text
    assert "MANAGE_PRODUCTS" in told.text


def test_payload_is_compared_with_the_last_real_delivery(
    staff_console: StaffConsole, shop: Ports
) -> None:
    product = make_product(shop, "Kettle")
    app_id, _ = make_app(shop, "Labels", Permission.MANAGE_PRODUCTS)
    hook = make_webhook(shop, app_id, EventType.PRODUCT_UPDATED, query=QUERY)
    key = make_delivery(shop, hook, '{"product":{"name":"Old name"}}')
    with shop.database.transaction() as session:
        session.get_one(DeliveryRecord, key).note_id = 1
    console = staff_console(*MAY)
    taken = console.open(f"{PAGE}?webhook={hook}")
    assert "... on ProductUpdated" in taken.text
    told = run(console, query=QUERY, webhook=str(hook), object=to_global_id("Product", product))
    assert "Compared with the last delivery" in told.text
    assert "<del>" in told.html
    assert "Old name" in told.text


def test_the_page_costs_six_statements_at_most(
    staff_console: StaffConsole, statements: Statements
) -> None:
    console = staff_console(*MAY)
    with statements() as seen:
        assert console.open(PAGE).status == 200
    assert len(seen) <= 6
