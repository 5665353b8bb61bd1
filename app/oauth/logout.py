"""Signing out at a client's request (OpenID Connect RP-Initiated Logout 1.0).

The person is asked, unless the client shows an ID token of the very sign-in that is to end.
"""

from dataclasses import dataclass

from authlib.oauth2.rfc6749 import InvalidRequestError
from authlib.oidc.rpinitiated import EndSessionEndpoint, EndSessionRequest

from app.domain.oauth import OAuthClient
from app.oauth.protocol import ProtocolRequest, Server, caller
from app.services.oauth.client_sessions import is_signed_in_by, read_id_token
from app.services.oauth.userinfo import issuer_of


@dataclass(frozen=True, slots=True)
class Logout:
    """A request that was checked.

    ``client`` is who asks, ``None`` if it doesn't say. ``redirect_uri`` is one of the client's,
    with its ``state``; empty for none. ``sid`` is the session of the ID token that it has.
    """

    client: OAuthClient | None
    redirect_uri: str
    sid: str


def register_logout(server: Server) -> None:
    """Let ``server`` check requests to sign out."""
    server.register_endpoint(_EndSession)


class _EndSession(EndSessionEndpoint):  # type: ignore[misc]
    def validate_request(self, request: ProtocolRequest) -> EndSessionRequest:
        asked = super().validate_request(request)
        if request.payload.data.get("client_id") and asked.client is None:
            raise InvalidRequestError("Unknown or disabled client.")
        if request.payload.data.get("post_logout_redirect_uri") and asked.redirect_uri is None:
            message = "post_logout_redirect_uri isn't registered, or the client isn't named."
            raise InvalidRequestError(message)
        return asked

    def _validate_id_token_hint(self, id_token_hint: str) -> dict[str, object]:
        asking = caller()
        issuer = issuer_of(asking.actor)
        claims = read_id_token(asking.ports, asking.actor, issuer, id_token_hint)
        if not claims:
            raise InvalidRequestError("id_token_hint isn't an ID token of this provider.")
        return dict(claims)

    def is_post_logout_redirect_uri_legitimate(self, *_: object) -> bool:
        """Whether a registered URI is enough: it is, as the person is asked."""
        return True


def check_logout(server: Server, asked: ProtocolRequest) -> Logout:
    """Return what a client asks for; raises ``OAuth2Error`` for an invalid request."""
    asked.check_parameters()
    checked = server.validate_endpoint_request(_EndSession.ENDPOINT_NAME, asked)
    client = None if checked.client is None else checked.client.client
    sid = str((checked.id_token_claims or {}).get("sid", ""))
    return Logout(client, checked.redirect_uri or "", sid)


def is_proved(logout: Logout, session_id: int | None) -> bool:
    """Whether the client has an ID token of the sign-in ``session_id`` of the hosted pages."""
    if logout.client is None or not logout.sid or session_id is None:
        return False
    asking = caller()
    return is_signed_in_by(asking.ports, asking.actor, logout.client, logout.sid, session_id)
