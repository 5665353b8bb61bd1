"""What a request costs that brings a provider's token: no call to it, nearly what ours costs."""

import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from app.adapters.clock import SystemClock
from benchmarks import load, paths, servers
from benchmarks.report import Report
from benchmarks.shop import MANAGER, BenchShop
from tests.builders.providers import set_up
from tests.servers.own_provider import OwnProvider, own_provider

DEAREST = 2.0
"""How many times the time of a request with a token of ours it may take at most."""

_OTHERS = 10
_WARM_UP = 0.7


@dataclass(frozen=True, slots=True)
class Measured:
    """One kind of token: what came of it, and how many ``times`` dearer than ours it is."""

    name: str
    outcome: load.Outcome
    times: float

    @property
    def note(self) -> str:
        return f"{self.name}: no call to the provider, {self.times:.2f} times the time of ours"


def measure(report: Report, folder: Path) -> None:
    """Add a row for each kind of token."""
    for one in _measured(folder):
        report.add(one.name, one.outcome)
        report.note(one.note)


def main() -> None:
    """Print what it costs."""
    os.sched_setaffinity(0, {servers.LOAD_CORE})
    with tempfile.TemporaryDirectory() as folder:
        for one in _measured(Path(folder)):
            sys.stdout.write(f"{one.note}; {one.outcome.rate:,.0f} a second\n")


def _measured(folder: Path) -> Iterator[Measured]:
    """Each kind of token; raises when one costs a call, or more than ``DEAREST``."""
    own_folder = folder / "single-sign-on"
    own_folder.mkdir()
    shop = BenchShop(own_folder, others=_OTHERS)
    networks = {"OUTGOING_ALLOWED_NETWORKS": "127.0.0.0/8"}
    with (
        own_provider(SystemClock()) as provider,
        servers.latchkey(shop.url, networks) as server,
    ):
        set_up(shop.ports, provider)
        ours = _run(server, shop.access)
        for kind, token in _tokens(provider).items():
            _show(server, token)
            asked = len(provider.server.received)
            outcome = _run(server, token)
            calls = len(provider.server.received) - asked
            one = Measured(f"`me` with {kind} seen before", outcome, ours.rate / outcome.rate)
            if calls or one.times > DEAREST:
                raise RuntimeError(f"{one.name}: {calls} calls, {one.times:.2f} times ours")
            yield one


def _tokens(provider: OwnProvider) -> dict[str, str]:
    """A token of each kind; all belong to the manager, whose token of ours they are held to."""
    return {
        "a provider's JWT": provider.known(provider.access_token(), email=MANAGER),
        "an opaque token": provider.known("opaque", email=MANAGER),
    }


def _show(server: servers.Server, token: str) -> None:
    """Have the server see the token for the first time, and whose it is."""
    answer = load.one(server.port, paths.graphql(server.port, paths.ME, token))
    if MANAGER.encode() not in answer:
        raise RuntimeError(f"the token is not the manager's: {answer[:200]!r}")


def _run(server: servers.Server, token: str) -> load.Outcome:
    request = paths.graphql(server.port, paths.ME, token)
    load.run(server.port, request, seconds=_WARM_UP)
    return load.run(server.port, request)
