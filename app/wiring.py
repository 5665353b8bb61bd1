"""Which adapter stands behind each port.

Most adapters are imported like any module. ``load`` imports those that commands can do without
(Alembic, Redis, cryptography, the HTTP client, the GraphQL schema) when they are first used.
"""

import atexit
import importlib
from collections.abc import Collection, Mapping, Sequence
from functools import cache, cached_property, partial
from ipaddress import ip_network
from types import ModuleType
from urllib.parse import urlsplit

from app.adapters.activity import SqlActivity
from app.adapters.clock import SystemClock
from app.adapters.database import connect_database
from app.adapters.demo_provider_http import DemoProviderHttp
from app.adapters.email_templates import JinjaEmailTemplates
from app.adapters.mailer import FileMailer, SmtpMailer
from app.adapters.passwords import Argon2Hasher
from app.adapters.randomness import SystemRandomness
from app.adapters.saved_logins import FileProfiles
from app.adapters.schema_revisions import SchemaRevisions
from app.adapters.sign_in_log import SqlSignInLog
from app.adapters.throttle_sql import SqlThrottle
from app.adapters.tls import TrustedAuthorities
from app.domain.authorization.actor import Actor
from app.domain.deliveries.deliveries import Batch
from app.domain.events.occurrence import Occurrence
from app.domain.keys.ring import PublicKey
from app.domain.sign_in.rate_limits import Rates
from app.domain.single_sign_on.provider_tokens import SignedToken
from app.domain.values.ip_addresses import Network
from app.domain.webhooks.webhooks import WebhookQuery
from app.ports import (
    Clock,
    Database,
    Encryption,
    Http,
    IdentityProvider,
    Images,
    KeyStore,
    Mailer,
    Payloads,
    Ports,
    ProcessCache,
    Queue,
    RateLimiter,
    Schema,
    SignatureCheck,
    Throttle,
)
from app.ports.demo_provider import DemoProviderKey
from app.ports.http import HttpRequest, HttpResponse
from app.ports.identity_provider import Client, ProviderKey, SignIn, TokenResponse
from app.ports.keys import KeyPair
from app.remote import instance, sign_in
from app.settings import Settings, SettingsError, load_client_settings, load_settings
from app.web.installation import CountStore, Installation
from app.web.remote_instances import RemoteAccess

_LOOPBACK = (ip_network("127.0.0.0/8"), ip_network("::1/128"))
_ALL_NETWORKS = (ip_network("0.0.0.0/0"), ip_network("::/0"))
"""A user of the shell can call any IP address; what others enter is checked elsewhere."""


@cache
def load(module: str) -> ModuleType:
    """Import ``module``, which few processes need."""
    return importlib.import_module(module)


def connect(settings: Settings, *, max_writers: int = 0) -> Ports:
    """Return the ports of an installation; nothing is opened before it is asked for.

    ``max_writers`` is how many transactions a server's process has open at once (0: any number).
    Raises ``SettingsError`` when ``RSA_PRIVATE_KEY`` is no key that may sign.
    """
    database = connect_database(settings.database_url, max_writers=max_writers)
    clock = SystemClock()
    allowed = settings.outgoing_allowed_networks
    http = _LazyHttp(allowed, settings, direct=allowed)
    own_http = _LazyHttp(_LOOPBACK, settings, direct=_LOOPBACK)
    encryption = _LazyEncryption(settings.secret_key)
    return Ports(
        configuration=settings.configuration,
        clock=clock,
        randomness=SystemRandomness(),
        database=database,
        keys=_keys(settings),
        signatures=_LazySignatures(),
        passwords=Argon2Hasher(),
        throttle=_throttle(database, settings.redis_url),
        rate_limiter=_LazyRateLimiter(clock, settings.redis_url),
        encryption=encryption,
        email_templates=JinjaEmailTemplates(),
        mailer=_mailer(settings),
        http=http,
        identity_provider=_LazyIdentityProvider(
            DemoProviderHttp(http, own_http) if settings.development else http
        ),
        payloads=_LazyPayloads(settings),
        images=_LazyImages(),
        queue=_LazyQueue(settings),
        schema=_LazySchema(settings.database_url),
        activity=SqlActivity(database, clock),
        sign_in_log=SqlSignInLog(database, clock, encryption),
        cache=ProcessCache(),
    )


@cache
def demo_provider_key(secret_key: str) -> DemoProviderKey:
    """Return the signing key of the demo's identity provider."""
    key: DemoProviderKey = load("app.adapters.demo_provider_key").DerivedProviderKey(secret_key)
    return key


def make_installation(ports: Ports, settings: Settings) -> Installation:
    """What the edges get to know of ``settings``."""
    return Installation(
        ports=ports,
        trusted_proxies=settings.trusted_proxies,
        allowed_graphql_origins=settings.allowed_graphql_origins,
        playground_enabled=settings.playground_enabled,
        graphql_batch_max=settings.graphql_batch_max,
        graphql_mutations_max=settings.graphql_mutations_max,
        graphql_tokens_max=settings.graphql_tokens_max,
        graphql_depth_max=settings.graphql_depth_max,
        graphql_aliases_max=settings.graphql_aliases_max,
        graphql_cost_max=settings.graphql_cost_max,
        graphql_cost_shown=settings.graphql_cost_shown,
        graphql_values_max=settings.graphql_values_max,
        graphql_body_max=settings.graphql_body_max,
        upload_max=settings.upload_max,
    )


