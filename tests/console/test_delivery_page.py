"""What a delivery's page says, made of a delivery without HTTP."""

from dataclasses import replace
from datetime import timedelta

from app.console.integrations.delivery_page import Banner, DeliveryPage, make_delivery_page
from app.domain.deliveries.deliveries import Attempt, DeliveryStatus
from app.services.deliveries.details import (
    SHOWN_ATTEMPTS,
    DeliveryDetails,
    ObjectName,
    ShownAttempt,
    Signed,
)
from app.services.deliveries.lists import DeliveryLine
from tests.console.test_deliveries_page import FAILED, NOW, WAITING
from tests.fixtures.cases import cases

RETRYING = replace(WAITING, attempts=2, response_status=503, last_response="busy")
RESENT = replace(FAILED, status=DeliveryStatus.PENDING, attempts=0, next_attempt_at=NOW)
ATTEMPT = Attempt(
    id=5,
    created_at=NOW - timedelta(minutes=2),
    duration=0.031,
    status=DeliveryStatus.FAILED,
    response_status=503,
    request_headers={"webhook-id": "msg_1"},
    response_headers={"x-long": "y" * 100},
    response="busy",
)


def page_of(line: DeliveryLine, *attempts: Attempt, shown: int | None = None) -> DeliveryPage:
    details = DeliveryDetails(
        line, "{}", "", tuple(ShownAttempt(one, Signed.VERIFIED) for one in attempts)
    )
    return make_delivery_page(details, NOW, {}, shown)


def attempts(count: int) -> list[Attempt]:
    return [replace(ATTEMPT, id=number) for number in range(count, 0, -1)]


@cases(
    ("line", "state", "cause", "detail"),
    [
        (FAILED, "bad", "503 Service Unavailable", "Not delivered after 6 attempts."),
        (
            replace(FAILED, attempts=1, response_status=402, last_response='{"error": "Unpaid"}'),
            "bad",
            "402 Payment Required: Unpaid",
            "Not delivered after 1 attempt.",
        ),
        (
            replace(FAILED, given_up="The webhook is disabled."),
            "bad",
            "503 Service Unavailable",
            "Not delivered. The webhook is disabled.",
        ),
        (
            replace(FAILED, attempts=0, response_status=None, given_up="No permission."),
            "bad",
            "Not delivered",
            "No permission.",
        ),
        (
            replace(RETRYING, next_attempt_at=NOW),
            "warn",
            "503 Service Unavailable: busy",
            "The next attempt is due now.",
        ),
    ],
)
def test_banner_has_the_cause_first(
    line: DeliveryLine, state: str, cause: str, detail: str
) -> None:
    assert page_of(line).banner == Banner(state, cause, detail)


@cases(
    ("line", "cause", "detail", "resend", "enables"),
    [
        (
            replace(RETRYING, is_webhook_active=False),
            "503 Service Unavailable: busy",
            "The webhook is disabled. Enable it to send this delivery.",
            "Enable and resend",
            True,
        ),
        (
            replace(WAITING, is_webhook_active=False),
            "Not sent",
            "The webhook is disabled. Enable it to send this delivery.",
            "Enable and resend",
            True,
        ),
        (
            replace(WAITING, is_app_active=False),
            "Not sent",
            "Labels is inactive. Activate the app to send this delivery.",
            "",
            False,
        ),
    ],
)
def test_every_part_says_that_nothing_is_sent(
    line: DeliveryLine, cause: str, detail: str, resend: str, enables: bool
) -> None:
    page = page_of(line)
    assert page.banner == Banner("warn", cause, detail)
    assert (page.state, page.status, page.next_attempt) == ("warn", "Not sending", "")
    assert (page.resend, page.enables) == (resend, enables)


def test_active_webhook_is_resent_without_asking() -> None:
    assert (page_of(FAILED).resend, page_of(FAILED).enables) == ("Resend now", False)


def test_banner_tells_the_next_attempt() -> None:
    banner = page_of(RETRYING).banner
    assert banner is not None
    assert banner.detail.startswith("Next attempt <time ")
    assert "in 1 min" in banner.detail


@cases("line", [WAITING, replace(FAILED, status=DeliveryStatus.SUCCESS, response_status=200)])
def test_delivery_without_a_failure_has_no_banner(line: DeliveryLine) -> None:
    assert page_of(line).banner is None


