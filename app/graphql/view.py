"""The endpoint with the schema of the shop: what ``factory`` loads when it is first needed."""

from collections.abc import Mapping

from app.domain.authorization.actor import Actor
from app.graphql.schema import schema
from app.graphql.server.endpoint import GraphqlEndpoint
from app.graphql.server.query_cost import WEBHOOKS
from app.ports import Ports
from app.services.authorization.register import may
from app.services.webhooks.lists import count_webhooks
from app.web.installation import Installation


def create_endpoint(installation: Installation) -> GraphqlEndpoint:
    """The WSGI application behind ``/graphql/``."""
    return GraphqlEndpoint(installation, schema.graphql_schema, count_stored=_count_stored)


def _count_stored(ports: Ports, actor: Actor) -> Mapping[str, int]:
    """Count the webhooks that are returned to a person of the staff: all or, refused, none.

    Unknown for all others: a limit would tell how many there are.
    """
    if may(actor, count_webhooks):
        return {WEBHOOKS: count_webhooks(ports, actor)}
    return {WEBHOOKS: 0} if actor.is_account_owner and actor.is_staff else {}
