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

from app.adapters.database import SqlDatabase
from app.adapters.schema_revisions import SchemaRevisions
from app.adapters.tls import TrustedAuthorities
from app.domain.audit.security_events import SecurityEvent
from app.domain.authorization.actor import Actor
from app.domain.deliveries.deliveries import Batch
from app.domain.events.occurrence import Occurrence
from app.domain.mails.logo import Logo
from app.domain.mails.mail import Mail, MailKind, RenderedMail
from app.domain.mails.own_templates import FolderFault, OwnTemplate, UrlRule
from app.domain.shop.settings import ShopSettings
from app.domain.sign_in.rate_limits import Rates
from app.domain.single_sign_on.provider_tokens import SignedToken
from app.domain.values.errors import Problem
from app.domain.values.ip_addresses import Network
from app.domain.webhooks.webhooks import WebhookQuery
from app.ports import (
    Clock,
    Http,
    IdentityProvider,
    Images,
    Payloads,
    Queue,
    RateLimiter,
    Schema,
    SecurityLog,
)
from app.ports.backups import BackupFacts, BackupKey, BackupLock, Backups, OpenBackup
from app.ports.encryption import Encryption
from app.ports.http import HttpRequest, HttpResponse
from app.ports.identity_provider import Client, ProviderKey, SignIn, TokenResponse
from app.ports.images import DrawnImage
from app.ports.import_source import ImportSource, MediaFolder
from app.ports.mail import EmailTemplates
from app.ports.own_templates import OwnTemplates
from app.ports.schema import Report, ignore_progress
from app.ports.work_signal import WorkSignal
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

    def fetch_person(self, url: str, access_token: str) -> Mapping[str, object] | str:
        return self._provider.fetch_person(url, access_token)

    def fetch_status(self, url: str) -> int:
        return self._provider.fetch_status(url)

    def discover(self, url: str) -> Mapping[str, object]:
        return self._provider.discover(url)


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


class LazyImages:
    @cached_property
    def _images(self) -> Images:
        images: Images = load("app.adapters.images").PillowImages()
        return images

    def crop_squares(self, data: bytes, sizes: Collection[int]) -> Mapping[int, bytes]:
        return self._images.crop_squares(data, sizes)

    def fit(self, data: bytes, width: int, height: int) -> DrawnImage:
        return self._images.fit(data, width, height)


class LazyEmailTemplates:
    @cached_property
    def _templates(self) -> EmailTemplates:
        module = load("app.adapters.email_templates")
        templates: EmailTemplates = module.JinjaEmailTemplates()
        return templates

    def render(
        self,
        mail: Mail,
        shop: ShopSettings,
        logo: Logo | None = None,
        own: OwnTemplate | None = None,
    ) -> RenderedMail:
        return self._templates.render(mail, shop, logo, own)

    def starter(self, kind: MailKind, language_code: str) -> OwnTemplate:
        return self._templates.starter(kind, language_code)


class LazyOwnTemplates:
    """Checks templates, and finds those in ``folder`` if it isn't empty."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    @cached_property
    def _templates(self) -> OwnTemplates:
        module = load("app.adapters.template_folder")
        templates: OwnTemplates = module.JinjaOwnTemplates(self._folder)
        return templates

    def check(
        self, kind: MailKind, template: OwnTemplate, url_rule: UrlRule
    ) -> tuple[Problem, ...]:
        return self._templates.check(kind, template, url_rule)

    def find(self, kind: MailKind, language_code: str) -> OwnTemplate | None:
        return self._templates.find(kind, language_code) if self._folder else None

    def listed(self) -> tuple[tuple[MailKind, str], ...]:
        return self._templates.listed() if self._folder else ()

    def faults(self) -> tuple[FolderFault, ...]:
        return self._templates.faults() if self._folder else ()


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


class LazyWorkSignal:
    """``database`` is the server that carries the signals; ``None`` for those of this host."""

    def __init__(self, settings: Settings, database: SqlDatabase | None) -> None:
        self._settings = settings
        self._database = database

    @cached_property
    def _signal(self) -> WorkSignal:
        connect = load("app.adapters.work_signal").connect_work_signal
        engine = None if self._database is None else self._database.reading_engine
        signal: WorkSignal = connect(
            self._settings.redis_url, engine, self._settings.work_signal_file
        )
        return signal

    def send(self) -> None:
        self._signal.send()

    def wait(self, seconds: float) -> bool:
        return self._signal.wait(seconds)

    def close(self) -> None:
        self._signal.close()


class LazySchema(SchemaRevisions):
    """Alembic is loaded to change the tables, not to read which revision they are at."""

    def __init__(self, url: str, encryption: Encryption) -> None:
        super().__init__(url)
        self._encryption = encryption

    @cached_property
    def _schema(self) -> Schema:
        make = load("app.adapters.schema").AlembicSchema
        schema: Schema = make(self.url, self._encryption)
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
