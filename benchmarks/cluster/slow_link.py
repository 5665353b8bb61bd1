"""A TCP proxy that delays what it passes on, in both directions."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Thread

_PIECE = 65536


@contextmanager
def slow_link(address: str, port: int, delay: float) -> Iterator[int]:
    """Yield a port at ``address`` that leads to ``port``, with ``delay`` seconds each way."""
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever)
    thread.start()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there = await asyncio.open_connection(address, port)
        except OSError:
            writer.close()
            return
        try:
            await asyncio.gather(
                _pass_on(reader, there[1], delay), _pass_on(there[0], writer, delay)
            )
        finally:
            there[1].close()
            writer.close()

    async def listen() -> asyncio.Server:
        return await asyncio.start_server(accept, address, 0)

    server = asyncio.run_coroutine_threadsafe(listen(), loop).result()
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        asyncio.run_coroutine_threadsafe(_close(server), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _pass_on(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, delay: float
) -> None:
    """Write each piece ``delay`` seconds after it was read, while the next ones are read."""
    loop = asyncio.get_running_loop()
    pieces: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()

    async def write() -> None:
        while True:
            moment, piece = await pieces.get()
            await asyncio.sleep(max(0.0, moment - loop.time()))
            if not piece:
                return
            writer.write(piece)
            await writer.drain()

    writing = asyncio.create_task(write())
    with suppress(ConnectionError):
        while piece := await reader.read(_PIECE):
            pieces.put_nowait((loop.time() + delay, piece))
    pieces.put_nowait((loop.time() + delay, b""))
    with suppress(ConnectionError):
        await writing
        writer.write_eof()


async def _close(server: asyncio.Server) -> None:
    server.close()
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
