"""A host: two web processes and a worker, which are started, stopped and killed."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import requests

from benchmarks.cluster.network import Place
from benchmarks.deployment.stack import wait_until
from tests.servers.run import ROOT

PORTS = (8001, 8002)
WORKER = "worker"

_BIN = Path(sys.executable).parent
_MARK = "CLUSTER_PROCESS"
_CLOCK = Path(__file__).parent / "clock"
_PATIENCE = 60.0
_START_SECONDS = 180.0
"""Seconds that a process can take to start under load on a busy machine."""


@dataclass(slots=True)
class Host:
    """Processes at ``place`` by name: ``8001``, ``8002`` and ``worker``.

    ``settings`` is the environment of what is started from now on.
    """

    place: Place
    folder: Path
    settings: dict[str, str]
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        return (*map(str, PORTS), WORKER)

    @property
    def urls(self) -> tuple[str, ...]:
        return tuple(f"http://{self.place.address}:{port}" for port in PORTS)

    @property
    def is_ready(self) -> bool:
        return all(map(_is_ready, self.urls))

    def start(self) -> None:
        """Start all processes and wait until they are ready."""
        for name in self.names:
            self._launch(name)
        for name in self.names:
            self._wait(name)

    def start_one(self, name: str) -> None:
        self._launch(name)
        self._wait(name)

    def stop_one(self, name: str) -> float:
        """Stop a process as an orchestrator does; return the seconds it took."""
        started = time.monotonic()
        process = self.processes.pop(name)
        process.send_signal(signal.SIGTERM)
        process.wait(_PATIENCE)
        return time.monotonic() - started

    def restart(self) -> list[float]:
        """Restart one process after the other; return how long each took to stop."""
        seconds = []
        for name in self.names:
            seconds.append(self.stop_one(name))
            self.start_one(name)
        return seconds

    def stop(self) -> None:
        for name in list(self.processes):
            self.stop_one(name)

    def kill(self) -> None:
        """End all processes at once, as a power cut would."""
        self._kill(self._mark(""))
        self.processes.clear()

    def kill_one(self, name: str) -> None:
        self._kill(self._mark(name))
        del self.processes[name]

    def set_clock(self, offset: float | None) -> None:
        """Shift the clock of what is started from now on; ``None`` is the machine's clock."""
        for name in ("CLUSTER_CLOCK_OFFSET", "PYTHONPATH"):
            self.settings.pop(name, None)
        if offset is not None:
            self.settings["CLUSTER_CLOCK_OFFSET"] = str(offset)
            self.settings["PYTHONPATH"] = os.pathsep.join((str(_CLOCK), str(ROOT)))

    def _launch(self, name: str) -> None:
        address = ["--host", self.place.address, "--port", name]
        command = (
            ["flask", "worker"]
            if name == WORKER
            else ["flask", "serve", *address, "--no-worker", "--workers", "1"]
        )
        log = self.folder / f"{self.place.name}-{name}.log"
        with log.open("ab") as output:
            self.processes[name] = subprocess.Popen(
                [*self.place.prefix, _BIN / command[0], *command[1:]],
                env={**self.settings, _MARK: self._mark(name)},
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )

    def _wait(self, name: str) -> None:
        if name != WORKER:
            url = f"http://{self.place.address}:{name}"
            wait_until(lambda: _is_ready(url), self.processes[name], _START_SECONDS)

    def _mark(self, name: str) -> str:
        return f"{self.folder.name}/{self.place.name}/{name}"

    def _kill(self, mark: str) -> None:
        """Kill every process that began with this mark, whoever its parent is."""
        ended = [one for name, one in self.processes.items() if _has_mark(one.pid, mark)]
        while pids := list(_marked(mark)):
            for pid in pids:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            for process in ended:
                process.wait(_PATIENCE)


def _marked(mark: str) -> Iterator[int]:
    for process in Path("/proc").glob("[0-9]*"):
        if _has_mark(int(process.name), mark):
            yield int(process.name)


def _has_mark(pid: int, mark: str) -> bool:
    try:
        return f"\0{_MARK}={mark}" in "\0" + Path(f"/proc/{pid}/environ").read_text()
    except OSError:  # it has ended
        return False


def _is_ready(url: str) -> bool:
    try:
        response = requests.get(f"{url}/readyz", timeout=5)
    except requests.RequestException:
        return False
    return bool(response.status_code == requests.codes.ok)
