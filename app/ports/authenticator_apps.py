"""What authenticator apps compute and read: one-time codes and QR codes."""

from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class QrCode:
    """A QR code as an SVG path, black modules in a square of ``size`` with its quiet zone."""

    size: int
    path: str = field(repr=False)


class AuthenticatorApps(Protocol):
    def code_at(self, secret: str, step: int) -> str:
        """The code of a time step by RFC 6238, with leading zeros; ``secret`` is base32."""

    def setup_uri(self, secret: str, account: str, issuer: str) -> str:
        """The ``otpauth:`` URI that sets an app up; the app shows account and issuer."""

    def qr_code(self, text: str) -> QrCode:
        """A QR code of ``text``."""
