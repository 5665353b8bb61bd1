"""Any JSON."""

from graphene.types.generic import GenericScalar


class JSON(GenericScalar):
    """Any JSON value."""
