"""What webhooks are told: subscription queries, run on the schema that everybody uses."""

from typing import Protocol

from app.domain.webhooks import WebhookQuery


class Payloads(Protocol):
    def check(self, query: str) -> WebhookQuery:
        """The query of a webhook, if it can be run; it is read, not run.

        Refuses on ``query``: SYNTAX, GRAPHQL_ERROR for what the schema does not have,
        MISSING_SUBSCRIPTION, MISSING_EVENT when it asks for no event's own fields, UNABLE_TO_PARSE
        when one cannot tell what would be run (several operations, variables that nobody gives),
        INVALID when it asks for too much.
        """
