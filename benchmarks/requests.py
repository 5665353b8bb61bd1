"""Requests to one server process on SQLite, beside an empty Flask view on the same server."""

import json
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path

from app.domain.authorization.actor import OPERATOR
from app.domain.shop.settings import ShopUpdate
from app.services.shop.settings import update_shop
from benchmarks import load_client, paths, servers
from benchmarks.load_client import Target
from benchmarks.report import YARDSTICK, Report
from benchmarks.shop import BenchShop
from tests.builders.people import PASSWORD

OTHER_USERS = 10

_SIGN_INS = 12
_REFRESHES = 100


def measure(report: Report, folder: Path) -> None:
    """Add a row for each path, and what a sign-in takes."""
    with servers.empty_flask() as bare:
        yardstick = bare_view(bare)
        outcome, beside = report.side_by_side(yardstick, yardstick)
        report.add(YARDSTICK, outcome, beside)
        shop = BenchShop(folder, other_users=OTHER_USERS)
        with servers.latchkey(shop.url) as server:
            report.note(f"start to the first answer: {server.first_answer:.2f} s")
            for path in paths.steady(server.port, shop):
                _add(report, path, server, yardstick)
            _measure_refreshes(report, server, shop)
            _measure_sign_ins(report, server, shop)
            _measure_while_signing_in(report, server, shop, yardstick)
            update_shop(shop.ports, OPERATOR, ShopUpdate(allow_storefront_traffic=False))
            _add(report, paths.closed(server.port), server, yardstick)
            report.note(
                f"resident memory of the server after all of this: {server.memory():.0f} MiB"
            )


def bare_view(server: servers.Server) -> Target:
    """Return the request to the yardstick."""
    return Target(server.port, load_client.request_bytes("/", port=server.port))


def _add(report: Report, path: paths.Path, server: servers.Server, yardstick: Target) -> None:
    beside, outcome = report.side_by_side(yardstick, path.at(server.port))
    report.add(path.name, outcome, beside)


def _measure_refreshes(report: Report, server: servers.Server, shop: BenchShop) -> None:
    """Refresh a grant again and again: each token works once, so one after the other."""
    milliseconds, token = [], shop.granted.refresh_token
    for _ in range(_REFRESHES):
        fields = {"grant_type": "refresh_token", "refresh_token": token}
        request = paths.form(server.port, shop, "/oauth/token", **fields)
        started = time.perf_counter()
        answer = load_client.one(server.port, request)
        milliseconds.append((time.perf_counter() - started) * 1000)
        token = json.loads(answer)["refresh_token"]
    report.note(f"token by refresh: {sorted(milliseconds)[_REFRESHES // 2]:.1f} ms")


def _measure_sign_ins(report: Report, server: servers.Server, shop: BenchShop) -> None:
    milliseconds = []
    for number in range(_SIGN_INS):
        request = paths.login(server.port, f"198.51.100.{number + 1}")
        started = time.perf_counter()
        answer = load_client.one(server.port, request)
        milliseconds.append((time.perf_counter() - started) * 1000)
        if b'"errors":[]' not in answer:
            raise RuntimeError(f"a sign-in failed: {answer[:200]!r}")
    whole, hashing = sorted(milliseconds)[_SIGN_INS // 2], _hash_milliseconds(shop)
    report.note(
        f"`tokenCreate`: {whole:.1f} ms, of which the password hash alone takes "
        f"{hashing:.1f} ms ({hashing / whole:.0%})"
    )


def _measure_while_signing_in(
    report: Report, server: servers.Server, shop: BenchShop, yardstick: Target
) -> None:
    addresses = (f"198.51.{100 + number // 250}.{number % 250 + 1}" for number in count(1))

    def sign_in(stop: threading.Event) -> None:
        while not stop.is_set():
            load_client.one(server.port, paths.login(server.port, next(addresses)))

    @contextmanager
    def signing_in() -> Iterator[None]:
        stop = threading.Event()
        client = threading.Thread(target=sign_in, args=(stop,))
        client.start()
        try:
            yield
        finally:
            stop.set()
            client.join()

    path = paths.me(server.port, shop)
    busy = replace(path.at(server.port), meanwhile=signing_in)
    beside, outcome = report.side_by_side(yardstick, busy)
    report.add("`me` while one client signs in", outcome, beside)


def _hash_milliseconds(shop: BenchShop) -> float:
    """One verification on the server's core, in this process: what the library itself takes."""
    os.sched_setaffinity(0, {servers.SERVER_CORE})
    stored = shop.ports.passwords.hash(PASSWORD)
    milliseconds = []
    for _ in range(_SIGN_INS):
        started = time.perf_counter()
        shop.ports.passwords.verify(stored, PASSWORD)
        milliseconds.append((time.perf_counter() - started) * 1000)
    os.sched_setaffinity(0, {servers.LOAD_CORE})
    return sorted(milliseconds)[_SIGN_INS // 2]
