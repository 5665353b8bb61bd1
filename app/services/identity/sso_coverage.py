"""Count people who can sign in with SSO: those with an identity at a working provider."""

from sqlalchemy import ColumnElement, and_, exists, false, func, or_, select

from app.models import ExternalIdentityRecord, IdentityProviderRecord, UserRecord
from app.services.authorization.register import part

_provider = IdentityProviderRecord
_identity = ExternalIdentityRecord

_SIGNS_IN = and_(
    _provider.client_id != "",
    _provider.oauth_authorization_url != "",
    _provider.oauth_token_url != "",
)
"""As ``Provider.signs_in`` has it."""


# As ``Provider.issuer_here`` has it: without an issuer of its own, under the slug.
KNOWN_BY = or_(
    and_(_provider.issuer != "", _identity.issuer == _provider.issuer),
    and_(_provider.issuer == "", _identity.issuer.startswith(_provider.slug + "|")),
)
"""Whether an identity is one that a provider tells of."""


@part
def works(without: str | None = None) -> ColumnElement[bool]:
    """Whether a provider is active and set up, as one that is not called ``without``."""
    way_in = or_(_provider.user_info_url != "", _SIGNS_IN)
    condition = and_(_provider.active, _provider.json_web_key_set_url != "", way_in)
    return condition if without is None else and_(condition, _provider.slug != without)


@part
def refreshes() -> ColumnElement[bool]:
    """Whether a provider can refresh sessions, as `externalRefresh` requires."""
    return and_(_provider.active, _provider.enable_refresh_token, _provider.oauth_token_url != "")


@part
def working_providers(without: str | None = None, *, waiting: bool = False) -> ColumnElement[int]:
    """Count the providers that work, or those of them whose settings are ``waiting``."""
    counted = select(func.count()).select_from(_provider).where(works(without))
    if waiting:
        counted = counted.where(_provider.waiting_changes != "")
    return counted.scalar_subquery()


@part
def has_sign_on(
    *, without: str | None = None, rights_kept_here: bool = False
) -> ColumnElement[bool]:
    """Whether the person of ``UserRecord`` can sign in with a provider.

    ``rights_kept_here`` excludes providers that rule permissions: those held here don't count in
    their sessions.
    """
    linked = exists().where(_identity.user_id == UserRecord.id, KNOWN_BY, works(without))
    if rights_kept_here:
        linked = linked.where(_provider.use_oauth_scope_permissions == false())
    return linked.correlate(UserRecord)


@part
def is_known_to_provider() -> ColumnElement[bool]:
    """Whether the person of ``UserRecord`` has an identity at any provider, active or not."""
    linked = exists().where(_identity.user_id == UserRecord.id, KNOWN_BY)
    return linked.correlate(UserRecord)
