"""Signing keys at work, and encryption of stored secrets under the installation's own key."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from app.domain.keys import PublicKey


class DecryptionError(Exception):
    """A value can't be decrypted: another ``SECRET_KEY``, another purpose, or damage."""


class Encryption(Protocol):
    def encrypt(self, purpose: str, text: str) -> str:
        """``text`` encrypted and authenticated, fit to be stored; bound to ``purpose``."""

    def decrypt(self, purpose: str, encrypted: str) -> str:
        """The text again; raises ``DecryptionError``."""

    def reseal(self, purpose: str, encrypted: str) -> str | None:
        """Encrypt under the current key what a former one encrypted; ``None`` if it isn't needed.

        Raises ``DecryptionError`` for what no key opens.
        """

    def has_former_keys(self) -> bool:
        """Whether former keys open what the current one doesn't."""

    def fingerprint(self, purpose: str, text: str) -> str:
        """A keyed hash of ``text``, 64 characters: equal for equal texts of one purpose."""

    def known_fingerprints(self, purpose: str, text: str) -> tuple[str, ...]:
        """The hash of ``text`` under the current key and each former one, to search by."""


@dataclass(frozen=True, slots=True)
class KeyPair:
    """A key that can sign; ``encrypted`` is its private part, encrypted, fit to be stored."""

    public: PublicKey
    encrypted: str = field(repr=False)


class KeyStore(Protocol):
    def generate(self) -> KeyPair:
        """A new RSA key of 3072 bits, its private part encrypted by the installation's secret."""

    def fixed(self) -> KeyPair | None:
        """Return the key of the setting ``RSA_PRIVATE_KEY``, if it is set."""

    def sign(self, key: KeyPair, claims: Mapping[str, object], typ: str = "JWT") -> str:
        """A JWT, RS256, with ``kid`` and ``typ`` in its header.

        ``verify`` refuses any other ``typ`` than JWT.

        Raises ``KeyUnreadable`` when the private part cannot be decrypted.
        """

    def sign_detached(self, key: KeyPair, body: bytes) -> str:
        """A JWS over ``body`` that leaves the body out: RS256, ``b64`` false (RFC 7797)."""

    def verify(self, keys: Mapping[str, PublicKey], token: str) -> Mapping[str, object]:
        """The claims of ``token`` after its signature: RS256 only, key by ``kid`` from ``keys``.

        Checks form and signature alone, no claim. Raises ``TokenRejected``: UNDECODABLE for what
        is no compact JWS or not canonical, ALGORITHM for another ``alg``, INVALID for a header
        with members that Latchkey's don't have, SIGNATURE for an unknown ``kid`` or a signature
        that does not verify.
        """


class SignatureCheck(Protocol):
    def verify_detached(
        self, keys: Mapping[str, PublicKey], signature: str, body: bytes
    ) -> PublicKey:
        """The key of ``keys`` that signed ``body`` by a detached JWS (RFC 7797, ``b64`` false).

        Raises ``TokenRejected``: UNDECODABLE for what is no such text, ALGORITHM for any but
        RS256, INVALID for a header that does not say that the body is not encoded, SIGNATURE for
        an unknown ``kid`` or a signature of something else.
        """


class DemoProviderKey(Protocol):
    """A signing key of the demo provider alone, the same in every process of an installation."""

    def public_key(self) -> Mapping[str, str]:
        """Return the public part as an entry of a key set (RFC 7517)."""

    def sign(self, kind: str, claims: Mapping[str, object]) -> str:
        """Return a token of that ``typ`` with exactly these claims."""

    def read(self, kind: str, token: str) -> Mapping[str, object] | None:
        """Return the claims of a token that ``sign`` made for ``kind``; ``None`` for any other."""
