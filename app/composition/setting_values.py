"""Parse the texts of settings, and read secrets from files.

Parsers raise ``ValueError`` for invalid texts. ``NAME_FILE`` names the file that holds the secret
setting ``NAME``; development generates one.
"""

import fcntl
import ipaddress
import os
import re
import ssl
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

from app.domain.sign_in.rate_limits import RATE_LIMITS, Rates, parse_rates
from app.domain.urls.redirects import split_entry
from app.domain.urls.web_urls import is_web_url, parse_web_url
from app.domain.values.ip_addresses import Network
from app.web.headers import IdentityFact, read_identity_headers

Value = TypeVar("Value")

_MAX_DAYS = 36_500
_MIN_AUDIT_DAYS = 30
_MAX_PORT = 65_535


def one_of(*choices: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        for choice in choices:
            if text.lower() == choice.lower():
                return choice
        raise ValueError(f"must be {' or '.join(choices)}, got {text!r}")

    return parse


def flag(text: str) -> bool:
    if text.lower() in ("1", "true", "yes", "on"):
        return True
    if text.lower() in ("0", "false", "no", "off"):
        return False
    raise ValueError(f"must be true or false, got {text!r}")


def not_negative(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise ValueError(f"must be an integer, got {text!r}")
    return int(text)


def at_least(least: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        number = not_negative(text)
        if number < least:
            raise ValueError(f"must be at least {least}")
        return number

    return parse


positive = at_least(1)


def log_target(text: str) -> str:
    if text != "stderr" and not Path(text).absolute().parent.is_dir():
        raise ValueError(f"must be stderr or a file in a folder that exists, got {text!r}")
    return text


def absolute_folder(text: str) -> str:
    """Parse a folder that is created when it is needed."""
    if not Path(text).is_absolute():
        raise ValueError(f"must be an absolute path, got {text!r}")
    return text


def port(text: str) -> int:
    number = not_negative(text)
    if not 1 <= number <= _MAX_PORT:
        raise ValueError(f"must be from 1 to {_MAX_PORT}")
    return number


def secret_keys(text: str) -> tuple[str, ...]:
    """Return several secrets, separated by commas or, in a file, by lines.

    One secret can hold commas itself, so the whole text counts as a secret as well.
    """
    lines = text.splitlines()
    parts = lines if len(lines) > 1 else [text, *text.split(",")]
    return tuple(dict.fromkeys(part.strip() for part in parts if part.strip()))


def share(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:
        raise ValueError(f"must be a number from 0 to 1, got {text!r}")
    return number


def days(text: str) -> int:
    number = positive(text)
    if number > _MAX_DAYS:
        raise ValueError(f"must be at most {_MAX_DAYS}")
    return number


def audit_days(text: str) -> int:
    """Parse for how long the audit log is kept: 0 is forever."""
    number = days(text) if text.strip() != "0" else 0
    if 0 < number < _MIN_AUDIT_DAYS:
        raise ValueError(f"must be 0 (forever) or at least {_MIN_AUDIT_DAYS}")
    return number


def words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def each(parse: Callable[[str], Value]) -> Callable[[str], tuple[Value, ...]]:
    """Return what parses each of several ``words``."""
    return lambda text: tuple(map(parse, words(text)))


def host(text: str) -> str:
    # A whole address would be compared with hosts and never be met: all links would be refused.
    try:
        split_entry(text)
    except ValueError:
        message = f"{text!r} must look like shop.example.com, with or without a port"
        raise ValueError(message) from None
    return text


def origin(text: str) -> str:
    # As browsers send it, so that the two can be compared as they are.
    origin = text.lower().rstrip("/")
    if origin == "*":
        return origin
    if origin.startswith(("http://", "https://")):
        address = parse_web_url(origin)
        if address is not None and not address.rest:
            return address.url
    elif re.fullmatch(r"[a-z][a-z0-9+.-]*://[^\s/?#@*]+", origin):
        return origin  # of an app or a browser extension
    raise ValueError(f"{text!r} must be * or look like https://shop.example.com")


def page_origin(text: str) -> str:
    found = origin(text)
    if found == "*":
        raise ValueError("must be one origin, such as https://dashboard.example.com")
    return found


def web_origin(text: str) -> str:
    # As a browser names the page, and only where browsers have passkeys.
    url = parse_web_url(text.lower().rstrip("/"))
    if url is None or url.rest or not (url.scheme == "https" or url.host == "localhost"):
        raise ValueError(f"{text!r} must look like https://shop.example.com")
    return url.url


def domain(text: str) -> str:
    labels = text.lower().split(".")
    if not all(re.fullmatch(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?", label) for label in labels):
        raise ValueError(f"must look like example.com, got {text!r}")
    if labels[-1].isdigit():
        raise ValueError(f"must be a domain, not an IP address, got {text!r}")
    return text.lower()


def network(text: str) -> Network:
    return ipaddress.ip_network(text)


def identity_headers(text: str) -> Mapping[IdentityFact, str]:
    return read_identity_headers(words(text))


def rate_limits(text: str) -> Mapping[str, Rates]:
    return dict(map(rate_limit, words(text)))


def rate_limit(text: str) -> tuple[str, Rates]:
    name, _, rates = (part.strip() for part in text.partition("="))
    if name not in RATE_LIMITS:
        raise ValueError(f"unknown limit {name!r}; available limits: {', '.join(RATE_LIMITS)}")
    return name, parse_rates(rates)


def with_scheme(text: str, *schemes: str, example: str) -> str:
    # The value may hold a password, so the message never repeats it.
    parts = urlsplit(text)
    if parts.scheme not in schemes or not (parts.netloc or parts.path):
        raise ValueError(f"must look like {example}")
    return text


def database_url(text: str) -> str:
    example = "sqlite:///shop.sqlite3 or postgresql://user:password@host/database"
    return with_scheme(
        text, "sqlite", "postgresql", "postgres", "postgresql+psycopg", example=example
    ).replace("postgres://", "postgresql://", 1)


def replica_url(text: str) -> str:
    example = "postgresql://user:password@replica/database; only PostgreSQL has replicas"
    return with_scheme(
        text, "postgresql", "postgres", "postgresql+psycopg", example=example
    ).replace("postgres://", "postgresql://", 1)


def redis_url(text: str) -> str:
    return with_scheme(text, "redis", "rediss", "unix", example="redis://host:6379/0")


def mail_url(text: str) -> str:
    example = "smtp://user:password@host:587, smtps://… or file:/path/to/mails.txt"
    parts = urlsplit(text)
    if not (parts.hostname or (parts.scheme == "file" and parts.path.strip("/"))):
        raise ValueError(f"must look like {example}")
    if parts.scheme == "file" and parts.netloc:
        raise ValueError("must look like file:/path/to/mails.txt, without a host")
    return with_scheme(text, "smtp", "smtps", "file", example=example)


def authorities(text: str) -> str:
    """Parse the path of a PEM file with certificates; return it."""
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(text)
    except ssl.SSLError:
        raise ValueError(f"{text!r} must be a file of PEM certificates") from None
    except OSError as error:
        raise ValueError(f"can't read {text!r}: {error.strerror}") from None
    return text


def proxy_url(text: str) -> str:
    example = "http://proxy.example.com:3128 or https://user:password@proxy.example.com"
    parts = urlsplit(text)
    if not parts.hostname or parts.path.strip("/") or parts.query or parts.fragment:
        raise ValueError(f"must look like {example}")
    return with_scheme(text, "http", "https", example=example)


def public_url(text: str) -> str:
    if not is_web_url(text):
        raise ValueError(f"{text!r} must look like https://shop.example.com")
    parts = urlsplit(text)
    if parts.query or parts.fragment:
        raise ValueError(f"{text!r} must have neither a query nor a fragment")
    return text.rstrip("/").removesuffix("/graphql")


def vendor(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9]*", text):
        raise ValueError(f"{text!r} must be one word of letters and digits")
    return text


def pem(text: str) -> str:
    # An environment file has it on one line, with \n for line ends.
    pem = text.replace("\\n", "\n")
    if "-----BEGIN" not in pem:
        raise ValueError("must be an RSA private key as PEM text")
    return pem


SUFFIX = "_FILE"
_CAN_BE_EMPTY = ("SECRET_KEY_FALLBACKS",)
"""Lists of secrets, which deployments always have a file for."""

OWNER_READS_AND_WRITES = 0o600
_OWNER_ENTERS = 0o700


def read_secret(environment: Mapping[str, str], name: str) -> str:
    """Return the text of the secret ``name``, empty if it isn't set.

    Raises ``ValueError`` for a file that can't be used, and when both are set.
    """
    text = environment.get(name, "").strip()
    path = environment.get(name + SUFFIX, "").strip()
    if not path:
        return text
    if text:
        raise ValueError(f"{name} and {name}{SUFFIX} are both set; remove one of them")
    try:
        # An environment can hold bytes that aren't UTF-8; a file likewise.
        text = Path(path).read_bytes().decode("utf-8", "surrogateescape").strip()
    except OSError as error:
        raise ValueError(f"{name}{SUFFIX}: can't read {path}: {error.strerror}") from error
    if not text and name not in _CAN_BE_EMPTY:
        raise ValueError(f"{name}{SUFFIX}: {path} is empty")
    return text


def secret_files(environment: Mapping[str, str], names: Iterable[str]) -> tuple[Path, ...]:
    """Return the files that hold the secrets ``names``."""
    paths = (environment.get(name + SUFFIX, "").strip() for name in names)
    return tuple(Path(path) for path in paths if path)


def own_secret(file: Path, generate: Callable[[], str]) -> str:
    """Return the secret in ``file``, which only this account can read; ``generate`` a missing one.

    Processes that start at once return the same: each holds a lock on the file, which the first
    one finds empty. Raises ``OSError``.
    """
    file.parent.mkdir(mode=_OWNER_ENTERS, parents=True, exist_ok=True)
    opened = os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, OWNER_READS_AND_WRITES)
    with os.fdopen(opened, "r+", encoding="utf-8", errors="surrogateescape") as secret_file:
        fcntl.flock(secret_file, fcntl.LOCK_EX)
        with suppress(PermissionError):  # another account's, shared on purpose
            os.fchmod(opened, OWNER_READS_AND_WRITES)
        secret = secret_file.read().strip()
        if not secret:
            secret = generate()
            secret_file.write(f"{secret}\n")
            secret_file.flush()
            os.fsync(opened)
        return secret
