"""The same requests to a small shop and to one with a million people, sessions and tokens."""

from pathlib import Path

from benchmarks import paths, servers
from benchmarks.report import Report
from benchmarks.shop import BenchShop

_SIZES = (10, 1_000_000)


def measure(report: Report, folder: Path) -> None:
    """Add a note for each request."""
    small, large = (BenchShop(folder, other_users=other_users) for other_users in _SIZES)
    with servers.latchkey(small.url) as one, servers.latchkey(large.url) as other:
        for path in (paths.me, paths.app_request):
            few, many = (
                path(server.port, shop) for server, shop in ((one, small), (other, large))
            )
            first, second = report.side_by_side(few.at(one.port), many.at(other.port))
            report.note(
                f"{few.name} at {_SIZES[0]} and at {_SIZES[1]:,} users, sessions and app tokens: "
                f"{first.rate:,.0f} and {second.rate:,.0f} a second "
                f"({second.rate / first.rate - 1:+.0%})"
            )
