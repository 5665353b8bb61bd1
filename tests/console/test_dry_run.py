"""The dry run in the console: what would be sent, or why nothing would."""

import re
from typing import Any

from app import models
from app.console.integrations.dry_run import indented_query
from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import Permission
from app.domain.events import EventType
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.services.webhooks.lists import show_webhook
from tests.builders.apps import make_app
from tests.builders.products import make_product
from tests.builders.webhooks import make_delivery, make_webhook
from tests.console.conftest import StaffConsole, Statements
from tests.console.staff_client import ConsoleClient, Page
from tests.fakes.clock import FakeClock

MAY = (Permission.MANAGE_APPS, Permission.MANAGE_PRODUCTS)
QUERY = "subscription { event { ... on ProductUpdated { product { name } } } }"
PAGE = "/console/dry-run/"


def send_and_follow(
    console: ConsoleClient, url: str, data: dict[str, Any], seen_at: str = ""
) -> Page:
    """Send a form and return the page that it redirects to."""
    redirection = console.send(url, data, seen_at=seen_at)
    assert redirection.status == 303
    return console.follow(redirection)


def run(console: ConsoleClient, **data: str) -> Page:
    return send_and_follow(console, PAGE, {"event": "PRODUCT_UPDATED", "act": "run", **data})


def query_in(page: Page) -> str:
    found = re.search(r'<textarea id="query".*?>(.*?)</textarea>', page.html, re.DOTALL)
    assert found is not None
    return found[1]


def fields_in(page: Page) -> dict[str, list[str]]:
    """Return the hidden fields of the form that the page keeps."""
    form = page.html.partition("data-pane")[2].partition("</form>")[0]
    fields: dict[str, list[str]] = {}
    for name, value in re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', form):
        if name != "csrf_token":
            fields.setdefault(name, []).append(value)
    return fields


def test_query_runs_on_the_newest_object_and_writes_nothing(
    staff_console: StaffConsole, shop: Ports
) -> None:
    make_product(shop, "Kettle <script>alert(1)</script>")
    output = run(staff_console(*MAY), query=QUERY)
    assert "Payload Valid" in output.text
    assert "Kettle <script>alert(1)</script>" in output.text
    assert "<script>alert" not in output.html
    with shop.database.transaction() as session:
        assert session.query(models.Delivery).count() == 0


def test_without_a_query_the_default_query_of_the_event_runs(
    staff_console: StaffConsole, shop: Ports
) -> None:
    product = make_product(shop, "Kettle")
    console = staff_console(*MAY)
    output = run(console, query="", object=to_global_id("Product", product))
    assert "“Kettle”" in output.text or '"Kettle"' in output.text
    usual = send_and_follow(console, PAGE, {"event": "ORDER_PAID", "act": "default"})
    assert "... on OrderPaid" in usual.text


def test_object_is_found_by_its_name(staff_console: StaffConsole, shop: Ports) -> None:
    make_product(shop, "Kettle")
    kettle = make_product(shop, "Teapot")
    console = staff_console(*MAY)
    found = send_and_follow(
        console, PAGE, {"event": "PRODUCT_UPDATED", "act": "find", "object": "teap"}
    )
    assert "Select one, then run" in found.text
    assert to_global_id("Product", kettle) in found.html
    assert "Teapot" in run(console, query=QUERY, object="teap").text
    chosen = run(console, query=QUERY, object="e", chosen=to_global_id("Product", kettle))
    assert '"Teapot"' in chosen.text
    nothing = send_and_follow(
        console, PAGE, {"event": "PRODUCT_UPDATED", "act": "find", "object": "zzz"}
    )
    assert "No match that you can access." in nothing.text


def test_query_errors_name_their_lines(staff_console: StaffConsole, shop: Ports) -> None:
    make_product(shop)
    console = staff_console(*MAY)
    output = run(console, query="subscription {\n event { ... on ProductUpdated { nothing } } }")
    assert "Query failed" in output.text
    assert "Line 2" in output.text
    assert '<li class="is-bad">2</li>' in output.html
    assert "INVALID_ID" in run(console, query=QUERY, object=to_global_id("Order", 1)).text
    assert "NOT_FOUND" in run(console, query=QUERY, object=to_global_id("Product", 99)).text


def test_missing_app_permission_is_reported(staff_console: StaffConsole, shop: Ports) -> None:
    make_product(shop)
    app_id, _ = make_app(shop, "Labels")
    output = run(staff_console(*MAY), query=QUERY, app=str(app_id))
    assert "MISSING_PERMISSION" in output.text
    assert "MANAGE_PRODUCTS" in output.text


