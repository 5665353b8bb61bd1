"""Another shop with three webhooks, as far as the command line asks after them."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from tests.servers.http import HttpServer, Received, Reply, http_server


@contextmanager
def other_shop() -> Iterator[HttpServer]:
    """It never answers the second change of a webhook or a delivery, nor a replay of one kind."""
    with http_server() as server:
        server.routes["/graphql/"] = lambda received: _answer(server, received)
        yield server


def _answer(server: HttpServer, received: Received) -> Reply:
    what = operation(received)
    if asks_too_much(received) or (
        what in ("Update", "Retry") and count_requests(server, what) > 1
    ):
        return Reply(raw=lambda connection: _wait(connection.recv))
    page = {"hasNextPage": False, "endCursor": None}
    hooks = [_hook(number) for number in (1, 2, 3)]
    owner = {"id": "QXBwOjE=", "name": "Warehouse", "isActive": True}
    answers: dict[str, object] = {
        "Webhooks": {
            "apps": {"edges": [{"node": {**owner, "webhooks": hooks}}], "pageInfo": page}
        },
        "Update": {"webhookUpdate": {"webhook": {**_hook(1), "app": owner}, "errors": []}},
        "Retry": {"eventDeliveryRetry": {"delivery": SENT, "errors": []}},
        "Replay": {
            "webhookReplay": {
                "failed": 2,
                "missing": 5,
                "hasMore": True,
                "earlier": None,
                "errors": [],
            }
        },
        "SignIn": {"tokenCreate": {"token": "a.b.c", "refreshToken": "d.e.f", "errors": []}},
        "Deliveries": {
            "webhook": {"eventDeliveries": {"edges": [{"node": SENT}], "pageInfo": page}}
        },
    }
    return Reply(200, json.dumps({"data": answers[what]}).encode())


SENT = {
    "id": "RXZlbnREZWxpdmVyeTox",
    "createdAt": "2099-01-01T00:00:00+00:00",
    "status": "PENDING",
    "eventType": "ORDER_PAID",
    "payload": "{}",
    "attempts": {"edges": []},
}


def _hook(number: int) -> dict[str, object]:
    return {
        "id": f"V2ViaG9vazo{number}",
        "name": f"hook {number}",
        "targetUrl": "https://app.example.com/hook",
        "isActive": True,
        "asyncEvents": [],
        "subscriptionQuery": "",
        "isPaused": False,
        "maxRate": 0,
        "customHeaders": "{}",
        "secretKey": "",
    }


def operation(received: Received) -> str:
    """The name of what was asked."""
    name = re.search(r"(?:query|mutation) (\w+)", json.loads(received.body)["query"])
    return name[1] if name else ""


def asks_too_much(received: Received) -> bool:
    """Whether it is about a replay of what failed or of what is missing, not of both."""
    given = json.loads(received.body)["variables"]
    return operation(received) == "Replay" and given["failed"] != given["missing"]


def count_requests(server: HttpServer, name: str) -> int:
    """How often that was asked."""
    return sum(operation(one) == name for one in server.received)


def _wait(receive: Callable[[int], bytes]) -> None:
    with suppress(OSError):
        receive(1)  # until whoever asked has gone
