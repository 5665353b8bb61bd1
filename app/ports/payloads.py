"""Webhook payloads: subscription queries run on the API's schema."""

from typing import Protocol

from app.domain.authorization.actor import Actor
from app.domain.events import Occurrence
from app.domain.webhooks import WebhookQuery


class Payloads(Protocol):
    def check(self, query: str) -> WebhookQuery:
        """Check a webhook's query without running it.

        Refuses on ``query``: SYNTAX, GRAPHQL_ERROR for what the schema doesn't have,
        MISSING_SUBSCRIPTION, MISSING_EVENT without an event's own fields, UNABLE_TO_PARSE if it is
        unclear what to run (several operations, variables without values), INVALID beyond the
        limits.
        """

    def make(self, asking: object, actor: Actor, query: str, occurrence: Occurrence) -> str:
        """Run ``query`` on ``occurrence`` as ``actor``; return JSON text.

        The fields of the event itself, byte for byte the same for the same facts. ``asking`` are
        the caller's ``Ports``. Refuses GRAPHQL_ERROR on ``query`` for what ``actor`` can't see and
        for what the schema no longer has; raises any other error. Never inside a transaction.
        """
