"""A provider's access token as credential: verified once, then known until it expires.

Contract, "Single sign-on": the client brings the token, this service only verifies it.
"""

from dataclasses import dataclass, replace

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app import models
from app.domain.authorization.actor import Actor, AppClient
from app.domain.sign_in.rate_limits import EXTERNAL_TOKEN
from app.domain.sign_in.sign_in_log import SignInMethod, SignInReason, SignInRefusal
from app.domain.single_sign_on import provider_tokens
from app.domain.single_sign_on.provider_users import read_person
from app.domain.single_sign_on.providers import DEFAULT_SLUG, Provider
from app.domain.values.errors import Refused, TokenFault, TokenRejected, TooManyRequests
from app.ports import Ports
from app.ports.http import CallFailed, CallFault
from app.ports.process_cache import (
    CachedClientToken,
    CachedProviderToken,
    CachedRefusal,
    CallPurpose,
)
from app.services.authorization.rate_limits import limit_rate
from app.services.authorization.register import building_block
from app.services.authorization.token_rights import is_signed_out
from app.services.identity.linked_accounts import SIGNED_OUT, client_links, find_or_create_account
from app.services.identity.provider_assertions import (
    WAITS,
    ProviderPerson,
    assert_person,
    require_honoured,
    require_issued_since,
    require_opaque_allowed,
)
from app.services.identity.provider_calls import (
    FAILED_PAUSE,
    fetch_user_info,
    unusable_response,
    verify_with,
)
from app.services.identity.providers import known_providers
from app.services.sign_in_log.recording import count_refusal

OPAQUE_SECONDS = 60.0
"""For how long the provider's word about a token that tells no end is believed."""

_REFUSED_SECONDS = 10.0
_NO_LONGER = (
    "The account is deactivated or unlinked, or its owner has signed out everywhere since then."
)
_REASONS = {"ACCOUNT_NOT_CONFIRMED": SignInReason.NOT_CONFIRMED, "INACTIVE": SignInReason.INACTIVE}


@dataclass(frozen=True, slots=True)
class _Bearer:
    """The person of a valid token; times in Unix seconds."""

    provider_person: ProviderPerson
    expires: float
    issued: float | None
    not_before: float = 0.0


@dataclass(frozen=True, slots=True)
class ClientBearer:
    """The linked client of a token that it got for itself."""

    link_id: int
    provider: Provider
    token: provider_tokens.ClientToken

    def cached(self, version: int) -> CachedClientToken:
        """Return what is remembered of the token by the settings at ``version``."""
        token = self.token
        client = AppClient(
            self.link_id, self.provider.id, token.issuer, token.client_id, token.subject, version
        )
        return CachedClientToken(client, token.expires, token.not_before, self.provider.name)


@dataclass(slots=True)
class _Attempt:
    """What is known of a bearer while it is judged, for the sign-in log."""

    provider: str = ""
    email: str = ""


@dataclass(frozen=True, slots=True)
class _Verdict:
    """Why a bearer is refused, and for how many seconds that is remembered."""

    fault: TokenFault
    reason: SignInReason
    detail: str
    seconds: float


@building_block
def identify_provider_token(
    ports: Ports, actor: Actor, token: str, digest: bytes, version: int
) -> CachedProviderToken | CachedClientToken | None:
    """Identify a provider's access token; ``None`` if no configured provider can have issued it.

    ``digest`` is the token's SHA-256, ``version`` that of the providers' settings. The token's
    user is created, linked or updated; a client's own token is an app's or nobody's. Raises
    ``TokenRejected`` with the reason, PROVIDER if the provider doesn't respond; every refusal is
    counted in the sign-in log.
    """
    memory = ports.cache.providers
    now = ports.clock.timestamp()
    refused = memory.refused.get(digest)
    if refused is not None and refused.version == version and now < refused.until:
        count_refusal(ports, _with_address(actor, refused.refusal), actor.user_agent)
        raise TokenRejected(refused.fault)
    attempt = _Attempt()
    try:
        candidates = _candidates(ports, token, version)
        bearer = _read(ports, actor, token, digest, candidates, attempt)
        if bearer is None:
            return None
        if isinstance(bearer, ClientBearer):
            client = bearer.cached(version)
            memory.tokens.put(digest, client)
            return client
        attempt.email = bearer.provider_person.person.email
        seen = _settle(ports, actor, bearer, digest, version)
    except (CallFailed, TooManyRequests, Refused, TokenRejected) as failed:
        rejected = _refuse(ports, actor, digest, version, attempt, failed)
        raise rejected from failed
    memory.tokens.put(digest, seen)
    return seen


