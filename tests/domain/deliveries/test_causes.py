"""Why a delivery failed, in one line."""

from app.domain.deliveries.deliveries import (
    MAX_DETAIL,
    failure_cause,
    response_detail,
    status_line,
)
from tests.fixtures.cases import cases


@cases(
    ("status", "line"),
    [(503, "503 Service Unavailable"), (599, "599"), (402, "402 Payment Required")],
)
def test_status_has_its_reason(status: int, line: str) -> None:
    assert status_line(status) == line


@cases(
    ("status", "response", "cause"),
    [
        (402, '{"error": "Your plan has ended"}', "402 Payment Required: Your plan has ended"),
        (503, "", "503 Service Unavailable"),
        (503, "maintenance\nuntil 10:00", "503 Service Unavailable: maintenance until 10:00"),
        (503, "service unavailable\n", "503 Service Unavailable"),
        (503, '{"error": "503 Service Unavailable"}', "503 Service Unavailable"),
        (599, "599", "599"),
        (500, "<html><h1>Oops</h1></html>", "500 Internal Server Error"),
        (None, "x.example cannot be reached.", "x.example cannot be reached."),
        (None, " ", "No response"),
    ],
)
def test_cause_is_status_and_message(status: int | None, response: str, cause: str) -> None:
    assert failure_cause(status, response) == cause


@cases(
    ("response", "detail"),
    [
        ('{"message": "No"}', "No"),
        ('{"error": {"code": 7, "message": "Too big"}}', "Too big"),
        ('{"error": true, "detail": "Bad order"}', "Bad order"),
        ('{"errors": [{"message": "First"}, {"message": "Second"}]}', "First"),
        ('{"errors": []}', ""),
        ('{"ok": false}', ""),
        ('"Plain"', "Plain"),
        ("7", ""),
        ("[" * 100_000, ""),
        ('{"error": "cut off', ""),
    ],
)
def test_detail_is_the_message_in_the_body(response: str, detail: str) -> None:
    assert response_detail(500, response) == detail


def test_long_detail_is_cut() -> None:
    detail = response_detail(500, "x" * 5000)
    assert len(detail) == MAX_DETAIL
    assert detail.endswith("…")
