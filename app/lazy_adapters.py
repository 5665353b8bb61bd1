"""Adapters that are imported when they are first used, because few processes need them.

Alembic, Redis, cryptography, the HTTP client and the GraphQL schema cost a command tenths of a
second.
"""

import importlib
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cache, cached_property
from pathlib import Path
from types import ModuleType

from app.adapters.schema_revisions import SchemaRevisions
from app.adapters.tls import TrustedAuthorities
from app.domain.audit.security_events import SecurityEvent
from app.domain.authorization.actor import Actor
from app.domain.deliveries.deliveries import Batch
from app.domain.events.occurrence import Occurrence
from app.domain.keys.ring import PublicKey
from app.domain.passwords.hash_formats import HashFormat
from app.domain.passwords.passwords import Strength
from app.domain.second_factors.relying_party import RelyingParty
from app.domain.sign_in.rate_limits import Rates
from app.domain.single_sign_on.provider_tokens import SignedToken
from app.domain.values.ip_addresses import Network
from app.domain.webhooks.webhooks import WebhookQuery
from app.ports import (
    AuthenticatorApps,
    Clock,
    Encryption,
    Http,
    IdentityProvider,
    Images,
    KeyStore,
    Passkeys,
    PasswordStrength,
    Payloads,
    Queue,
    RateLimiter,
    Schema,
    SecurityLog,
    SignatureCheck,
)
from app.ports.authenticator_apps import QrCode
from app.ports.backups import BackupFacts, BackupKey, BackupLock, Backups, OpenBackup
from app.ports.http import HttpRequest, HttpResponse
from app.ports.identity_provider import Client, ProviderKey, SignIn, TokenResponse
from app.ports.import_source import ImportSource, MediaFolder
from app.ports.keys import KeyPair
from app.ports.passkeys import (
    ClaimedPasskey,
    KnownPasskey,
    NewPasskey,
    PasskeyOwner,
    PasskeyUse,
)
from app.ports.schema import Report, ignore_progress
from app.settings import Settings


@cache
def load(module: str) -> ModuleType:
    """Import ``module``, which few processes need."""
    return importlib.import_module(module)


def trusted_authorities(settings: Settings) -> TrustedAuthorities:
    """Return the certificate authorities that outgoing connections trust."""
    return TrustedAuthorities(
        replacing=settings.ssl_cert_file, additional=settings.outgoing_ca_file
    )


class LazyHttp:
    """Calls ``allowed`` networks and public addresses, by OUTGOING_PROXY if that is set.

    ``direct`` networks are called without the proxy.
    """

    def __init__(
        self, allowed: Collection[Network], settings: Settings, *, direct: Collection[Network]
    ) -> None:
        self._allowed = allowed
        self._settings = settings
        self._direct = direct

    @cached_property
    def _http(self) -> Http:
        http: Http = load("app.adapters.http").GuardedHttp(
            self._allowed,
            trusted_authorities(self._settings),
            proxy=self._settings.outgoing_proxy,
            direct=self._direct,
        )
        return http

    def send(self, request: HttpRequest) -> HttpResponse:
        return self._http.send(request)


class LazyEncryption:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    @cached_property
    def _encryption(self) -> Encryption:
        encryption: Encryption = load("app.adapters.encryption").AesEncryption(
            self._settings.secret_key, self._settings.secret_key_fallbacks
        )
        return encryption

    def encrypt(self, purpose: str, text: str) -> str:
        return self._encryption.encrypt(purpose, text)

    def decrypt(self, purpose: str, encrypted: str) -> str:
        return self._encryption.decrypt(purpose, encrypted)

    def reseal(self, purpose: str, encrypted: str) -> str | None:
        return self._encryption.reseal(purpose, encrypted)

    def has_former_keys(self) -> bool:
        return self._encryption.has_former_keys()

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
            self._settings.secret_key,
            self._settings.rsa_private_key,
            self._settings.secret_key_fallbacks,
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


class LazyIdentityProvider:
    def __init__(self, http: Http) -> None:
        self._http = http

    @cached_property
    def _provider(self) -> IdentityProvider:
        module = load("app.adapters.identity_provider")
        provider: IdentityProvider = module.OpenIdProvider(self._http)
        return provider

    def authorization_url(self, sign_in: SignIn) -> str:
        return self._provider.authorization_url(sign_in)

    def exchange(
        self, client: Client, *, code: str, redirect_uri: str, verifier: str
    ) -> TokenResponse:
        return self._provider.exchange(
            client, code=code, redirect_uri=redirect_uri, verifier=verifier
        )

    def refresh(self, client: Client, refresh_token: str) -> TokenResponse:
        return self._provider.refresh(client, refresh_token)

    def fetch_keys(self, url: str) -> tuple[ProviderKey, ...]:
        return self._provider.fetch_keys(url)

    def verify(self, keys: Sequence[ProviderKey], token: str) -> SignedToken:
        return self._provider.verify(keys, token)

    def fetch_person(self, url: str, access_token: str) -> Mapping[str, object]:
        return self._provider.fetch_person(url, access_token)

    def fetch_status(self, url: str) -> int:
        return self._provider.fetch_status(url)

    def discover(self, issuer: str) -> Mapping[str, object]:
        return self._provider.discover(issuer)


