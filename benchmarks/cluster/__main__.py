"""``make cluster``: two hosts under load, and one fault after the other.

Names of trials choose among them. Exits with 1 if a request or delivery was lost, a change was
made twice, or a host answered from old data.
"""

import argparse
import re
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import psycopg

from benchmarks.cluster.checks import CrossHostChecks, Figures
from benchmarks.cluster.cluster import Cluster, running_cluster
from benchmarks.cluster.load import Record, load
from benchmarks.cluster.network import enter_own_network
from benchmarks.cluster.trials import TRIALS, Run, Trial
from benchmarks.deployment.stack import wait_until
from tests.servers.run import shared_directory

_SETTLE_SECONDS = 240.0
_TRACEBACK = re.compile(r'Traceback \(most recent call last\)|"exception":')


@dataclass(frozen=True, slots=True)
class _Amount:
    rounds: int
    throttle_rounds: int
    seconds: float


_FULL, _QUICK = _Amount(100, 10, 5.0), _Amount(10, 4, 1.5)


def main(arguments: list[str]) -> int:
    """Run the trials and print a line for each."""
    names = [trial.name.replace(" ", "-").lower() for trial in TRIALS]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cluster", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="TRIAL", help=", ".join(names))
    parser.add_argument("--quick", action="store_true", help="ask the hosts less often")
    parser.add_argument("--loopback", action="store_true", help="use no network namespaces")
    chosen = parser.parse_args(arguments)
    if unknown := set(chosen.names) - set(names):
        parser.error(f"no trial {', '.join(sorted(unknown))}: {', '.join(names)}")
    if not chosen.loopback:
        enter_own_network("benchmarks.cluster", arguments)
    signal.signal(signal.SIGTERM, lambda _number, _frame: sys.exit(1))
    trials = [
        trial
        for name, trial in zip(names, TRIALS, strict=True)
        if not chosen.names or name in chosen.names
    ]
    missed = False
    with shared_directory() as run:
        started = time.monotonic()
        with running_cluster(run) as cluster:
            seconds = time.monotonic() - started
            _print(f"2 hosts in {cluster.network.kind}, all serve {seconds:.1f} s after the start")
            checks = CrossHostChecks(cluster)
            for trial in trials:
                problems = _run(cluster, checks, trial, _QUICK if chosen.quick else _FULL)
                missed = missed or bool(problems)
        missed = _has_traceback(run) or missed
    return int(missed)


def _run(cluster: Cluster, checks: CrossHostChecks, trial: Trial, amount: _Amount) -> list[str]:
    figures: list[Figures] = []
    arrived, arrivals = cluster.receiver.counts()

    def check() -> None:
        figures.append(checks.run(amount.rounds, amount.throttle_rounds))

    run = Run(cluster, check)
    with load(cluster.api) as record:
        time.sleep(amount.seconds)
        trial.act(run)
        wait_until(lambda: cluster.is_ready)
        ready = time.monotonic()
        if not figures:
            check()
        time.sleep(amount.seconds)
    back = max([ready, *(moment for moment, _ in record.failures)]) - run.restored
    emails = _stored(cluster, record)
    settled = _settle(cluster, emails)
    problems = _problems(cluster, trial, record, figures[0], emails)
    now_arrived, now_arrivals = cluster.receiver.counts()
    different = now_arrived - arrived
    duplicates = now_arrivals - arrivals - different
    _print(
        f"{trial.name}: {record.sent:,} requests, {len(record.failures)} failed, "
        f"{len(record.accepted):,} changes accepted, {len(record.accepted - emails)} lost, "
        f"{len(record.twice)} made twice; {different:,} deliveries, "
        f"{_lost(cluster, emails)} lost, {duplicates} sent again, last after {settled:.1f} s; "
        f"{figures[0].asked:,} checks on the other host, {figures[0].late.total()} late; login "
        f"throttle counted in {figures[0].throttled} of {figures[0].throttle_rounds}, known on "
        f"the other host in {figures[0].blocks_known}; all serve "
        f"{back:.1f} s after the repair, slowest request {record.slowest:.1f} s"
        + (f"; {run.note}" if run.note else "")
    )
    for problem in problems:
        _print(f"  FAILED: {problem}")
    return problems


def _stored(cluster: Cluster, record: Record) -> set[str]:
    """Return which of the customers are in the database."""
    asked = list(record.accepted | record.uncertain | record.twice)
    with psycopg.connect(cluster.database.own_url) as connection:
        rows = connection.execute("SELECT email FROM users WHERE email = ANY(%s)", [asked])
        return {email for (email,) in rows}


def _settle(cluster: Cluster, emails: set[str]) -> float:
    """Wait until every customer's delivery has arrived; return how long that took."""
    started = time.monotonic()
    while _lost(cluster, emails) and time.monotonic() - started < _SETTLE_SECONDS:
        time.sleep(0.1)
    return time.monotonic() - started


def _lost(cluster: Cluster, emails: set[str]) -> int:
    return sum(not found for found in cluster.receiver.deliveries_of(emails).values())


def _problems(
    cluster: Cluster, trial: Trial, record: Record, figures: Figures, emails: set[str]
) -> list[str]:
    """Name each limit that was missed."""
    twice = [mail for mail, n in cluster.receiver.deliveries_of(emails).items() if n > 1]
    missed = figures.throttle_rounds - figures.throttled
    unknown = figures.throttle_rounds - figures.blocks_known
    found = {
        f"{len(record.accepted - emails)} accepted changes lost": record.accepted - emails,
        f"{len(record.twice)} changes made twice": record.twice,
        f"{_lost(cluster, emails)} deliveries lost": _lost(cluster, emails),
        f"{len(twice)} customers with two deliveries": twice,
        f"{dict(figures.late)} wrong on the other host": figures.late,
        f"the login throttle wasn't counted in {missed}": missed,
        f"{unknown} blocks of the login throttle not known": unknown,
    }
    problems = [text for text, is_missed in found.items() if is_missed]
    reasons = sorted({reason for _, reason in record.failures})
    if reasons and not trial.can_fail:
        problems.append(f"{len(record.failures)} requests failed: {'; '.join(reasons[:3])}")
    return problems


def _has_traceback(run: Path) -> bool:
    """Say which logs have errors that weren't expected."""
    found = False
    for log in sorted(run.glob("*.log")):
        lines = [line for line in log.read_text().splitlines() if _TRACEBACK.search(line)]
        if lines:
            found = True
            _print(f"  FAILED: {log.name} has {len(lines)} tracebacks, first: {lines[0][:1000]}")
    return found


def _print(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
