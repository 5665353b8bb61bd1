"""The view model of the blocked IPs, made of blocks without HTTP."""

from dataclasses import replace
from datetime import UTC, datetime

from app.console.security.throttle import (
    BLOCKED_IPS,
    blocks_summary,
    limit_hint,
    make_forwarding,
    make_question,
)
from app.services.shop.traffic import UntrustedForwarding
from app.services.sign_in.login_throttle import AccountFailures, BlockDetails
from tests.console.list_cells import cell_text
from tests.fixtures.cases import cases

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
ADA = AccountFailures(1, "ada@example.com", 3)
GONE = AccountFailures(2, "", 1)
BLOCK = BlockDetails(
    address="203.0.113.7", until=NOW, failures=1, wrong_passwords=0, against=(), accounts=0
)


@cases(
    ("number", "summary"),
    [(0, "No matching IP addresses"), (1, "1 blocked IP"), (3, "3 blocked IPs")],
)
def test_summary_counts_blocked_ips(number: int, summary: str) -> None:
    assert blocks_summary(number, 0) == summary


def test_full_list_has_no_exact_count() -> None:
    assert blocks_summary(2, 2) == "At least 2 blocked IPs"
    assert blocks_summary(1, 2) == "1 blocked IP"


@cases(
    ("limit", "hint"),
    [
        (1, "Only the longest block is listed. Search for an IP address to find others."),
        (100, "The 100 longest blocks are listed. Search for an IP address to find others."),
    ],
)
def test_full_list_says_how_to_find_others(limit: int, hint: str) -> None:
    assert limit_hint(limit) == hint


@cases(
    ("block", "failures", "reasons"),
    [
        (BLOCK, "1 failed sign-in", ("1 attempt with an unknown email",)),
        (
            replace(BLOCK, failures=1240),
            "1,240 failed sign-ins",
            ("1,240 attempts with unknown emails",),
        ),
        (
            replace(BLOCK, wrong_passwords=1, against=(replace(ADA, failures=1),), accounts=1),
            "1 failed sign-in",
            ("1 incorrect password", "Accounts: ada@example.com (1)"),
        ),
        (
            replace(BLOCK, failures=9, wrong_passwords=4, against=(ADA, GONE), accounts=4),
            "9 failed sign-ins",
            (
                "4 incorrect passwords",
                "Accounts: ada@example.com (3), a deleted account (1), +2 more",
                "5 attempts with unknown emails",
            ),
        ),
        (
            replace(BLOCK, failures=2, wrong_passwords=2),
            "2 failed sign-ins",
            ("2 incorrect passwords",),
        ),
    ],
)
def test_reasons_are_counted(block: BlockDetails, failures: str, reasons: tuple[str, ...]) -> None:
    shown = cell_text(BLOCKED_IPS.columns, "Reason", block)
    assert shown == " ".join((failures, *reasons))


def test_question_about_an_ip_that_is_not_blocked() -> None:
    question = make_question("203.0.113.7", None)
    assert question.title == "Unblock 203.0.113.7?"
    assert question.detail == "This IP address isn't blocked now."
    assert [one.state for one in question.consequences] == ["ok"]


@cases(
    ("failures", "detail"),
    [
        (1, "Blocked until 1 Mar 2026, 12:00:00 UTC after 1 failed sign-in."),
        (2, "Blocked until 1 Mar 2026, 12:00:00 UTC after 2 failed sign-ins."),
    ],
)
def test_question_says_how_long_the_block_lasts(failures: int, detail: str) -> None:
    assert make_question("203.0.113.7", replace(BLOCK, failures=failures)).detail == detail


@cases(
    ("block", "counted"),
    [
        (replace(BLOCK, wrong_passwords=1), "<b>1 incorrect password</b>. "),
        (
            replace(BLOCK, wrong_passwords=3, against=(ADA,), accounts=1),
            "<b>3 incorrect passwords</b>. Accounts: ada@example.com (3)",
        ),
    ],
)
def test_question_warns_of_guessed_passwords(block: BlockDetails, counted: str) -> None:
    _, guessing = make_question("203.0.113.7", block).consequences
    assert guessing.state == "warn"
    assert guessing.sentence.endswith(f"So far: {counted}")


def test_forwarding_without_trust_is_counted() -> None:
    assert make_forwarding([], NOW) is None
    peers = [UntrustedForwarding("10.0.0.1", 1, NOW), UntrustedForwarding("<b>", 40, NOW)]
    one = make_forwarding(peers[:1], NOW)
    assert one is not None
    assert one.title == "1 server that isn't a trusted proxy forwards requests."
    assert one.peers[0].startswith("<code>10.0.0.1</code>: 1 request this week, last <time")
    two = make_forwarding(peers, NOW)
    assert two is not None
    assert two.title == "2 servers that aren't trusted proxies forward requests."
    assert two.peers[1].startswith("<code>&lt;b&gt;</code>: 40 requests this week")


def test_export_names_accounts_that_still_exist() -> None:
    block = replace(BLOCK, against=(ADA, GONE), accounts=2, wrong_passwords=5, failures=6)
    values = {name: value(block) for name, value in BLOCKED_IPS.file_columns.items()}
    assert values["accounts"] == "ada@example.com"
    assert (values["failures"], values["unknown_emails"]) == (6, 1)
    assert values["blocked_until"] == BLOCK.until
