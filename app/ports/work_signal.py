"""Wakes the workers of an installation when a transaction has left work for them."""

import time
from typing import Final, Protocol

_OFTEN = 0.3
"""Seconds until a worker that can't receive signals looks for work."""


class WorkSignal(Protocol):
    """A hint, and no more than that: a worker also looks for work every few seconds.

    So neither method raises when a signal can't be sent or received.
    """

    def send(self) -> None:
        """Wake each worker that waits, on this host or another."""

    def wait(self, seconds: float) -> bool:
        """Return whether a signal came, after at most ``seconds``.

        Signals that come between two calls count for the second. Where none can be received, it
        returns False after a fraction of a second, so that the caller looks often instead.
        """

    def close(self) -> None:
        """Give connections and files back."""


class NoSignal:
    """Sends nothing, and lets a worker look for work as often as it must without signals."""

    def send(self) -> None:
        return

    def wait(self, seconds: float) -> bool:
        time.sleep(min(seconds, _OFTEN))
        return False

    def close(self) -> None:
        return


NO_SIGNAL: Final[WorkSignal] = NoSignal()