def test_payload_is_compared_with_the_last_real_delivery(
    staff_console: StaffConsole, shop: Ports
) -> None:
    product = make_product(shop, "Kettle")
    app_id, _ = make_app(shop, "Labels", Permission.MANAGE_PRODUCTS)
    hook = make_webhook(shop, app_id, EventType.PRODUCT_UPDATED, query=QUERY)
    key = make_delivery(shop, hook, '{"product":{"name":"Old name"}}')
    with shop.database.transaction() as session:
        session.get_one(models.Delivery, key).note_id = 1
    console = staff_console(*MAY)
    taken = console.open(f"{PAGE}?webhook={hook}")
    assert "... on ProductUpdated" in taken.text
    output = run(console, query=QUERY, webhook=str(hook), object=to_global_id("Product", product))
    assert "Compared with the last delivery" in output.text
    assert "<del>" in output.html
    assert "Old name" in output.text


def test_the_page_costs_six_statements_at_most(
    staff_console: StaffConsole, statements: Statements
) -> None:
    console = staff_console(*MAY)
    with statements() as seen:
        assert console.open(PAGE).status == 200
    assert len(seen) <= 6


def test_chosen_event_is_run(staff_console: StaffConsole, shop: Ports) -> None:
    make_product(shop, "Kettle")
    console = staff_console(*MAY, Permission.MANAGE_ORDERS)
    output = run(console, event="ORDER_PAID", query=QUERY)
    assert "Query failed" in output.text
    assert "The query doesn't subscribe to Order paid, but to Product updated." in output.text
    both = QUERY.replace("} } } }", "} } ... on ProductCreated { product { slug } } } }")
    assert "Event Product created" in run(console, event="PRODUCT_CREATED", query=both).text
    assert "Event Product updated" in run(console, event="PRODUCT_UPDATED", query=both).text


def test_default_query_follows_the_event_unless_it_was_edited(
    staff_console: StaffConsole, shop: Ports
) -> None:
    console = staff_console(*MAY, Permission.MANAGE_ORDERS)
    default = indented_query(EventType.PRODUCT_UPDATED)
    swapped = run(console, event="ORDER_PAID", query=default)
    assert "... on OrderPaid" in query_in(swapped)
    edited = run(console, event="ORDER_PAID", query=f"{default}# mine")
    assert "... on ProductUpdated" in query_in(edited)
    check = {"event": "ORDER_PAID", "query": default}
    answer = console.send("/console/webhooks/check", check, seen_at=PAGE).response.json
    assert answer is not None
    assert answer["message"] == (
        "The query doesn't subscribe to Order paid, but to Product updated."
    )


ENTERED = {
    "app": "1",
    "name": "Stock feed",
    "target_url": "https://labels.example.com/hooks",
    "custom_headers": "X-Shop: harbour",
    "events": ["PRODUCT_CREATED"],
    "query": QUERY,
    "secret_key": "a secret of theirs",
}


def test_webhook_form_keeps_its_fields_during_a_dry_run(
    staff_console: StaffConsole, shop: Ports
) -> None:
    make_app(shop, "Labels", Permission.MANAGE_PRODUCTS)
    console = staff_console(*MAY)
    tried = send_and_follow(
        console, PAGE, {**ENTERED, "from": "webhook"}, seen_at="/console/webhooks/new"
    )
    assert "Back to webhook" in tried.text
    assert "a secret of theirs" not in tried.html
    ran = send_and_follow(console, PAGE, {**fields_in(tried), "query": QUERY, "act": "run"})
    assert fields_in(ran) == fields_in(tried)
    data = {**fields_in(ran), "app": "1", "query": QUERY, "from": "dry-run"}
    form = send_and_follow(console, "/console/webhooks/new", data)
    assert form.status == 200
    assert 'value="Stock feed"' in form.html
    assert 'value="https://labels.example.com/hooks"' in form.html
    assert "X-Shop: harbour" in form.text
    assert "What you entered is kept for 10 minutes." in form.text
    kept = re.search(r'name="secret_key_kept" value="(\w+)"', form.html)
    assert kept is not None
    done = {**ENTERED, "secret_key": "", "secret_key_kept": kept[1]}
    assert console.send("/console/webhooks/new", done).status == 303
    stored = show_webhook(shop, OPERATOR, 1)
    assert stored is not None
    assert stored.reveal() == "a secret of theirs"
    assert re.search(r'value="PRODUCT_CREATED" checked', form.html)
    assert not re.search(r'name="is_active"[^>]*checked|checked[^>]*name="is_active"', form.html)


def test_edited_webhook_keeps_its_fields_during_a_dry_run(
    staff_console: StaffConsole, shop: Ports
) -> None:
    app_id, _ = make_app(shop, "Labels", Permission.MANAGE_PRODUCTS)
    hook = make_webhook(shop, app_id, EventType.PRODUCT_UPDATED)
    console = staff_console(*MAY)
    data = {**ENTERED, "webhook": str(hook), "from": "webhook"}
    tried = send_and_follow(console, PAGE, data, seen_at=f"/console/webhooks/{hook}/edit")
    assert "Use this query in the webhook" in tried.text
    back = {**fields_in(tried), "app": "1", "query": QUERY, "from": "dry-run"}
    form = send_and_follow(console, f"/console/webhooks/{hook}/edit", back)
    assert 'value="Stock feed"' in form.html
    opened = console.open(f"{PAGE}?webhook={hook}")
    only_query = {**fields_in(opened), "query": QUERY, "from": "query"}
    form = send_and_follow(console, f"/console/webhooks/{hook}/edit", only_query)
    assert 'value="hook"' in form.html
    assert "... on ProductUpdated" in query_in(form)


