"""Any JSON, and files that clients send."""

import graphene
from graphene.types.generic import GenericScalar
from graphql import GraphQLError, ValueNode

from app.domain.values import inputs as domain


class JSON(GenericScalar):
    """Any JSON value."""


class Upload(graphene.Scalar):
    """A file, sent as a variable as defined by the GraphQL multipart request specification."""

    @staticmethod
    def parse_value(value: object) -> domain.Upload:
        if not isinstance(value, domain.Upload):
            raise GraphQLError("A file is expected, sent as multipart/form-data.")
        return value

    @staticmethod
    def parse_literal(
        node: ValueNode, _variables: dict[str, object] | None = None
    ) -> domain.Upload:
        raise GraphQLError("A file is sent as a variable, by multipart/form-data.", node)

    @staticmethod
    def serialize(value: object) -> str:
        raise GraphQLError("Files can't be part of a response.")
