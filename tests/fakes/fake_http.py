"""A fake HTTP client with the test's responses."""

from collections.abc import Callable

from app.ports import Database
from app.ports.http import HttpRequest, HttpResponse

Answer = Callable[[HttpRequest], HttpResponse]


class FakeHttp:
    """Responds by a function and records requests; refuses calls inside a transaction."""

    def __init__(self, database: Database, answer: Answer) -> None:
        self._database = database
        self.answer = answer
        self.requests: list[HttpRequest] = []

    def send(self, request: HttpRequest) -> HttpResponse:
        assert not self._database.in_transaction, "no network inside a transaction"
        self.requests.append(request)
        return self.answer(request)
