"""Second factors of an account, and the challenges that ask for them."""

import graphene

from app.domain import second_factors
from app.domain.values.ids import to_global_id
from app.graphql.context import Info
from app.graphql.fields import attribute
from app.services.second_factors import stored_factors

_TYPES = {
    "PASSKEY": "A passkey (WebAuthn), answered with `passkeyVerify`.",
    "AUTHENTICATOR_APP": "One-time codes of an app, answered with `secondFactorVerify`.",
    "RECOVERY_CODES": "Codes for a lost device, answered with `secondFactorVerify`.",
}
SecondFactorTypeEnum = graphene.Enum.from_enum(
    second_factors.SecondFactorType,
    name="SecondFactorTypeEnum",
    description=lambda value: (
        "What an account can have besides its password." if value is None else _TYPES[value.name]
    ),
)


class SecondFactorChallenge(graphene.ObjectType):
    """A request for a second factor. It can be answered once, with at most 5 attempts."""

    challenge = graphene.NonNull(
        graphene.String,
        description="The argument of `secondFactorVerify` and `passkeyVerify`.",
        resolver=attribute("token"),
    )
    expires_at = graphene.NonNull(
        graphene.DateTime, description="Until when it can be answered: 5 minutes."
    )
    types = graphene.NonNull(
        graphene.List(graphene.NonNull(SecondFactorTypeEnum)),
        description="The ways to answer, for this account.",
    )


class SecondFactor(graphene.ObjectType):
    """A passkey, an authenticator app, or a set of recovery codes."""

    id = graphene.NonNull(graphene.ID)
    type = graphene.NonNull(SecondFactorTypeEnum)
    name = graphene.NonNull(
        graphene.String, description="The passkey's name; empty for the other types."
    )
    created_at = graphene.NonNull(graphene.DateTime)
    last_used_at = graphene.DateTime(description="When it was last used; null if never.")

    def resolve_id(self: stored_factors.ListedFactor, _info: Info) -> str:
        return to_global_id("SecondFactor", f"{self.type.value}:{self.key}")
