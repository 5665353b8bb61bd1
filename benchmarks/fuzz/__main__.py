"""``make fuzz``: an hour of random input; ends with figures, and with 1 if there was a fault.

``make fuzz ARGS="--minutes 5 --part pages"`` is shorter. A fault is kept with what caused it and
its seed: ``--seed SEED --part PART --rounds 1`` sends the same again.
"""

import argparse
import os
import secrets
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

import hypothesis
from hypothesis import HealthCheck, Phase, given
from hypothesis.strategies import SearchStrategy

from benchmarks.fuzz.api import Documents, Variables
from benchmarks.fuzz.bodies import Bodies
from benchmarks.fuzz.client import Client, ServerEnded
from benchmarks.fuzz.commands import Commands
from benchmarks.fuzz.findings import Findings
from benchmarks.fuzz.offline.sitecustomize import stay_on_this_machine
from benchmarks.fuzz.pages import Pages
from benchmarks.fuzz.shop import FuzzedShop, fuzzed_shop
from benchmarks.servers import ROOT

MINUTES = 60
EXAMPLES = 50
"""Of each part in a round; then the next part has its turn, on switches put back."""

PARTS = ("commands", "documents", "variables", "bodies", "pages")
FINDINGS_FOLDER = ROOT / "benchmarks" / "out" / "fuzz"


class Part(Protocol):
    """One kind of input: how it is made, and what is done with it."""

    name: str
    strategy: SearchStrategy[Any]

    def attempt(self, seed: int, example: Any) -> None:
        """Send it, and note what comes of it."""


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=MINUTES)
    parser.add_argument("--rounds", type=int, default=sys.maxsize)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(10**9))
    parser.add_argument("--part", action="append", choices=PARTS, help="all if unsaid")
    chosen = parser.parse_args(arguments)
    stay_on_this_machine()
    folder_ = FINDINGS_FOLDER / f"seed-{chosen.seed}"
    folder_.mkdir(parents=True, exist_ok=True)
    findings = Findings(folder_)
    print(f"seed {chosen.seed}; what is found goes to {folder_.relative_to(ROOT)}", flush=True)
    with TemporaryDirectory(prefix="latchkey-fuzz-") as name:
        folder = Path(name)
        os.environ |= {"HOME": name, "XDG_CONFIG_HOME": name, "XDG_STATE_HOME": name}
        with fuzzed_shop(folder) as shop:
            parts = _parts(chosen.part or PARTS, shop, findings, folder)
            _run(parts, shop, findings, chosen)
    return 1 if findings.total else 0


def _parts(names: Sequence[str], shop: FuzzedShop, findings: Findings, folder: Path) -> list[Part]:
    client = Client(shop, findings)
    all_parts: dict[str, Callable[[], Part]] = {
        "documents": lambda: Documents(client),
        "variables": lambda: Variables(client),
        "bodies": lambda: Bodies(client),
        "pages": lambda: Pages(client),
        "commands": lambda: Commands(findings, folder),
    }
    return [all_parts[name]() for name in PARTS if name in names]


def _run(
    parts: Sequence[Part], shop: FuzzedShop, findings: Findings, chosen: argparse.Namespace
) -> None:
    started_at = time.monotonic()
    end = started_at + chosen.minutes * 60
    warm = shop.memory()
    try:
        for place in range(chosen.rounds):
            if time.monotonic() > end:
                break
            for part in parts:
                shop.restore()
                _turn(part, chosen.seed + place, end)
            if place == 0:
                warm = shop.memory()
    except ServerEnded:
        print("The server ended: the run ends here.")
    finally:
        _report(findings, shop, warm, time.monotonic() - started_at)


def _turn(part: Part, seed: int, end: float) -> None:
    """One part's turn: so many examples, none of which depends on another."""

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=[*HealthCheck],
    )
    @given(part.strategy)
    def attempt(example: Any) -> None:
        if time.monotonic() < end:
            part.attempt(seed, example)

    attempt()


def _report(findings: Findings, shop: FuzzedShop, warm: float, seconds: float) -> None:
    for name in sorted(findings.requests):
        requests, faults = findings.requests[name], findings.faults[name]
        print(f"{name:12} {requests:>9,} requests {faults:>6,} faults")
    print(f"{'all':12} {findings.requests.total():>9,} requests {findings.total:>6,} faults")
    for kind, count in findings.kinds.most_common():
        print(f"  {count:>6,} times {kind}")
    print(f"{findings.unavailable:,} answers 503, in {seconds / 60:.1f} minutes")
    print(f"slowest answer: {findings.slowest:.2f} s, {findings.slowest_of}")
    if shop.is_running:
        now = shop.memory()
        print(
            f"memory of the server: {warm:.0f} MiB after one round, {now:.0f} at the end", end=""
        )
        print(f" ({now - warm:+.0f})")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
