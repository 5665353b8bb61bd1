"""The environment, read once and checked: a wrong setting stops the start, naming all of them."""

import hashlib
import os
import secrets
import tempfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote, unquote, urlsplit

from dotenv import dotenv_values, find_dotenv
from flask.helpers import get_load_dotenv

from app.composition import setting_values as values
from app.composition.setting_values import OWNER_READS_AND_WRITES, own_secret, read_secret
from app.composition.setting_values import secret_files as find_secret_files
from app.domain.sign_in.rate_limits import RateLimitPolicy, Rates
from app.domain.urls.web_urls import is_host_within
from app.domain.values.installation import Misconfigured
from app.domain.values.ip_addresses import Network
from app.ports.configuration import MIN_CONNECTIONS, Configuration
from app.web.headers import IDENTITY_HEADERS, IdentityFact
from app.web.parent_process import ServiceManager

Value = TypeVar("Value")

_PROJECT = Path(__file__).parents[2]
"""The folder of ``wsgi.py``."""

_IS_CHECKOUT = __name__.startswith("app.")
"""Whether this is the repository, not the package ``latchkey`` (``release/distribution.py``)."""

_INSTANCE = _PROJECT / "instance"
"""The folder of the development database, a generated ``SECRET_KEY`` and the like.

Releases of the package to 1.1 used this one. It stays in use where it exists, and for a process
without a home folder.
"""
if not _IS_CHECKOUT and not _INSTANCE.is_dir():
    with suppress(RuntimeError):
        _INSTANCE = Path.home() / ".local/state/latchkey/instance"

_TRIAL = "# A trial shop of this folder, which `latchkey demo` serves.\n"
_FILE_SHOWN = "LATCHKEY_SETTINGS_FILE_SHOWN"

_SETTINGS_FILE = "LATCHKEY_SETTINGS"
"""The variable that names the settings file of an installation, which then is the only one."""

INSTALLED_SETTINGS = Path("/etc/latchkey/settings.env")
"""Where the settings of this machine's installation are, if it has one."""
PUBLISHED_SECRET = "latchkey-development-secret-never-for-production"  # noqa: S105
"""What ``secret_key`` was in development until each installation generated its own."""

_MIN_SECRET_LENGTH = 32
_LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")


class SettingsError(Misconfigured):
    """The settings cannot be used; ``problems`` names everything that is wrong with them."""


_CHOICES = ("DATABASE_URL", "DATABASE_URL_FILE", "APP_ENV")
"""Settings that choose an installation."""

_CONNECTION_SETTINGS = ("OUTGOING_CA_FILE", "SSL_CERT_FILE", "OUTGOING_PROXY")
"""What applies to connections to other instances as well."""

DEFAULT_DATABASE_URL = f"sqlite:///{_INSTANCE / 'latchkey.sqlite3'}"
"""SQLite in the folder ``instance`` next to ``wsgi.py``, of a package in the home folder."""

_RULES = Configuration()


def _setting(default: Value, read: Callable[[str], Value], *, secret: bool = False) -> Value:
    """Declare a setting: its default, how its text is read, and whether it may be printed."""
    metadata = {"read": read, "secret": secret}
    declared: Value = field(default_factory=lambda: default, repr=not secret, metadata=metadata)
    return declared


