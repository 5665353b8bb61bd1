"""Adapters of passwords, codes and keys, imported when they are first used."""

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property

from app.domain.keys.ring import PublicKey
from app.domain.passwords.hash_formats import HashFormat
from app.domain.passwords.passwords import Strength
from app.domain.urls.relying_party import RelyingParty
from app.lazy_adapters import load
from app.ports import (
    AuthenticatorApps,
    Encryption,
    KeyStore,
    Passkeys,
    PasswordStrength,
    SignatureCheck,
)
from app.ports.authenticator_apps import QrCode
from app.ports.keys import KeyPair
from app.ports.passkeys import (
    ClaimedPasskey,
    KnownPasskey,
    NewPasskey,
    PasskeyOwner,
    PasskeyUse,
)
from app.settings import Settings


class LazyEncryption:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    @cached_property
    def _encryption(self) -> Encryption:
        encryption: Encryption = load("app.adapters.encryption").AesEncryption(
            self._settings.secret, self._settings.former_secrets
        )
        return encryption

    def encrypt(self, purpose: str, text: str) -> str:
        return self._encryption.encrypt(purpose, text)

    def decrypt(self, purpose: str, encrypted: str) -> str:
        return self._encryption.decrypt(purpose, encrypted)

    def reseal(self, purpose: str, encrypted: str) -> str | None:
        return self._encryption.reseal(purpose, encrypted)

    def has_former_keys(self) -> bool:
        # Those that are set: the published one needs no removal.
        former = self._settings.secret_key_fallbacks
        return any(key != self._settings.secret for key in former)

    def fingerprint(self, purpose: str, text: str) -> str:
        return self._encryption.fingerprint(purpose, text)

    def known_fingerprints(self, purpose: str, text: str) -> tuple[str, ...]:
        return self._encryption.known_fingerprints(purpose, text)


class LazyAuthenticatorApps:
    @cached_property
    def _apps(self) -> AuthenticatorApps:
        apps: AuthenticatorApps = load("app.adapters.authenticator_apps").PyotpAuthenticatorApps()
        return apps

    def code_at(self, secret: str, step: int) -> str:
        return self._apps.code_at(secret, step)

    def setup_uri(self, secret: str, account: str, issuer: str) -> str:
        return self._apps.setup_uri(secret, account, issuer)

    def qr_code(self, text: str) -> QrCode:
        return self._apps.qr_code(text)


class LazyKeyStore:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    @cached_property
    def _keys(self) -> KeyStore:
        store = load("app.adapters.keys").RsaKeyStore
        keys: KeyStore = store(
            self._settings.secret,
            self._settings.rsa_private_key,
            self._settings.former_secrets,
            self._settings.rsa_private_password,
        )
        return keys

    def generate(self) -> KeyPair:
        return self._keys.generate()

    def fixed(self) -> KeyPair | None:
        return self._keys.fixed()

    def sign(self, key: KeyPair, claims: Mapping[str, object]) -> str:
        return self._keys.sign(key, claims)

    def sign_detached(self, key: KeyPair, body: bytes) -> str:
        return self._keys.sign_detached(key, body)

    def verify(self, keys: Mapping[str, PublicKey], token: str) -> Mapping[str, object]:
        return self._keys.verify(keys, token)


class LazySignatures:
    @cached_property
    def _signatures(self) -> SignatureCheck:
        signatures: SignatureCheck = load("app.adapters.signatures").DetachedSignatures()
        return signatures

    def verify_detached(
        self, keys: Mapping[str, PublicKey], signature: str, body: bytes
    ) -> PublicKey:
        return self._signatures.verify_detached(keys, signature, body)


class LazyPasskeys:
    @cached_property
    def _passkeys(self) -> Passkeys:
        passkeys: Passkeys = load("app.adapters.passkeys").WebAuthnPasskeys()
        return passkeys

    def creation_options(
        self,
        party: RelyingParty,
        party_name: str,
        challenge: str,
        owner: PasskeyOwner,
        existing: Sequence[KnownPasskey],
    ) -> str:
        return self._passkeys.creation_options(party, party_name, challenge, owner, existing)

    def verify_creation(self, party: RelyingParty, challenge: str, answer: str) -> NewPasskey:
        return self._passkeys.verify_creation(party, challenge, answer)

    def request_options(
        self, party: RelyingParty, challenge: str, allowed: Sequence[KnownPasskey]
    ) -> str:
        return self._passkeys.request_options(party, challenge, allowed)

    def read_claim(self, answer: str) -> ClaimedPasskey:
        return self._passkeys.read_claim(answer)

    def verify_use(
        self, party: RelyingParty, challenge: str, public_key: str, answer: str
    ) -> PasskeyUse:
        return self._passkeys.verify_use(party, challenge, public_key, answer)


class LazyPasswordStrength:
    @cached_property
    def _strength(self) -> PasswordStrength:
        strength: PasswordStrength = load("app.adapters.password_strength").ZxcvbnStrength()
        return strength

    def estimate(self, password: str, words: Collection[str] = ()) -> Strength:
        return self._strength.estimate(password, words)

    def is_leaked(self, password: str) -> bool:
        return self._strength.is_leaked(password)


def matches_foreign_hash(stored: HashFormat, password: bytes) -> bool:
    """Whether a hash that another system made is of that password."""
    found: bool = load("app.adapters.foreign_hashes").matches(stored, password)
    return found
