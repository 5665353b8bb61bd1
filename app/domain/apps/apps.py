"""Apps: integrations with permissions, their tokens, dashboard extensions and installations."""

import hashlib
import re
import string
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from app.domain.authorization.permissions import Permission, in_order
from app.domain.sign_in.tokens import Claims
from app.domain.urls.web_urls import is_path, url_below
from app.domain.values.errors import Problem
from app.domain.values.ids import to_global_id
from app.domain.values.text_rules import is_storable, prose_problem
from app.domain.values.times import CLOCK_LEEWAY

DEFAULT_OVERLAP = timedelta(hours=24)
"""How long a token that has been rotated goes on working, unless somebody says otherwise."""

MAX_OVERLAP = timedelta(days=30)

EXPIRED_TOKEN_KEPT = timedelta(days=30)
"""How long an expired token stays listed, so that people see why it stopped working."""

MAX_LIFETIME = timedelta(days=36_525)
"""How far ahead a token may end: not every database and client reads the year 9999 alike."""


MINUTE, HOUR = 60, 3600
"""Seconds of the spans by which an app's requests are counted."""

SPANS_KEPT = {MINUTE: timedelta(days=2), HOUR: timedelta(days=30)}
"""How long the counts of each are kept."""

SLOW_REQUEST = 1.0
"""Seconds from which on a request counts as slow."""

UNUSED_AFTER = timedelta(days=90)
"""A permission that an app hasn't needed for so long counts as unused."""

ANY_REQUEST = ""
"""What stands for a permission where any request of the app counts."""


def span_start(moment: datetime, span: int) -> datetime:
    """Return the beginning of the minute or hour that ``moment`` is in."""
    seconds = int(moment.timestamp())
    return datetime.fromtimestamp(seconds - seconds % span, UTC)


class AppType(StrEnum):
    """``LOCAL`` was created here, ``THIRDPARTY`` installed from its manifest."""

    LOCAL = "LOCAL"
    THIRDPARTY = "THIRDPARTY"


class AppSortField(StrEnum):
    """The sort orders of apps."""

    NAME = "NAME"
    CREATION_DATE = "CREATION_DATE"


@dataclass(frozen=True, slots=True)
class App:
    """An app and its permissions; the manifest's fields are empty for a local app.

    Alerts about its webhooks are sent to ``contact_email``, if it has one. With
    ``client_credentials_only`` its long-lived tokens are refused: OAuth clients and linked clients
    get it short-lived ones.
    """

    id: int
    name: str
    identifier: str
    type: AppType
    is_active: bool
    created_at: datetime
    permissions: frozenset[Permission]
    about: str = ""
    author: str = ""
    version: str = ""
    audience: str = ""
    app_url: str = ""
    data_privacy_url: str = ""
    homepage_url: str = ""
    manifest_url: str = ""
    support_url: str = ""
    configuration_url: str = ""
    data_privacy: str = ""
    logo: str = ""
    contact_email: str = ""
    client_credentials_only: bool = False


LOGO_SIZES = (64, 128, 256)
"""Pixels of the longer side of a stored logo."""

MAX_LOGO_SIZE = 2 * 1024 * 1024
"""Bytes of the file that a manifest names as its logo."""

LOGO_NAME_LENGTH = 32
"""Random letters and digits, so that a new logo has a new URL."""

_LOGO_FILE = re.compile(r"([A-Za-z0-9]{32})(?:-([1-9][0-9]{1,2})\.webp|\.png)")


def nearest_logo_size(requested: int | None) -> int:
    """Return the smallest size with ``requested`` pixels or more; the largest for ``None``."""
    enough = (size for size in LOGO_SIZES if requested and size >= requested)
    return next(enough, LOGO_SIZES[-1])


def logo_path(name: str, size: int | None) -> str:
    """Return where the logo ``name`` is served: as WebP of that size, or as PNG."""
    return f"/media/apps/{name}.png" if size is None else f"/media/apps/{name}-{size}.webp"


def read_logo_file(file: str) -> tuple[str, int] | None:
    """Return name and size, 0 for the PNG, in the last part of a URL; ``None`` if it is none."""
    found = _LOGO_FILE.fullmatch(file)
    if found is None or (found[2] and int(found[2]) not in LOGO_SIZES):
        return None
    return found[1], int(found[2] or 0)


MAX_PROBLEMS = 100
"""Problems that are kept of an app: a new one replaces that which was updated longest ago."""

