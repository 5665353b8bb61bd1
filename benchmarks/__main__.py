"""``python -m benchmarks``: the main paths; ``python -m benchmarks NAME``: one module.

``console``, ``fanout``, ``lists`` and ``timing`` take minutes and only run by name.
"""

import importlib
import os
import sys
import tempfile
import threading
import time
from pathlib import Path

from app.domain.authorization.actor import OPERATOR
from app.domain.shop.settings import ShopUpdate
from app.services.shop.settings import update_shop
from benchmarks import change_cost, deliveries, load_client, paths, servers, single_sign_on
from benchmarks.report import Report
from benchmarks.shop import BenchShop
from tests.builders.people import PASSWORD

_LOGINS = 12
_SIZES = (10, 1_000_000)


def measure(report: Report, folder: Path) -> None:
    """The whole table."""
    with servers.empty_flask() as bare:
        baseline = load_client.Target(bare.port, load_client.request_bytes("/", port=bare.port))
        report.baseline(load_client.side_by_side(baseline)[0])
        shop = BenchShop(folder, other_users=_SIZES[0])
        with servers.latchkey(shop.url) as server:
            report.cold_start(server.first_answer)
            for path in paths.steady(server.port, shop):
                _row(report, path, server, baseline)
            _logins(report, server, shop, baseline)
            update_shop(shop.ports, OPERATOR, ShopUpdate(allow_storefront_traffic=False))
            _row(report, paths.closed(server.port), server, baseline)
            report.memory(server.memory())
        single_sign_on.measure(report, folder, baseline)
    deliveries.measure(report)
    change_cost.measure(report, folder)
    _sizes(report, folder)


def _row(
    report: Report, path: paths.Path, server: servers.Server, baseline: load_client.Target
) -> None:
    bare, outcome = load_client.side_by_side(baseline, path.at(server.port))
    report.add(path.name, outcome, bare)


def _sizes(report: Report, folder: Path) -> None:
    """Measure the same requests on a small shop and on a large one."""
    own_folder = folder / "sizes"
    own_folder.mkdir()
    small, large = (BenchShop(own_folder, other_users=other_users) for other_users in _SIZES)
    with servers.latchkey(small.url) as one, servers.latchkey(large.url) as other:
        for path in (paths.me, paths.app_request):
            few, many = (
                path(server.port, shop) for server, shop in ((one, small), (other, large))
            )
            first, second = load_client.side_by_side(few.at(one.port), many.at(other.port))
            report.at_size(few.name, (first, second), _SIZES)


def _logins(
    report: Report, server: servers.Server, shop: BenchShop, baseline: load_client.Target
) -> None:
    seconds = []
    for number in range(_LOGINS):
        request = paths.login(server.port, f"198.51.100.{number + 1}")
        started = time.perf_counter()
        answer = load_client.one(server.port, request)
        seconds.append((time.perf_counter() - started) * 1000)
        if b'"errors":[]' not in answer:
            raise RuntimeError(f"a login failed: {answer[:200]!r}")
    report.logins(sorted(seconds)[_LOGINS // 2], _hash_milliseconds(shop))
    (bare,) = load_client.side_by_side(baseline)
    stop = threading.Event()
    client = threading.Thread(target=_keep_logging_in, args=(server.port, stop))
    client.start()
    path = paths.me(server.port, shop)
    outcome = load_client.run(server.port, path.request, seconds=4)
    stop.set()
    client.join()
    report.while_logging_in(outcome, bare)


def _keep_logging_in(port: int, stop: threading.Event) -> None:
    number = 0
    while not stop.is_set():
        number += 1
        load_client.one(
            port, paths.login(port, f"198.51.{100 + number // 250}.{number % 250 + 1}")
        )


def _hash_milliseconds(shop: BenchShop) -> float:
    """One verification on the server's core, in this process: what the library itself takes."""
    os.sched_setaffinity(0, {servers.SERVER_CORE})
    stored = shop.ports.passwords.hash(PASSWORD)
    seconds = []
    for _ in range(_LOGINS):
        started = time.perf_counter()
        shop.ports.passwords.verify(stored, PASSWORD)
        seconds.append((time.perf_counter() - started) * 1000)
    os.sched_setaffinity(0, {servers.LOAD_CORE})
    return sorted(seconds)[_LOGINS // 2]


def main(names: list[str]) -> None:
    """Run the modules of that name, or the table of the main paths."""
    if names:
        for name in names:
            importlib.import_module(f"benchmarks.{name}").main()
        return
    os.sched_setaffinity(0, {servers.LOAD_CORE})
    report = Report()
    with tempfile.TemporaryDirectory() as folder:
        measure(report, Path(folder))
    sys.stdout.write(report.text())
    sys.exit(report.status)


main(sys.argv[1:])