@cases(
    ("line", "made", "count"),
    [
        (WAITING, 0, "0 of 10"),
        (RETRYING, 2, "2 of 10"),
        (RESENT, 6, "6"),
        (replace(RESENT, attempts=1), 7, "7, 1 of 10 since it was resent"),
        (replace(FAILED, attempts=2), 4, "4, 2 since it was resent"),
        (FAILED, 6, "6"),
        (FAILED, SHOWN_ATTEMPTS, "latest 50"),
    ],
)
def test_attempt_count_agrees_with_the_attempts(line: DeliveryLine, made: int, count: str) -> None:
    page = page_of(line, *attempts(made))
    assert (page.attempt_count, len(page.attempts)) == (count, made)


def test_next_attempt_is_told_while_pending() -> None:
    assert page_of(FAILED).next_attempt == ""
    assert page_of(RESENT).next_attempt == "due now"
    assert "in 1 min" in page_of(WAITING).next_attempt


def test_last_attempt_is_shown_unless_another_is_chosen() -> None:
    made = attempts(3)
    assert [one.is_shown for one in page_of(FAILED, *made).attempts] == [True, False, False]
    page = page_of(FAILED, *made, shown=1)
    assert [one.is_shown for one in page.attempts] == [False, False, True]
    assert [one.timing.endswith("31\N{NO-BREAK SPACE}ms · shown") for one in page.attempts] == [
        False,
        False,
        True,
    ]
    assert page_of(FAILED, *made, shown=99).attempts[0].is_shown


def test_page_is_named_for_its_object() -> None:
    details = DeliveryDetails(replace(FAILED, object_id="id"), "{}", "")
    page = make_delivery_page(details, NOW, {"id": ObjectName("Bowl")})
    assert (page.title, page.event) == ("Bowl", "Product created")
    assert page_of(FAILED).title == "Product created"


def test_response_has_a_body() -> None:
    response = page_of(FAILED, ATTEMPT).response
    assert response is not None
    assert (response.state, response.result) == ("bad", "503 Service Unavailable")
    assert (response.error, response.body, response.size) == ("", "busy", "4 bytes")
    (header,) = response.headers
    assert (header.value, header.note) == ("y" * 95 + "…", "100 characters")


def test_network_error_is_no_body() -> None:
    failed = replace(ATTEMPT, response_status=None, response="x.example cannot be reached.")
    response = page_of(FAILED, failed).response
    assert response is not None
    assert (response.result, response.body, response.size) == ("No response", "", "")
    assert response.error == "x.example cannot be reached."


def test_delivery_without_attempts_has_neither_response_nor_signature() -> None:
    page = page_of(WAITING)
    assert (page.response, page.signature, page.curl) == (None, "", "")
    assert page.request_headers == ()
    assert page.not_sent == "A worker sends it within seconds."
    for line in (FAILED, replace(WAITING, is_webhook_active=False)):
        assert page_of(line).not_sent == "No attempt was made."


@cases(
    ("signed", "state", "signature"),
    [
        (Signed.VERIFIED, "ok", "Signature valid"),
        (Signed.KEY_GONE, "", "Key replaced since"),
        (Signed.WRONG, "bad", "Signature invalid"),
    ],
)
def test_signature_is_judged(signed: Signed, state: str, signature: str) -> None:
    details = DeliveryDetails(FAILED, "{}", "", (ShownAttempt(ATTEMPT, signed),))
    page = make_delivery_page(details, NOW, {})
    assert (page.signature_state, page.signature) == (state, signature)
    assert page.curl.startswith("curl -X POST -H 'webhook-id: msg_1'")


@cases(
    ("line", "seconds"),
    [
        (FAILED, 0),
        (replace(WAITING, next_attempt_at=NOW), 2),
        (replace(RETRYING, next_attempt_at=NOW + timedelta(minutes=14)), 15),
        (replace(WAITING, next_attempt_at=None), 0),
        (replace(WAITING, next_attempt_at=NOW, is_webhook_active=False), 0),
        (replace(WAITING, next_attempt_at=NOW, is_app_active=False), 0),
    ],
)
def test_page_refreshes_while_an_attempt_is_due(line: DeliveryLine, seconds: int) -> None:
    assert page_of(line).refresh_seconds == seconds


def test_state_is_announced_with_the_title() -> None:
    assert page_of(FAILED).announcement == f"{page_of(FAILED).title}: Failed"