@dataclass(frozen=True, slots=True)
class Settings:
    """The operator's settings; each field is an environment variable in capitals.

    ``.env.example`` explains each of them, and a test compares its defaults with these.
    """

    app_env: str = _setting("development", values.one_of("development", "production"))
    database_url: str = _setting(DEFAULT_DATABASE_URL, values.database_url, secret=True)
    database_connections: int = _setting(
        _RULES.database_connections, values.at_least(MIN_CONNECTIONS)
    )
    database_transaction_pooling: bool = _setting(_RULES.database_transaction_pooling, values.flag)
    database_replica_url: str = _setting("", values.replica_url, secret=True)
    redis_url: str = _setting("", values.redis_url, secret=True)
    secret_key: str = _setting("", str, secret=True)
    secret_key_fallbacks: tuple[str, ...] = _setting((), values.secret_keys, secret=True)
    rsa_private_key: str = _setting("", values.pem, secret=True)
    rsa_private_password: str = _setting("", str, secret=True)
    public_url: str = _setting(_RULES.public_url, values.public_url)
    vendor: str = _setting(_RULES.vendor, values.vendor)
    platform_headers: bool = _setting(_RULES.platform_headers, values.flag)
    token_owner: str = _setting(_RULES.token_owner, values.vendor)
    jwt_ttl_access: int = _setting(_RULES.jwt_ttl_access, values.positive)
    jwt_ttl_refresh: int = _setting(_RULES.jwt_ttl_refresh, values.positive)
    single_use_refresh_tokens: bool = _setting(_RULES.single_use_refresh_tokens, values.flag)
    reset_password_lock_time: int = _setting(_RULES.reset_password_lock_time, values.not_negative)
    sign_in_log_days: int = _setting(_RULES.sign_in_log_days, values.days)
    mail_log_days: int = _setting(_RULES.mail_log_days, values.days)
    audit_log_days: int = _setting(_RULES.audit_log_days, values.audit_days)
    profile_changes_days: int = _setting(_RULES.profile_changes_days, values.days)
    allowed_client_hosts: tuple[str, ...] = _setting(
        _RULES.allowed_client_hosts, values.each(values.host)
    )
    allowed_graphql_origins: tuple[str, ...] = _setting(("*",), values.each(values.origin))
    dashboard_origin: str = _setting("", values.page_origin)
    passkey_rp_id: str = _setting(_RULES.passkey_rp_id, values.domain)
    passkey_origins: tuple[str, ...] = _setting(
        _RULES.passkey_origins, values.each(values.web_origin)
    )
    trusted_proxies: tuple[Network, ...] = _setting((), values.each(values.network))
    outgoing_allowed_networks: tuple[Network, ...] = _setting(
        _RULES.outgoing_allowed_networks, values.each(values.network)
    )
    outgoing_ca_file: str = _setting("", values.authorities)
    ssl_cert_file: str = _setting("", values.authorities)
    outgoing_proxy: str = _setting("", values.proxy_url, secret=True)
    rate_limits: Mapping[str, Rates] = _setting({}, values.rate_limits)
    rate_limit_trusted_clients: tuple[Network, ...] = _setting((), values.each(values.network))
    mail_url: str = _setting("", values.mail_url, secret=True)
    mail_templates: str = _setting("", str)
    playground_enabled: bool = _setting(default=True, read=values.flag)
    graphql_batch_max: int = _setting(10, values.positive)
    graphql_mutations_max: int = _setting(10, values.positive)
    graphql_entities_max: int = _setting(100, values.positive)
    graphql_tokens_max: int = _setting(5000, values.positive)
    graphql_depth_max: int = _setting(16, values.positive)
    graphql_aliases_max: int = _setting(100, values.positive)
    graphql_cost_max: int = _setting(30_000, values.positive)
    graphql_cost_shown: bool = _setting(default=False, read=values.flag)
    graphql_values_max: int = _setting(20_000, values.positive)
    graphql_body_max: int = _setting(1024 * 1024, values.positive)
    upload_max: int = _setting(5 * 1024 * 1024, values.positive)
    forward_auth: bool = _setting(default=False, read=values.flag)
    forward_auth_headers: Mapping[IdentityFact, str] = _setting(
        IDENTITY_HEADERS, values.identity_headers
    )
    connections_per_client: int = _setting(512, values.not_negative)
    requests_are_buffered: bool = _setting(default=False, read=values.flag)
    response_timeout: int = _setting(30, values.positive)
    log_level: str = _setting("INFO", values.one_of(*_LOG_LEVELS))
    access_log: bool = _setting(default=False, read=values.flag)
    access_log_sample: float = _setting(1.0, values.share)
    security_log: str = _setting("", values.log_target)
    operations_port: int = _setting(0, values.port)
    operations_host: str = _setting("127.0.0.1", str)
    metrics_folder: str = _setting("", values.absolute_folder)

    @property
    def secret(self) -> str:
        """``secret_key``; without one, in development, the key of this folder.

        It is generated when it is first needed. Raises ``SettingsError`` if it can't be.
        """
        if self.secret_key:
            return self.secret_key
        file = _INSTANCE / "secret-key"
        try:
            return own_secret(file, partial(secrets.token_urlsafe, 48))
        except OSError as error:
            problem = f"SECRET_KEY: must be set, because {file} can't be used: {error.strerror}"
            raise SettingsError((problem,)) from error

    @property
    def former_secrets(self) -> tuple[str, ...]:
        """Keys that can have encrypted what is stored, in addition to ``secret``."""
        former = self.secret_key_fallbacks
        return (*former, PUBLISHED_SECRET) if self.development else former

    @property
    def cookie_key_fallbacks(self) -> tuple[str, ...]:
        """Former keys that can have signed a cookie.

        A former key with a comma is among the fallbacks in parts as well, which could be guessed:
        in production, what is too short for ``SECRET_KEY`` signs nothing. ``PUBLISHED_SECRET``
        never does.
        """
        least = 0 if self.development else _MIN_SECRET_LENGTH
        known = self.secret_key_fallbacks
        return tuple(key for key in known if len(key) >= least and key != PUBLISHED_SECRET)

    @property
    def mail_file(self) -> Path | None:
        """Where mails are written instead of being sent; ``None`` with a mail server."""
        if not self.mail_url:
            return _INSTANCE / "mails.txt"
        parts = urlsplit(self.mail_url)
        return Path(unquote(parts.path)) if parts.scheme == "file" else None

    @property
    def queue_file(self) -> Path:
        """The queue without ``REDIS_URL``: next to SQLite's file, one per database."""
        scheme, _, file = self.database_url.partition(":///")
        if scheme == "sqlite" and file:
            return Path(f"{unquote(file)}-queue")
        name = hashlib.sha256(self.database_url.encode()).hexdigest()[:16]
        return _INSTANCE / f"queue-{name}.sqlite3"

    @property
    def work_signal_file(self) -> Path:
        """What the names of the sockets begin with by which processes of one host wake workers."""
        queue = self.queue_file
        return queue.with_name(f"{queue.name}-signal")

    @property
    def shared_metrics(self) -> Path:
        """Where the processes of this host that serve or work put what they count."""
        if self.metrics_folder:
            return Path(self.metrics_folder)
        of = "\0".join((self.secret, self.database_url, str(self.operations_port)))
        name = f"latchkey-metrics-{hashlib.sha256(of.encode()).hexdigest()[:16]}"
        return Path(tempfile.gettempdir(), name)

    @property
    def development(self) -> bool:
        return self.app_env == "development"

    @property
    def configuration(self) -> Configuration:
        """The part of the settings that rules depend on."""
        return Configuration(
            vendor=self.vendor,
            platform_headers=self.platform_headers,
            token_owner=self.token_owner,
            public_url=self.public_url,
            development=self.development,
            jwt_ttl_access=self.jwt_ttl_access,
            jwt_ttl_refresh=self.jwt_ttl_refresh,
            single_use_refresh_tokens=self.single_use_refresh_tokens,
            database_connections=self.database_connections,
            database_transaction_pooling=self.database_transaction_pooling,
            sends_mail=self.mail_file is None,
            reset_password_lock_time=self.reset_password_lock_time,
            sign_in_log_days=self.sign_in_log_days,
            mail_log_days=self.mail_log_days,
            audit_log_days=self.audit_log_days,
            profile_changes_days=self.profile_changes_days,
            allowed_client_hosts=self.allowed_client_hosts,
            outgoing_allowed_networks=self.outgoing_allowed_networks,
            passkey_rp_id=self.passkey_rp_id,
            passkey_origins=self.passkey_origins,
            rate_limits=RateLimitPolicy(self.rate_limits, self.rate_limit_trusted_clients),
        )


