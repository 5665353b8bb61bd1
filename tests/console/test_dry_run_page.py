"""What the page of a dry run says, made of a run without HTTP."""

from dataclasses import replace

from app.console.integrations.dry_run import (
    DryRunPage,
    Outcome,
    indented_query,
    is_default_query,
    make_dry_run_page,
)
from app.console.integrations.event_subjects import FoundObject
from app.domain.events import EventType
from app.domain.values.errors import Problem
from app.services.deliveries.details import DeliveryDetails
from app.services.deliveries.dry_runs import DryRun
from tests.console.test_deliveries_page import FAILED
from tests.console.test_webhook_form_page import LABELS, OLD
from tests.fixtures.cases import cases

RAN = DryRun(EventType.PRODUCT_UPDATED, 1, '{"name": "Kettle"}')


def page_of(outcome: Outcome | None = None, event: EventType = EventType.ORDER_PAID) -> DryRunPage:
    return make_dry_run_page(event, [LABELS, OLD], LABELS.id, outcome=outcome)


def test_event_and_app_are_chosen() -> None:
    page = page_of()
    assert [one.label for one in page.events if one.is_chosen] == ["Order paid"]
    assert [one.label for one in page.apps if one.is_chosen] == ["Labels"]
    assert page.event.hint.endswith(" Requires Manage orders.")


@cases(
    ("event", "subject", "latest"),
    [
        (EventType.ORDER_PAID, "Order", "the latest order."),
        (EventType.CUSTOMER_CREATED, "Person", "the latest person."),
        (EventType.CHECKOUT_CREATED, "Cart", "the latest cart."),
        (EventType.PERMISSION_GROUP_CREATED, "Permission group", "the latest permission group."),
    ],
)
def test_subject_is_named(event: EventType, subject: str, latest: str) -> None:
    page = page_of(event=event)
    assert page.event.subject == subject
    assert page.event.object_hint.endswith(latest)


def test_page_without_a_run_has_no_result() -> None:
    page = page_of()
    assert (page.has_run, page.payload, page.comparison, page.problems) == (False, None, None, ())
    assert page.command == "flask webhook dry-run --query query.graphql"


def test_search_without_a_match_differs_from_none() -> None:
    apps = [LABELS]
    searched = make_dry_run_page(EventType.ORDER_PAID, apps, None, found=[], object_id="x")
    assert searched.found == []
    assert searched.command.endswith(" --object-id ID")
    match = FoundObject("T3JkZXI6MQ==", "#1")
    found = make_dry_run_page(EventType.ORDER_PAID, apps, None, found=[match])
    assert found.found == [match]
    assert page_of().found is None


def test_payload_has_event_and_size() -> None:
    payload = page_of(Outcome(RAN)).payload
    assert payload is not None
    assert (payload.event, payload.size) == ("Product updated", "18 bytes")


@cases(("lines", "where"), [((), ""), ((3,), "Line 3:"), ((1, 4), "Lines 1, 4:")])
def test_problem_names_its_lines(lines: tuple[int, ...], where: str) -> None:
    problem = Problem("SYNTAX", "Unexpected {what}.", "query", lines=lines, values={"what": "}"})
    page = page_of(Outcome(problems=(problem,)))
    (line,) = page.problems
    assert (line.where, line.message, line.code) == (where, "Unexpected }.", "SYNTAX")
    assert (page.has_run, page.invalid_lines) == (True, lines)


@cases(
    ("before", "marks", "summary"),
    [
        ('{"name": "Kettle"}', {" "}, "No differences."),
        ('{"name": "Pot"}', {" ", "+", "-"}, "Lines with - are only in the last delivery, "),
    ],
)
def test_payload_is_compared_with_the_last_delivery(
    before: str, marks: set[str], summary: str
) -> None:
    comparison = page_of(Outcome(RAN, last=DeliveryDetails(FAILED, before, ""))).comparison
    assert comparison is not None
    assert {line.mark for line in comparison.lines} == marks
    assert comparison.summary.startswith(summary)
    assert (comparison.delivery_id, comparison.created_at) == (FAILED.id, FAILED.created_at)


def test_run_of_another_event_keeps_its_own_name() -> None:
    payload = page_of(Outcome(replace(RAN, event=EventType.APP_DELETED))).payload
    assert payload is not None
    assert payload.event == "App deleted"


def test_every_event_has_its_default_query() -> None:
    (paid,) = [option for option in page_of().events if option.value == "ORDER_PAID"]
    assert "... on OrderPaid" in paid.query
    assert page_of().event == paid


@cases(
    ("query", "is_default"),
    [
        (indented_query(EventType.ORDER_PAID), True),
        (indented_query(EventType.APP_DELETED).replace("\n", "\r\n   "), True),
        (indented_query(EventType.ORDER_PAID) + "# mine", False),
        ("", False),
    ],
)
def test_default_query_is_recognized(query: str, is_default: bool) -> None:
    assert is_default_query(query) is is_default
