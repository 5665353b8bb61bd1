"""Processes that another one starts: they end with it, even by SIGKILL, and have names."""

import ctypes
import os
import signal
import sys

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
