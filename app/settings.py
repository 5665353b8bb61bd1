"""The environment, read once and checked: a wrong setting stops the start, naming all of them."""

import hashlib
import ipaddress
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

from dotenv import dotenv_values

from app.domain.faults import Misconfigured
from app.ports.configuration import Configuration

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Value = TypeVar("Value")

_INSTANCE = Path(__file__).parent.parent / "instance"
DEVELOPMENT_SECRET = "latchkey-development-secret-never-for-production"  # noqa: S105
_SHORTEST_SECRET = 32
_LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")


class SettingsError(Misconfigured):
    """The settings cannot be used; ``problems`` names everything that is wrong with them."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What the operator decided; ``.env.example`` explains each name."""

    app_env: str = "development"
    database_url: str = field(default="", repr=False)
    redis_url: str = field(default="", repr=False)
    secret_key: str = field(default=DEVELOPMENT_SECRET, repr=False)
    rsa_private_key: str = field(default="", repr=False)
    public_url: str = ""
    vendor: str = "latchkey"
    jwt_ttl_access: int = 300
    jwt_ttl_refresh: int = 30 * 24 * 3600
    single_use_refresh_tokens: bool = False
    reset_password_lock_time: int = 900
    allowed_client_hosts: tuple[str, ...] = ()
    allowed_graphql_origins: tuple[str, ...] = ("*",)
    trusted_proxies: tuple[Network, ...] = ()
    outgoing_allowed_networks: tuple[Network, ...] = ()
    mail_url: str = field(default="", repr=False)
    playground_enabled: bool = True
    graphql_batch_max: int = 10
    graphql_mutations_max: int = 10
    graphql_body_max: int = 1024 * 1024
    upload_max: int = 5 * 1024 * 1024
    log_level: str = "INFO"

    @property
    def mail_file(self) -> Path:
        """Where mails go without ``MAIL_URL``."""
        return _INSTANCE / "mails.txt"

    @property
    def queue_file(self) -> Path:
        """Where deliveries queue without ``REDIS_URL``: beside SQLite's file, one a database."""
        scheme, _, file = self.database_url.partition(":///")
        if scheme == "sqlite" and file:
            return Path(f"{file}-queue")
        name = hashlib.sha256(self.database_url.encode()).hexdigest()[:16]
        return _INSTANCE / f"queue-{name}.sqlite3"

    @property
    def development(self) -> bool:
        return self.app_env == "development"

    @property
    def configuration(self) -> Configuration:
        """The part of the settings that rules depend on."""
        return Configuration(
            vendor=self.vendor,
            public_url=self.public_url,
            development=self.development,
            jwt_ttl_access=self.jwt_ttl_access,
            jwt_ttl_refresh=self.jwt_ttl_refresh,
            single_use_refresh_tokens=self.single_use_refresh_tokens,
            reset_password_lock_time=self.reset_password_lock_time,
            allowed_client_hosts=self.allowed_client_hosts,
            outgoing_allowed_networks=self.outgoing_allowed_networks,
        )


def load_settings(environment: Mapping[str, str] | None = None) -> Settings:
    """The settings of ``environment`` (default: ``.env`` under the process's own environment).

    Raises ``SettingsError`` naming every setting that is wrong, not only the first.
    """
    if environment is None:
        written = {name: value for name, value in dotenv_values(".env").items() if value}
        environment = {**written, **os.environ}
    return _Reader(environment).settings()