def service_manager() -> ServiceManager:
    """Return what started this process, if it wants to be told how the process fares."""
    microseconds = os.environ.get("WATCHDOG_USEC", "")
    is_watched = os.environ.get("WATCHDOG_PID", "") in ("", str(os.getpid()))
    seconds = int(microseconds) / 1e6 if is_watched and microseconds.isdecimal() else 0.0
    return ServiceManager(os.environ.get("NOTIFY_SOCKET", ""), seconds)


def environment_names() -> tuple[str, ...]:
    """Return the names of this process's environment variables."""
    return tuple(os.environ)


def describe_location(settings: Settings) -> str:
    """Return what tells an installation from others: its URL, and where its database is."""
    parts = urlsplit(settings.database_url)
    if settings.database_url.startswith("sqlite"):
        database = settings.database_url.partition(":///")[2] or "in memory"
    else:
        host = f"{parts.hostname}:{parts.port}" if parts.port else parts.hostname or "this machine"
        database = f"{parts.path.strip('/')} on {host}"
    return f"{settings.public_url or settings.app_env} (database {database})"


def load_settings(environment: Mapping[str, str] | None = None) -> Settings:
    """The settings of ``environment`` (default: the process's own, over ``settings_files``).

    Raises ``SettingsError`` naming every setting that is wrong, not only the first; and without
    ``environment``, when it isn't clear which installation is meant.
    """
    if environment is not None:
        return _Reader(environment).settings()
    files = settings_files()
    environment = _environment(files)
    settings = _Reader(environment).settings()
    _require_choice(files, environment)
    return settings


