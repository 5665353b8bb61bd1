"""Coroutines that go on in whichever thread has news for them, past the loop's own thread.

An asyncio loop runs every step in its own thread: each request would wake that thread three times
and be woken by it once, which takes as long as a whole cached operation. granian reaches a loop by
tasks and the two ``call_soon``s alone, so those are replaced; timers stay the loop's.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Generator
from contextvars import Context
from queue import SimpleQueue
from typing import Any

Resume = Callable[..., None]
Work = Callable[[], None]


class Threads:
    """Working threads, and what waits for one of them."""

    def __init__(self) -> None:
        self._waiting: SimpleQueue[tuple[Work, Resume]] = SimpleQueue()

    def start(self, count: int) -> None:
        """Begin to work; ``work`` given to ``run`` before then waits."""
        for number in range(count):
            threading.Thread(target=self._work, name=f"request-{number}", daemon=True).start()

    def run(self, work: Work) -> "_Job":
        """Await the result to have ``work`` done in one of the threads; it must not raise."""
        return _Job(self._waiting, work)

    def _work(self) -> None:
        while True:
            work, resume = self._waiting.get()
            work()
            resume()


class _Job:
    """An awaitable that ``_Steps`` treats like granian's futures."""

    __slots__ = ("_waiting", "_work")

    def __init__(self, waiting: "SimpleQueue[tuple[Work, Resume]]", work: Work) -> None:
        self._waiting = waiting
        self._work = work

    def __await__(self) -> Generator["_Job", None, None]:
        yield self

    def add_done_callback(self, resume: Resume, *, context: Context | None = None) -> None:
        self._waiting.put((self._work, resume))


class _Steps:
    """A coroutine as granian's task: each step runs where what it waited for was done."""

    __slots__ = ("_coroutine",)

    def __init__(self, coroutine: Coroutine[Any, Any, Any]) -> None:
        self._coroutine = coroutine

    def step(self, awaited: Any = None) -> None:
        """Go on; ``awaited`` is what has been done, where it is a future of granian's."""
        try:
            if awaited is not None and awaited.cancelled():
                awaited = self._coroutine.throw(asyncio.CancelledError())
            else:
                awaited = self._coroutine.send(None)
        except StopIteration:
            return
        awaited.add_done_callback(self.step, context=None)

    def cancel(self, msg: object = None) -> bool:
        """Never: a request that has begun is answered, whether its client still listens or not."""
        return False


def run_inline(loop: asyncio.AbstractEventLoop) -> None:
    """Have ``loop`` run what other threads hand it in those threads, at once.

    Call it in the loop's own thread before it runs. What is handed over without arguments still
    goes to that thread: granian's word that the process may end.
    """
    owner = threading.current_thread()
    call_in_loop, call_in_its_thread = loop.call_soon, loop.call_soon_threadsafe

    def call_soon(
        callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> asyncio.Handle | None:
        if isinstance(getattr(callback, "__self__", None), _Steps):
            callback(*args)
            return None
        return call_in_loop(callback, *args, context=context)

    def call_soon_threadsafe(
        callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> asyncio.Handle | None:
        if args:
            callback(*args)
            return None
        return call_in_its_thread(callback, context=context)

    def task(
        its_loop: asyncio.AbstractEventLoop, coroutine: Coroutine[Any, Any, Any], **options: Any
    ) -> Any:
        if threading.current_thread() is owner:
            return asyncio.Task(coroutine, loop=its_loop, **options)
        steps = _Steps(coroutine)
        steps.step()
        return steps

    loop.call_soon = call_soon  # type: ignore[assignment]
    loop.call_soon_threadsafe = call_soon_threadsafe  # type: ignore[assignment]
    loop.set_task_factory(task)  # type: ignore[arg-type]
