"""Turn Saleor's OpenID Connect plugin into an identity provider with linked accounts.

Saleor keeps the subjects of linked accounts in their metadata.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from app.domain.imports.fitting import SourceRow, listed
from app.domain.imports.runs import Converted, Finding, Outcome
from app.domain.single_sign_on.provider_settings import (
    SETTINGS,
    Setting,
    activation_problems,
    read_setting,
)
from app.domain.single_sign_on.provider_tokens import ProviderTokenRejected, read_subject
from app.domain.single_sign_on.providers import DEFAULT_SLUG, Provider
from app.domain.values.errors import Problem
from app.domain.values.installation import PLATFORM
from app.domain.values.text_rules import MAX_NAME_LENGTH

PLUGINS = "plugins_pluginconfiguration"
PLUGIN = "mirumee.authentication.openidconnect"

_OURS = frozenset(
    (
        "issuer",
        "trust_emails",
        "scope_prefix",
        "second_factor_amr",
        "second_factor_acr",
        "subject_claim",
        "groups_claim",
        "group_mapping",
    )
)
"""Settings that the platform doesn't have."""

_BY_NAME: Mapping[str, Setting] = {
    setting.name: setting for setting in SETTINGS if setting.name not in _OURS
}
PROVIDER_SETTINGS = (*_BY_NAME, "scope_prefix")
"""What the import sets."""


@dataclass(frozen=True, slots=True)
class ImportedProvider:
    """The settings of the default provider by column; ``client_secret`` is in plain text."""

    id: int
    name: str
    active: bool
    settings: Mapping[str, str | bool] = field(default_factory=dict, repr=False)

    @property
    def authorization_url(self) -> str:
        return str(self.settings["oauth_authorization_url"])

    @property
    def works(self) -> bool:
        """Whether people can sign in with it, or its access tokens are accepted."""
        provider = as_provider(self)
        return self.active and (provider.signs_in or provider.takes_tokens)


@dataclass(frozen=True, slots=True)
class DefaultGroup:
    """The source's group that new staff join, ``None`` where there is none of that name."""

    is_restricted: bool | None = None


def choose_plugin(rows: Iterable[Mapping[str, object]]) -> int | None:
    """Return the ID of the row that becomes the provider: an active one, for all channels."""
    ranked = sorted(rows, key=_rank)
    return SourceRow(PLUGINS, ranked[0]).key if ranked else None


def _rank(row: Mapping[str, object]) -> tuple[bool, bool, int]:
    return not row["active"], row.get("channel_id") is not None, SourceRow(PLUGINS, row).key


def default_group_name(source: Mapping[str, object]) -> str:
    """Return the name of the group that new staff join, as the plugin has it."""
    value = _configuration(source).get("default_group_name_for_new_staff_users")
    return "" if value is None else str(value).strip()


def stated_authorization_url(source: Mapping[str, object]) -> str:
    """Return the authorization URL as the plugin has it: it names people's subjects."""
    value = _configuration(source).get("oauth_authorization_url")
    return value if isinstance(value, str) else ""


def convert_provider(
    source: Mapping[str, object], *, is_chosen: bool, group: DefaultGroup
) -> Converted[ImportedProvider]:
    """Return the provider in a row of ``plugins_pluginconfiguration``.

    ``group`` is what the source knows about ``default_group_name``.
    """
    row = SourceRow(PLUGINS, source)
    if not is_chosen:
        return row.refused(
            "PROVIDER_NOT_CHOSEN",
            "The plugin has several configurations. Another one was imported.",
        )
    settings = _read_settings(row)
    _settle_group(row, settings, group)
    name = row.line("name", max_length=MAX_NAME_LENGTH) or "OpenID Connect"
    wanted = ImportedProvider(row.key, name, row.flag("active"), settings)
    provider = _activated(row, wanted)
    if provider.settings["use_oauth_scope_permissions"] and not provider.settings["audience"]:
        row.add(
            "PROVIDER_WITHOUT_AUDIENCE",
            Outcome.IMPORTED,
            "Scopes grant permissions, but no audience is set. Scopes of clients' access tokens"
            " grant nothing here until it is.",
        )
    return row.converted(provider)


def not_imported(plugin_id: int) -> Finding:
    """Return the finding for a plugin whose place here has another provider."""
    return Finding(
        PLUGINS,
        plugin_id,
        "PROVIDER_SET_UP_HERE",
        "The default provider was already set up here. Its settings were kept, and no accounts"
        " were linked.",
        Outcome.KEPT,
    )


def provider_differs(plugin_id: int) -> Finding:
    """Return the finding for linked accounts of a provider that isn't here."""
    return Finding(
        PLUGINS,
        plugin_id,
        "PROVIDER_DIFFERS",
        "The default provider here has another authorization URL. No accounts were linked, because"
        " its subjects can be other people's.",
        Outcome.LEFT_OUT,
    )


def as_provider(imported: ImportedProvider) -> Provider:
    """Return ``imported`` as the default provider."""
    values: dict[str, Any] = dict(imported.settings)
    return Provider(0, DEFAULT_SLUG, imported.name, active=imported.active, **values)


def _activated(row: SourceRow, provider: ImportedProvider) -> ImportedProvider:
    problems = activation_problems(as_provider(provider))
    if not problems:
        return provider
    row.add(
        "PROVIDER_INCOMPLETE",
        Outcome.DISABLED,
        "Settings are missing: {names}.",
        names=listed(problem.field or "" for problem in problems),
    )
    return replace(provider, active=False)


