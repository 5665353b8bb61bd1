"""Authlib's device authorization (RFC 8628), which keeps its codes by our use cases."""

from dataclasses import dataclass
from typing import Any

from authlib.oauth2.rfc6749 import InvalidScopeError, UnauthorizedClientError
from authlib.oauth2.rfc8628 import DeviceAuthorizationEndpoint, DeviceCodeGrant
from flask import g

from app.domain import oauth
from app.domain.values.errors import TrafficClosed
from app.oauth import protocol
from app.services.oauth import devices
from app.services.oauth.userinfo import issuer_of

DEVICE_PATH = "/oauth/device"
ENDPOINT = "device_authorization"


def register_devices(server: protocol.Server) -> None:
    """Let ``server`` sign in devices that have no browser."""
    server.register_grant(_DeviceGrant, [protocol.GrantIdToken()])
    server.register_endpoint(_DeviceAuthorization)


@dataclass(frozen=True, slots=True)
class _Device:
    """A stored device as Authlib asks about it."""

    stored: devices.StoredDevice

    def get_client_id(self) -> str:
        return self.stored.client_id

    def get_scope(self) -> str:
        return oauth.write_scopes(self.stored.scopes, protocol.caller().shop)

    def get_user_code(self) -> devices.StoredDevice:
        """Return the device itself: it is known which one its person has decided about."""
        return self.stored

    def is_expired(self) -> bool:
        return self.stored.is_expired


class _DeviceGrant(protocol.GrantedTokens, DeviceCodeGrant):  # type: ignore[misc]
    request: protocol.ProtocolRequest

    def query_device_credential(self, device_code: str) -> _Device:
        asking = protocol.caller()
        found = devices.find_device(asking.ports, asking.actor, device_code)
        if found is None:
            raise protocol.InvalidGrant("This device code doesn't work, or was used.")
        return _Device(found)

    def query_user_grant(self, device: devices.StoredDevice) -> tuple[bool, bool] | None:
        allowed = device.is_allowed
        return None if allowed is None else (True, allowed)

    def should_slow_down(self, credential: _Device) -> bool:
        asking = protocol.caller()
        return devices.polls_too_often(asking.ports, asking.actor, credential.stored.id)

    def create_token_response(self) -> Any:
        asking, client = protocol.caller(), self.request.client.client
        device_id = self.request.credential.stored.id
        try:
            self.request.granted = devices.use_device(
                asking.ports, asking.actor, client, device_id
            )
        except TrafficClosed:
            raise protocol.StorefrontClosed from None
        if self.request.granted is None:
            raise protocol.InvalidGrant("This device code doesn't work, or was used.")
        return super().create_token_response()


@dataclass(frozen=True, slots=True)
class _NewDevice:
    codes: devices.DeviceCodes
    scopes: frozenset[str]


class _DeviceAuthorization(DeviceAuthorizationEndpoint):  # type: ignore[misc]
    """Hands out codes; those of one request are in Flask's ``g``, as its caller is."""

    CLIENT_AUTH_METHODS = protocol.TOKEN_METHODS
    EXPIRES_IN = int(oauth.USER_CODE_LIFETIME.total_seconds())
    INTERVAL = oauth.POLL_INTERVAL

    def authenticate_client(self, request: protocol.ProtocolRequest) -> protocol.ProtocolClient:
        client: protocol.ProtocolClient = super().authenticate_client(request)
        if not client.check_grant_type(protocol.DEVICE):
            raise UnauthorizedClientError("This client can't sign in devices.")
        asking, scopes = protocol.caller(), _asked_scopes(request, client)
        try:
            codes = devices.begin_device(asking.ports, asking.actor, client.client, scopes)
        except TrafficClosed:
            raise protocol.StorefrontClosed from None
        g.oauth_device = _NewDevice(codes, scopes)
        return client

    def create_endpoint_response(self, request: protocol.ProtocolRequest) -> Any:
        """Return the codes, for rights over the shop without a link that fills in the short one.

        Who lets in such a device has to read its code from it (RFC 8628, 5.4).
        """
        status, body, headers = super().create_endpoint_response(request)
        if oauth.privileged(_new_device().scopes):
            del body["verification_uri_complete"]
        return status, body, headers

    def generate_device_code(self) -> str:
        return _new_device().codes.device_code

    def generate_user_code(self) -> str:
        return oauth.write_user_code(_new_device().codes.user_code)

    def get_verification_uri(self) -> str:
        path = oauth.CONSOLE_DEVICE_PATH if oauth.privileged(_new_device().scopes) else DEVICE_PATH
        return f"{issuer_of(protocol.caller().actor)}{path}"

    def save_device_credential(self, client_id: str, scope: str, data: object) -> None:
        """Keep nothing: the codes were stored when they were made."""


def _new_device() -> _NewDevice:
    found: _NewDevice = g.oauth_device
    return found


def _asked_scopes(
    request: protocol.ProtocolRequest, client: protocol.ProtocolClient
) -> frozenset[str]:
    """Return what a device asks for, by default all that its client can have."""
    asked = request.payload.scope
    if not asked:
        return client.client.scopes
    allowed = client.get_allowed_scope(asked)
    if allowed is None:
        raise InvalidScopeError("The client can't have any of these scopes.")
    return oauth.read_scopes(allowed, protocol.caller().shop) or frozenset()
