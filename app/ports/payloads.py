"""What webhooks are told: subscription queries, run on the schema that everybody uses."""

from typing import Protocol

from app.domain.authorization.actor import Actor
from app.domain.events.occurrence import Occurrence
from app.domain.webhooks.webhooks import WebhookQuery


class Payloads(Protocol):
    def check(self, query: str) -> WebhookQuery:
        """The query of a webhook, if it can be run; it is read, not run.

        Refuses on ``query``: SYNTAX, GRAPHQL_ERROR for what the schema does not have,
        MISSING_SUBSCRIPTION, MISSING_EVENT when it asks for no event's own fields, UNABLE_TO_PARSE
        when one cannot tell what would be run (several operations, variables that nobody gives),
        INVALID when it asks for too much.
        """

    def make(self, asking: object, actor: Actor, query: str, happened: Occurrence) -> str:
        """What ``query`` tells of ``happened`` when ``actor`` reads it: JSON text.

        The fields of the event itself, the same bytes for the same facts. ``asking`` are the
        ``Ports`` of whoever asks. Refuses GRAPHQL_ERROR on ``query`` for what ``actor`` may not
        see and for what the schema no longer has; raises what went wrong for any other reason.
        Never inside a transaction.
        """