class _Reader:
    """Reads one name after the other and remembers what was wrong."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._problems: list[str] = []

    def settings(self) -> Settings:
        default = Settings()
        read = self._read
        app_env = read("APP_ENV", "development", _one_of("development", "production"))
        settings = Settings(
            app_env=app_env,
            database_url=read("DATABASE_URL", default_database_url(), _database_url),
            redis_url=read("REDIS_URL", "", _redis_url),
            secret_key=read("SECRET_KEY", default.secret_key, str),
            rsa_private_key=read("RSA_PRIVATE_KEY", "", _pem),
            public_url=read("PUBLIC_URL", "", _public_url),
            vendor=read("VENDOR", default.vendor, _vendor),
            jwt_ttl_access=read("JWT_TTL_ACCESS", default.jwt_ttl_access, _positive),
            jwt_ttl_refresh=read("JWT_TTL_REFRESH", default.jwt_ttl_refresh, _positive),
            single_use_refresh_tokens=read(
                "SINGLE_USE_REFRESH_TOKENS", default=False, parse=_flag
            ),
            reset_password_lock_time=read(
                "RESET_PASSWORD_LOCK_TIME",
                default.reset_password_lock_time,
                _not_negative,
            ),
            allowed_client_hosts=read("ALLOWED_CLIENT_HOSTS", (), _hosts),
            allowed_graphql_origins=read("ALLOWED_GRAPHQL_ORIGINS", ("*",), _origins),
            trusted_proxies=read("TRUSTED_PROXIES", (), _networks),
            outgoing_allowed_networks=read("OUTGOING_ALLOWED_NETWORKS", (), _networks),
            mail_url=read("MAIL_URL", "", _mail_url),
            playground_enabled=read("PLAYGROUND_ENABLED", default=True, parse=_flag),
            graphql_batch_max=read("GRAPHQL_BATCH_MAX", default.graphql_batch_max, _positive),
            graphql_mutations_max=read(
                "GRAPHQL_MUTATIONS_MAX", default.graphql_mutations_max, _positive
            ),
            graphql_body_max=read("GRAPHQL_BODY_MAX", default.graphql_body_max, _positive),
            upload_max=read("UPLOAD_MAX", default.upload_max, _positive),
            log_level=read("LOG_LEVEL", "INFO", _one_of(*_LOG_LEVELS)),
        )
        self._check_together(settings)
        if self._problems:
            raise SettingsError(tuple(self._problems))
        return settings

    def _read(self, name: str, default: Value, parse: Callable[[str], Value]) -> Value:
        text = self._environment.get(name, "").strip()
        if not text:
            return default
        try:
            return parse(text)
        except ValueError as error:
            self._problems.append(f"{name}: {error}")
            return default

    def _check_together(self, settings: Settings) -> None:
        if settings.jwt_ttl_refresh < settings.jwt_ttl_access:
            self._problems.append("JWT_TTL_REFRESH: must not be shorter than JWT_TTL_ACCESS")
        if settings.development:
            return
        if settings.secret_key == DEVELOPMENT_SECRET:
            self._problems.append(
                "SECRET_KEY: must be set in production; make one with "
                "`python -c 'import secrets; print(secrets.token_urlsafe(48))'`"
            )
        elif len(settings.secret_key) < _SHORTEST_SECRET:
            self._problems.append(
                f"SECRET_KEY: must have at least {_SHORTEST_SECRET} characters in production"
            )
        if not settings.public_url:
            self._problems.append(
                "PUBLIC_URL: must be set in production, for example https://shop.example.com; "
                "it is the issuer of every token"
            )


def default_database_url() -> str:
    """SQLite in the folder ``instance`` beside ``wsgi.py``."""
    return f"sqlite:///{_INSTANCE / 'latchkey.sqlite3'}"


def _one_of(*choices: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        for choice in choices:
            if text.lower() == choice.lower():
                return choice
        raise ValueError(f"{text!r} is none of {', '.join(choices)}")

    return parse


def _flag(text: str) -> bool:
    if text.lower() in ("1", "true", "yes", "on"):
        return True
    if text.lower() in ("0", "false", "no", "off"):
        return False
    raise ValueError(f"{text!r} is neither true nor false")


def _not_negative(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise ValueError(f"{text!r} is no whole number")
    return int(text)


def _positive(text: str) -> int:
    number = _not_negative(text)
    if number < 1:
        raise ValueError("must be at least 1")
    return number


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _hosts(text: str) -> tuple[str, ...]:
    return tuple(_host(word) for word in _words(text))


def _host(text: str) -> str:
    # A whole address would be compared with hosts and never be met: all links would be refused.
    if re.search(r"[\s/?#@\\]", text) or "*" in text.removeprefix("*."):
        raise ValueError(f"{text!r} must look like shop.example.com, with a port or not")
    return text


def _origins(text: str) -> tuple[str, ...]:
    return tuple(_origin(word) for word in _words(text))


def _origin(text: str) -> str:
    # As browsers send it, so that the two can be compared as they are.
    origin = text.lower().rstrip("/")
    if origin != "*" and not re.fullmatch(r"[a-z][a-z0-9+.-]*://[^\s/?#@*]+", origin):
        raise ValueError(f"{text!r} must be * or look like https://shop.example.com")
    return origin


def _networks(text: str) -> tuple[Network, ...]:
    return tuple(ipaddress.ip_network(word) for word in _words(text))


def _with_scheme(text: str, *schemes: str, shown: str) -> str:
    # The value may hold a password, so the message never repeats it.
    parts = urlsplit(text)
    if parts.scheme not in schemes or not (parts.netloc or parts.path):
        raise ValueError(f"must look like {shown}")
    return text


def _database_url(text: str) -> str:
    shown = "sqlite:///shop.sqlite3 or postgresql://user:password@host/database"
    return _with_scheme(
        text, "sqlite", "postgresql", "postgres", "postgresql+psycopg", shown=shown
    ).replace("postgres://", "postgresql://", 1)


def _redis_url(text: str) -> str:
    return _with_scheme(text, "redis", "rediss", "unix", shown="redis://host:6379/0")


def _mail_url(text: str) -> str:
    if not urlsplit(text).hostname:
        raise ValueError("must look like smtp://user:password@host:587 or smtps://…")
    return _with_scheme(text, "smtp", "smtps", shown="smtp://user:password@host:587 or smtps://…")


def _public_url(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"{text!r} must look like https://shop.example.com")
    if parts.query or parts.fragment or parts.username:
        raise ValueError(f"{text!r} must have neither a query, a fragment nor a user")
    return text.rstrip("/").removesuffix("/graphql")


def _vendor(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9]*", text):
        raise ValueError(f"{text!r} must be one word of letters and digits")
    return text


def _pem(text: str) -> str:
    # An environment file holds it on one line, with \n for the line ends.
    pem = text.replace("\\n", "\n")
    if "-----BEGIN" not in pem:
        raise ValueError("must be an RSA private key as PEM text")
    return pem
