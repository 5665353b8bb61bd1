"""Passkeys (WebAuthn) and authenticator apps: what they are given, and checks of their answers."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from app.domain.urls.web_urls import RelyingParty


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


class PasskeyRefused(Exception):
    """The browser's answer is malformed, or not a right answer to its question.

    The message says why, for the log; people are told the same about all of them.
    """


@dataclass(frozen=True, slots=True)
class PasskeyOwner:
    """For whom a passkey is made: ``handle`` is random, base64url; the others are shown."""

    handle: str
    name: str
    display_name: str


@dataclass(frozen=True, slots=True)
class KnownPasskey:
    """A passkey as the browser finds it: by its ID, base64url, and how it can be reached."""

    credential_id: str
    transports: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NewPasskey:
    """A passkey that has just been made; IDs and the public key (COSE) are base64url."""

    credential_id: str
    public_key: str = field(repr=False)
    sign_count: int
    is_synced: bool
    transports: tuple[str, ...]
    aaguid: str


@dataclass(frozen=True, slots=True)
class PasskeyUse:
    """A right answer: the authenticator's counter after it, 0 if it has none."""

    sign_count: int
    is_synced: bool


@dataclass(frozen=True, slots=True)
class ClaimedPasskey:
    """Which passkey an unchecked answer says it is of; ``user_handle`` is empty if not told."""

    credential_id: str
    user_handle: str


class Passkeys(Protocol):
    """Challenges, IDs and keys are base64url without padding; options and answers are JSON.

    Answers come from anyone. Whatever is in them, they are checked or raise ``PasskeyRefused``.
    """

    def creation_options(
        self,
        party: RelyingParty,
        party_name: str,
        challenge: str,
        owner: PasskeyOwner,
        existing: Sequence[KnownPasskey],
    ) -> str:
        """Options to make a passkey on an authenticator without any of ``existing``.

        The authenticator must verify the person and keep the passkey (discoverable).
        """

    def verify_creation(self, party: RelyingParty, challenge: str, answer: str) -> NewPasskey:
        """Return the passkey that was made in answer to ``challenge``."""

    def request_options(
        self, party: RelyingParty, challenge: str, allowed: Sequence[KnownPasskey]
    ) -> str:
        """Options to use one of the ``allowed`` passkeys; empty: any of this relying party."""

    def read_claim(self, answer: str) -> ClaimedPasskey:
        """Return which passkey ``answer`` says it is of, before it is checked."""

    def verify_use(
        self, party: RelyingParty, challenge: str, public_key: str, answer: str
    ) -> PasskeyUse:
        """Check that ``answer`` to ``challenge`` is signed by the passkey of ``public_key``.

        The authenticator must have verified the person. Its counter is not compared with anything.
        """
