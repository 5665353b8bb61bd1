"""Runs of an import: what one is asked for, its findings, and what to do about each.

Digests tell whether a row changed at the source, or was edited here, since the last run.
"""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import Generic, TypeVar

from app.domain.values.text import text

DEFAULT_RESERVE = 100_000
"""IDs above the source's highest that are kept free for it until the import is finished."""

DEFAULT_BATCH = 2_000
"""Rows that are written in one transaction."""


class ImportKind(StrEnum):
    """Where rows come from."""

    PLATFORM = "PLATFORM"
    FILE = "FILE"


class Part(StrEnum):
    """What ``--only`` can choose."""

    PEOPLE = "people"
    STAFF = "staff"
    APPS = "apps"
    WEBHOOKS = "webhooks"
    SETTINGS = "settings"
    SSO = "sso"


NEEDS: Mapping[Part, Part] = {Part.WEBHOOKS: Part.APPS}
"""The part that another can't be imported without."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What a run does: ``dry_run`` writes nothing; ``media`` is the source's media folder.

    ``source`` is the name under which the source was imported before, if it is another one now.
    ``allow_removals``: also if most of what was imported is gone from the source.
    """

    parts: frozenset[Part] = frozenset(Part)
    dry_run: bool = False
    batch: int = DEFAULT_BATCH
    reserve: int = DEFAULT_RESERVE
    media: Path | None = None
    source: str = ""
    allow_removals: bool = False


@dataclass(slots=True)
class Counts:
    """How many rows of one kind were read, and what became of them."""

    kind: str
    title: str
    read: int = 0
    created: int = 0
    updated: int = 0
    unchanged: int = 0
    removed: int = 0
    kept: int = 0
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class RunReport:
    """What a run did; its findings went to the caller one by one."""

    source: str
    release: str
    dry_run: bool
    counts: tuple[Counts, ...] = ()
    findings: Mapping[str, int] = field(default_factory=dict)


Value = TypeVar("Value")


class Outcome(StrEnum):
    """What was done with a row, or with the part of it that doesn't fit."""

    LEFT_OUT = "LEFT_OUT"
    """Nothing of the row was imported, or the named part of it wasn't."""
    CHANGED = "CHANGED"
    """Imported with another value, for example a shorter name."""
    DISABLED = "DISABLED"
    """Imported, but disabled."""
    NO_EFFECT = "NO_EFFECT"
    """Imported as it is, but the named part has no effect here."""
    MUST_RESET = "MUST_RESET"
    """Imported without the password: the person must set a new one."""
    IMPORTED = "IMPORTED"
    """Imported as it is, but it needs attention."""
    KEPT = "KEPT"
    """It changed both at the source and here since the last import; the one here was kept."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A row of the source that doesn't fit: which one, why, and what was done.

    ``table`` and ``key`` name it at the source (a file: its name and the line). ``code`` is
    stable, for programs (``PERMISSION_UNKNOWN``). ``template`` is the sentence, with the names of
    ``values`` in braces; ``plural`` is its plural form, for a value named ``count``. No secret may
    be in it. ``name`` is the email of the person, or the name of the app or webhook, that the row
    is or belongs to; empty where there is none.
    """

    table: str
    key: int | str
    code: str
    template: str
    outcome: Outcome
    values: Mapping[str, object] = field(default_factory=dict, hash=False)
    name: str = ""
    plural: str = ""

    @property
    def reason(self) -> str:
        """The whole sentence."""
        return text(self.template, self.plural, **self.values)


_MAX_NAME = 100
_NAMING = ("email", "name", "label", "identifier", "slug", "domain")
"""The columns that name a row of the source, the best first."""


def naming_columns(columns: Collection[str]) -> tuple[str, ...]:
    """Return those of a table's ``columns`` that name its rows."""
    return tuple(name for name in _NAMING if name in columns)


def name_of(values: Mapping[str, object]) -> str:
    """Return what the row with these ``values`` is called; empty if it has no name."""
    found = (values.get(column) for column in _NAMING)
    return next((name[:_MAX_NAME] for name in found if isinstance(name, str) and name), "")


@dataclass(frozen=True, slots=True)
class Converted(Generic[Value]):
    """A row as it is to be imported, ``None`` if it is left out, and what didn't fit."""

    value: Value | None
    findings: tuple[Finding, ...] = ()