PROBLEM_KEY_LENGTHS = (3, 128)
MAX_PROBLEM_LENGTH = 2048
DEFAULT_AGGREGATION = 60
_MAX_AGGREGATION = 366 * 24 * 60


@dataclass(frozen=True, slots=True)
class ProblemReport:
    """What an app says of a problem of its own.

    Reports with the same ``key`` are counted as one problem while the last was at most
    ``aggregation_minutes`` ago; with 0 each is a problem. It is critical from
    ``critical_threshold`` reports on.
    """

    key: str
    message: str
    critical_threshold: int | None = None
    aggregation_minutes: int = DEFAULT_AGGREGATION

    @property
    def shown_message(self) -> str:
        """The message, its end cut off if it is too long."""
        if len(self.message) <= MAX_PROBLEM_LENGTH:
            return self.message
        return f"{self.message[: MAX_PROBLEM_LENGTH - 3]}..."

    @property
    def aggregation(self) -> timedelta:
        return timedelta(minutes=min(self.aggregation_minutes, _MAX_AGGREGATION))

    def is_critical(self, count: int) -> bool:
        """Whether so many reports make it critical."""
        return self.critical_threshold is not None and count >= self.critical_threshold

    def problems(self) -> Iterator[Problem]:
        """Yield what is wrong with the report: INVALID on its fields."""
        shortest, longest = PROBLEM_KEY_LENGTHS
        for name, text, most in (
            ("key", self.key, longest),
            ("message", self.shown_message, MAX_PROBLEM_LENGTH),
        ):
            if len(text) < shortest:
                message = "Use at least {least} characters."
                yield Problem("INVALID", message, name, values={"least": shortest})
            problem = prose_problem(text, name, max_length=most)
            if problem is not None:
                yield problem
        if self.critical_threshold is not None and self.critical_threshold < 1:
            yield Problem("INVALID", "Enter a number from 1 on.", "criticalThreshold")
        if self.aggregation_minutes < 0:
            yield Problem("INVALID", "Enter a number from 0 on.", "aggregationPeriod")


@dataclass(frozen=True, slots=True)
class AppProblem:
    """A problem that an app reported about itself, ``count`` times.

    ``dismissed_by`` is the email of the person who dismissed it, "" if the app did, ``None`` while
    it isn't dismissed; ``dismissed_by_id`` is their key while the account exists.
    """

    id: int
    app_id: int
    key: str
    message: str
    count: int
    is_critical: bool
    created_at: datetime
    updated_at: datetime
    dismissed_by: str | None = None
    dismissed_by_id: int | None = None


@dataclass(frozen=True, slots=True)
class AppToken:
    """An app's token, without its secret.

    ``expires_at`` is ``None`` for no expiry, ``permissions`` for all of the app's, ``replaced_at``
    if it wasn't rotated. ``awaits_first_use`` if it was imported from another installation and
    hasn't been used here yet. ``is_by_client`` if an OAuth client got it for the app.
    """

    id: int
    app_id: int
    name: str
    last_four: str
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    last_used_address: str = ""
    permissions: frozenset[Permission] | None = None
    replaced_at: datetime | None = None
    awaits_first_use: bool = False
    is_by_client: bool = False


def count_long_lived(tokens: Iterable[AppToken], now: datetime) -> int:
    """Return how many of ``tokens`` an app refuses that allows only client credentials."""
    return sum(
        not one.is_by_client and (one.expires_at is None or one.expires_at > now) for one in tokens
    )


@dataclass(frozen=True, slots=True)
class NewAppToken:
    """A new token; ``secret`` is shown once."""

    token: AppToken
    secret: str = field(repr=False)


def grantable_problem(
    permissions: Iterable[Permission], field: str = "permissions"
) -> Problem | None:
    """Return why no app can hold ``permissions``, or ``None``."""
    if Permission.MANAGE_APPS not in permissions:
        return None
    message = "Apps can't have MANAGE_APPS."
    return Problem(
        "OUT_OF_SCOPE_PERMISSION", message, field, permissions=(Permission.MANAGE_APPS,)
    )


def token_permissions(
    granted: frozenset[Permission], narrowed: frozenset[Permission] | None
) -> frozenset[Permission]:
    """Return a token's permissions: those ``granted`` to its app, within the token's limit."""
    return granted if narrowed is None else granted & narrowed


