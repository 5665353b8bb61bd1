"""Which adapter stands behind each port.

Adapters are imported as modules, so that a command, which uses few of them, can postpone the rest.
"""

from __future__ import annotations

import atexit
from collections.abc import Callable, Sequence
from functools import cache, partial
from ipaddress import ip_network
from pathlib import Path
from typing import Any, TypeVar, cast
from urllib.parse import urlsplit

from werkzeug.local import LocalProxy

from app import ports
from app.adapters import (
    activity,
    clock,
    database,
    email_templates,
    encryption,
    keys,
    mailer,
    passwords,
    randomness,
    saved_logins,
    signatures,
    throttle_sql,
)
from app.domain.values.ip_addresses import Network
from app.loading import load, postponed
from app.ports import Ports
from app.remote import instance, sign_in
from app.settings import Settings, SettingsError, load_client_settings, load_settings
from app.web import remote_instances
from app.web.installation import CountStore, Installation

Made = TypeVar("Made")

_EVERYWHERE = (ip_network("0.0.0.0/0"), ip_network("::/0"))
"""Whoever types an address at the shell may go there; what others enter is checked elsewhere."""


_RATE_LIMIT_TIMEOUT_SECONDS = 0.5
"""How long a request waits for Redis before its use is counted in the process."""


def connect(settings: Settings, *, late: bool = False, max_writers: int = 0) -> Ports:
    """The ports of an installation; nothing is opened before it is asked for.

    ``late`` makes each when it is first used: for a command, which uses few. ``max_writers`` is
    how many transactions a server's process has open at once (0: any number). Raises
    ``SettingsError`` when ``RSA_PRIVATE_KEY`` is no key that may sign.
    """

    def start(make: Callable[[], Made]) -> Made:
        return _late(make) if late else make()

    records = database.connect_database(settings.database_url, max_writers=max_writers)
    now = clock.SystemClock()
    http = _late(partial(_http, settings))
    return Ports(
        configuration=settings.configuration,
        clock=now,
        randomness=randomness.SystemRandomness(),
        database=records,
        keys=_keys(settings) if settings.rsa_private_key else start(partial(_keys, settings)),
        signatures=_late(_signatures),
        passwords=start(_passwords),
        throttle=start(partial(_throttle, records, settings.redis_url)),
        rate_limiter=_late(partial(_rate_limiter, now, settings)),
        encryption=start(lambda: encryption.AesEncryption(settings.secret_key)),
        email_templates=start(_email_templates),
        mailer=start(partial(_mailer, settings)),
        http=http,
        identity_provider=_late(partial(_identity_provider, http)),
        payloads=_late(partial(_payloads, settings)),
        images=_late(_images),
        queue=_late(partial(_queue, settings)),
        schema=_late(partial(_schema, settings)),
        activity=start(lambda: activity.SqlActivity(records, now)),
        cache=start(_process_cache),
    )


def _late(make: Callable[[], Made]) -> Made:
    """What takes long to load (a fifth of a second), for the few who use it: made on first use."""
    return cast("Made", LocalProxy(cache(make)))


def _throttle(records: ports.Database, redis_url: str) -> ports.Throttle:
    """The counters in Redis if there is one, else in the database."""
    if not redis_url:
        return throttle_sql.SqlThrottle(records)
    name = "app.adapters.throttle_redis:connect_redis_throttle"
    connect_redis = cast("Callable[[str], ports.Throttle]", load(name))
    return connect_redis(redis_url)


def _rate_limiter(now: ports.Clock, settings: Settings) -> ports.RateLimiter:
    name = "app.adapters.rate_limiter:connect_rate_limiter"
    make = cast("Callable[[ports.Clock, object], ports.RateLimiter]", load(name))
    return make(now, connect_counts(settings))


def page_counts(ports: Ports, settings: Settings) -> CountStore:
    """Where limits of pages count: as those of the API do."""
    scheme = cast("str", load("app.adapters.rate_limiter:SCHEME"))
    options = {"clock": ports.clock, "pool": connect_counts(settings)}
    return CountStore(f"{scheme}://", options)


