"""Processes that log, count and measure, forked from one that has imported what they need."""

from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from threading import Event

from app.adapters.activity import SqlActivity
from app.adapters.database.sql_database import connect_database
from app.adapters.keys.encryption import AesEncryption
from app.adapters.metrics import PrometheusMetrics
from app.adapters.sign_in_log import SqlSignInLog
from app.adapters.system import SystemClock
from app.domain.shop.settings import TrafficKind
from app.domain.sign_in.sign_in_log import SignInMethod, SignInReason, SignInRefusal
from app.ports.monitoring import CONNECTIONS, SIGN_INS

PROCESSES = get_context("forkserver")
"""Importing the application takes a second: tests that use it are of one ``xdist_group``."""

PROCESSES.set_forkserver_preload(["tests.adapters.processes", "tests.adapters.throttle_backends"])

NEVER = 3600.0
PATIENCE = 180.0


def run_to_its_end(process: ForkServerProcess) -> None:
    process.start()
    process.join(PATIENCE)
    assert process.exitcode == 0
    process.close()


def count_a_request(database_url: str) -> None:
    activity = SqlActivity(connect_database(database_url), SystemClock())
    activity.count_request(TrafficKind.APP)


def refuse_a_sign_in(database_url: str) -> None:
    log = SqlSignInLog(connect_database(database_url), SystemClock(), AesEncryption("secret"))
    log.count_refusal(SignInRefusal(SignInMethod.PASSWORD, SignInReason.OTHER), "")


def count_app_requests(database_url: str, app: int, orders: Connection) -> None:
    """Count as many requests of ``app`` as is ordered; write at 0, end at ``None``."""
    activity = SqlActivity(connect_database(database_url), SystemClock(), NEVER)
    while (requests := orders.recv()) is not None:
        for _ in range(requests):
            activity.count_app_request(app, "", 0.1)
        if not requests:
            activity.flush()
        orders.send("done")
    activity.close()


def count_sign_ins(folder: Path) -> None:
    """Count a sign-in twice."""
    metrics = PrometheusMetrics(folder)
    metrics.count(SIGN_INS, "PASSWORD", "SUCCESS", amount=2)
    metrics.watch(lambda: [(CONNECTIONS, 5.0, ("reading",))])
    metrics.flush()


def present(folder: Path, answers: Connection) -> None:
    """Claim the metrics until the process is killed."""
    metrics = PrometheusMetrics(folder)
    answers.send((metrics.claim(), metrics.claim()))
    Event().wait(PATIENCE)


@contextmanager
def started(process: ForkServerProcess) -> Iterator[ForkServerProcess]:
    """Kill it after the block, if it still runs."""
    process.start()
    try:
        yield process
    finally:
        process.kill()
        process.join(PATIENCE)
        process.close()