def _configuration(source: Mapping[str, object]) -> dict[str, object]:
    stored = source.get("configuration")
    entries: Sequence[object] = stored if isinstance(stored, list) else ()
    return {
        str(entry["name"]): entry.get("value")
        for entry in entries
        if isinstance(entry, Mapping) and "name" in entry
    }


def _read_settings(row: SourceRow) -> dict[str, str | bool]:
    stored = _configuration(row.values)
    settings: dict[str, str | bool] = {}
    for name in _BY_NAME:
        value = read_setting(name, _text(stored.get(name)))
        if isinstance(value, Problem):
            _refuse(row, name, value)
            value = read_setting(name, None)
        # A secret of asterisks reads as "keep the secret", and there is none.
        settings[name] = value if isinstance(value, (str, bool)) else ""
    unknown = sorted(name for name in stored.keys() - _BY_NAME.keys() if stored[name])
    if unknown:
        row.add(
            "PROVIDER_SETTING_UNKNOWN",
            Outcome.LEFT_OUT,
            "Providers have no settings named {names} here.",
            names=listed(unknown),
        )
    settings["scope_prefix"] = PLATFORM
    return settings


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _refuse(row: SourceRow, name: str, problem: Problem) -> None:
    row.add(
        "PROVIDER_SETTING_REFUSED",
        Outcome.LEFT_OUT,
        "{name} isn't imported. {reason}",
        name=name,
        reason=problem.message,
    )


def _settle_group(row: SourceRow, settings: dict[str, str | bool], group: DefaultGroup) -> None:
    name = settings["default_group_name_for_new_staff_users"]
    if not name:
        return
    if group.is_restricted is None:
        row.add(
            "DEFAULT_GROUP_MISSING",
            Outcome.IMPORTED,
            "New staff join the group {group}, which doesn't exist. The first sign-in of new staff"
            " creates it without permissions.",
            group=name,
        )
    elif group.is_restricted:
        settings["default_group_name_for_new_staff_users"] = ""
        row.add(
            "DEFAULT_GROUP_RESTRICTED",
            Outcome.LEFT_OUT,
            "New staff joined the group {group}, which is restricted to channels. Here they join"
            " no group, because its permissions would reach further.",
            group=name,
        )


USERS = "account_user"
METADATA = "private_metadata"
KEY_PREFIX = "oidc:"
"""What the keys of private metadata begin with that hold a subject."""


@dataclass(frozen=True, slots=True)
class ImportedIdentity:
    """A person's subject at the imported provider.

    ``is_verified`` is whether the platform trusts the account that it linked. An account that was
    never confirmed may have been registered by another person, so its identity doesn't survive the
    confirmation of the email (``app/services/identity/users.py``).
    """

    user_id: int
    subject: str
    is_verified: bool


def subject_key(authorization_url: str) -> str:
    """Return the key of private metadata under which the platform keeps a person's subject."""
    return f"{KEY_PREFIX}{authorization_url}"


def has_subject(metadata: object, key: str) -> bool:
    """Return whether a person's private metadata hold a subject under ``key``."""
    return isinstance(metadata, Mapping) and key in metadata


def convert_identity(
    source: Mapping[str, object], key: str, shared: Collection[str]
) -> Converted[ImportedIdentity]:
    """Return the identity in a row of ``account_user``, whose metadata have ``key``.

    ``shared`` are the subjects that several people have: none of them gets one, because the
    platform doesn't say whose it is.
    """
    row = SourceRow(USERS, source)
    metadata = source[METADATA]
    value = metadata.get(key) if isinstance(metadata, Mapping) else None
    try:
        subject = read_subject(value)
    except ProviderTokenRejected:
        return row.refused(
            "SUBJECT_INVALID",
            "The SSO subject isn't a text of 1 to 255 printable characters. It was left out.",
        )
    if subject in shared:
        return row.refused(
            "SUBJECT_SHARED",
            "Several people have the SSO subject {subject}. It was linked to none of them.",
            subject=subject,
        )
    is_verified = row.flag("is_confirmed") or row.flag("is_staff")
    return Converted(ImportedIdentity(row.key, subject, is_verified))


def other_subjects(key: str, count: int) -> Finding:
    """Return the finding for subjects under another authorization URL."""
    return Finding(
        USERS,
        key,
        "SUBJECT_OF_OTHER_PROVIDER",
        "Private metadata have SSO subjects under this key ({count}), which isn't the plugin's."
        " They stay in the metadata, and no accounts were linked.",
        Outcome.IMPORTED,
        {"count": count},
    )


def subject_taken(user_id: int, holder: int) -> Finding:
    """Return the finding for a subject that another account here is linked to."""
    return Finding(
        USERS,
        user_id,
        "SUBJECT_TAKEN",
        "User {holder} here is linked to the same SSO subject. No account was linked.",
        Outcome.LEFT_OUT,
        {"holder": holder},
    )


def user_missing(user_id: int) -> Finding:
    """Return the finding for a subject of a person who isn't here."""
    template = "The person isn't here, so no account was linked."
    return Finding(USERS, user_id, "SUBJECT_WITHOUT_USER", template, Outcome.LEFT_OUT)
