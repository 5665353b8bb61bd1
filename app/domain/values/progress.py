"""How far long work is, told while it goes on."""

from collections.abc import Callable

OnProgress = Callable[[int, int], None]
"""Takes how many of how many are done."""


def ignore_progress(_done: int, _total: int) -> None:
    """Tell no one."""
