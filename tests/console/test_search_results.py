"""What the search box says of what it found, without HTTP."""

import pytest

from app.console.overview.search import Result, ResultGroup, hit_result, summary
from app.services.console.search import Hit, HitKind


@pytest.mark.parametrize(
    ("title", "detail", "active", "label", "message"),
    [
        ("Labels", "id-1", True, "Labels", "id-1"),
        ("Labels", "id-1", False, "Labels", "id-1 · disabled"),
        ("Labels", "", False, "Labels", "Disabled"),
        ("", "ada@example.com", True, "ada@example.com", ""),
        ("", "", True, "Unnamed", ""),
    ],
)
def test_hit_is_named_and_distinguished(
    title: str, detail: str, label: str, message: str, *, active: bool
) -> None:
    hit = Hit(HitKind.APP, 1, title, detail, active)
    assert hit_result(hit, "grid", "/apps/1") == Result(label, message, "grid", "/apps/1")


@pytest.mark.parametrize(
    ("sizes", "message"),
    [([], "No results"), ([0], "No results"), ([1], "1 result"), ([2, 1], "3 results")],
)
def test_results_are_counted_over_all_groups(sizes: list[int], message: str) -> None:
    one = Result("Labels", "", "grid", "/apps/1")
    assert summary(ResultGroup("Apps", (one,) * size) for size in sizes) == message
