"""A provider's access token as credential: verified once, then known until it expires.

Contract, "Single sign-on": the client brings the token, this service only verifies it.
"""

from dataclasses import dataclass

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.domain.authorization.actor import Actor
from app.domain.sign_in.rate_limits import EXTERNAL_TOKEN
from app.domain.single_sign_on.provider_tokens import (
    ProviderTokenRejected,
    claimed_issuer,
    is_opaque,
    is_signed,
    read_bearer_token,
    serves_staff_with,
)
from app.domain.single_sign_on.provider_users import read_person
from app.domain.single_sign_on.providers import DEFAULT_SLUG, Provider
from app.domain.values.errors import Refused, TokenFault, TokenRejected, TooManyRequests
from app.models import ProviderTokenRecord
from app.ports import Ports
from app.ports.http import CallFailed, CallFault
from app.ports.provider_cache import CachedProviderToken, CachedRefusal, CallPurpose
from app.services.authorization.provider_rights import is_signed_out
from app.services.authorization.rate_limits import limit_rate
from app.services.authorization.register import part
from app.services.identity.linked_accounts import find_or_create_account
from app.services.identity.provider_assertions import (
    ProviderPerson,
    assert_person,
    require_honoured,
    require_issued_since,
    require_opaque_allowed,
)
from app.services.identity.provider_calls import FAILED_PAUSE
from app.services.identity.provider_keys import verify_with
from app.services.identity.providers import known_providers
from app.services.identity.user_info import fetch_user_info

OPAQUE_SECONDS = 60.0
"""For how long the provider's word about a token that tells no end is believed."""

_REFUSED_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class _Bearer:
    """The person of a valid token; times in Unix seconds."""

    provider_person: ProviderPerson
    expires: float
    issued: float | None
    not_before: float = 0.0


@part
def identify_provider_token(
    ports: Ports, actor: Actor, token: str, digest: bytes, version: int
) -> CachedProviderToken | None:
    """Identify a provider's access token; ``None`` if no configured provider can have issued it.

    ``digest`` is the token's SHA-256, ``version`` that of the providers' settings. The token's
    user is created, linked or updated. Raises ``TokenRejected`` with the reason, PROVIDER if the
    provider doesn't respond.
    """
    memory = ports.cache.providers
    now = ports.clock.timestamp()
    refused = memory.refused.get(digest)
    if refused is not None and refused.version == version and now < refused.until:
        raise TokenRejected(refused.fault)
    try:
        bearer = _read(ports, actor, token, digest, _candidates(ports, token, version))
        if bearer is None:
            return None
        seen = _settle(ports, actor, bearer, digest, version)
    except CallFailed as failed:
        if failed.fault is not CallFault.NOT_CALLED:
            _remember(ports, digest, TokenFault.PROVIDER, FAILED_PAUSE, version)
        raise TokenRejected(TokenFault.PROVIDER) from failed
    except TooManyRequests as limited:
        raise TokenRejected(TokenFault.PROVIDER) from limited
    except Refused as refusal:
        _remember(ports, digest, TokenFault.INVALID, _REFUSED_SECONDS, version)
        raise TokenRejected(TokenFault.INVALID) from refusal
    except ProviderTokenRejected as rejected:
        if rejected.fault is TokenFault.INVALID:
            _remember(ports, digest, TokenFault.INVALID, _REFUSED_SECONDS, version)
        raise
    memory.tokens.put(digest, seen)
    return seen


def _remember(
    ports: Ports, digest: bytes, fault: TokenFault, seconds: float, version: int
) -> None:
    """Answer ``fault`` for that token alone, without another call, for so many seconds."""
    refused = CachedRefusal(fault, ports.clock.timestamp() + seconds, version)
    ports.cache.providers.refused.put(digest, refused)


def _candidates(ports: Ports, token: str, version: int) -> list[Provider]:
    """Return the providers that can have issued ``token``.

    An unsigned token names no issuer and must not be sent to a provider that didn't issue it: it
    belongs to the only provider, or to the default one. A provider whose settings wait for
    confirmation gets no token that a confirmed one can have issued.
    """
    taking = [
        provider
        for provider in known_providers(ports, version)
        if provider.active and provider.takes_tokens
    ]
    if is_signed(token):
        issuer = claimed_issuer(token)
        named = [provider for provider in taking if provider.issuer and provider.issuer == issuer]
        confirmed = [provider for provider in named if not provider.waits]
        unnamed = [provider for provider in taking if not provider.issuer]
        others = sorted((*named, *unnamed), key=lambda provider: provider.waits)
        return confirmed or others
    if not is_opaque(token):
        return []
    if len(taking) > 1:
        return [provider for provider in taking if provider.slug == DEFAULT_SLUG]
    return taking


