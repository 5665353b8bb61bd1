"""What the search box says of what it found, without HTTP."""

from app.console.overview.search import Result, ResultGroup, hit_result, summary
from app.services.console.search import Hit, HitKind, HitState
from tests.fixtures.cases import cases


@cases(
    ("title", "detail", "label", "message"),
    [
        ("Labels", "id-1", "Labels", "id-1"),
        ("", "ada@example.com", "ada@example.com", ""),
        ("", "", "Unnamed", ""),
    ],
)
def test_hit_is_named_and_distinguished(title: str, detail: str, label: str, message: str) -> None:
    hit = Hit(HitKind.APP, 1, title, detail)
    expected = Result(label, message, "grid", "/apps/1", "Active.")
    assert hit_result(hit, "grid", "/apps/1") == expected


def test_state_of_a_hit_is_a_sentence() -> None:
    told = {
        (HitKind.APP, HitState.INACTIVE, 0): "Deactivated: its tokens are refused.",
        (HitKind.WEBHOOK, HitState.PAUSED, 0): "Paused: events wait.",
        (HitKind.DELIVERY, "SUCCESS", 1): "Delivered.",
        (HitKind.DELIVERY, "FAILED", 1): "Failed after 1 attempt.",
        (HitKind.DELIVERY, "PENDING", 0): "Waiting for the first attempt.",
        (HitKind.DELIVERY, "PENDING", 3): "Retrying after 3 attempts.",
        (HitKind.STAFF, HitState.UNCONFIRMED, 0): "Active. The email isn't confirmed.",
        (HitKind.GROUP, HitState.ACTIVE, 2): "2 members",
        (HitKind.ORDER, "UNFULFILLED", 0): "Unfulfilled",
        (HitKind.IP_ADDRESS, HitState.ACTIVE, 7): "7 sign-in attempts",
        (HitKind.IP_ADDRESS, HitState.BLOCKED, 1): "Blocked. 1 sign-in attempt",
    }
    for (kind, state, count), sentence in told.items():
        assert hit_result(Hit(kind, 1, "x", "", state, count), "", "").state == sentence


@cases(
    ("sizes", "message"),
    [([], "No results"), ([0], "No results"), ([1], "1 result"), ([2, 1], "3 results")],
)
def test_results_are_counted_over_all_groups(sizes: list[int], message: str) -> None:
    one = Result("Labels", "", "grid", "/apps/1")
    assert summary(ResultGroup("Apps", (one,) * size) for size in sizes) == message
