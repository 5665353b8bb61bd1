"""What webhooks are sent to: it records the ID and the customer of every delivery."""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock

from tests.servers.http import Received, Reply, http_server

_EMAIL = re.compile(rb"[\w-]+@example\.com")


@dataclass(slots=True)
class Receiver:
    """``arrivals`` are how often each delivery arrived; ``customers`` the deliveries of each.

    ``seconds`` is how long each answer takes.
    """

    url: str = ""
    seconds: float = 0.0
    arrivals: dict[str, int] = field(default_factory=dict)
    customers: dict[str, set[str]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def answer(self, request: Received) -> Reply:
        time.sleep(self.seconds)
        found = _EMAIL.search(request.body)
        email = found[0].decode() if found else ""
        name = request.headers["webhook-id"]
        with self._lock:
            self.arrivals[name] = self.arrivals.get(name, 0) + 1
            self.customers.setdefault(email, set()).add(name)
        return Reply(200)

    def counts(self) -> tuple[int, int]:
        """Return how many deliveries arrived, and how many arrivals there were in all."""
        with self._lock:
            return len(self.arrivals), sum(self.arrivals.values())

    def deliveries_of(self, emails: set[str]) -> dict[str, int]:
        """Return how many deliveries each of these customers had."""
        with self._lock:
            return {email: len(self.customers.get(email, ())) for email in emails}


@contextmanager
def running_receiver(address: str) -> Iterator[Receiver]:
    receiver = Receiver()
    with http_server(host=address) as server:
        server.routes["/hook"] = receiver.answer
        receiver.url = f"{server.url}/hook"
        yield receiver
