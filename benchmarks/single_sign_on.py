"""Requests with a provider's own token: no call to it, nearly the cost of ours."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from app.adapters.system import SystemClock
from benchmarks import load_client, paths, servers
from benchmarks.report import Report
from benchmarks.requests import bare_view
from benchmarks.shop import MANAGER, BenchShop
from tests.builders.providers import set_up
from tests.servers.own_provider import OwnProvider, own_provider

DEAREST = 2.0
"""The limit: this many times the time of a request with a local token."""

_OTHERS = 10


@dataclass(frozen=True, slots=True)
class Measured:
    """One kind of token: what it gave, and in the same seconds our own and the yardstick."""

    name: str
    outcome: load_client.Outcome
    ours: load_client.Outcome
    yardstick: load_client.Outcome

    @property
    def times(self) -> float:
        """How many times dearer than ours it is."""
        return self.ours.rate / self.outcome.rate

    @property
    def note(self) -> str:
        return f"{self.name}: no call to the provider, {self.times:.2f} times the time of ours"


def measure(report: Report, folder: Path) -> None:
    """Add a row for each kind of token.

    Raises if one causes a call to the provider or costs more than ``DEAREST``.
    """
    with servers.empty_flask() as bare:
        for one in _measured(report, folder, bare_view(bare)):
            report.add(one.name, one.outcome, one.yardstick)
            report.note(one.note)


def _measured(report: Report, folder: Path, yardstick: load_client.Target) -> Iterator[Measured]:
    shop = BenchShop(folder, other_users=_OTHERS)
    networks = {"OUTGOING_ALLOWED_NETWORKS": "127.0.0.0/8"}
    with own_provider(SystemClock()) as provider, servers.latchkey(shop.url, networks) as server:
        set_up(shop.ports, provider)
        own = _target(server, shop.access)
        for kind, token in _tokens(provider).items():
            _show(server, token)
            provider_calls = len(provider.server.received)
            ours, outcome, beside = report.side_by_side(own, _target(server, token), yardstick)
            calls = len(provider.server.received) - provider_calls
            one = Measured(f"`me` with {kind} seen before", outcome, ours, beside)
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
