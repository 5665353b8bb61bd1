"""Tokens that a provider gave to this service itself: asked for, and read."""

from collections.abc import Callable

from app.domain.authorization.permissions import ScopeGrant, granted_scopes
from app.domain.single_sign_on.provider_tokens import (
    IdToken,
    ProviderTokenRejected,
    is_signed,
    read_access_token,
    read_id_token,
)
from app.domain.single_sign_on.provider_users import ExternalPerson, email_verified, read_person
from app.domain.single_sign_on.providers import Provider
from app.domain.single_sign_on.waiting_changes import waits_for
from app.domain.values.errors import Problem, Refused, TokenFault, TokenRejected
from app.domain.values.text import Phrase
from app.ports import Ports
from app.ports.http import CallFailed
from app.ports.identity_provider import Client, TokenResponse
from app.ports.provider_cache import CallPurpose
from app.services.authorization.register import part
from app.services.identity.provider_calls import calling
from app.services.identity.provider_keys import verify_with
from app.services.identity.providers import secret_for_token_url
from app.services.identity.user_info import fetch_user_info


@part
def ask_for_tokens(
    ports: Ports,
    provider: Provider,
    purpose: CallPurpose,
    ask: Callable[[Client], TokenResponse],
) -> TokenResponse:
    """Call ``ask`` at the token endpoint as this service's client.

    Refuses INVALID when the provider doesn't respond; raises ``GrantRefused`` when it refuses.
    """
    client = Client(
        provider.oauth_token_url, provider.client_id, secret_for_token_url(ports, provider)
    )
    try:
        with calling(ports, provider.oauth_token_url, purpose):
            return ask(client)
    except CallFailed as failed:
        raise unavailable(failed) from failed


@part
def unavailable(failed: CallFailed) -> Refused:
    """Return the refusal for sign-ins while the provider doesn't respond."""
    return Refused(
        Problem(
            "INVALID",
            "The identity provider gave no usable answer. {failed}",
            values={"failed": Phrase(failed)},
        )
    )


@part
def read_identity(
    ports: Ports, provider: Provider, tokens: TokenResponse, nonce: str | None
) -> IdToken:
    """Return the person of the ID token; raises ``TokenRejected`` or ``CallFailed``.

    ``nonce`` is that of the sign-in, ``None`` for a refresh.
    """
    if not tokens.id_token:
        raise ProviderTokenRejected("The provider returned no ID token.")
    signed = verify_with(ports, provider, tokens.id_token)
    return read_id_token(signed, provider, nonce=nonce, now=ports.clock.timestamp())


@part
def read_details(
    ports: Ports, provider: Provider, tokens: TokenResponse, identity: IdToken
) -> ExternalPerson:
    """Return the person by the ID token, or by user-info if that has no verified email.

    The token may be worth something elsewhere, so it isn't sent to a URL that waits.
    """
    is_asked = provider.user_info_url and not waits_for(provider, "user_info_url")
    if email_verified(identity.claims) or not is_asked:
        return read_person(identity.claims, provider)
    claims = fetch_user_info(ports, provider, tokens.access_token, CallPurpose.VERIFIED)
    return read_person({**identity.claims, **claims}, provider, identity.subject)


@part
def read_rights(
    ports: Ports, provider: Provider, tokens: TokenResponse, unsaid: ScopeGrant
) -> ScopeGrant | None:
    """Return the permissions in the access token; ``None`` where they are kept here.

    An opaque token was made for another reader: then the token response's scope counts, else
    ``unsaid``. Raises ``TokenRejected`` for another audience.
    """
    if not provider.use_oauth_scope_permissions:
        return None
    shop = ports.configuration.scope_prefix
    prefix = provider.prefix_of_scopes(shop)
    if is_signed(tokens.access_token):
        try:
            signed = verify_with(ports, provider, tokens.access_token)
        except TokenRejected as rejected:
            if rejected.fault not in (TokenFault.SIGNATURE, TokenFault.ALGORITHM):
                raise
        else:
            read_access_token(signed, provider, now=ports.clock.timestamp(), shop=shop)
            claims = signed.claims
            return granted_scopes(claims.get("scope"), claims.get("permissions"), prefix)
    return unsaid if tokens.scope is None else granted_scopes(tokens.scope, None, prefix)
