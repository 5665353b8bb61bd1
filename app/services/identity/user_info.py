"""What a provider's user info says about the bearer of an access token."""

from collections.abc import Mapping

from app.domain.single_sign_on.provider_tokens import (
    ProviderTokenRejected,
    read_user_info,
    reason_of,
)
from app.domain.single_sign_on.providers import Provider
from app.domain.values.errors import TokenRejected
from app.ports import Ports
from app.ports.http import CallFailed, CallFault
from app.ports.process_cache import CallPurpose
from app.services.authorization.register import part
from app.services.identity.provider_calls import calling
from app.services.identity.provider_keys import verify_with


@part
def unusable_response(failed: CallFailed) -> str:
    """Return why a bearer is refused whose provider gave no usable response."""
    return f"The provider's response couldn't be used. {failed}"


@part
def fetch_user_info(
    ports: Ports, provider: Provider, access_token: str, purpose: CallPurpose
) -> Mapping[str, object]:
    """Return the claims of the user info, sent as JSON or as a JWT signed by the provider.

    Raises ``ProviderTokenRejected`` when the provider refuses the token or has no user info URL,
    and ``CallFailed`` without a usable response, such as a JWT that none of its keys verifies.
    """
    if not provider.user_info_url:
        raise ProviderTokenRejected("Access tokens aren't accepted without a user info URL.")
    with calling(ports, provider.user_info_url, purpose):
        info = ports.identity_provider.fetch_person(provider.user_info_url, access_token)
    if not isinstance(info, str):
        return info
    try:
        signed = verify_with(ports, provider, info)
        return read_user_info(signed, provider, now=ports.clock.timestamp())
    except TokenRejected as rejected:
        message = f"The user info was sent as a JWT that isn't valid. {reason_of(rejected)}"
        raise CallFailed(CallFault.MALFORMED, message) from rejected
