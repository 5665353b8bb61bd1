"""Chromium's virtual authenticator: a fingerprint reader whose finger the test is."""

from typing import Any

from playwright.sync_api import CDPSession, Page

OPTIONS = {
    "protocol": "ctap2",
    "ctap2Version": "ctap2_1",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


class VirtualAuthenticator:
    """The authenticator of one page."""

    def __init__(self, page: Page) -> None:
        self._cdp: CDPSession = page.context.new_cdp_session(page)
        self._cdp.send("WebAuthn.enable", {"enableUI": False})
        added = self._cdp.send("WebAuthn.addVirtualAuthenticator", {"options": OPTIONS})
        self._id = added["authenticatorId"]

    def verify_person(self, *, succeeds: bool) -> None:
        """Say whether the person's fingerprint is recognized from now on."""
        self._send("WebAuthn.setUserVerified", isUserVerified=succeeds)

    def passkeys(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._send("WebAuthn.getCredentials")["credentials"]
        return found

    def add(self, passkey: dict[str, Any]) -> None:
        """Add a copy of a passkey of another page's authenticator."""
        self._send("WebAuthn.addCredential", credential=passkey)

    def clear(self) -> None:
        """Forget all passkeys."""
        self._send("WebAuthn.clearCredentials")

    def _send(self, method: str, **values: object) -> dict[str, Any]:
        answer: dict[str, Any] = self._cdp.send(method, {"authenticatorId": self._id, **values})
        return answer
