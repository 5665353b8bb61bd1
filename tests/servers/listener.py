"""What the HTTP servers of the tests share: threads, silence, and an end with the block."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from typing_extensions import override


class Listener(ThreadingHTTPServer):
    # A connection that finds no place is tried again after a second: workers open many at once.
    request_queue_size = 128
    # A slow reply ends with its connection when the test ends.
    daemon_threads = True
    block_on_close = False

    @contextmanager
    def serving(self) -> Iterator[None]:
        """Answer requests until the end of the block."""
        thread = threading.Thread(target=self.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield
        finally:
            self.shutdown()
            thread.join(180)
            self.server_close()


class QuietHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @override
    def log_message(self, format: str, *args: object) -> None:
        """Write nothing to standard error."""