def settings_files() -> tuple[Path, ...]:
    """Return the ``.env`` files that exist; a setting in an earlier one wins.

    They are that of the current folder or the nearest folder above it, where Flask's command looks
    too, and the one next to ``wsgi.py``. None are read if ``FLASK_SKIP_DOTENV`` is set, and only
    the one that ``LATCHKEY_SETTINGS`` names, if it is set.
    """
    chosen = os.environ.get(_SETTINGS_FILE)
    if chosen:
        return (Path(chosen),)
    if not get_load_dotenv():
        return ()
    nearest = find_dotenv(usecwd=True)
    files = [Path(nearest)] if nearest else []
    project_file = _PROJECT / ".env"
    if project_file.is_file() and not any(file.samefile(project_file) for file in files):
        files.append(project_file)
    return tuple(files)


def leave_settings_to_files() -> None:
    """Take from the environment what Flask's command has put there out of ``settings_files``.

    Otherwise it would win over a file that has changed since, when a process reloads its settings.
    Which of two equal texts was there first isn't known: the file then has it.
    """
    if os.environ.get(_SETTINGS_FILE) or not get_load_dotenv():
        return
    names = {setting.name.upper() for setting in fields(Settings)}
    names |= {f"{name}_FILE" for name in names}
    with suppress(OSError, UnicodeDecodeError):  # which load_settings says
        for file in settings_files():
            for name, text in dotenv_values(file).items():
                if name in names and os.environ.get(name) == text:
                    del os.environ[name]


def choose_installation() -> None:
    """Have this process work on the installation of this machine, if no other is named.

    A ``.env`` file of the current folder then means nothing. Without an installation in ``/etc``,
    settings are found as ``flask`` finds them.
    """
    if not os.environ.get(_SETTINGS_FILE) and _exists(INSTALLED_SETTINGS):
        os.environ[_SETTINGS_FILE] = str(INSTALLED_SETTINGS)
    if os.environ.get(_SETTINGS_FILE):
        os.environ["FLASK_SKIP_DOTENV"] = "1"


def prepare_trial(folder: Path) -> bool:
    """Make the settings of a trial shop in a folder that has none; return whether it has one now.

    Its ``.env`` puts database, key and emails into the folder. Nothing is made in the repository,
    nor where an installation is chosen.
    """
    is_chosen = any(os.environ.get(name, "").strip() for name in (*_CHOICES, _SETTINGS_FILE))
    if is_chosen or folder.resolve().is_relative_to(_PROJECT.resolve()):
        return False
    file = folder / ".env"
    found = settings_files()
    if found:
        return file.is_file() and found[0].samefile(file) and _has_trial_mark(file)
    in_folder = {
        "APP_ENV": "development",
        "DATABASE_URL": f"sqlite:///{quote(str(folder / 'latchkey.sqlite3'))}",
        "SECRET_KEY": secrets.token_urlsafe(48),
        "MAIL_URL": f"file:{quote(str(folder / 'mails.txt'))}",
    }
    lines = "".join(f"{name}={text}\n" for name, text in in_folder.items())
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    with os.fdopen(os.open(file, flags, OWNER_READS_AND_WRITES), "w") as opened:
        opened.write(_TRIAL + lines)
    return True