def connect_installation() -> Installation:
    """Return the installation that the environment describes, for commands: without a web server.

    Its database is closed when the process ends, which no one else does then: SQLite's file is
    whole again. Raises ``SettingsError`` when the environment cannot be used.
    """
    settings = load_settings()
    ports = connect(settings)
    atexit.register(ports.database.close)
    return make_installation(ports, settings)


def connect_remote_access() -> RemoteAccess:
    """Return the ways to other instances; nothing of this installation is looked at."""
    client = load_client_settings()
    http = _LazyHttp(_ALL_NETWORKS, client.settings, direct=_LOOPBACK)
    profiles = FileProfiles(client.folder)
    return RemoteAccess(
        http=http,
        clock=SystemClock(),
        randomness=SystemRandomness(),
        signatures=_LazySignatures(),
        profiles=profiles,
        connect_by_token=partial(instance.connect_by_token, http),
        connect_by_profile=partial(instance.connect_by_profile, http, profiles),
        sign_in_person=partial(sign_in.sign_in_person, http),
        sign_in_app=partial(sign_in.sign_in_app, http),
        token=client.token,
    )


def page_counts(ports: Ports, settings: Settings) -> CountStore:
    """Where limits of pages count: as those of the API do."""
    adapter = load("app.adapters.rate_limiter")
    # `flask limiter config` prints the options: a URL there would show Redis' password.
    options = {"clock": ports.clock, "redis": adapter.connect_redis(settings.redis_url)}
    return CountStore(f"{adapter.SCHEME}://", options)


def _keys(settings: Settings) -> KeyStore:
    keys = _LazyKeyStore(settings)
    if settings.rsa_private_key:
        try:
            keys.fixed()
        except ValueError as error:
            raise SettingsError((str(error),)) from None
    return keys


def _mailer(settings: Settings) -> Mailer:
    host = urlsplit(settings.public_url).hostname or "localhost"
    sender = f"noreply@{host}"
    if settings.mail_file is None:
        return SmtpMailer(settings.mail_url, sender, _authorities(settings))
    return FileMailer(settings.mail_file, sender)


def _authorities(settings: Settings) -> TrustedAuthorities:
    return TrustedAuthorities(
        replacing=settings.ssl_cert_file, additional=settings.outgoing_ca_file
    )


def _throttle(database: Database, redis_url: str) -> Throttle:
    """Return the counters in Redis if there is one, else those in the database."""
    if not redis_url:
        return SqlThrottle(database)
    in_redis: Throttle = load("app.adapters.throttle_redis").connect_redis_throttle(redis_url)
    return in_redis


class _LazyHttp:
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
            _authorities(self._settings),
            proxy=self._settings.outgoing_proxy,
            direct=self._direct,
        )
        return http

    def send(self, request: HttpRequest) -> HttpResponse:
        return self._http.send(request)


class _LazyEncryption:
    def __init__(self, secret_key: str) -> None:
        self._secret_key = secret_key

    @cached_property
    def _encryption(self) -> Encryption:
        encryption: Encryption = load("app.adapters.encryption").AesEncryption(self._secret_key)
        return encryption

    def encrypt(self, purpose: str, text: str) -> str:
        return self._encryption.encrypt(purpose, text)

    def decrypt(self, purpose: str, encrypted: str) -> str:
        return self._encryption.decrypt(purpose, encrypted)

    def fingerprint(self, purpose: str, text: str) -> str:
        return self._encryption.fingerprint(purpose, text)


class _LazyKeyStore:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    @cached_property
    def _keys(self) -> KeyStore:
        store = load("app.adapters.keys").RsaKeyStore
        keys: KeyStore = store(self._settings.secret_key, self._settings.rsa_private_key)
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


class _LazySignatures:
    @cached_property
    def _signatures(self) -> SignatureCheck:
        signatures: SignatureCheck = load("app.adapters.signatures").DetachedSignatures()
        return signatures

    def verify_detached(
        self, keys: Mapping[str, PublicKey], signature: str, body: bytes
    ) -> PublicKey:
        return self._signatures.verify_detached(keys, signature, body)


class _LazyIdentityProvider:
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


class _LazyRateLimiter:
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


class _LazyPayloads:
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


class _LazyImages:
    @cached_property
    def _images(self) -> Images:
        images: Images = load("app.adapters.images").PillowImages()
        return images

    def crop_squares(self, data: bytes, sizes: Collection[int]) -> Mapping[int, bytes]:
        return self._images.crop_squares(data, sizes)


class _LazyQueue:
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


class _LazySchema(SchemaRevisions):
    """Alembic is loaded to change the tables, not to read which revision they are at."""

    @cached_property
    def _schema(self) -> Schema:
        schema: Schema = load("app.adapters.schema").AlembicSchema(self.url)
        return schema

    def upgrade(self) -> None:
        self._schema.upgrade()

    def revise(self, message: str, name: str) -> None:
        self._schema.revise(message, name)
