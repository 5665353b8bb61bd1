"""What threads cost each other: `me` in 1 to 16 of them, in one process without the server.

A database's driver releases Python's global lock during each statement. Getting it back takes time
as soon as two threads work. Run it on an idle machine.
"""

import os
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path
from statistics import median

from werkzeug.test import EnvironBuilder

from app import create_app
from app.composition.settings import Settings
from benchmarks import paths, servers
from benchmarks.imports import empty_database
from benchmarks.shop import BenchShop
from tests.servers.run import server_url, shared_directory

THREADS = (1, 2, 4, 8, 16)

_REQUESTS = 800
_TIMES = 7
_URL = "http://localhost:8000"
_CORES = {"one core": {servers.SERVER_CORE}, "all cores": {servers.SERVER_CORE, servers.LOAD_CORE}}

Send = Callable[[], None]


def main() -> None:
    """Print processor time and requests a second for each number of threads."""
    with shared_directory() as directory:
        server = server_url(directory, "postgresql")
        for kind in ("sqlite", "postgresql"):
            with empty_database(server, kind) as url, tempfile.TemporaryDirectory() as folder:
                send = _sender(BenchShop(Path(folder), url=url))
                for name, cores in _CORES.items():
                    os.sched_setaffinity(0, cores)
                    for threads in THREADS:
                        sys.stdout.write(f"{kind:10} {name}, {_measure(send, threads)}\n")
                        sys.stdout.flush()


def _sender(shop: BenchShop) -> Send:
    """Return what sends one request with an access token to an application in this process."""
    app = create_app(settings=Settings(database_url=shop.url, log_level="ERROR"))
    headers = [("Authorization", f"Bearer {shop.access}")]
    builder = EnvironBuilder(
        "/graphql/", _URL, method="POST", headers=headers, json={"query": paths.ME}
    )
    environment = builder.get_environ()
    body = environment["wsgi.input"].read()

    def send() -> None:
        request = {**environment, "wsgi.input": BytesIO(body)}
        answer = b"".join(app.wsgi_app(request, _start))
        if b"errors" in answer:
            raise RuntimeError(f"the request failed: {answer!r}")

    return send


def _start(*_arguments: object) -> None:
    """Take the status and headers of a response."""


def _measure(send: Send, threads: int) -> str:
    """Return a line about requests that as many threads send at the same time."""
    processor, rates = [], []
    with ThreadPoolExecutor(threads) as pool:
        for measured in (False, *(_TIMES * [True])):
            used, began = time.process_time(), time.perf_counter()
            for sent in [pool.submit(_repeat, send, _REQUESTS // threads) for _ in range(threads)]:
                sent.result()
            if measured:
                processor.append((time.process_time() - used) / _REQUESTS)
                rates.append(_REQUESTS / (time.perf_counter() - began))
    each, rate = median(processor) * 1e6, median(rates)
    return f"{threads:2} threads: {each:.0f} µs of processor time, {rate:,.0f} a second"


def _repeat(send: Send, times: int) -> None:
    for _ in range(times):
        send()
