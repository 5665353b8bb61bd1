"""Read a provider's claims about a person, from which an account is created, and preview it."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from app.domain.accounts.emails import email_problem, normalize_email
from app.domain.accounts.users import name_problems
from app.domain.authorization.permissions import Permission
from app.domain.single_sign_on.group_mapping import groups_of_claims, has_claim
from app.domain.single_sign_on.provider_tokens import ProviderTokenRejected, read_subject
from app.domain.single_sign_on.providers import Provider
from app.domain.values.text import translatable
from app.domain.values.text_rules import MAX_NAME_LENGTH


@dataclass(frozen=True, slots=True)
class ExternalPerson:
    """A person at a provider; ``email`` is empty if there is no valid one.

    ``is_verified`` only if the provider says so, or says nothing and its emails are trusted.
    ``groups`` are the names of the permission groups that the provider's groups stand for;
    ``None`` if that isn't known or not asked for.
    """

    subject: str
    email: str = ""
    is_verified: bool = False
    first_name: str = ""
    last_name: str = ""
    groups: frozenset[str] | None = None


def read_person(
    claims: Mapping[str, object],
    provider: Provider,
    subject: str | None = None,
    more: Mapping[str, object] | None = None,
) -> ExternalPerson:
    """Read the person in ``claims`` (of an ID token, or from user-info) of ``provider``.

    If these don't hold the groups, ``more`` can: other claims that were verified.

    With ``subject`` the claims must be about it (OpenID Connect Core, 5.3.2); raises
    ``ProviderTokenRejected`` otherwise, and for claims without a subject.
    """
    subject_claim = read_subject(claims.get("sub"))
    if subject is not None and subject_claim != subject:
        raise ProviderTokenRejected("The provider's response is about another person.")
    email = claims.get("email")
    address = normalize_email(email) if isinstance(email, str) else ""
    if email_problem(address) is not None:
        address = ""
    said = email_verified(claims)
    return ExternalPerson(
        subject=subject_claim,
        email=address,
        is_verified=address != "" and (provider.trust_emails if said is None else said),
        first_name=_name(claims.get("given_name")),
        last_name=_name(claims.get("family_name")),
        groups=_groups(provider, claims, more or {}),
    )


def _groups(provider: Provider, *sources: Mapping[str, object]) -> frozenset[str] | None:
    if not provider.maps_groups:
        return None
    return groups_of_claims(provider.group_mapping, provider.groups_claim, *sources)


def lacks_groups(provider: Provider, claims: Mapping[str, object]) -> bool:
    """Whether the groups of ``provider`` are needed and aren't in ``claims``."""
    return provider.maps_groups and not has_claim(provider.groups_claim, claims)


def email_verified(claims: Mapping[str, object]) -> bool | None:
    """Return what ``claims`` say about their email; ``None`` if they say nothing.

    The texts ``true`` and ``false`` count as their Booleans (Cognito's user info has texts).
    Anything else is no verification.
    """
    claim = claims.get("email_verified")
    if claim is None:
        return None
    return claim is True or (isinstance(claim, str) and claim.strip().lower() == "true")


def _name(value: object) -> str:
    """Return a name if it can be stored, else an empty one: names don't prevent sign-in."""
    if not isinstance(value, str):
        return ""
    name = value.strip()[:MAX_NAME_LENGTH]
    return "" if name_problems(name, "") else name


class MappedKind(StrEnum):
    """The kind of token that a pasted text was read as."""

    ACCESS = translatable("Access token")
    ID = translatable("ID token")
    OPAQUE = translatable("Opaque access token")


class MappedTo(StrEnum):
    """What happens to the person's account."""

    KNOWN = "known"
    LINKED = "linked"
    MADE = "made"
    NOBODY = "nobody"


@dataclass(frozen=True, slots=True)
class MappingPreview:
    """The result of a preview; nothing has changed.

    ``reason`` is why sign-in would be refused. ``person`` is the provider's, ``user_id`` and
    ``email`` the account's (no id for a new one). ``permissions`` are the effective ones: the
    provider's if it rules them (``provider_rules``), else those kept here; ``None`` if this token
    doesn't contain them, or the caller can't see them. ``rights_hidden``: the caller can see
    neither permissions that are kept here nor groups. ``groups`` are the account's, ``joins``
    those it would be added to, ``leaves`` those it would be removed from.
    """

    kind: MappedKind
    outcome: MappedTo
    reason: str = ""
    person: ExternalPerson | None = None
    user_id: int | None = None
    email: str = ""
    name: str = ""
    is_staff: bool = False
    becomes_staff: bool = False
    provider_rules: bool = False
    permissions: tuple[Permission, ...] | None = ()
    rights_hidden: bool = False
    groups: tuple[str, ...] = ()
    joins: tuple[str, ...] = ()
    leaves: tuple[str, ...] = ()
