"""Any JSON."""

from graphene.types.generic import GenericScalar


class JSON(GenericScalar):
    """A value of JSON, of whatever kind."""