def connect_counts(settings: Settings) -> object:
    """The connections to Redis that rate limits count by; ``None`` without a Redis."""
    if not settings.redis_url:
        return None
    pool = cast("type[Any]", load("redis:ConnectionPool"))
    return pool.from_url(
        settings.redis_url,
        socket_timeout=_RATE_LIMIT_TIMEOUT_SECONDS,
        socket_connect_timeout=_RATE_LIMIT_TIMEOUT_SECONDS,
    )


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
        graphql_values_max=settings.graphql_values_max,
        graphql_body_max=settings.graphql_body_max,
        upload_max=settings.upload_max,
    )


def connect_installation() -> Installation:
    """The installation that the environment describes, for commands: without a web server.

    Its database is closed when the process ends, which nobody else does then: SQLite's file is
    whole again. Raises ``SettingsError`` when the environment cannot be used.
    """
    settings = load_settings()
    ports = connect(settings, late=True)
    atexit.register(ports.database.close)
    return make_installation(ports, settings)


def connect_remote_access() -> remote_instances.RemoteAccess:
    """The ways to other instances; nothing of this installation is looked at."""
    client = load_client_settings()
    http = _late(_open_http)
    kept = saved_logins.FileProfiles(client.folder)
    return remote_instances.RemoteAccess(
        http=http,
        clock=clock.SystemClock(),
        randomness=randomness.SystemRandomness(),
        signatures=_late(_signatures),
        profiles=kept,
        connect_by_token=partial(instance.connect_by_token, http),
        connect_by_profile=partial(instance.connect_by_profile, http, kept),
        sign_in_person=partial(sign_in.sign_in_person, http),
        sign_in_app=partial(sign_in.sign_in_app, http),
        token=client.token,
    )


def _open_http() -> ports.Http:
    make = cast("Callable[[Sequence[Network]], ports.Http]", load("app.adapters.http:GuardedHttp"))
    return make(_EVERYWHERE)


def _schema(settings: Settings) -> ports.Schema:
    with postponed("app.adapters.migrations"):
        make = cast("Callable[[str], ports.Schema]", load("app.adapters.schema:AlembicSchema"))
    return make(settings.database_url)


def _queue(settings: Settings) -> ports.Queue:
    make = cast("Callable[[str, Path], ports.Queue]", load("app.adapters.queue:connect_queue"))
    return make(settings.redis_url, settings.queue_file)


def _http(settings: Settings) -> ports.Http:
    make = cast("Callable[[Sequence[Network]], ports.Http]", load("app.adapters.http:GuardedHttp"))
    return make(settings.outgoing_allowed_networks)


def _identity_provider(http: ports.Http) -> ports.IdentityProvider:
    name = "app.adapters.identity_provider:OpenIdProvider"
    make = cast("Callable[[ports.Http], ports.IdentityProvider]", load(name))
    return make(http)


def _payloads(settings: Settings) -> ports.Payloads:
    # Above the adapters, for its queries run on the schema; most commands have no use for either.
    make = cast("Callable[..., ports.Payloads]", load("app.graphql.payloads:create_payloads"))
    return make(
        tokens_max=settings.graphql_tokens_max,
        depth_max=settings.graphql_depth_max,
        aliases_max=settings.graphql_aliases_max,
        cost_max=settings.graphql_cost_max,
    )


def _images() -> ports.Images:
    make = cast("Callable[[], ports.Images]", load("app.adapters.images:PillowImages"))
    return make()


def _process_cache() -> ports.ProcessCache:
    return ports.ProcessCache()


def _passwords() -> ports.PasswordHasher:
    return passwords.Argon2Hasher()


def _email_templates() -> ports.EmailTemplates:
    return email_templates.JinjaEmailTemplates()


def _signatures() -> ports.SignatureCheck:
    return signatures.DetachedSignatures()


def _mailer(settings: Settings) -> ports.Mailer:
    host = urlsplit(settings.public_url).hostname or "localhost"
    sender = f"noreply@{host}"
    if settings.mail_file is None:
        return mailer.SmtpMailer(settings.mail_url, sender)
    return mailer.FileMailer(settings.mail_file, sender)


def _keys(settings: Settings) -> ports.KeyStore:
    try:
        return keys.RsaKeyStore(settings.secret_key, settings.rsa_private_key)
    except ValueError as error:
        raise SettingsError((str(error),)) from None
