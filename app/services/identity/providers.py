"""The identity providers, read again when their settings change, and who can sign in with one."""

from collections.abc import Iterable
from dataclasses import dataclass, fields

from sqlalchemy import ColumnElement, Select, and_, exists, false, func, or_, select
from sqlalchemy.orm import InstrumentedAttribute

from app import models
from app.domain.authorization.actor import Actor
from app.domain.keys import PROVIDER_SECRET
from app.domain.single_sign_on.providers import Provider, choose, slug_in
from app.domain.single_sign_on.waiting_changes import sends_secret
from app.domain.values.errors import Problem, Refused
from app.models.json_arrays import json_array_text
from app.ports import Ports
from app.ports.process_cache import CachedProviders
from app.services.authorization.register import building_block, public

# The shop is one row, so nothing has to choose among several.
_VERSION: Select[*tuple[object, ...]] = select(models.Shop.providers_version.label("version"))
_NAMES = tuple(field.name for field in fields(Provider))


@dataclass(frozen=True, slots=True)
class ExternalAuthentication:
    """An identity provider that people can sign in with: plugin id and name."""

    id: str
    name: str


@building_block
def known_providers(ports: Ports, version: int | None = None) -> tuple[Provider, ...]:
    """Return every provider at ``version``, which the caller has just read from the shop's row."""
    if version is None:
        version = int(ports.database.read(_VERSION, {})[0].version)
    cached = ports.cache.providers.known
    if cached is None or cached.version != version:
        with ports.database.reading() as session:
            records = session.scalars(
                select(models.IdentityProvider).order_by(models.IdentityProvider.id)
            )
            cached = CachedProviders(version, tuple(to_provider(record) for record in records))
        ports.cache.providers.known = cached
    return cached.providers


@building_block
def find_provider(ports: Ports, slug: str) -> Provider:
    """Return the provider with exactly that slug; refuses NOT_FOUND on ``provider``."""
    for provider in known_providers(ports):
        if provider.slug == slug:
            return provider
    raise Refused(unknown_provider(slug))


@building_block
def unknown_provider(slug: str) -> Problem:
    return Problem("NOT_FOUND", "Unknown provider {slug}.", "provider", values={"slug": slug})


@building_block
def provider_of(ports: Ports, plugin_id: str | None) -> Provider | None:
    """Return the active provider that answers to a plugin id; ``None`` for any other id."""
    provider = any_provider_of(ports, plugin_id or "")
    return provider if provider is not None and provider.active else None


@building_block
def any_provider_of(ports: Ports, plugin_id: str) -> Provider | None:
    """Return the provider that answers to a plugin id, active or not."""
    slug = slug_in(plugin_id)
    return None if slug is None else choose(known_providers(ports), slug)


@building_block
def to_provider(record: models.IdentityProvider) -> Provider:
    """Return the settings as a value; the secret stays sealed."""
    return Provider(**{name: getattr(record, name) for name in _NAMES})


@building_block
def client_secret_of(ports: Ports, provider: Provider) -> str:
    """Return the provider's client secret, readable; empty where it has none."""
    if not provider.client_secret:
        return ""
    return ports.encryption.decrypt(PROVIDER_SECRET, provider.client_secret)


@building_block
def secret_for_token_url(ports: Ports, provider: Provider) -> str:
    """Return the client secret as the token URL gets it: not if the URL waits for confirmation.

    Otherwise people who can change the URL could read a secret that is never shown.
    """
    return client_secret_of(ports, provider) if sends_secret(provider) else ""


@public
def list_external_authentications(
    ports: Ports, actor: Actor
) -> tuple[ExternalAuthentication, ...]:
    """Return the active providers (`shop { availableExternalAuthentications }`)."""
    return _authentications(ports, known_providers(ports))


@building_block
def login_providers(ports: Ports, version: int) -> tuple[ExternalAuthentication, ...]:
    """Return the active providers with a login page, of ``known_providers`` at ``version``."""
    known = known_providers(ports, version)
    return _authentications(ports, (provider for provider in known if provider.signs_in))


def _authentications(
    ports: Ports, providers: Iterable[Provider]
) -> tuple[ExternalAuthentication, ...]:
    vendor = ports.configuration.vendor
    return tuple(
        ExternalAuthentication(provider.plugin_id(vendor), provider.name)
        for provider in providers
        if provider.active
    )


_Condition = ColumnElement[bool] | InstrumentedAttribute[bool]
_provider = models.IdentityProvider
_identity = models.ExternalIdentity

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


@building_block
def works(without: str | None = None) -> ColumnElement[bool]:
    """Whether a provider is active and set up, as one that is not called ``without``."""
    way_in = or_(_provider.user_info_url != "", _SIGNS_IN)
    condition = and_(_provider.active, _provider.json_web_key_set_url != "", way_in)
    return condition if without is None else and_(condition, _provider.slug != without)


@building_block
def signs_people_in() -> ColumnElement[bool]:
    """Whether a provider is active and has a login page, as ``Provider.signs_in`` has it."""
    return and_(_provider.active, _provider.json_web_key_set_url != "", _SIGNS_IN)


@building_block
def refreshes() -> ColumnElement[bool]:
    """Whether a provider can refresh sessions, as `externalRefresh` requires."""
    return and_(_provider.active, _provider.enable_refresh_token, _provider.oauth_token_url != "")


@building_block
def working_providers(without: str | None = None, *, waiting: bool = False) -> ColumnElement[int]:
    """Count the providers that work, or those of them whose settings are ``waiting``."""
    counted = select(func.count()).select_from(_provider).where(works(without))
    if waiting:
        counted = counted.where(_provider.waiting_changes != "")
    return counted.scalar_subquery()


@building_block
def has_sign_on(
    *, without: str | None = None, rights_kept_here: bool = False
) -> ColumnElement[bool]:
    """Whether the person of ``models.User`` can sign in with a provider.

    ``rights_kept_here`` excludes providers that rule permissions: those held here don't count in
    their sessions.
    """
    linked = exists().where(_identity.user_id == models.User.id, KNOWN_BY, works(without))
    if rights_kept_here:
        linked = linked.where(_provider.use_oauth_scope_permissions == false())
    return linked.correlate(models.User)


@building_block
def provider_names(*conditions: _Condition) -> ColumnElement[str]:
    """Return the names, as JSON, of providers that know the person of ``models.User``."""
    return (
        select(json_array_text(_provider.name))
        .select_from(_identity)
        .join(_provider, KNOWN_BY)
        .where(_identity.user_id == models.User.id, *conditions)
        .correlate(models.User)
        .scalar_subquery()
    )


@building_block
def is_known_to_provider() -> ColumnElement[bool]:
    """Whether the person of ``models.User`` has an identity at any provider, active or not."""
    linked = exists().where(_identity.user_id == models.User.id, KNOWN_BY)
    return linked.correlate(models.User)
