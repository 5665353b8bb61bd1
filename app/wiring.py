"""Which adapter stands behind each port."""

from collections.abc import Callable, Sequence
from functools import cache, partial
from ipaddress import ip_network
from pathlib import Path
from typing import TypeVar, cast
from urllib.parse import urlsplit

from werkzeug.local import LocalProxy

from app.adapters.activity import SqlActivity
from app.adapters.clock import SystemClock
from app.adapters.database import connect_database
from app.adapters.keys import RsaKeyStore
from app.adapters.letters import JinjaLetters
from app.adapters.passwords import Argon2Hasher
from app.adapters.post import FilePost, SmtpPost
from app.adapters.profiles import FileProfiles
from app.adapters.randomness import SystemRandomness
from app.adapters.sealing import AesSealing
from app.adapters.signatures import DetachedSignatures
from app.adapters.throttle_sql import SqlThrottle
from app.domain.addresses import Network
from app.loading import load
from app.ports import (
    Database,
    Http,
    IdentityProvider,
    Payloads,
    Pictures,
    Ports,
    Post,
    Queue,
    Remembered,
    Schema,
    Throttle,
)
from app.remote.instance import connect_by_profile, connect_by_token
from app.remote.sign_in import sign_in_app, sign_in_person
from app.settings import Settings, SettingsError, load_client_settings, load_settings
from app.web.elsewhere import Elsewhere
from app.web.installation import Installation

Needed = TypeVar("Needed")

_EVERYWHERE = (ip_network("0.0.0.0/0"), ip_network("::/0"))
"""Whoever types an address at the shell may go there; what others enter is checked elsewhere."""


def connect(settings: Settings) -> Ports:
    """The ports of an installation; nothing is opened before it is asked for.

    Raises ``SettingsError`` when ``RSA_PRIVATE_KEY`` is no key that may sign.
    """
    database = connect_database(settings.database_url)
    clock = SystemClock()
    http = cast("Http", _late(_http, settings))
    return Ports(
        configuration=settings.configuration,
        clock=clock,
        randomness=SystemRandomness(),
        database=database,
        keys=_keys(settings),
        passwords=Argon2Hasher(),
        throttle=_throttle(database, settings.redis_url),
        sealing=AesSealing(settings.secret_key),
        letters=JinjaLetters(),
        post=_post(settings),
        http=http,
        identity_provider=cast("IdentityProvider", _late(_identity_provider, http)),
        payloads=cast("Payloads", _late(_payloads, "app.graphql.payloads:create_payloads")),
        pictures=cast("Pictures", _late(_pictures, "app.adapters.pictures:PillowPictures")),
        queue=cast("Queue", _late(_queue, settings)),
        schema=cast("Schema", _late(_schema, settings)),
        activity=SqlActivity(database, clock),
        remembered=Remembered(),
    )


def _late(make: Callable[[Needed], object], needed: Needed) -> object:
    """What takes long to load (a fifth of a second), for the few who use it: made on first use."""
    return LocalProxy(cache(partial(make, needed)))


def _throttle(database: Database, redis_url: str) -> Throttle:
    """The counters in Redis if there is one, else in ``database``."""
    if not redis_url:
        return SqlThrottle(database)
    name = "app.adapters.throttle_redis:connect_redis_throttle"
    connect_redis = cast("Callable[[str], Throttle]", load(name))
    return connect_redis(redis_url)


def make_installation(ports: Ports, settings: Settings) -> Installation:
    """What the edges get to know of ``settings``."""
    return Installation(
        ports=ports,
        trusted_proxies=settings.trusted_proxies,
        allowed_graphql_origins=settings.allowed_graphql_origins,
        playground_enabled=settings.playground_enabled,
        graphql_batch_max=settings.graphql_batch_max,
        graphql_mutations_max=settings.graphql_mutations_max,
        graphql_body_max=settings.graphql_body_max,
        upload_max=settings.upload_max,
    )


def connect_installation() -> Installation:
    """The installation that the environment describes, for commands: without a web server.

    Raises ``SettingsError`` when the environment cannot be used.
    """
    settings = load_settings()
    return make_installation(connect(settings), settings)


def connect_elsewhere() -> Elsewhere:
    """The ways to other instances; nothing of this installation is looked at."""
    client = load_client_settings()
    http = cast("Http", LocalProxy(cache(_open_http)))
    profiles = FileProfiles(client.folder)
    return Elsewhere(
        http=http,
        clock=SystemClock(),
        randomness=SystemRandomness(),
        signatures=DetachedSignatures(),
        profiles=profiles,
        connect_by_token=partial(connect_by_token, http),
        connect_by_profile=partial(connect_by_profile, http, profiles),
        sign_in_person=partial(sign_in_person, http),
        sign_in_app=partial(sign_in_app, http),
        token=client.token,
    )


def _open_http() -> Http:
    make = cast("Callable[[Sequence[Network]], Http]", load("app.adapters.http:GuardedHttp"))
    return make(_EVERYWHERE)


def _schema(settings: Settings) -> Schema:
    make = cast("Callable[[str], Schema]", load("app.adapters.schema:AlembicSchema"))
    return make(settings.database_url)


def _queue(settings: Settings) -> Queue:
    make = cast("Callable[[str, Path], Queue]", load("app.adapters.queue:connect_queue"))
    return make(settings.redis_url, settings.queue_file)


def _http(settings: Settings) -> Http:
    make = cast("Callable[[Sequence[Network]], Http]", load("app.adapters.http:GuardedHttp"))
    return make(settings.outgoing_allowed_networks)


def _identity_provider(http: Http) -> IdentityProvider:
    name = "app.adapters.identity_provider:OpenIdProvider"
    make = cast("Callable[[Http], IdentityProvider]", load(name))
    return make(http)


def _payloads(name: str) -> Payloads:
    # Above the adapters, for its queries run on the schema; most commands have no use for either.
    make = cast("Callable[[], Payloads]", load(name))
    return make()


def _pictures(name: str) -> Pictures:
    make = cast("Callable[[], Pictures]", load(name))
    return make()


def _post(settings: Settings) -> Post:
    host = urlsplit(settings.public_url).hostname or "localhost"
    sender = f"noreply@{host}"
    if settings.mail_url:
        return SmtpPost(settings.mail_url, sender)
    return FilePost(settings.mail_file, sender)


def _keys(settings: Settings) -> RsaKeyStore:
    try:
        return RsaKeyStore(settings.secret_key, settings.rsa_private_key)
    except ValueError as error:
        raise SettingsError((str(error),)) from None