def _refuse(
    ports: Ports, actor: Actor, digest: bytes, version: int, attempt: _Attempt, failed: Exception
) -> TokenRejected:
    """Count the refusal, remember it as long as it holds, and return it."""
    verdict = _verdict(failed)
    refusal = SignInRefusal(
        method=SignInMethod.PROVIDER_TOKEN,
        reason=verdict.reason,
        email=attempt.email,
        provider=attempt.provider,
        detail=verdict.detail,
    )
    count_refusal(ports, _with_address(actor, refusal), actor.user_agent)
    if verdict.seconds:
        until = ports.clock.timestamp() + verdict.seconds
        cached = CachedRefusal(verdict.fault, until, version, refusal)
        ports.cache.providers.refused.put(digest, cached)
    return TokenRejected(verdict.fault)


@building_block
def refuse_known_token(
    ports: Ports, actor: Actor, seen: CachedProviderToken | CachedClientToken
) -> TokenFault:
    """Count the refusal of a token that was accepted before, and return its fault."""
    if isinstance(seen, CachedClientToken):
        detail = provider_tokens.NOT_LINKED
    else:
        detail = WAITS.message if seen.waiting_changes else _NO_LONGER
    refusal = SignInRefusal(
        method=SignInMethod.PROVIDER_TOKEN,
        reason=SignInReason.SESSION_ENDED,
        provider=seen.provider,
        detail=detail,
    )
    count_refusal(ports, _with_address(actor, refusal), actor.user_agent)
    return TokenFault.INVALID


def _with_address(actor: Actor, refusal: SignInRefusal) -> SignInRefusal:
    return replace(refusal, address=actor.address or "")


def _verdict(failed: Exception) -> _Verdict:
    if isinstance(failed, CallFailed):
        seconds = 0.0 if failed.fault is CallFault.NOT_CALLED else FAILED_PAUSE
        reason = SignInReason.UNAVAILABLE
        return _Verdict(TokenFault.PROVIDER, reason, unusable_response(failed), seconds)
    if isinstance(failed, Refused):
        problem = failed.problems[0]
        reason = _REASONS.get(problem.code, SignInReason.SSO_NOT_LINKED)
        return _Verdict(TokenFault.INVALID, reason, problem.message, _REFUSED_SECONDS)
    if isinstance(failed, TokenRejected):
        is_old = failed.fault is TokenFault.EXPIRED
        reason = SignInReason.TOKEN_EXPIRED if is_old else SignInReason.TOKEN_INVALID
        is_judged = isinstance(failed, provider_tokens.ProviderTokenRejected)
        # A client can be linked, or its app activated, at any moment.
        is_clients = isinstance(failed, provider_tokens.ClientTokenRejected)
        is_kept = is_judged and not is_clients and failed.fault is TokenFault.INVALID
        seconds = _REFUSED_SECONDS if is_kept else 0.0
        return _Verdict(failed.fault, reason, provider_tokens.reason_of(failed), seconds)
    return _Verdict(TokenFault.PROVIDER, SignInReason.UNAVAILABLE, str(failed), 0.0)


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
    if provider_tokens.is_signed(token):
        issuer = provider_tokens.claimed_issuer(token)
        named = [provider for provider in taking if provider.issuer and provider.issuer == issuer]
        confirmed = [provider for provider in named if not provider.waits]
        unnamed = [provider for provider in taking if not provider.issuer]
        others = sorted((*named, *unnamed), key=lambda provider: provider.waits)
        return confirmed or others
    if not provider_tokens.is_opaque(token):
        return []
    if len(taking) > 1:
        return [provider for provider in taking if provider.slug == DEFAULT_SLUG]
    return taking