def _has_trial_mark(file: Path) -> bool:
    with file.open(encoding="utf-8", errors="replace") as text:
        return text.readline() == _TRIAL


def load_application_from(file: Path) -> None:
    """Have Flask's command load the application from ``file``."""
    os.environ["FLASK_APP"] = str(file)


def _exists(file: Path) -> bool:
    """Return whether there is such a file, even in a folder that this account can't read."""
    try:
        return file.is_file()
    except PermissionError:
        return True


def secret_files() -> tuple[Path, ...]:
    """Return the files that settings such as ``SECRET_KEY_FILE`` name."""
    names = (setting.name.upper() for setting in fields(Settings) if setting.metadata["secret"])
    return find_secret_files(_environment(settings_files()), names)


def unexpected_settings_files() -> tuple[Path, ...]:
    """Return the files that aren't next to ``wsgi.py``, the first time that this is called.

    Neither later calls nor the processes that this one starts return them again.
    """
    if os.environ.get(_FILE_SHOWN):
        return ()
    os.environ[_FILE_SHOWN] = "1"
    if os.environ.get(_SETTINGS_FILE):
        return ()  # named, and so expected
    return tuple(file for file in settings_files() if not file.parent.samefile(_PROJECT))


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """Settings of commands for other instances, independent of this installation.

    ``token`` is LATCHKEY_TOKEN; saved logins are kept in ``folder``. ``settings`` has
    OUTGOING_CA_FILE, SSL_CERT_FILE and OUTGOING_PROXY alone.
    """

    token: str = field(repr=False)
    folder: Path
    settings: Settings


def load_client_settings(environment: Mapping[str, str] | None = None) -> ClientSettings:
    """Return the settings of the person who runs the command."""
    if environment is None:
        environment = _environment(file for file in settings_files() if os.access(file, os.R_OK))
    chosen = environment.get("XDG_CONFIG_HOME", "")
    # A relative path is ignored (XDG Base Directory Specification).
    config = Path(chosen) if chosen.startswith("/") else Path.home() / ".config"
    connection = {name: text for name, text in environment.items() if name in _CONNECTION_SETTINGS}
    return ClientSettings(
        environment.get("LATCHKEY_TOKEN", "").strip(),
        config / "latchkey",
        _Reader(connection).settings(),
    )


def _environment(files: Iterable[Path]) -> dict[str, str]:
    """Return what the files say, the first above the others, under the process's environment.

    Raises ``SettingsError`` for a file that can't be read.
    """
    written: dict[str, str] = {}
    for file in reversed(tuple(files)):
        try:
            with file.open(encoding="utf-8") as text:  # a missing file isn't an empty one
                values = dotenv_values(stream=text)
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it isn't UTF-8 text"
            hint = " Run this with sudo." if isinstance(error, PermissionError) else ""
            raise SettingsError((f"Can't read {file}: {reason}.{hint}",)) from error
        written |= {name: value or "" for name, value in values.items()}
    chosen = os.environ.get(_SETTINGS_FILE)
    installed = _installed_defaults(Path(chosen)) if chosen else {}
    return {**installed, **written, **os.environ}


def _installed_defaults(file: Path) -> dict[str, str]:
    """Return what holds for the installation of this settings file unless the file says otherwise.

    It is for production, and secrets are in the folder ``secrets`` next to the file, where the
    units of ``deploy/systemd`` have them from. Raises ``SettingsError`` if they can't be read and
    this process wasn't given them.
    """
    folder = file.parent / "secrets"
    secret = [setting.name for setting in fields(Settings) if setting.metadata["secret"]]
    if any(os.environ.get(f"{name.upper()}_FILE") for name in secret):
        return {"APP_ENV": "production"}  # as systemd does
    if folder.is_dir() and not os.access(folder, os.R_OK | os.X_OK):
        raise SettingsError((f"Can't read {folder}: Permission denied. Run this with sudo.",))
    files = {f"{name.upper()}_FILE": folder / name for name in secret}
    found = {name: str(path) for name, path in files.items() if path.is_file()}
    return {"APP_ENV": "production", **found}


