"""Which adapter stands behind each port.

Those that only few processes need are imported and made on first use: see ``deferred``.
"""

import atexit
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial
from ipaddress import ip_network
from itertools import chain
from pathlib import Path
from time import sleep
from urllib.parse import urlsplit

from app.adapters.activity import SqlActivity
from app.adapters.database.replica import SqlReplica, connect_replica
from app.adapters.database.schema import AlembicSchema
from app.adapters.database.sql_database import DatabaseClock, SqlDatabase, connect_database
from app.adapters.deferred import deferred, imported_when_used
from app.adapters.http.tls import TrustedAuthorities
from app.adapters.mail.mailer import FileMailer, SmtpMailer
from app.adapters.queue.throttle_sql import SqlThrottle
from app.adapters.sign_in_log import SqlSignInLog
from app.adapters.system import DiskFiles, FileProfiles, SystemClock, SystemRandomness
from app.composition.settings import (
    Settings,
    SettingsError,
    describe_location,
    load_client_settings,
    load_settings,
    secret_files,
    settings_files,
    traces_wanted,
)
from app.domain.values.ip_addresses import Network
from app.ports import (
    Database,
    Encryption,
    Http,
    IdentityProvider,
    KeyStore,
    Mailer,
    Metrics,
    Payloads,
    Ports,
    ProcessCache,
    Throttle,
    Traces,
)
from app.ports.database import Backups
from app.ports.keys import DemoProviderKey
from app.ports.monitoring import NO_METRICS, NO_SECURITY_LOG, NO_TRACES
from app.ports.queue import NO_SIGNAL, WorkSignal
from app.remote import device_login, instance
from app.web.installation import ConnectionLimits, CountStore, Installation, RemoteAccess

with imported_when_used():
    from app.adapters import images, metrics, traces
    from app.adapters.database import backups, platform_database
    from app.adapters.http import guarded_http, identity_provider
    from app.adapters.keys import encryption, passwords, second_factors, signing_keys
    from app.adapters.mail import email_templates, own_templates
    from app.adapters.queue import delivery_queue, rate_limiter, throttle_redis, work_signal
    from app.graphql import payloads
    from app.web import logs

_LOOPBACK = (ip_network("127.0.0.0/8"), ip_network("::1/128"))
_ALL_NETWORKS = (ip_network("0.0.0.0/0"), ip_network("::/0"))
"""A user of the shell can call any IP address; what others enter is checked elsewhere."""


def connect(
    settings: Settings,
    *,
    max_writers: int = 0,
    metrics: Metrics = NO_METRICS,
    traces: Traces = NO_TRACES,
) -> Ports:
    """Return the ports of an installation; nothing is opened before it is asked for.

    ``max_writers`` is how many transactions a server's process has open at once. 0, in a process
    that doesn't serve, is any number; passwords then wait for their turn instead of being refused.
    ``metrics`` and ``traces`` are those of a process that serves or works.
    Raises ``SettingsError`` when ``RSA_PRIVATE_KEY`` is no key that may sign.
    """
    database = connect_database(
        settings.database_url,
        connections=settings.database_connections,
        transaction_pooling=settings.database_transaction_pooling,
        max_writers=max_writers,
    )
    replica = _replica(settings, database, metrics, traces)
    clock = SystemClock()
    allowed = settings.outgoing_allowed_networks
    public_http = _http(settings, allowed, direct=allowed)
    secrets = _encryption(settings)
    hasher = deferred(lambda: passwords.Argon2Hasher(serves=max_writers > 0))
    if traces.is_on:
        database.trace(traces)
    signal = _work_signal(settings, database)
    database.wake_workers(signal)
    metrics.watch(lambda: chain(database.measure(), hasher.measure()))
    if replica is not None:
        metrics.watch(replica.measure)
    return Ports(
        configuration=settings.configuration,
        clock=clock,
        randomness=SystemRandomness(),
        database=database,
        snapshots=database,
        keys=_keys(settings),
        signatures=deferred(lambda: signing_keys.DetachedSignatures()),
        passwords=hasher,
        passkeys=deferred(lambda: second_factors.WebAuthnPasskeys()),
        password_strength=deferred(lambda: passwords.ZxcvbnStrength()),
        throttle=_throttle(database, settings.redis_url),
        rate_limiter=deferred(
            lambda: rate_limiter.connect_rate_limiter(clock, settings.redis_url)
        ),
        encryption=secrets,
        authenticator_apps=deferred(lambda: second_factors.PyotpAuthenticatorApps()),
        email_templates=deferred(lambda: email_templates.JinjaEmailTemplates()),
        own_templates=deferred(lambda: own_templates.JinjaOwnTemplates(settings.mail_templates)),
        mailer=_mailer(settings),
        http=public_http,
        identity_provider=_identity_provider(settings, public_http),
        payloads=_payloads(settings),
        images=deferred(lambda: images.PillowImages()),
        import_sources=deferred(lambda: platform_database.PlatformSources()),
        queue=deferred(
            lambda: delivery_queue.connect_queue(settings.redis_url, settings.queue_file)
        ),
        schema=AlembicSchema(settings.database_url, secrets),
        backups=_backups(settings),
        private_files=DiskFiles(),
        activity=SqlActivity(database, clock),
        sign_in_log=SqlSignInLog(database, clock, secrets),
        cache=ProcessCache(),
        metrics=metrics,
        security_log=deferred(lambda: logs.JsonSecurityLog(settings.security_log, clock))
        if settings.security_log
        else NO_SECURITY_LOG,
        traces=traces,
        work_signal=signal,
        database_clock=None if database.is_file else DatabaseClock(database),
        replica=replica,
    )


