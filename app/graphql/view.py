"""The endpoint with the schema of the shop: what ``factory`` loads when it is first needed."""

from app.graphql.schema import schema
from app.graphql.server.endpoint import GraphqlEndpoint
from app.web.installation import Installation


def create_endpoint(installation: Installation) -> GraphqlEndpoint:
    """The WSGI application behind ``/graphql/``."""
    return GraphqlEndpoint(installation, schema.graphql_schema)
