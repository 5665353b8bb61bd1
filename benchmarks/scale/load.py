"""The requests of the day: each is sent when it is due, whatever became of earlier ones."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from itertools import count, cycle

from benchmarks import paths
from benchmarks.scale.client import Client, Refused
from benchmarks.scale.curve import PEAK, Day
from benchmarks.scale.minutes import Tally
from benchmarks.scale.people import DayShop, Session
from tests.builders.people import PASSWORD
from tests.builders.products import product_id

_SIGN_IN = (
    "mutation ($email: String, $password: String) {"
    " tokenCreate(email: $email, password: $password)"
    " { token refreshToken user { id email } errors { code } } }"
)
_REFRESH = (
    "mutation ($token: String) { tokenRefresh(refreshToken: $token) { token errors { code } } }"
)
_CHANGE = (
    "mutation ($id: ID!, $input: ProductInput!)"
    " { productUpdate(id: $id, input: $input) { product { id name } errors { code } } }"
)
_LISTS = ("products", "customers", "orders")
_PATIENCE = 30.0


class Load:
    """Sends the requests of ``day``; ``tally`` is of those since ``take``.

    ``changes`` counts those that were answered with success.
    """

    def __init__(self, client: Client, port: int, shop: DayShop, day: Day) -> None:
        self._client, self._shop, self._day = client, shop, day
        self._kinds: dict[str, Callable[[], Awaitable[None]]] = {
            "sign-in": self._sign_in,
            "refresh": self._refresh,
            "change": self._change,
            "me": self._me,
            "list": self._list,
        }
        steady = paths.steady(port, shop.shop)
        self._lists = cycle(
            next(path.request for path in steady if f"`{name}(" in path.name) for name in _LISTS
        )
        self._names = (f"Bowl {number}" for number in count(1))
        self._tally = Tally()
        self._open: set[asyncio.Task[None]] = set()
        self.changes = 0

    async def run(self, started: float) -> None:
        """Send everything, and wait for the last answers."""
        feeds = (self._feed(kind, started) for kind in PEAK)
        await asyncio.gather(*feeds)
        await asyncio.gather(*self._open)

    def take(self) -> Tally:
        """Return what was since the last time."""
        taken, self._tally = self._tally, Tally()
        return taken

    async def _feed(self, kind: str, started: float) -> None:
        for seconds in self._day.due(PEAK[kind], self._shop.chance):
            due = started + seconds
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            self._tally.due[kind] += 1
            sending = asyncio.create_task(self._send(kind, due))
            self._open.add(sending)
            sending.add_done_callback(self._open.discard)

    async def _send(self, kind: str, due: float) -> None:
        self._tally.late.append((time.perf_counter() - due) * 1000)
        try:
            async with asyncio.timeout(_PATIENCE):
                await self._kinds[kind]()
        except (Refused, OSError, EOFError, TimeoutError) as error:
            self._tally.failures.append(f"{kind}: {error!r}")
        else:
            latencies = self._tally.latencies.setdefault(kind, [])
            latencies.append((time.perf_counter() - due) * 1000)

    async def _sign_in(self) -> None:
        # From a new connection with its own IP address, as the login throttle counts by it.
        given = {"email": next(self._shop.emails), "password": PASSWORD}
        data = await self._client.ask(_SIGN_IN, given, is_new=True)
        made = data["tokenCreate"]
        self._shop.sessions.add(Session(made["refreshToken"], made["token"]))

    async def _refresh(self) -> None:
        session = self._shop.sessions.take()
        try:
            data = await self._client.ask(_REFRESH, {"token": session.refresh})
            session.access = data["tokenRefresh"]["token"]
        finally:
            self._shop.sessions.add(session)

    async def _change(self) -> None:
        product = self._shop.chance.choice(self._shop.shop.products)
        given = {"id": product_id(product), "input": {"name": next(self._names)}}
        await self._client.ask(_CHANGE, given, token=self._shop.shop.app_token)
        self.changes += 1

    async def _me(self) -> None:
        data = await self._client.ask(paths.ME, token=self._shop.sessions.recent().access)
        if data["me"] is None:
            raise Refused("me: null")

    async def _list(self) -> None:
        await self._client.send(next(self._lists))
