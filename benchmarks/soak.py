"""``make soak``: 20 kills and 10,000 changes on each store, and not one delivery lost.

``make soak ARGS="--changes 1000 --kills 5"`` is shorter; names of combinations choose among them.
"""

import argparse
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import psycopg

from app.adapters.database.migrations import upgrade
from tests.reliability.crash_run import Result, Trial, Watching, run_trial
from tests.reliability.redis import killed_redis
from tests.servers.run import server_url, shared_directory

CHANGES, KILLS = 10_000, 20


@dataclass(frozen=True, slots=True)
class _Combination:
    name: str
    store: str
    workers: int
    kills_redis: bool = False


_COMBINATIONS = (
    _Combination("sqlite-1", "sqlite", 1),
    _Combination("sqlite-2", "sqlite", 2),
    _Combination("postgresql-redis-1", "postgresql", 1),
    _Combination("postgresql-redis-2", "postgresql", 2),
    _Combination("postgresql-redis-killed", "postgresql", 2, kills_redis=True),
)


def main(arguments: list[str]) -> int:
    """Run the combinations, report each, and return 1 if a delivery was lost."""
    names = [one.name for one in _COMBINATIONS]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(names))
    parser.add_argument("--changes", type=int, default=CHANGES)
    parser.add_argument("--kills", type=int, default=KILLS)
    chosen = parser.parse_args(arguments)
    if unknown := set(chosen.names) - set(names):
        parser.error(f"no combination {', '.join(sorted(unknown))}: {', '.join(names)}")
    combinations = [one for one in _COMBINATIONS if not chosen.names or one.name in chosen.names]
    trial = Trial(chosen.changes, chosen.kills)
    results = {}
    # Interrupting the run stops its servers.
    signal.signal(signal.SIGTERM, lambda _number, _frame: sys.exit(1))
    with shared_directory() as run:
        for one in combinations:
            results[one.name] = _run(run, one, trial)
            sys.stdout.write(_line(one.name, results[one.name]))
            sys.stdout.flush()
    return 0 if all(result.is_whole for result in results.values()) else 1


def _run(run: Path, combination: _Combination, trial: Trial) -> Result:
    folder = run / combination.name
    folder.mkdir(mode=0o711)
    with _database(run, folder, combination) as url:
        trial = replace(trial, workers=combination.workers)
        if combination.store == "sqlite":
            return run_trial(folder, url, trial, _progress(combination.name, trial))
        with killed_redis(folder) as redis:
            trial = replace(
                trial,
                redis_url=redis.url,
                kill_redis=redis.kill if combination.kills_redis else None,
            )
            return run_trial(folder, url, trial, _progress(combination.name, trial))


@contextmanager
def _database(run: Path, folder: Path, combination: _Combination) -> Iterator[str]:
    if combination.store == "sqlite":
        url = f"sqlite:///{folder / 'shop.sqlite3'}"
    else:
        server = server_url(run, "postgresql")
        name = combination.name.replace("-", "_")
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        url = server.replace("/postgres?", f"/{name}?")
    upgrade(url)
    yield url


def _progress(name: str, trial: Trial) -> Watching:
    """Return a callback that prints progress on a terminal."""

    def print_progress(changes: int, kills: int) -> None:
        if sys.stderr.isatty() and changes % 10 == 0:
            sys.stderr.write(
                f"\r{name}: {changes:,} of {trial.changes:,} changes,"
                f" {kills} of {trial.kills} kills"
            )
            if changes == trial.changes:
                sys.stderr.write("\n")

    return print_progress


def _line(name: str, result: Result) -> str:
    verdict = "whole" if result.is_whole else "NOT WHOLE"
    return (
        f"{name:24} {result.changes:>6,} changes  {result.noted:>6,} deliveries expected"
        f"  {result.arrived:>6,} arrived  {result.duplicates:>4,} duplicates"
        f"  {result.unknown} unknown  {result.lost} lost  {result.seconds:6.0f} s  {verdict}\n"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
