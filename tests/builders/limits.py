"""The limits of an installation without any settings."""

from app.composition.settings import Settings
from app.graphql.server.limits import Limits


def default_limits() -> Limits:
    """Return what a request can ask for by default."""
    settings = Settings()
    return Limits(
        tokens=settings.graphql_tokens_max,
        depth=settings.graphql_depth_max,
        aliases=settings.graphql_aliases_max,
        cost=settings.graphql_cost_max,
        mutations=settings.graphql_mutations_max,
        entities=settings.graphql_entities_max,
    )
