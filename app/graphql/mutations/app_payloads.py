"""What the mutations about apps have in common."""

from app.graphql.mutations.payloads import MutationPayload, errors_of, former_errors_of


class AppPayload(MutationPayload):
    """``errors``, and the same under the older name ``appErrors``."""

    class Meta:
        abstract = True

    errors = errors_of("app_problems.AppError")
    app_errors = former_errors_of("app_problems.AppError")
