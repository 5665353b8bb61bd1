"""What a request costs that brings a provider's token: no call to it, nearly what ours costs."""

import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.adapters.clock import SystemClock
from benchmarks import load_client, paths, servers
from benchmarks.report import Report
from benchmarks.shop import MANAGER, BenchShop
from tests.builders.providers import set_up
from tests.servers.own_provider import OwnProvider, own_provider

DEAREST = 2.0
"""The limit: this many times the time of a request with a local token."""

_OTHERS = 10


@dataclass(frozen=True, slots=True)
class Measured:
    """One kind of token: what came of it, and at the same time of ``ours`` and of ``others``."""

    name: str
    outcome: load_client.Outcome
    baseline: load_client.Outcome
    concurrent: Sequence[load_client.Outcome]

    @property
    def times(self) -> float:
        """How many times dearer than ours it is."""
        return self.baseline.rate / self.outcome.rate

    @property
    def note(self) -> str:
        return f"{self.name}: no call to the provider, {self.times:.2f} times the time of ours"


def measure(report: Report, folder: Path, baseline: load_client.Target) -> None:
    """Add a row for each kind of token."""
    for one in _measured(folder, baseline):
        report.add(one.name, one.outcome, one.concurrent[0])
        report.note(one.note)


def main() -> None:
    """Print what it costs."""
    os.sched_setaffinity(0, {servers.LOAD_CORE})
    with tempfile.TemporaryDirectory() as folder:
        for one in _measured(Path(folder)):
            sys.stdout.write(f"{one.note}; {one.outcome.rate:,.0f} a second\n")


def _measured(folder: Path, *beside: load_client.Target) -> Iterator[Measured]:
    """Measure each kind of token while ``beside`` runs.

    Raises if one causes a call to the provider or costs more than ``DEAREST``.
    """
    own_folder = folder / "single-sign-on"
    own_folder.mkdir()
    shop = BenchShop(own_folder, other_users=_OTHERS)
    networks = {"OUTGOING_ALLOWED_NETWORKS": "127.0.0.0/8"}
    with (
        own_provider(SystemClock()) as provider,
        servers.latchkey(shop.url, networks) as server,
    ):
        set_up(shop.ports, provider)
        baseline = _target(server, shop.access)
        for kind, token in _tokens(provider).items():
            _show(server, token)
            provider_calls = len(provider.server.received)
            baseline_outcome, outcome, *concurrent = load_client.side_by_side(
                baseline, _target(server, token), *beside
            )
            calls = len(provider.server.received) - provider_calls
            one = Measured(f"`me` with {kind} seen before", outcome, baseline_outcome, concurrent)
            if calls or one.times > DEAREST:
                raise RuntimeError(f"{one.name}: {calls} calls, {one.times:.2f} times ours")
            yield one


def _tokens(provider: OwnProvider) -> dict[str, str]:
    """Return a token of each kind, all for the manager, whose local token is the baseline."""
    return {
        "a provider's JWT": provider.known(provider.access_token(), email=MANAGER),
        "an opaque token": provider.known("opaque", email=MANAGER),
    }


def _show(server: servers.Server, token: str) -> None:
    """Have the server see the token for the first time, and whose it is."""
    answer = load_client.one(server.port, paths.graphql(server.port, paths.ME, token))
    if MANAGER.encode() not in answer:
        raise RuntimeError(f"the token is not the manager's: {answer[:200]!r}")


def _target(server: servers.Server, token: str) -> load_client.Target:
    return load_client.Target(server.port, paths.graphql(server.port, paths.ME, token))
