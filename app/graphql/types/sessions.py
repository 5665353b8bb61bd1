"""Sessions, as their owner sees them."""

import graphene

from app.domain.authorization import actor as origins
from app.domain.sign_in import devices as domain
from app.domain.values.ids import to_global_id
from app.graphql.context import Info
from app.graphql.fields import attribute, text_or_null
from app.services.sign_in.sessions import SESSION

_ORIGINS = {
    "PASSWORD": "With email and password.",
    "OIDC": "With an identity provider.",
    "NONE": "Neither.",
}
SessionOriginEnum = graphene.Enum.from_enum(
    origins.SessionOrigin,
    name="SessionOriginEnum",
    description=lambda value: (
        ("How a session was started.") if value is None else _ORIGINS[value.name]
    ),
)


class Session(graphene.ObjectType):
    """A session of a signed-in user."""

    id = graphene.NonNull(graphene.ID)
    device = graphene.NonNull(graphene.String, description="The browser or program.")
    address = text_or_null("address", description="The IP address the session was started from.")
    created_at = graphene.NonNull(graphene.DateTime)
    last_used_at = graphene.DateTime(description="Accurate to one minute.")
    origin = graphene.NonNull(SessionOriginEnum, description="How the session was started.")
    current = graphene.NonNull(
        graphene.Boolean,
        description="Whether this is the caller's current session.",
        resolver=attribute("is_current"),
    )

    def resolve_id(self: domain.SignedIn, _info: Info) -> str:
        return to_global_id(SESSION, self.id)
