"""The faults, one function each, which return when all should serve again and what was seen."""

import signal
import time
from collections.abc import Callable
from dataclasses import dataclass

import psycopg

from benchmarks.cluster.cluster import Cluster
from benchmarks.cluster.hosts import WORKER
from benchmarks.cluster.slow_link import slow_link
from benchmarks.deployment.stack import wait_until

_OUTAGE = 3.0
_WORKER_KILLS = 6
_DELAY = 0.02
_AHEAD, _BEHIND = 4.0, -4.0


@dataclass(slots=True)
class Run:
    """A trial under way: ``check`` asks the hosts; ``restored`` is when the fault was mended."""

    cluster: Cluster
    check: Callable[[], None]
    restored: float = 0.0
    note: str = ""

    def mend(self) -> None:
        self.restored = time.monotonic()


@dataclass(frozen=True, slots=True)
class Trial:
    """``can_fail``: requests that are on their way to what is killed can fail."""

    name: str
    act: Callable[[Run], None]
    can_fail: bool = False


def kill_host(run: Run) -> None:
    """Kill every process of a host and start them again."""
    host = run.cluster.hosts[1]
    host.kill()
    time.sleep(_OUTAGE)
    run.mend()
    host.start()


def kill_valkey(run: Run) -> None:
    run.cluster.valkey.kill()
    time.sleep(_OUTAGE)
    run.mend()
    run.cluster.valkey.start()


def restart_postgresql(run: Run) -> None:
    """Restart it as an administrator does, then as after a crash."""
    run.cluster.database.restart(signal.SIGINT)
    wait_until(lambda: run.cluster.is_ready)
    time.sleep(_OUTAGE)
    run.mend()
    run.cluster.database.restart(signal.SIGQUIT)


def kill_workers(run: Run) -> None:
    """Kill workers in turn while deliveries are leased to them."""
    cluster, leased = run.cluster, []
    cluster.receiver.seconds = 0.1
    try:
        for number in range(_WORKER_KILLS):
            wait_until(lambda: bool(_leased(cluster)))
            time.sleep(0.3)  # some of a batch is sent, some isn't
            leased.append(_leased(cluster))
            host = cluster.hosts[number % 2]
            host.kill_one(WORKER)
            run.mend()
            host.start_one(WORKER)
    finally:
        cluster.receiver.seconds = 0.0
    run.note = f"{_WORKER_KILLS} workers killed with {sum(leased):,} deliveries leased"


def shift_clocks(run: Run) -> None:
    """Let the clocks of the hosts differ by seconds."""
    one, other = run.cluster.hosts
    for host, offset in ((one, _AHEAD), (other, _BEHIND)):
        host.set_clock(offset)
        host.restart()
    run.check()
    run.mend()
    for host in run.cluster.hosts:
        host.set_clock(None)
        host.restart()
    run.note = f"clocks {_AHEAD - _BEHIND:.0f} s apart"


def slow_down(run: Run) -> None:
    """Put a slow network between a host and PostgreSQL and Valkey."""
    cluster, host = run.cluster, run.cluster.hosts[1]
    address = cluster.network.center.address
    usual = dict(host.settings)
    with (
        slow_link(address, cluster.database.port, _DELAY) as database,
        slow_link(address, cluster.valkey.port, _DELAY) as valkey,
    ):
        host.settings["DATABASE_URL"] = cluster.database.url(address, database)
        host.settings["REDIS_URL"] = cluster.valkey.url(address, valkey)
        host.restart()
        run.check()
        run.mend()
        host.settings.update(usual)
        host.restart()
    run.note = f"{_DELAY * 2000:.0f} ms for each round trip"


def upgrade(run: Run) -> None:
    """Restart every process in turn."""
    seconds = [taken for host in run.cluster.hosts for taken in host.restart()]
    run.mend()
    run.note = f"processes stopped within {max(seconds):.1f} s"


def _leased(cluster: Cluster) -> int:
    with psycopg.connect(cluster.database.own_url) as connection:
        found = connection.execute("SELECT count(*) FROM deliveries WHERE lease <> ''").fetchone()
    return int(found[0]) if found else 0


TRIALS = (
    Trial("host killed", kill_host, can_fail=True),
    Trial("Valkey killed", kill_valkey),
    Trial("PostgreSQL restarted", restart_postgresql, can_fail=True),
    Trial("workers killed", kill_workers),
    Trial("clocks apart", shift_clocks),
    Trial("slow network", slow_down),
    Trial("rolling upgrade", upgrade),
)