def _require_choice(files: tuple[Path, ...], environment: Mapping[str, str]) -> None:
    """Raise ``SettingsError`` where the defaults would be a surprise.

    That is outside the project's folder, without a settings file and without the settings that
    choose an installation.
    """
    is_chosen = any(environment.get(name, "").strip() for name in _CHOICES)
    if not is_chosen and not files and _exists(INSTALLED_SETTINGS):
        message = (
            f"This machine has an installation in {INSTALLED_SETTINGS}. Run `latchkey` instead of "
            "`flask` to use it, or set APP_ENV=development to use the development database."
        )
        raise SettingsError((message,))
    names = {setting.name.upper() for setting in fields(Settings)}
    if is_chosen or Path.cwd().resolve().is_relative_to(_PROJECT.resolve()):
        return
    for file in files:
        if file.parent.samefile(_PROJECT) or names & dotenv_values(file).keys():
            return
    message = (
        f"No settings found. Set DATABASE_URL or APP_ENV, add a .env file in {Path.cwd()} or "
        f"{_PROJECT}, or work in {_PROJECT} to use the development database there."
    )
    raise SettingsError((message,))


def traces_wanted() -> bool:
    """Return whether the standard variables of OpenTelemetry ask for traces."""
    names = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
    exporter = os.environ.get("OTEL_TRACES_EXPORTER", "")
    if exporter == "none" or os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return False
    return exporter == "otlp" or any(os.environ.get(name) for name in names)


class _Reader:
    """Reads one setting after the other and collects what is wrong with them."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._problems: list[str] = []

    def settings(self) -> Settings:
        given: dict[str, Any] = {}
        for setting in fields(Settings):
            name = setting.name.upper()
            try:
                text = self._text(name, is_secret=setting.metadata["secret"])
            except ValueError as error:
                self._problems.append(str(error))
                continue
            try:
                if text:
                    given[setting.name] = setting.metadata["read"](text)
            except ValueError as error:
                self._problems.append(f"{name}: {error}")
        if given.get("secret_key") == PUBLISHED_SECRET:
            del given["secret_key"]  # in a file that was copied from an older example
        settings = Settings(**given)
        self._check_together(settings)
        if self._problems:
            raise SettingsError(tuple(self._problems))
        return settings

    def _text(self, name: str, *, is_secret: bool) -> str:
        if is_secret:
            return read_secret(self._environment, name)
        return self._environment.get(name, "").strip()

    def _check_together(self, settings: Settings) -> None:
        if settings.jwt_ttl_refresh < settings.jwt_ttl_access:
            self._problems.append("JWT_TTL_REFRESH: must not be shorter than JWT_TTL_ACCESS")
        if settings.database_replica_url and settings.database_url.startswith("sqlite"):
            self._problems.append(
                "DATABASE_REPLICA_URL: needs PostgreSQL in DATABASE_URL, which names SQLite"
            )
        rp_id, url = settings.passkey_rp_id, settings.public_url
        if rp_id and url and not is_host_within(rp_id, url):
            self._problems.append(
                f"PASSKEY_RP_ID: must be the host of PUBLIC_URL ({urlsplit(url).hostname}) or a "
                f"domain above it, got {rp_id!r}"
            )
        if settings.development:
            return
        if not settings.secret_key:
            self._problems.append(
                "SECRET_KEY: must be set in production; make one with "
                "`python -c 'import secrets; print(secrets.token_urlsafe(48))'`"
            )
        elif len(settings.secret_key) < _MIN_SECRET_LENGTH:
            self._problems.append(
                f"SECRET_KEY: must have at least {_MIN_SECRET_LENGTH} characters in production"
            )
        if PUBLISHED_SECRET in settings.secret_key_fallbacks:
            self._problems.append(
                "SECRET_KEY_FALLBACKS: everyone knows the key of development; run `flask keys "
                "reseal` with APP_ENV=development before production"
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
