"""Servers as in production, pinned to one core, on a free port."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.cpu_time import processor_seconds

ROOT = Path(__file__).parent.parent
SERVER_CORE = 0
LOAD_CORE = max(os.cpu_count() or 1, 1) - 1
ALL_CORES = f"{SERVER_CORE}-{LOAD_CORE}"
"""All cores, as ``taskset`` is told; a server has one if not asked for more."""
_START_SECONDS = 60
_SERVE = "flask serve"
_MEBI = 1024


@dataclass(frozen=True, slots=True)
class Server:
    """A running server: its port, how long the first answer took, and its process group."""

    port: int
    first_answer: float
    process: int

    def memory(self) -> float:
        """MiB that the largest of its processes keeps in memory."""
        return max(_resident(child) for child in family(self.process)) / _MEBI

    def shares(self) -> Mapping[str, float]:
        """MiB of each kind of process (PSS: of pages that several share, its part)."""
        processes = family(self.process)
        kinds = [_SERVE if one == self.process else _kind(one) for one in processes]
        shares = map(proportional, processes)
        return dict(zip(kinds, shares, strict=True))

    def processor(self) -> float:
        """Seconds of processor time that its processes have taken together."""
        return sum(processor_seconds(child) for child in family(self.process))


@contextmanager
def latchkey(
    database_url: str,
    settings: Mapping[str, str] | None = None,
    *,
    with_worker: bool = False,
    cores: str = str(SERVER_CORE),
) -> Iterator[Server]:
    """``flask serve`` with one server process, without the background worker if not asked for."""
    port = free_port()
    command = ["-m", "flask", "serve", "--workers", "1", "--port", str(port)]
    if not with_worker:
        command.append("--no-worker")
    environment = {
        "DATABASE_URL": database_url,
        "LOG_LEVEL": "ERROR",
        "TRUSTED_PROXIES": "127.0.0.0/8",
        # One client sends what thousands do.
        "RATE_LIMIT_TRUSTED_CLIENTS": "127.0.0.0/8",
        **(settings or {}),
    }
    with _running(command, port, environment, "/.well-known/jwks.json", cores) as server:
        yield server


@contextmanager
def empty_flask() -> Iterator[Server]:
    """The baseline: one empty Flask view on the same server."""
    port = free_port()
    command = [
        *("-m", "granian", "--interface", "rsgi", "--loop", "asyncio", "--workers", "1"),
        *("--http", "1", "--no-ws", "--host", "127.0.0.1", "--port", str(port)),
        *("--log-level", "error", "benchmarks.empty_app:server"),
    ]
    with _running(command, port, {}, "/") as server:
        yield server


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


@contextmanager
def _running(
    command: list[str],
    port: int,
    environment: Mapping[str, str],
    path: str,
    cores: str = str(SERVER_CORE),
) -> Iterator[Server]:
    started = time.perf_counter()
    process = subprocess.Popen(
        ["taskset", "-c", cores, sys.executable, *command],
        cwd=ROOT,
        env={**os.environ, **environment},
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        _wait(process, port, path, started)
        yield Server(port, time.perf_counter() - started, process.pid)
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=30)


def _wait(process: "subprocess.Popen[bytes]", port: int, path: str, started: float) -> None:
    request = f"GET {path} HTTP/1.0\r\nHost: localhost\r\n\r\n".encode()
    while time.perf_counter() - started < _START_SECONDS:
        if process.poll() is not None:
            raise RuntimeError(f"the server ended with {process.returncode}")
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=5) as probe:
                probe.sendall(request)
                if probe.recv(12).endswith(b"200"):
                    return
        except OSError:
            time.sleep(0.01)
    raise RuntimeError("the server did not answer in time")


def family(process: int) -> list[int]:
    """Return ``process`` and all its descendants."""
    found, waiting = [], [process]
    while waiting:
        current = waiting.pop()
        found.append(current)
        for task in Path(f"/proc/{current}/task").glob("*/children"):
            waiting += map(int, task.read_text().split())
    return found


def _kind(process: int) -> str:
    """Return "worker", "server" or "parent", the process that starts the servers."""
    if Path(f"/proc/{process}/comm").read_text().strip() == "latchkey-worker":
        return "worker"
    return "parent" if len(family(process)) > 1 else "server"


def proportional(process: int) -> float:
    """Return the MiB of ``process`` as PSS: of pages that several share, its part."""
    for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / _MEBI
    return 0.0


def _resident(process: int) -> int:
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return 0
