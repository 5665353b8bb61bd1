"""Event loops of tests, each in a thread of its own.

A worker that has a browser open runs another loop in the main thread.
"""

from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from tests.servers.sandbox import PATIENCE

Result = TypeVar("Result")


def run_in_thread(
    run: Callable[[Coroutine[Any, Any, Result]], Result], work: Coroutine[Any, Any, Result]
) -> Result:
    """Return the result of ``work``, which ``run`` carries out: ``asyncio.run`` or a loop's."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(run, work).result(PATIENCE)