REMEDIES: Mapping[str, str] = {
    # any row
    "TOO_LONG": "Check the shortened text here.",
    "CHARACTERS_NOT_ALLOWED": "Check the changed text here.",
    "URL_INVALID": "Enter the right URL here, if it is used.",
    "METADATA_INVALID": "Store the values elsewhere. Metadata here are texts.",
    "METADATA_LARGE": "Delete keys that aren't used: until then, none can be set.",
    "PERMISSION_UNKNOWN": (
        "No action needed if the permission isn't used here. No other one was granted instead."
    ),
    "PERMISSION_OF_DJANGO": "No action needed. It was never a permission of the API.",
    "EDITED_HERE": "Compare both, and change the one here if the source is right.",
    "REMOVED": "No action needed. It was removed here as it was at the source.",
    "REMOVED_AND_EDITED": "Delete it here if it isn't needed.",
    # people and groups
    "EMAIL_INVALID": "Correct the email at the source and import again.",
    "EMAIL_TAKEN": (
        "Decide which account stays, change the other one's email at the source and import again."
    ),
    "REFERENCE_TAKEN": (
        "Decide who has the external reference. Correct it at the source and import again, or "
        "enter it here."
    ),
    "NAME_MISSING": "Rename the group here.",
    "GROUP_NAME_TAKEN": "Rename one of the groups at the source and import again.",
    "GROUP_RESTRICTED": "Add members only if the group's permissions can apply to the whole shop.",
    "MEMBERSHIP_RESTRICTED": (
        "Add the person to a group whose permissions can apply to the whole shop."
    ),
    "CUSTOMER_WITH_PERMISSIONS": (
        "No action needed if the person is a customer. Otherwise make them staff here."
    ),
    "LANGUAGE_UNKNOWN": "No action needed. Emails to the person are in the language named.",
    "DATE_MISSING": "No action needed.",
    # passwords
    "PASSWORD_WEAK": (
        "The person sets a new password. Send a link with `passwordReset`, or wait for "
        "them to ask."
    ),
    "PASSWORD_TOO_COSTLY": "As for `PASSWORD_WEAK`.",
    "PASSWORD_TOO_LONG": "As for `PASSWORD_WEAK`.",
    "PASSWORD_MALFORMED": "As for `PASSWORD_WEAK`.",
    "PASSWORD_UNKNOWN_FORMAT": "As for `PASSWORD_WEAK`.",
    "PASSWORD_EXPIRED": "As for `PASSWORD_WEAK`.",
    "PASSWORD_CHANGED": "No action needed. The newer password of the person, set here, works.",
    # addresses and avatars
    "ADDRESS_WITHOUT_OWNER": "No action needed. People don't have these addresses.",
    "ADDRESS_SHARED": "No action needed. Each person has a copy with another ID.",
    "DEFAULT_OF_OTHER": "Add the address to the person here, if it is theirs.",
    "OWNER_LEFT_OUT": "As for the person who was left out.",
    "COUNTRY_INVALID": "Enter the country here.",
    "DEFAULT_TAKEN": "No action needed. The person chose another default address here.",
    "AVATARS_SKIPPED": "Import again with `--media`.",
    "AVATAR_UNUSABLE": "No action needed. The person can upload an image again.",
    "AVATAR_SET_HERE": "No action needed. The person uploaded an image here.",
    # apps
    "APP_REMOVED": "No action needed. The app was gone at the source, too.",
    "APP_MISSING": "No action needed if the app was deleted here. Otherwise import apps first.",
    "APP_TYPE_UNKNOWN": "Check the app here.",
    "APP_NOT_INSTALLED": "Activate the app here if it works, or delete it and install it again.",
    "NAME_EMPTY": "Rename the app here.",
    "COLUMN_NOT_SUPPORTED": "No action needed if the app works without.",
    "IDENTIFIER_TAKEN": "Delete the one that isn't used.",
    "PERMISSION_NOT_FOR_APPS": "Let staff do what the app did with it.",
    "TOKEN_HASH_UNSUPPORTED": "Create a new token, and configure the app with it.",
    "TOKEN_WITHOUT_LAST_FOUR": "Create a new token, and configure the app with it.",
    "EXTENSION_URL_INVALID": "Install the app again once its manifest is corrected.",
    "EXTENSION_PLACE_INVALID": "No action needed. Dashboards don't show it there.",
    "SETTINGS_INVALID": "Install the app again once its manifest is corrected.",
    # webhooks
    "TARGET_URL_INVALID": "Correct it at the source and import again, or create the webhook here.",
    "TARGET_SCHEME_UNSUPPORTED": "Create a webhook here that sends the events to an https URL.",
    "TARGET_PRIVATE": (
        "List its network in `OUTGOING_ALLOWED_NETWORKS`, then enable the webhook."
    ),
    "FILTERED_BY_CHANNEL": "Enable it if it can receive the events of all channels.",
    "EVENT_NOT_SUPPORTED": "No action needed if other events suffice.",
    "EVENT_NOT_PERMITTED": "Grant the app the permission. Apps can't have MANAGE_APPS.",
    "NO_EVENT_LEFT": "Subscribe it to events that are sent here, then enable it.",
    "QUERY_REFUSED": "Correct the subscription query, then enable the webhook.",
    "HEADER_REFUSED": "No action needed if the endpoint works without the headers.",
    # settings
    "SETTING_REFUSED": (
        "Set it here. For a URL, list its host in `ALLOWED_CLIENT_HOSTS` and import again."
    ),
    "NO_PLACE": "Keep the data elsewhere.",
    "SITE_NOT_CHOSEN": "Check that the imported settings are those of your site.",
    "LOGIN_MODE_LOCKS_OUT": (
        "Set up SSO for staff before the switch, or run `flask shop set "
        "password-login-mode ENABLED`."
    ),
    # single sign-on
    "PROVIDER_NOT_CHOSEN": "Check that the imported configuration is the right one.",
    "PROVIDER_SETTING_REFUSED": "Correct it with `flask oidc set`.",
    "PROVIDER_SETTING_UNKNOWN": "No action needed.",
    "PROVIDER_INCOMPLETE": (
        "Set what is missing with `flask oidc set`, then `flask oidc set active true`."
    ),
    "PROVIDER_WITHOUT_AUDIENCE": (
        "`flask oidc set audience …`, if storefronts send the provider's access tokens."
    ),
    "PROVIDER_SET_UP_HERE": (
        "Clear the settings here and import again, if the plugin's provider is to take its place."
    ),
    "PROVIDER_DIFFERS": "Set `oauth_authorization_url` back to the plugin's, and import again.",
    "DEFAULT_GROUP_MISSING": "Create the group with its permissions, or clear the setting.",
    "DEFAULT_GROUP_RESTRICTED": "Choose another group with `flask oidc set`.",
    "SUBJECT_INVALID": "No action needed. The person is linked by email at the next SSO sign-in.",
    "SUBJECT_SHARED": (
        "Find out whose subject it is, remove it from the others at the source and import again."
    ),
    "SUBJECT_TAKEN": "Compare the two accounts. Delete the one that was created by mistake.",
    "SUBJECT_WITHOUT_USER": "Import people first, then `--only sso`.",
    "SUBJECT_OF_OTHER_PROVIDER": "Delete the metadata if the provider is no longer used.",
    # files
    "COLUMN_UNKNOWN": "Rename the column if it holds something that can be imported.",
    "STATE_COLUMN_UNKNOWN": (
        "If it says who can't sign in, rename it to `is_active`, `disabled` or `is_confirmed`. "
        "Otherwise no action needed."
    ),
    "STATE_UNKNOWN": (
        "Rename the column to `is_active` or `disabled`, or remove it if it says something else, "
        "and import again."
    ),
    "VALUE_INVALID": "Correct the value in the file and import again.",
    "ROW_MALFORMED": "Correct the line in the file and import again.",
    "ROW_SHORT": "Check that nothing is missing in the line.",
    "LINE_REPEATED": "Decide which line is right, and remove the other.",
    "STAFF_NOT_WANTED": "Import again with `--staff` if the person is staff.",
    "GROUP_UNKNOWN": "Create the group, then add the person to it.",
    "CHANGED_IN_FILE": "Change the row here if the file is right.",
    "NAME_UNKNOWN": "No action needed if this version doesn't have the permission or event.",
    "TAKEN": "Decide which row stays. Change or delete the other one, and import again.",
    "OWNER_MISSING": "Import what the row belongs to first.",
    "PASSWORD_WITHHELD": "Export with `--with-secrets`, or let the person set a new password.",
    "METADATA_WITHHELD": (
        "Export with `--with-secrets`, or let the app store again what it keeps there."
    ),
    "SECRET_WITHHELD": (
        "Set the secret here, then enable it. Or export with `--with-secrets` and import into an "
        "empty shop."
    ),
}
"""In the order in which they are explained; backquotes are for the documentation."""

DIGEST_LENGTH = 32


def digest_of(state: Mapping[str, object]) -> str:
    """Return the first 128 bits of the SHA-256 of ``state``, in hex.

    Its values are texts, numbers, switches, moments, and lists and objects of these.
    """
    written = json.dumps(state, sort_keys=True, separators=(",", ":"), default=_moment)
    return digest_of_text(written)


def digest_of_text(text: str) -> str:
    """Return the first 128 bits of the SHA-256 of ``text``, in hex."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:DIGEST_LENGTH]


def _moment(value: object) -> str:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    raise TypeError(f"A {type(value).__name__} can't be in a digest.")