def _read(
    ports: Ports,
    actor: Actor,
    token: str,
    digest: bytes,
    candidates: list[Provider],
    attempt: _Attempt,
) -> _Bearer | ClientBearer | None:
    failed = None
    for provider in candidates:
        if provider.waits and failed is not None:
            break  # the one that can't verify it now may have issued it
        attempt.provider = provider.name
        try:
            if provider_tokens.is_signed(token):
                return _read_signed(ports, token, provider)
            return _read_opaque(ports, actor, token, digest, provider)
        except CallFailed as no_answer:
            failed = no_answer
        except TokenRejected as rejected:
            # No provider's key verifies it, and it names no known issuer.
            if provider.issuer or rejected.fault is not TokenFault.SIGNATURE:
                raise
    if failed is not None:
        raise failed
    return None


def _read_signed(ports: Ports, token: str, provider: Provider) -> _Bearer | ClientBearer:
    signed = verify_with(ports, provider, token)
    client = client_bearer(ports, provider, signed)
    if client is not None:
        return client
    shop = ports.configuration.scope_prefix
    now = ports.clock.timestamp()
    access = provider_tokens.read_bearer_token(signed, provider, now=now, shop=shop)
    serves_staff = provider_tokens.serves_staff_with(signed, provider)
    require_honoured(ports, provider, access.issuer, access.subject)
    claims = fetch_user_info(ports, provider, token, CallPurpose.VERIFIED)
    person = read_person(claims, provider, access.subject, signed.claims)
    said = ProviderPerson(provider, access.issuer, person, access.grant, serves_staff, access.amr)
    asserted = assert_person(ports, said)
    return _Bearer(asserted, access.expires, access.issued, access.not_before)


@building_block
def client_bearer(
    ports: Ports, provider: Provider, signed: provider_tokens.SignedToken
) -> ClientBearer | None:
    """Return the linked client of a token of ``provider``; ``None`` for a person's token.

    What a client got for itself, and what has the subject of a linked client's account, is never a
    person's: raises ``ClientTokenRejected`` unless the link fits, and ``ProviderTokenRejected`` as
    ``read_client_token`` does. While the provider's settings wait for confirmation, no link fits.
    """
    links = client_links(ports, provider, signed.claims)
    if not links and not provider_tokens.is_of_client(signed):
        return None
    if not links:
        raise provider_tokens.ClientTokenRejected(provider_tokens.NOT_LINKED)
    if provider.waits:
        raise provider_tokens.ClientTokenRejected(provider_tokens.CLIENTS_WAIT)
    now = ports.clock.timestamp()
    token = provider_tokens.read_client_token(signed, provider, now=now)
    require_issued_since(provider, token.issued, now)
    named = provider.id, token.issuer, token.client_id
    for link in links:
        if (link.provider_id, link.issuer, link.client_id) == named:
            return ClientBearer(link.id, provider, token)
    raise provider_tokens.ClientTokenRejected(provider_tokens.NOT_LINKED)


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
        require_issued_since(bearer.provider_person.provider, bearer.issued, issued)
        if is_signed_out(issued, user.tokens_valid_after, identity.tokens_valid_after):
            raise provider_tokens.ProviderTokenRejected(SIGNED_OUT)
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
            provider=bearer.provider_person.provider.name,
        )


def _first_seen(ports: Ports, session: Session, digest: bytes, identity_id: int) -> float:
    """Return when a token without ``iat`` was first seen by any process."""
    record = session.get(models.ProviderToken, digest.hex())
    if record is None:
        record = models.ProviderToken(
            digest=digest.hex(), identity_id=identity_id, first_seen_at=ports.clock.now()
        )
        session.add(record)
    return record.first_seen_at.timestamp()
