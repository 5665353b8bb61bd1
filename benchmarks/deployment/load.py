"""Requests through the proxy while something happens behind it."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any

import requests
from requests.adapters import HTTPAdapter
from typing_extensions import override

_THREADS = 4
_REFRESHES = 5
"""Every fifth request is a mutation, which a proxy can't send twice."""

_ME = "{ me { email } }"
_REFRESH = """
mutation ($token: String!) { tokenRefresh(refreshToken: $token) { token errors { code message } } }
"""


CLIENT = "127.0.0.2"


class _FromClient(HTTPAdapter):
    @override
    def init_poolmanager(self, *args: Any, **options: Any) -> None:
        super().init_poolmanager(*args, **options, source_address=(CLIENT, 0))


@dataclass(slots=True)
class Api:
    """The API at ``url``, which has a certificate of ``authority``."""

    url: str
    authority: Path
    token: str = ""
    refresh_token: str = ""

    def session(self) -> requests.Session:
        """Return a session of a client with an IP address of its own, which isn't the proxy's."""
        session = requests.Session()
        session.trust_env = False  # or else another bundle of certificates wins
        session.verify = str(self.authority)
        session.mount("https://", _FromClient())
        return session

    def post(self, session: requests.Session, query: str, **variables: object) -> Any:
        """Return the data of a response without errors."""
        response = session.post(
            f"{self.url}/graphql/",
            json={"query": query, "variables": variables},
            headers={"Authorization": f"Bearer {self.token}"} if self.token else {},
            timeout=30,
        )
        response.raise_for_status()
        answer = response.json()
        if "errors" in answer:
            raise RuntimeError(f"{answer['errors']}")
        return answer["data"]


@dataclass(slots=True)
class Figures:
    """Requests that were sent, what failed, and the longest that one took, in seconds."""

    sent: int = 0
    slowest: float = 0.0
    faults: list[str] = field(default_factory=list)


@contextmanager
def load(api: Api) -> Iterator[Figures]:
    """Send requests on several connections until the block ends."""
    figures, stop, lock = Figures(), Event(), Lock()

    def send() -> None:
        with api.session() as session:
            number = 0
            while not stop.is_set():
                number += 1
                started = time.monotonic()
                fault = _send(api, session, number)
                seconds = time.monotonic() - started
                with lock:
                    figures.sent += 1
                    figures.slowest = max(figures.slowest, seconds)
                    figures.faults += [fault] if fault else []

    threads = [Thread(target=send) for _ in range(_THREADS)]
    for thread in threads:
        thread.start()
    try:
        yield figures
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def _send(api: Api, session: requests.Session, number: int) -> str:
    try:
        if number % _REFRESHES:
            api.post(session, _ME)
        else:
            refreshed = api.post(session, _REFRESH, token=api.refresh_token)["tokenRefresh"]
            if not refreshed["token"]:
                return f"tokenRefresh: {refreshed['errors']}"
    except (requests.RequestException, RuntimeError) as error:
        return str(error)
    return ""
