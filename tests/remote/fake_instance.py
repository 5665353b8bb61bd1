"""A fake instance that responds without a network."""

import json
from collections.abc import Callable
from typing import Any

from app.ports.http import HttpRequest, HttpResponse

URL = "https://shop.example.com/graphql/"
JSON = {"content-type": "application/json"}


class Instance:
    """Responds by functions, one per request in turn; the last one repeats."""

    def __init__(self, *answers: Callable[[HttpRequest], HttpResponse]) -> None:
        self._answers = list(answers)
        self.requests: list[HttpRequest] = []

    def send(self, request: HttpRequest) -> HttpResponse:
        self.requests.append(request)
        response = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        return response(request)

    @property
    def tokens(self) -> list[str]:
        """The token of each request."""
        return [request.headers.get("Authorization-Bearer", "") for request in self.requests]

    def sent(self, place: int) -> Any:
        """Return the body of a request."""
        return json.loads(self.requests[place].body or b"null")


def answering(body: object, status: int = 200) -> Callable[[HttpRequest], HttpResponse]:
    """Respond to every request with this JSON."""
    return lambda _request: HttpResponse(status, JSON, json.dumps(body).encode())


def raw(status: int, body: bytes, kind: str) -> Callable[[HttpRequest], HttpResponse]:
    """Respond to every request with these bytes."""
    return lambda _request: HttpResponse(status, {"content-type": kind}, body)


def failing(code: str, message: str = "no", status: int = 200) -> Callable[..., HttpResponse]:
    """Respond with a top-level error of that code."""
    error = {"message": message, "extensions": {"exception": {"code": code}}}
    return answering({"errors": [error], "data": None}, status)