def test_dry_run_of_a_form_takes_the_form_s_event(
    staff_console: StaffConsole, shop: Ports
) -> None:
    make_app(shop, "Labels", Permission.MANAGE_PRODUCTS)
    console = staff_console(*MAY)
    data = {**ENTERED, "query": "", "from": "webhook"}
    tried = send_and_follow(console, PAGE, data, seen_at="/console/webhooks/new")
    assert "... on ProductCreated" in query_in(tried)


def test_values_entered_before_a_dry_run_expire(
    staff_console: StaffConsole, shop: Ports, clock: FakeClock
) -> None:
    make_app(shop, "Labels", Permission.MANAGE_PRODUCTS)
    console = staff_console(*MAY)
    data = {**ENTERED, "from": "webhook"}
    redirection = console.send(PAGE, data, seen_at="/console/webhooks/new")
    assert "harbour" not in redirection.leads_to
    assert "Back to webhook" in console.follow(redirection).text
    assert "Back to webhook" in console.follow(redirection).text
    clock.pass_(minutes=10)
    expired = console.follow(redirection)
    assert "What you entered is kept for 10 minutes and has expired." in expired.text
    assert "Back to webhook" not in expired.text


TICKED = ["PRODUCT_CREATED", "PRODUCT_UPDATED"]


def test_preview_of_ticked_events_adopts_no_query(
    staff_console: StaffConsole, shop: Ports
) -> None:
    app_id, _ = make_app(shop, "Labels", Permission.MANAGE_PRODUCTS)
    make_app(shop, "Other", Permission.MANAGE_PRODUCTS)
    console = staff_console(*MAY)
    data = {**ENTERED, "app": str(app_id), "events": TICKED, "query": "", "from": "webhook"}
    tried = send_and_follow(console, PAGE, data, seen_at="/console/webhooks/new")
    assert "... on ProductCreated" in query_in(tried)
    ran = {**fields_in(tried), "query": query_in(tried)}
    back = {**ran, "app": str(app_id + 1), "from": "dry-run"}
    form = send_and_follow(console, "/console/webhooks/new", back)
    assert query_in(form).strip() == ""
    assert f'<option value="{app_id}" selected>' in form.html
    assert re.findall(r'value="(\w+)" checked', form.html) == TICKED
    adopted = send_and_follow(console, "/console/webhooks/new", {**ran, "from": "query"})
    assert "... on ProductCreated" in query_in(adopted)
    assert "This query removes “Product updated”." in adopted.text
    assert "Nothing is saved yet." in adopted.text
    assert re.findall(r'value="(\w+)" checked', adopted.html) == TICKED


def test_preview_of_a_saved_webhook_adopts_no_query(
    staff_console: StaffConsole, shop: Ports
) -> None:
    app_id, _ = make_app(shop, "Labels", Permission.MANAGE_PRODUCTS)
    hook = make_webhook(shop, app_id, *map(EventType, TICKED))
    console = staff_console(*MAY)
    opened = console.open(f"{PAGE}?webhook={hook}")
    assert "This query removes “Product updated”." in opened.text
    assert f'href="/console/webhooks/{hook}"' in opened.html
    edit = f"/console/webhooks/{hook}/edit"
    data = {**ENTERED, "webhook": str(hook), "events": TICKED, "query": "", "from": "webhook"}
    tried = send_and_follow(console, PAGE, data, seen_at=edit)
    back = {**fields_in(tried), "query": QUERY, "from": "dry-run"}
    form = send_and_follow(console, edit, back)
    assert query_in(form).strip() == ""
    assert re.findall(r'value="(\w+)" checked', form.html) == TICKED


def test_check_says_what_the_query_does_to_the_edited_webhook(
    staff_console: StaffConsole, shop: Ports
) -> None:
    console = staff_console(*MAY)
    entered = {"event": "PRODUCT_UPDATED", "query": QUERY, "draft": "yes", "draft_query": ""}

    def difference(*ticked: str, **more: str) -> str:
        sent = {**entered, "events": list(ticked), **more}
        answer = console.send("/console/webhooks/check", sent, seen_at=PAGE).response.json
        assert answer is not None
        return str(answer["difference"])

    assert difference(*TICKED) == "This query removes “Product created”."
    assert difference() == "This query adds “Product updated”."
    assert difference("PRODUCT_CREATED") == (
        "This query adds “Product updated” and removes “Product created”."
    )
    assert difference("PRODUCT_UPDATED") == "This query doesn't change the webhook's events."
    assert difference("PRODUCT_CREATED", draft_query=QUERY) == (
        "This query doesn't change the webhook's events."
    )
    assert difference("ANY_EVENTS") == (
        "The webhook receives all events now. With this query it receives only “Product updated”."
    )
    assert difference(*TICKED, query="subscription {") == ""
