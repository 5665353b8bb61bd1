"""``python -m benchmarks``: the main paths; ``python -m benchmarks NAME``: one module's.

``console``, ``fanout``, ``lists``, ``timing`` take minutes, and go by name alone.
"""

import importlib
import os
import sys
import tempfile
import threading
import time
from pathlib import Path

from app.domain.actor import OPERATOR
from app.services.shop import ShopUpdate, update_shop
from benchmarks import changes, deliveries, load, paths, servers, single_sign_on
from benchmarks.report import Report
from benchmarks.shop import BenchShop
from tests.builders.people import PASSWORD

_WARM_UP = 0.7
_LOGINS = 12
_SIZES = (10, 1_000_000)


def measure(report: Report, folder: Path) -> None:
    """The whole table."""
    with servers.empty_flask() as server:
        request = load.request_bytes("/", port=server.port)
        load.run(server.port, request, seconds=_WARM_UP)
        report.yardstick(load.run(server.port, request))
    shop = BenchShop(folder, others=_SIZES[0])
    with servers.latchkey(shop.url) as server:
        report.cold_start(server.first_answer)
        small = _steady(report, server, shop)
        _logins(report, server, shop)
        update_shop(shop.ports, OPERATOR, ShopUpdate(allow_storefront_traffic=False))
        path = paths.closed(server.port)
        report.add(path.name, load.run(server.port, path.request, status=path.status))
        report.memory(server.memory())
    single_sign_on.measure(report, folder)
    deliveries.measure(report)
    changes.measure(report, folder)
    large = BenchShop(folder, others=_SIZES[1])
    with servers.latchkey(large.url) as server:
        for path in (paths.me(server.port, large), paths.app_request(server.port, large)):
            load.run(server.port, path.request, seconds=_WARM_UP)
            outcome = load.run(server.port, path.request)
            report.at_size(path.name, small[path.name], outcome.rate, _SIZES)


def _steady(report: Report, server: servers.Server, shop: BenchShop) -> dict[str, float]:
    rates = {}
    for path in paths.steady(server.port, shop):
        load.run(server.port, path.request, seconds=_WARM_UP)
        outcome = load.run(server.port, path.request, status=path.status)
        report.add(path.name, outcome)
        rates[path.name] = outcome.rate
    return rates


def _logins(report: Report, server: servers.Server, shop: BenchShop) -> None:
    took = []
    for number in range(_LOGINS):
        request = paths.login(server.port, f"198.51.100.{number + 1}")
        started = time.perf_counter()
        answer = load.one(server.port, request)
        took.append((time.perf_counter() - started) * 1000)
        if b'"errors":[]' not in answer:
            raise RuntimeError(f"a login failed: {answer[:200]!r}")
    report.logins(sorted(took)[_LOGINS // 2], _hash_milliseconds(shop))
    stop = threading.Event()
    client = threading.Thread(target=_log_in_again_and_again, args=(server.port, stop))
    client.start()
    path = paths.me(server.port, shop)
    outcome = load.run(server.port, path.request, seconds=4)
    stop.set()
    client.join()
    report.while_logging_in(outcome)


def _log_in_again_and_again(port: int, stop: threading.Event) -> None:
    number = 0
    while not stop.is_set():
        number += 1
        load.one(port, paths.login(port, f"198.51.{100 + number // 250}.{number % 250 + 1}"))


def _hash_milliseconds(shop: BenchShop) -> float:
    """One verification on the server's core, in this process: what the library itself takes."""
    os.sched_setaffinity(0, {servers.SERVER_CORE})
    stored = shop.ports.passwords.hash(PASSWORD)
    took = []
    for _ in range(_LOGINS):
        started = time.perf_counter()
        shop.ports.passwords.verify(stored, PASSWORD)
        took.append((time.perf_counter() - started) * 1000)
    os.sched_setaffinity(0, {servers.LOAD_CORE})
    return sorted(took)[_LOGINS // 2]


def main(names: list[str]) -> None:
    """Run the modules of that name, or without one the table of the main paths."""
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
