"""Requests a second of 1, 2 and 4 web processes, and what they take of the processors.

The client shares the machine's cores with what it asks. Each kind of request is sent on 16
connections (sign-ins on 8) that each wait for their answers. The output says from which number of
processes on the rate no longer grows with it, and what the cores did then.
"""

import asyncio
import os
import socket
import ssl
import sys
import time
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from sqlalchemy import func, select

from app import models
from app.ports import Ports
from benchmarks import load_client, paths
from benchmarks.neighbours import Neighbours
from benchmarks.scale.client import Client
from benchmarks.scale.people import caller
from benchmarks.scale.services import LOOPBACK, Services, running_services
from benchmarks.shop import BenchShop
from tests.builders.people import make_user, sign_in
from tests.servers.run import shared_directory

WEB_PROCESSES = (1, 2, 4)

LINEAR = 0.9
"""The share of n times the rate of one process that n processes reach while they grow linearly."""

FULL = 0.95
"""The share of all cores that counts as all of them."""

_CONNECTIONS, _SIGNING_IN = 16, 8
"""Clients of steady requests and of sign-ins, of which one process lets ten wait."""

_SECONDS, _WARM_UP_SECONDS = 6.0, 1.5
_STEADY = ("`me`", "`tokenRefresh`", "`products(first: 20)`")
_SIGN_IN = "`tokenCreate`"
_addresses = (f"127.1.{number >> 8}.{number & 255}" for number in count(1))


@dataclass(frozen=True, slots=True)
class Measured:
    """What so many web processes gave: answers a second, milliseconds, and cores by service."""

    processes: int
    rate: float
    median: float
    p99: float
    cores: Mapping[str, float]
    others: float
    unexpected: int = 0

    @property
    def all_cores(self) -> float:
        return sum(self.cores.values())


def main(_options: Namespace) -> int:
    """Print the rates, and where they stop growing; return 1 if answers were not as expected."""
    measured: dict[str, list[Measured]] = {}
    for processes in WEB_PROCESSES:
        with shared_directory() as run, running_services(run, processes) as services:
            for kind, one in _measure(run, services, processes):
                measured.setdefault(kind, []).append(one)
                _print(line(kind, one))
    cores = os.cpu_count() or 1
    _print("".join(verdict(kind, rows, cores) for kind, rows in measured.items()))
    return int(any(one.unexpected for rows in measured.values() for one in rows))


def line(kind: str, one: Measured) -> str:
    """Return the line of one kind of request and one number of processes."""
    each = ", ".join(f"{name} {cores / one.rate * 1000:.2f}" for name, cores in one.cores.items())
    missed = f"; MISSED: {one.unexpected} other answers" if one.unexpected else ""
    return (
        f"{one.processes} web {kind}: {one.rate:,.0f} a second,"
        f" {one.rate / one.processes:,.0f} a process, p50 {one.median:.1f} ms,"
        f" p99 {one.p99:.1f} ms; ms of processor time a request: {each};"
        f" cores {one.all_cores:.2f}, others {one.others:.2f}{missed}\n"
    )


def verdict(kind: str, rows: Sequence[Measured], cores: int) -> str:
    """Return where the rate stops growing with the number of processes, and what the cores did."""
    first = rows[0]
    bent = next((one for one in rows if one.rate < LINEAR * first.rate * one.processes), None)
    growth = ", ".join(
        f"{one.rate / first.rate:.2f} times with {one.processes}" for one in rows[1:]
    )
    if bent is None:
        return f"- {kind}: {growth}: linear\n"
    taken = ", ".join(f"{name} {share:.2f}" for name, share in bent.cores.items())
    is_full = bent.all_cores + bent.others >= FULL * cores
    reason = f"all {cores} cores are busy" if is_full else "the cores aren't all busy"
    return f"- {kind}: {growth}: not linear from {bent.processes} on, {reason}: {taken}\n"


def _measure(run: Path, services: Services, processes: int) -> Iterator[tuple[str, Measured]]:
    shop = BenchShop(run, settings=services.settings)
    for kind, request in _requests(services, shop).items():
        asyncio.run(_check(services, request))
        before = _sessions(shop.ports)
        connections = _SIGNING_IN if kind == _SIGN_IN else _CONNECTIONS
        warm_up = _ask(services, request, _WARM_UP_SECONDS, connections)
        began, taken, neighbours = time.perf_counter(), _taken(services), Neighbours()
        outcome = _ask(services, request, _SECONDS, connections)
        seconds = time.perf_counter() - began
        cores = {name: (now - taken[name]) / seconds for name, now in _taken(services).items()}
        unexpected = outcome.unexpected
        if kind == _SIGN_IN:  # a refused one is answered with 200, too
            answers = len(warm_up.latencies) + len(outcome.latencies)
            unexpected += max(0, answers - (_sessions(shop.ports) - before))
        yield (
            kind,
            Measured(
                processes,
                outcome.rate,
                outcome.percentile(0.5),
                outcome.percentile(0.99),
                cores,
                neighbours.cores(),
                unexpected,
            ),
        )
    shop.ports.database.close()


def _requests(services: Services, shop: BenchShop) -> dict[str, bytes]:
    """Return a request of each kind; the customer's tokens are of this installation."""
    buyer = make_user(shop.ports, "buyer@example.com", password=None)
    pair = sign_in(shop.ports, buyer, caller=caller(services.settings))
    shop.access, shop.refresh = pair.access, pair.refresh
    steady = paths.steady(services.port, shop)
    return {
        **{kind: next(one.request for one in steady if kind in one.name) for kind in _STEADY},
        _SIGN_IN: paths.login(services.port, "203.0.113.7"),
    }


async def _check(services: Services, request: bytes) -> None:
    """Ask once; raise ``Refused`` if the answer has errors."""
    client = Client(services.port, services.authority)
    await client.send(request)
    client.close()


def _ask(
    services: Services, request: bytes, seconds: float, connections: int
) -> load_client.Outcome:
    tls = ssl.create_default_context(cafile=services.authority)

    def connect() -> socket.socket:
        # A new IP address for each: of one address, a single attempt to sign in runs at a time.
        plain = socket.create_connection(
            (LOOPBACK, services.port), timeout=30, source_address=(next(_addresses), 0)
        )
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return tls.wrap_socket(plain, server_hostname="localhost")

    return load_client.run(
        services.port, request, seconds=seconds, connections=connections, connect=connect
    )


def _taken(services: Services) -> dict[str, float]:
    return {**services.processor(), "client": time.process_time()}


def _sessions(ports: Ports) -> int:
    with ports.database.reading() as session:
        return session.scalar(select(func.count()).select_from(models.Session)) or 0


def _print(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