def make_metrics(settings: Settings) -> Metrics:
    """Return where a process that serves or works counts, which needs OPERATIONS_PORT."""
    if not settings.operations_port:
        return NO_METRICS
    return metrics.PrometheusMetrics(settings.shared_metrics)


def make_traces() -> Traces:
    """Return where a process that serves or works sends its spans.

    Raises ``SettingsError`` when traces are wanted but their packages aren't installed.
    """
    if not traces_wanted():
        return NO_TRACES
    try:
        return traces.OpenTelemetryTraces()
    except ModuleNotFoundError as error:
        message = "OTEL_*: traces need `pip install --require-hashes -r requirements-otel.txt`"
        raise SettingsError((message,)) from error


@cache
def make_demo_provider_key(secret_key: str) -> DemoProviderKey:
    """Return the signing key of the demo's identity provider."""
    return deferred(lambda: signing_keys.DerivedProviderKey(secret_key))


def make_installation(ports: Ports, settings: Settings) -> Installation:
    """What the edges get to know of ``settings``."""
    return Installation(
        ports=ports,
        trusted_proxies=settings.trusted_proxies,
        allowed_graphql_origins=settings.allowed_graphql_origins,
        dashboard_origin=settings.dashboard_origin,
        playground_enabled=settings.playground_enabled,
        graphql_batch_max=settings.graphql_batch_max,
        graphql_mutations_max=settings.graphql_mutations_max,
        graphql_entities_max=settings.graphql_entities_max,
        graphql_tokens_max=settings.graphql_tokens_max,
        graphql_depth_max=settings.graphql_depth_max,
        graphql_aliases_max=settings.graphql_aliases_max,
        graphql_cost_max=settings.graphql_cost_max,
        graphql_cost_shown=settings.graphql_cost_shown,
        graphql_values_max=settings.graphql_values_max,
        graphql_body_max=settings.graphql_body_max,
        upload_max=settings.upload_max,
        log_level=settings.log_level,
        connection_limits=ConnectionLimits(
            settings.connections_per_client,
            settings.response_timeout,
            exempt=(*settings.trusted_proxies, *settings.rate_limit_trusted_clients),
        ),
        requests_are_buffered=settings.requests_are_buffered,
        operations_host=settings.operations_host,
        operations_port=settings.operations_port,
    )


def connect_installation() -> Installation:
    """Return the installation that the environment describes, for commands: without a web server.

    Its database is closed when the process ends, which no one else does then: SQLite's file is
    whole again. Raises ``SettingsError`` when the environment cannot be used.
    """
    settings = load_settings()
    ports = connect(settings)
    atexit.register(ports.database.close)
    if ports.replica is not None:
        atexit.register(ports.replica.close)
    return replace(
        make_installation(ports, settings),
        settings_files=settings_files(),
        secret_files=secret_files(),
        location=describe_location(settings),
    )


def connect_remote_access() -> RemoteAccess:
    """Return the ways to other instances; nothing of this installation is looked at."""
    client = load_client_settings()
    calls = _http(client.settings, _ALL_NETWORKS, direct=_LOOPBACK)
    profiles = FileProfiles(client.folder)
    return RemoteAccess(
        http=calls,
        clock=SystemClock(),
        randomness=SystemRandomness(),
        signatures=deferred(lambda: signing_keys.DetachedSignatures()),
        profiles=profiles,
        connect_by_token=partial(instance.connect_by_token, calls),
        connect_by_profile=partial(instance.connect_by_profile, calls, profiles),
        sign_in_person=partial(instance.sign_in_person, calls),
        begin_device_login=partial(device_login.begin_device_login, calls),
        finish_device_login=partial(device_login.finish_device_login, calls, pause=sleep),
        sign_in_app=partial(instance.sign_in_app, calls),
        token=client.token,
    )


