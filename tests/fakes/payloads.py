"""Payloads without a schema: each names its app and subject."""

import json
from collections.abc import Callable

from app.domain.authorization.actor import Actor
from app.domain.events import EventType, Occurrence
from app.domain.values.errors import Problem, Refused
from app.ports import Database


class FakePayloads:
    """Records calls; refuses to work inside a transaction, and fails on ``fails``."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.queries: list[str] = []
        self.fails: Callable[[str], bool] = lambda _query: False

    def check(self, query: str) -> tuple[EventType, ...]:
        return (EventType.PRODUCT_UPDATED,)

    def make(self, asking: object, actor: Actor, query: str, occurrence: Occurrence) -> str:
        assert not self._database.in_transaction, "no payload inside a transaction"
        self.queries.append(query)
        if self.fails(query):
            raise Refused(Problem("GRAPHQL_ERROR", "There is no such field.", "query"))
        payload = {"app": actor.app_id, "subject": occurrence.event.subject_id}
        return json.dumps(payload)