def _read(
    ports: Ports, actor: Actor, token: str, digest: bytes, candidates: list[Provider]
) -> _Bearer | None:
    if not is_signed(token):
        return _read_opaque(ports, actor, token, digest, candidates[0]) if candidates else None
    failed = None
    for provider in candidates:
        if provider.waits and failed is not None:
            break  # the one that can't verify it now may have issued it
        try:
            return _read_signed(ports, token, provider)
        except CallFailed as no_answer:
            failed = no_answer
        except TokenRejected as rejected:
            # No provider's key verifies it, and it names no known issuer.
            if provider.issuer or rejected.fault is not TokenFault.SIGNATURE:
                raise
    if failed is not None:
        raise failed
    return None


def _read_signed(ports: Ports, token: str, provider: Provider) -> _Bearer:
    signed = verify_with(ports, provider, token)
    shop = ports.configuration.scope_prefix
    now = ports.clock.timestamp()
    access = read_bearer_token(signed, provider, now=now, shop=shop)
    serves_staff = serves_staff_with(signed, provider)
    require_honoured(ports, provider, access.issuer, access.subject)
    claims = fetch_user_info(ports, provider, token, CallPurpose.VERIFIED)
    person = read_person(claims, provider, access.subject)
    said = ProviderPerson(provider, access.issuer, person, access.grant, serves_staff, access.amr)
    asserted = assert_person(ports, said)
    return _Bearer(asserted, access.expires, access.issued, access.not_before)


def _read_opaque(
    ports: Ports, actor: Actor, token: str, digest: bytes, provider: Provider
) -> _Bearer:
    require_opaque_allowed(provider)
    purpose = CallPurpose.VERIFIED
    if ports.cache.providers.tokens.get(digest) is None:
        limit_rate(ports, EXTERNAL_TOKEN, actor.address)
        purpose = CallPurpose.UNKNOWN
    person = read_person(fetch_user_info(ports, provider, token, purpose), provider)
    expires = ports.clock.timestamp() + OPAQUE_SECONDS
    serves_staff = provider.serves_staff_of_any_client
    said = ProviderPerson(provider, "", person, serves_staff=serves_staff)
    return _Bearer(assert_person(ports, said), expires, None)


def _settle(
    ports: Ports, actor: Actor, bearer: _Bearer, digest: bytes, version: int
) -> CachedProviderToken:
    try:
        return _store(ports, actor, bearer, digest, version)
    except IntegrityError:
        # A browser's first requests come together: another of them was quicker by a moment.
        return _store(ports, actor, bearer, digest, version)


def _store(
    ports: Ports, actor: Actor, bearer: _Bearer, digest: bytes, version: int
) -> CachedProviderToken:
    now = ports.clock.timestamp()
    with ports.database.transaction(signs_in=True) as session:
        identity, user = find_or_create_account(ports, actor, session, bearer.provider_person)
        if bearer.issued is None:
            issued = _first_seen(ports, session, digest, identity.id)
        else:
            issued = min(bearer.issued, now)
        require_issued_since(bearer.provider_person.provider, issued)
        if is_signed_out(issued, user.tokens_valid_after, identity.tokens_valid_after):
            raise ProviderTokenRejected("This person has signed out everywhere since.")
        return CachedProviderToken(
            identity_id=identity.id,
            issuer=identity.issuer,
            subject=identity.subject,
            grant=bearer.provider_person.rights,
            issued=issued,
            expires=bearer.expires,
            version=version,
            not_before=bearer.not_before,
            amr=bearer.provider_person.amr,
            waiting_changes=bearer.provider_person.provider.waiting_changes,
        )


def _first_seen(ports: Ports, session: Session, digest: bytes, identity_id: int) -> float:
    """Return when a token without ``iat`` was first seen by any process."""
    record = session.get(ProviderTokenRecord, digest.hex())
    if record is None:
        record = ProviderTokenRecord(
            digest=digest.hex(), identity_id=identity_id, first_seen_at=ports.clock.now()
        )
        session.add(record)
    return record.first_seen_at.timestamp()