def page_counts(ports: Ports, settings: Settings) -> CountStore:
    """Where limits of pages count: as those of the API do."""
    # `flask limiter config` prints the options: a URL there would show Redis' password.
    options = {"clock": ports.clock, "redis": rate_limiter.connect_redis(settings.redis_url)}
    return CountStore(f"{rate_limiter.SCHEME}://", options)


def _http(settings: Settings, allowed: Sequence[Network], *, direct: Sequence[Network]) -> Http:
    """Return what calls ``allowed`` networks and public addresses, by OUTGOING_PROXY if it is set.

    ``direct`` networks are called without the proxy.
    """
    return deferred(
        lambda: guarded_http.GuardedHttp(
            allowed, _authorities(settings), proxy=settings.outgoing_proxy, direct=direct
        )
    )


def _authorities(settings: Settings) -> TrustedAuthorities:
    return TrustedAuthorities(
        replacing=settings.ssl_cert_file, additional=settings.outgoing_ca_file
    )


def _identity_provider(settings: Settings, public_http: Http) -> IdentityProvider:
    if not settings.development:
        return deferred(lambda: identity_provider.OpenIdProvider(public_http))
    loopback = _http(settings, _LOOPBACK, direct=_LOOPBACK)
    return deferred(
        lambda: identity_provider.OpenIdProvider(
            identity_provider.DemoProviderHttp(public_http, loopback)
        )
    )


def _encryption(settings: Settings) -> Encryption:
    return deferred(
        lambda: encryption.AesEncryption(
            settings.secret, settings.former_secrets, removable=settings.secret_key_fallbacks
        )
    )


def _payloads(settings: Settings) -> Payloads:
    return deferred(
        lambda: payloads.create_payloads(
            tokens_max=settings.graphql_tokens_max,
            depth_max=settings.graphql_depth_max,
            aliases_max=settings.graphql_aliases_max,
            cost_max=settings.graphql_cost_max,
        )
    )


def _backups(settings: Settings) -> Backups:
    url = settings.database_url
    if not url.startswith("sqlite"):
        return deferred(lambda: backups.PostgresqlBackups(url))
    file = Path(url.partition(":///")[2])
    return deferred(lambda: backups.SqliteBackups(file, settings.queue_file))


def _keys(settings: Settings) -> KeyStore:
    store: KeyStore = deferred(
        lambda: signing_keys.RsaKeyStore(
            settings.secret,
            settings.rsa_private_key,
            settings.former_secrets,
            settings.rsa_private_password,
        )
    )
    if settings.rsa_private_key:
        try:
            store.fixed()
        except ValueError as error:
            raise SettingsError((str(error),)) from None
    return store


def _mailer(settings: Settings) -> Mailer:
    host = urlsplit(settings.public_url).hostname or "localhost"
    sender = f"noreply@{host}"
    if settings.mail_file is None:
        return SmtpMailer(settings.mail_url, sender, _authorities(settings))
    return FileMailer(settings.mail_file, sender)


def _work_signal(settings: Settings, database: SqlDatabase) -> WorkSignal:
    if settings.database_transaction_pooling and not (database.is_file or settings.redis_url):
        return NO_SIGNAL  # a pooler keeps no connection for listeners
    return deferred(
        lambda: work_signal.connect_work_signal(
            settings.redis_url,
            None if database.is_file else database.reading_engine,
            settings.work_signal_file,
        )
    )


def _replica(
    settings: Settings, database: SqlDatabase, metrics: Metrics, traces: Traces
) -> SqlReplica | None:
    if not settings.database_replica_url:
        return None
    replica = connect_replica(
        settings.database_replica_url,
        database,
        metrics,
        connections=settings.database_connections,
        transaction_pooling=settings.database_transaction_pooling,
    )
    if traces.is_on:
        replica.trace(traces)
    return replica


def _throttle(database: Database, redis_url: str) -> Throttle:
    """Return the counters in Redis if there is one, else those in the database."""
    if not redis_url:
        return SqlThrottle(database)
    return throttle_redis.connect_redis_throttle(redis_url)
