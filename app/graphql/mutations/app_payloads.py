"""What the mutations about apps have in common."""

from app.graphql.mutations.payloads import MutationPayload, errors_of


class AppPayload(MutationPayload):
    """``errors``: what was wrong with the input."""

    class Meta:
        abstract = True

    errors = errors_of("app_problems.AppError")