def narrowing_problem(
    granted: frozenset[Permission], narrowed: frozenset[Permission] | None
) -> Problem | None:
    """Return why a token of an app that is ``granted`` so much cannot be made for ``narrowed``."""
    beyond = tuple(sorted(permission.value for permission in (narrowed or frozenset()) - granted))
    if not beyond:
        return None
    message = "The app doesn't have {beyond}."
    return Problem(
        "INVALID_PERMISSION",
        message,
        "permissions",
        permissions=beyond,
        values={"beyond": ", ".join(beyond)},
    )


def expiry_problem(expires_at: datetime | None, now: datetime) -> Problem | None:
    """Return why a token made now cannot end at ``expires_at``, or ``None``."""
    if expires_at is None:
        return None
    if expires_at <= now:
        return Problem("INVALID", "Must be in the future.", "expiresAt")
    if expires_at > now + MAX_LIFETIME:
        message = "Must be within 100 years."
        return Problem("INVALID", message, "expiresAt")
    return None


def overlap_problem(overlap: timedelta) -> Problem | None:
    """Return why a rotated token cannot go on for ``overlap``, or ``None``."""
    if timedelta(0) <= overlap <= MAX_OVERLAP:
        return None
    message = "Must be between 0 and {total_seconds} seconds."
    return Problem(
        "INVALID",
        message,
        "overlapSeconds",
        values={"total_seconds": int(MAX_OVERLAP.total_seconds())},
    )


def rotation_problem(token: AppToken, now: datetime) -> Problem | None:
    """Return why nothing can take the place of ``token`` now, or ``None``."""
    if token.is_by_client:
        message = "An OAuth client got this token. It gets the next one with its secret or keys."
        return Problem("INVALID", message, "id")
    if token.replaced_at is not None:
        return Problem("INVALID", "This token was already rotated.", "id")
    if token.expires_at is not None and token.expires_at <= now:
        return Problem("INVALID", "This token has expired. Create a new one.", "id")
    return None


def rotated_end(token: AppToken, now: datetime, overlap: timedelta) -> datetime:
    """Return when ``token`` ends that is replaced now: after ``overlap``, or sooner by itself."""
    end = now + overlap
    return end if token.expires_at is None else min(end, token.expires_at)


def successor_end(token: AppToken, now: datetime) -> datetime | None:
    """When the token ends that replaces ``token`` now: it is good for as long as that one was."""
    return None if token.expires_at is None else now + (token.expires_at - token.created_at)


TOKEN_PREFIX = "lkapp_"
"""What secret scanners look for."""

TOKEN_RANDOM_LENGTH = 37
"""Letters and digits: 220 random bits."""

_CHECKSUM_LENGTH = 6
_ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase
_FOREIGN_FORM = re.compile(r"[0-9A-Za-z._~+/-]{4,255}={0,2}")
_FORM = re.compile(
    rf"{TOKEN_PREFIX}([0-9A-Za-z]{{{TOKEN_RANDOM_LENGTH}}})([0-9A-Za-z]{{{_CHECKSUM_LENGTH}}})"
)


def make_app_token(random: str) -> str:
    """The token around ``random``, which is ``TOKEN_RANDOM_LENGTH`` random letters and digits."""
    token = f"{TOKEN_PREFIX}{random}{_token_checksum(random)}"
    if not is_app_token(token):
        raise ValueError(f"an app token needs {TOKEN_RANDOM_LENGTH} random letters and digits")
    return token


def is_app_token(text: str) -> bool:
    """Whether ``text`` has the form of an app token, its checksum included.

    Scanners can recognize such tokens in logs and repositories without asking us.
    """
    match = _FORM.fullmatch(text)
    return match is not None and _token_checksum(match[1]) == match[2]


def has_foreign_form(text: str) -> bool:
    """Whether ``text`` can be an app token of another installation: a bearer token (RFC 6750).

    Signed tokens, and texts that begin like Latchkey's app tokens, can't.
    """
    is_signed = text.count(".") == 2  # noqa: PLR2004 - header, claims, signature
    return (
        not is_signed and not text.startswith(TOKEN_PREFIX) and bool(_FOREIGN_FORM.fullmatch(text))
    )


def token_digest(token: str) -> str:
    """Return the stored form: SHA-256 in hex, without salt for 220 random bits."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def last_four(token: str) -> str:
    """Return the end of a token, which distinguishes it for people."""
    return token[-4:]


def _token_checksum(random: str) -> str:
    number = zlib.crc32(random.encode("utf-8", "surrogatepass"))
    digits = ""
    for _ in range(_CHECKSUM_LENGTH):
        number, digit = divmod(number, len(_ALPHABET))
        digits = _ALPHABET[digit] + digits
    return digits


APP_PAGE = "APP_PAGE"
"""The target that stays inside the dashboard's page of the app: its ``url`` is a path there."""

