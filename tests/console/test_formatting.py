"""How pages write moments and numbers."""

from datetime import UTC, datetime, timedelta

from app.console.frame.formatting import breakable, breakable_ip, exact, initials, relative, tally
from app.services.shop.impact import BoundedCount
from tests.fixtures.cases import cases

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def test_exact_moment_names_its_zone() -> None:
    assert exact(NOW) == "1 Mar 2026, 12:00:00 UTC"


@cases(
    ("apart", "words"),
    [
        ({"seconds": 0}, "now"),
        ({"seconds": 4.9}, "now"),
        ({"seconds": 5}, "5 s ago"),
        ({"seconds": 59}, "59 s ago"),
        ({"seconds": 60}, "1 min ago"),
        ({"minutes": 59, "seconds": 59}, "59 min ago"),
        ({"hours": 1}, "1 h ago"),
        ({"hours": 23, "minutes": 59}, "23 h ago"),
        ({"hours": 24}, "28 Feb, 12:00 UTC"),
        ({"days": 60}, "31 Dec 2025, 12:00 UTC"),
    ],
)
def test_past_moment_is_relative_for_a_day(apart: dict[str, float], words: str) -> None:
    assert relative(NOW - timedelta(**apart), NOW) == words


@cases(
    ("apart", "words"),
    [
        ({"seconds": 4}, "now"),
        ({"seconds": 5}, "in 5 s"),
        ({"minutes": 7}, "in 7 min"),
        ({"hours": 23}, "in 23 h"),
        ({"days": 1}, "2 Mar, 12:00 UTC"),
        ({"days": 365}, "1 Mar 2027, 12:00 UTC"),
    ],
)
def test_future_moment_is_relative_for_a_day(apart: dict[str, float], words: str) -> None:
    assert relative(NOW + timedelta(**apart), NOW) == words


@cases(
    ("count", "words"),
    [
        (BoundedCount(0), "0"),
        (BoundedCount(1240), "1,240"),
        (BoundedCount(10_000, is_more=True), "more than 10,000"),
    ],
)
def test_bounded_count_says_how_far_it_was_counted(count: BoundedCount, words: str) -> None:
    assert tally(count) == words


@cases(
    ("value", "shown"),
    [
        ("MANAGE_ORDERS", "MANAGE_<wbr>ORDERS"),
        ("ines@example.com", "ines@<wbr>example.<wbr>com"),
        ("https://a.example/b?c=1", "https://<wbr>a.<wbr>example/<wbr>b?<wbr>c=1"),
        ("<b>&", "&lt;b&gt;&amp;"),
        ("V2Vi==", "V2Vi=="),
        ("", ""),
    ],
)
def test_long_values_break_at_punctuation(value: str, shown: str) -> None:
    assert breakable(value) == shown


def test_initials_are_of_the_first_and_the_last_name() -> None:
    for name, shown in {
        "Sun-hi Park": "SP",
        "Ana Maria da Silva": "AS",
        "Bookings": "BO",
        "parcelpost-labels": "PL",
        "ines.duarte@example.com": "ID",
        "(test) Till": "TT",
        "": "?",
    }.items():
        assert initials(name) == shown, name


@cases(
    ("value", "shown"),
    [
        ("203.0.113.77", "203.0.113.77"),
        ("2001:db8::17", "2001:<wbr>db8::<wbr>17"),
        ("::1", "::<wbr>1"),
        ("", ""),
    ],
)
def test_ip_addresses_break_at_colons_alone(value: str, shown: str) -> None:
    assert breakable_ip(value) == shown