class LazyRateLimiter:
    def __init__(self, clock: Clock, redis_url: str) -> None:
        self._clock = clock
        self._redis_url = redis_url

    @cached_property
    def _limiter(self) -> RateLimiter:
        connect_rate_limiter = load("app.adapters.rate_limiter").connect_rate_limiter
        limiter: RateLimiter = connect_rate_limiter(self._clock, self._redis_url)
        return limiter

    def count(self, name: str, client: str, rates: Rates) -> int:
        return self._limiter.count(name, client, rates)


class LazyPayloads:
    """Above the adapters, for webhooks' queries run on the GraphQL schema."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    @cached_property
    def _payloads(self) -> Payloads:
        payloads: Payloads = load("app.graphql.payloads").create_payloads(
            tokens_max=self._settings.graphql_tokens_max,
            depth_max=self._settings.graphql_depth_max,
            aliases_max=self._settings.graphql_aliases_max,
            cost_max=self._settings.graphql_cost_max,
        )
        return payloads

    def check(self, query: str) -> WebhookQuery:
        return self._payloads.check(query)

    def make(self, asking: object, actor: Actor, query: str, occurrence: Occurrence) -> str:
        return self._payloads.make(asking, actor, query, occurrence)


def matches_foreign_hash(stored: HashFormat, password: bytes) -> bool:
    """Whether a hash that another system made is of that password."""
    found: bool = load("app.adapters.foreign_hashes").matches(stored, password)
    return found


class LazyImages:
    @cached_property
    def _images(self) -> Images:
        images: Images = load("app.adapters.images").PillowImages()
        return images

    def crop_squares(self, data: bytes, sizes: Collection[int]) -> Mapping[int, bytes]:
        return self._images.crop_squares(data, sizes)


class LazyQueue:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    @cached_property
    def _queue(self) -> Queue:
        connect_queue = load("app.adapters.queue").connect_queue
        queue: Queue = connect_queue(self._settings.redis_url, self._settings.queue_file)
        return queue

    def put(self, batch: Batch) -> None:
        self._queue.put(batch)

    def take(self, patience: float) -> Batch | None:
        return self._queue.take(patience)

    def size(self) -> int:
        return self._queue.size()

    def close(self) -> None:
        self._queue.close()


class LazySchema(SchemaRevisions):
    """Alembic is loaded to change the tables, not to read which revision they are at."""

    @cached_property
    def _schema(self) -> Schema:
        schema: Schema = load("app.adapters.schema").AlembicSchema(self.url)
        return schema

    def upgrade(self, report: Report = ignore_progress) -> int:
        return self._schema.upgrade(report)

    def revise(self, message: str, name: str) -> None:
        self._schema.revise(message, name)


class LazySecurityLog:
    """The security log in ``target``; most commands write no event."""

    def __init__(self, target: str, clock: Clock) -> None:
        self._target = target
        self._clock = clock

    @cached_property
    def _log(self) -> SecurityLog:
        module = load("app.web.security_log")
        log: SecurityLog = module.JsonSecurityLog(self._target, self._clock)
        return log

    def write(self, event: SecurityEvent, **fields: object) -> None:
        self._log.write(event, **fields)


class LazyImportSources:
    """Opens other installations' databases."""

    def open_platform(self, url: str) -> AbstractContextManager[ImportSource]:
        opened: AbstractContextManager[ImportSource]
        opened = load("app.adapters.platform_database").open_platform(url)
        return opened

    def open_media(self, folder: Path) -> MediaFolder:
        opened: MediaFolder = load("app.adapters.media_folder").LocalMediaFolder(folder)
        return opened


class LazyBackups:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    @cached_property
    def _backups(self) -> Backups:
        url = self._settings.database_url
        backups: Backups
        if url.startswith("sqlite"):
            adapter = load("app.adapters.backups_sqlite").SqliteBackups
            backups = adapter(Path(url.partition(":///")[2]), self._settings.queue_file)
        else:
            backups = load("app.adapters.backups_postgresql").PostgresqlBackups(url)
        return backups

    @property
    def database(self) -> str:
        return self._backups.database

    def write(self, file: Path, facts: BackupFacts, lock: BackupLock) -> int:
        return self._backups.write(file, facts, lock)

    def open(self, file: Path, key: BackupKey) -> AbstractContextManager[OpenBackup]:
        return self._backups.open(file, key)

    def is_empty(self) -> bool:
        return self._backups.is_empty()