DEFAULT_TARGET = "POPUP"

EXTENSION_TOKEN_LIFETIME = 300
"""Seconds (contract, "What existing clients hold us to")."""


@dataclass(frozen=True, slots=True)
class Extension:
    """An entry in the dashboard: ``mount`` says where, ``target`` how it opens.

    ``url`` is the app's text, ``address`` the URL to open. A user needs ``permissions`` to see it;
    ``settings`` are passed to the dashboard.
    """

    id: int
    app: App
    label: str
    url: str
    mount: str
    target: str
    identifier: str
    permissions: frozenset[Permission]
    settings: Mapping[str, object]

    @property
    def address(self) -> str:
        """``url``, a path taken relative to ``appUrl`` unless the dashboard does that itself."""
        return extension_address(self.url, self.target, self.app.app_url)


def extension_address(url: str, target: str, app_url: str) -> str:
    """Return the URL that an extension of the app at ``app_url`` opens."""
    if target == APP_PAGE or not is_path(url):
        return url
    return url_below(app_url, url)


def extension_claims(app: App, user_permissions: frozenset[Permission]) -> dict[str, object]:
    """Return the claims of an extension's token besides those of an access token.

    The permissions are for the app's back end; this service computes them at every request.
    """
    both = user_permissions & extension_permissions(app.permissions)
    claims: dict[str, object] = {
        "app": to_global_id("App", app.id),
        "permissions": [permission.value for permission in in_order(both)],
        "user_permissions": [permission.value for permission in in_order(user_permissions)],
    }
    return claims | ({"aud": f"custom:{app.audience}"} if app.audience else {})


def is_older_than_app(claims: Claims, app_created: float) -> bool:
    """Whether a token was issued before the app it names was created (Unix seconds)."""
    return claims.iat + CLOCK_LEEWAY < app_created


def extension_permissions(granted: frozenset[Permission]) -> frozenset[Permission]:
    """Return the app's permissions that its extensions can use for a user who holds them too.

    Without MANAGE_APPS, which is for people only, even if the app was granted it before that was
    refused.
    """
    return granted - {Permission.MANAGE_APPS}


MAX_INSTALLATION_ATTEMPTS = 3
"""How often an installation is begun whose worker died in the middle of it."""

MAX_MESSAGE_LENGTH = 1000
MAX_ANSWER_LENGTH = 200


class JobStatus(StrEnum):
    """The status of a job; successful installations are no longer listed."""

    PENDING = "PENDING"
    SUCCESS = "SUCCESS"
    FAILED = "FAILED"
    DELETED = "DELETED"


@dataclass(frozen=True, slots=True)
class Installation:
    """A requested app; ``message`` is the app's own reason for a failure."""

    id: int
    app_name: str
    manifest_url: str
    status: JobStatus
    message: str
    permissions: frozenset[Permission]
    activate: bool
    created_at: datetime
    updated_at: datetime
    logo: str = ""


def refusal_in(response: Mapping[str, object], *, good: bool) -> str | None:
    """Return why an app refuses to be installed, or ``None`` when it does not.

    ``response`` is the JSON of its token target, empty for none; ``good`` whether the status was
    2xx. ``success: false`` refuses with any status (contract, "What existing clients hold
    us to": the message is ``error.message``).
    """
    if good and response.get("success") is not False:
        return None
    error = response.get("error")
    message = error.get("message") if isinstance(error, Mapping) else None
    return shown_message(message) if isinstance(message, str) and message.strip() else ""


def plain_answer(answer: str) -> str:
    """Return what an app answered in plain text, on one line and shortened; empty for HTML."""
    if answer.lstrip().startswith("<"):
        return ""
    line = shown_message(answer)
    return line if len(line) <= MAX_ANSWER_LENGTH else f"{line[: MAX_ANSWER_LENGTH - 1]}…"


def shown_message(message: str) -> str:
    """Return a foreign message on one line, fit to be stored and shown."""
    plain = "".join(
        character if character.isprintable() else " "
        for character in message
        if is_storable(character)
    )
    return " ".join(plain.split())[:MAX_MESSAGE_LENGTH]
