"""What a process has to do with the one that started it: it ends with it, has a name, and reports.

``ServiceManager`` is systemd, or another that understands sd_notify(3).
"""

import ctypes
import math
import os
import signal
import socket
import sys
import time
from contextlib import suppress

_SET_PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of prctl(2)
_SET_NAME = 15  # PR_SET_NAME


def end_with_parent(parent: int) -> None:
    """Have this process receive SIGTERM when its parent ``parent`` (a process ID) ends.

    Otherwise it would keep the port. Only Linux has such a signal. A parent that ended before this
    call sends none, so that is checked afterwards.
    """
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGTERM)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGTERM)


def show_name(name: str) -> None:
    """Have ``ps -e`` and ``top`` call this process ``name``, cut to 15 bytes; only Linux does."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_NAME, name.encode())


class ServiceManager:
    """What started this process and wants to know how it fares; without ``path``, nothing does.

    ``path`` is NOTIFY_SOCKET. It ends a process that hasn't called ``tell_alive`` for
    ``watchdog_seconds``.
    """

    def __init__(self, path: str = "", watchdog_seconds: float = 0.0) -> None:
        self._path = f"\0{path[1:]}" if path.startswith("@") else path
        self._pause = watchdog_seconds / 2
        self._told = 0.0

    def tell_ready(self) -> None:
        """Say that the start or a reload is done."""
        self._send("READY=1")

    def tell_reloading(self) -> None:
        self._send(f"RELOADING=1\nMONOTONIC_USEC={time.monotonic_ns() // 1000}")

    def tell_stopping(self) -> None:
        self._send("STOPPING=1")

    @property
    def wants_sign_of_life(self) -> bool:
        """Whether half of the watchdog's time is over."""
        return self.seconds_to_sign_of_life <= 0

    @property
    def seconds_to_sign_of_life(self) -> float:
        """In how many seconds half of the watchdog's time is over; never without a watchdog."""
        return self._told + self._pause - time.monotonic() if self._pause else math.inf

    def tell_alive(self) -> None:
        self._told = time.monotonic()
        self._send("WATCHDOG=1")

    def _send(self, message: str) -> None:
        if not self._path:
            return
        # One that doesn't listen is no reason to stop.
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.setblocking(False)  # noqa: FBT003
            sender.sendto(message.encode(), self._path)
