"""Where hosts live: in separate network namespaces, or on loopback addresses.

A namespace lasts as long as a process in it, so that a killed trial leaves none behind.
"""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

_INSIDE = "CLUSTER_NETWORK"
_BRIDGE = "cluster"
_PATIENCE = 10.0


@dataclass(frozen=True, slots=True)
class Place:
    """An IP address, and the words before a command that run it there."""

    name: str
    address: str
    prefix: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Network:
    """``center`` has the database, Valkey, nginx and the clients."""

    kind: str
    center: Place
    hosts: tuple[Place, ...]


def enter_own_network(module: str, arguments: Sequence[str]) -> None:
    """Run ``module`` again in a separate network namespace, where this machine allows that."""
    if os.environ.get(_INSIDE) or shutil.which("ip") is None:
        return
    own = ["unshare", "--net"]
    if (
        shutil.which("unshare") is None
        or subprocess.run([*own, "true"], capture_output=True, check=False).returncode
    ):
        return
    environment = {**os.environ, _INSIDE: "own"}
    command = [*own, sys.executable, "-m", module, *arguments]
    os.execvpe(command[0], command, environment)  # noqa: S606 - the same program


@contextmanager
def open_network(names: Sequence[str]) -> Iterator[Network]:
    """Yield a network with one host for each of ``names``."""
    if not os.environ.get(_INSIDE):
        places = (Place(name, f"127.0.{n}.1") for n, name in enumerate(names, 1))
        yield Network("loopback addresses", Place("center", "127.0.0.1"), tuple(places))
        return
    center = Place("center", "10.77.0.1")
    _ip("link", "set", "lo", "up")
    _ip("link", "add", _BRIDGE, "type", "bridge")
    _ip("address", "add", f"{center.address}/24", "dev", _BRIDGE)
    _ip("link", "set", _BRIDGE, "up")
    with ExitStack() as ends:
        hosts = tuple(_add_host(name, n, ends) for n, name in enumerate(names, 1))
        yield Network("network namespaces", center, hosts)


def _add_host(name: str, number: int, ends: ExitStack) -> Place:
    # Ends when this process does: then its input ends.
    holder = ends.enter_context(
        subprocess.Popen(
            ["unshare", "--net", "cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
        )
    )
    ends.callback(holder.kill)
    _wait_for_namespace(holder.pid)
    place = Place(
        name, f"10.77.0.{10 + number}", ("nsenter", f"--net=/proc/{holder.pid}/ns/net", "--")
    )
    here = f"host-{name}"
    _ip("link", "add", here, "type", "veth", "peer", "name", "eth0", "netns", str(holder.pid))
    _ip("link", "set", here, "master", _BRIDGE, "up")
    for words in (
        ("link", "set", "lo", "up"),
        ("address", "add", f"{place.address}/24", "dev", "eth0"),
        ("link", "set", "eth0", "up"),
    ):
        subprocess.run([*place.prefix, "ip", *words], check=True)
    return place


def _wait_for_namespace(pid: int) -> None:
    own = Path("/proc/self/ns/net").readlink()
    deadline = time.monotonic() + _PATIENCE
    while Path(f"/proc/{pid}/ns/net").readlink() == own:
        if time.monotonic() > deadline:
            raise TimeoutError("unshare made no network namespace.")
        time.sleep(0.01)


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)
