"""Turn the single sign-on subjects that a platform keeps in metadata into linked accounts."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from app.domain.imports.findings import Converted, Finding, Outcome
from app.domain.imports.fitting import SourceRow
from app.domain.single_sign_on.provider_tokens import ProviderTokenRejected, read_subject

USERS = "account_user"
METADATA = "private_metadata"
KEY_PREFIX = "oidc:"
"""What the keys of private metadata begin with that hold a subject."""


@dataclass(frozen=True, slots=True)
class ImportedIdentity:
    """A person's subject at the imported provider.

    ``is_verified`` is whether the platform trusts the account that it linked. An account that was
    never confirmed may have been registered by another person, so its identity doesn't survive the
    confirmation of the email (``app/services/identity/account_trust.py``).
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
        row.add(
            "SUBJECT_INVALID",
            Outcome.LEFT_OUT,
            "The SSO subject isn't a text of 1 to 255 printable characters. It was left out.",
        )
        return Converted(None, tuple(row.findings))
    if subject in shared:
        row.add(
            "SUBJECT_SHARED",
            Outcome.LEFT_OUT,
            "Several people have the SSO subject {subject}. It was linked to none of them.",
            subject=subject,
        )
        return Converted(None, tuple(row.findings))
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
