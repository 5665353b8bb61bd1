"""The environment, read once and checked: a wrong setting stops the start, naming all of them."""

import hashlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar
from urllib.parse import unquote, urlsplit

from dotenv import dotenv_values

from app import setting_values as values
from app.domain.sign_in.rate_limits import RateLimitPolicy, Rates
from app.domain.values.installation_errors import Misconfigured
from app.domain.values.ip_addresses import Network
from app.ports.configuration import Configuration

Value = TypeVar("Value")

_INSTANCE = Path(__file__).parent.parent / "instance"
DEVELOPMENT_SECRET = "latchkey-development-secret-never-for-production"  # noqa: S105
_MIN_SECRET_LENGTH = 32
_LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")


class SettingsError(Misconfigured):
    """The settings cannot be used; ``problems`` names everything that is wrong with them."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The operator's settings; ``.env.example`` explains each name."""

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
    rate_limits: Mapping[str, Rates] = field(default_factory=dict)
    rate_limit_trusted_clients: tuple[Network, ...] = ()
    mail_url: str = field(default="", repr=False)
    playground_enabled: bool = True
    graphql_batch_max: int = 10
    graphql_mutations_max: int = 10
    graphql_tokens_max: int = 5000
    graphql_depth_max: int = 16
    graphql_aliases_max: int = 100
    graphql_cost_max: int = 30_000
    graphql_values_max: int = 20_000
    graphql_body_max: int = 1024 * 1024
    upload_max: int = 5 * 1024 * 1024
    log_level: str = "INFO"
    access_log: bool = False

    @property
    def mail_file(self) -> Path | None:
        """Where mails are written instead of being sent; ``None`` with a mail server."""
        if not self.mail_url:
            return _INSTANCE / "mails.txt"
        parts = urlsplit(self.mail_url)
        return Path(unquote(parts.path)) if parts.scheme == "file" else None

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
            rate_limits=RateLimitPolicy(self.rate_limits, self.rate_limit_trusted_clients),
        )


def load_settings(environment: Mapping[str, str] | None = None) -> Settings:
    """The settings of ``environment`` (default: ``.env`` under the process's own environment).

    Raises ``SettingsError`` naming every setting that is wrong, not only the first.
    """
    return _Reader(_written() if environment is None else environment).settings()


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """Settings of commands for other instances, independent of this installation.

    ``token`` is LATCHKEY_TOKEN; saved logins are kept in ``folder``.
    """

    token: str = field(repr=False)
    folder: Path


def load_client_settings(environment: Mapping[str, str] | None = None) -> ClientSettings:
    """The part of the environment that is about the person at the shell."""
    if environment is None:
        environment = _written()
    chosen = environment.get("XDG_CONFIG_HOME", "")
    # An address that does not begin at the root says nothing (XDG Base Directory Specification).
    config = Path(chosen) if chosen.startswith("/") else Path.home() / ".config"
    return ClientSettings(environment.get("LATCHKEY_TOKEN", "").strip(), config / "latchkey")


def _written() -> dict[str, str]:
    written = {name: value for name, value in dotenv_values(".env").items() if value}
    return {**written, **os.environ}


class _Reader:
    """Reads one name after the other and remembers what was wrong."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._problems: list[str] = []

    def settings(self) -> Settings:
        default = Settings()
        read = self._read
        app_env = read("APP_ENV", "development", values.one_of("development", "production"))
        settings = Settings(
            app_env=app_env,
            database_url=read("DATABASE_URL", default_database_url(), values.database_url),
            redis_url=read("REDIS_URL", "", values.redis_url),
            secret_key=read("SECRET_KEY", default.secret_key, str),
            rsa_private_key=read("RSA_PRIVATE_KEY", "", values.pem),
            public_url=read("PUBLIC_URL", "", values.public_url),
            vendor=read("VENDOR", default.vendor, values.vendor),
            jwt_ttl_access=read("JWT_TTL_ACCESS", default.jwt_ttl_access, values.positive),
            jwt_ttl_refresh=read("JWT_TTL_REFRESH", default.jwt_ttl_refresh, values.positive),
            single_use_refresh_tokens=read(
                "SINGLE_USE_REFRESH_TOKENS", default=False, parse=values.flag
            ),
            reset_password_lock_time=read(
                "RESET_PASSWORD_LOCK_TIME",
                default.reset_password_lock_time,
                values.not_negative,
            ),
            allowed_client_hosts=read("ALLOWED_CLIENT_HOSTS", (), values.hosts),
            allowed_graphql_origins=read("ALLOWED_GRAPHQL_ORIGINS", ("*",), values.origins),
            trusted_proxies=read("TRUSTED_PROXIES", (), values.networks),
            outgoing_allowed_networks=read("OUTGOING_ALLOWED_NETWORKS", (), values.networks),
            rate_limits=read("RATE_LIMITS", default.rate_limits, values.rate_limits),
            rate_limit_trusted_clients=read("RATE_LIMIT_TRUSTED_CLIENTS", (), values.networks),
            mail_url=read("MAIL_URL", "", values.mail_url),
            playground_enabled=read("PLAYGROUND_ENABLED", default=True, parse=values.flag),
            graphql_batch_max=read(
                "GRAPHQL_BATCH_MAX", default.graphql_batch_max, values.positive
            ),
            graphql_mutations_max=read(
                "GRAPHQL_MUTATIONS_MAX", default.graphql_mutations_max, values.positive
            ),
            graphql_tokens_max=read(
                "GRAPHQL_TOKENS_MAX", default.graphql_tokens_max, values.positive
            ),
            graphql_depth_max=read(
                "GRAPHQL_DEPTH_MAX", default.graphql_depth_max, values.positive
            ),
            graphql_aliases_max=read(
                "GRAPHQL_ALIASES_MAX", default.graphql_aliases_max, values.positive
            ),
            graphql_cost_max=read("GRAPHQL_COST_MAX", default.graphql_cost_max, values.positive),
            graphql_values_max=read(
                "GRAPHQL_VALUES_MAX", default.graphql_values_max, values.positive
            ),
            graphql_body_max=read("GRAPHQL_BODY_MAX", default.graphql_body_max, values.positive),
            upload_max=read("UPLOAD_MAX", default.upload_max, values.positive),
            log_level=read("LOG_LEVEL", "INFO", values.one_of(*_LOG_LEVELS)),
            access_log=read("ACCESS_LOG", default=False, parse=values.flag),
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
        elif len(settings.secret_key) < _MIN_SECRET_LENGTH:
            self._problems.append(
                f"SECRET_KEY: must have at least {_MIN_SECRET_LENGTH} characters in production"
            )
        if not settings.public_url:
            self._problems.append(
                "PUBLIC_URL: must be set in production, for example https://shop.example.com; "
                "it is the issuer of every token"
            )
        if not settings.mail_url:
            self._problems.append(
                "MAIL_URL: must be set in production, for example smtp://user:password@host:587; "
                "file:/path/to/mails.txt writes mails, and the links in them, to a file"
            )


def default_database_url() -> str:
    """SQLite in the folder ``instance`` beside ``wsgi.py``."""
    return f"sqlite:///{_INSTANCE / 'latchkey.sqlite3'}"
