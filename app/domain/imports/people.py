"""Turn people, groups and addresses of another installation into what is stored here."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime

from app.domain.accounts.addresses import MAX_LENGTHS
from app.domain.accounts.emails import email_problem, normalize_email
from app.domain.accounts.languages import LANGUAGE_NAMES
from app.domain.accounts.users import (
    DEFAULT_LANGUAGE,
    MAX_GROUP_NAME_LENGTH,
    MAX_NOTE_LENGTH,
    MAX_REFERENCE_LENGTH,
)
from app.domain.authorization.permissions import Permission
from app.domain.imports.fitting import LONG_AGO, SourceRow
from app.domain.imports.runs import Converted, Finding, Outcome
from app.domain.values.text_rules import MAX_NAME_LENGTH

USERS = "account_user"
GROUPS = "account_group"


@dataclass(frozen=True, slots=True)
class ImportedPerson:
    """A person as an import writes them, except for the password.

    ``permissions`` and ``groups`` are sorted.
    """

    email: str
    first_name: str = ""
    last_name: str = ""
    is_staff: bool = False
    is_superuser: bool = False
    is_active: bool = True
    is_confirmed: bool = True
    language_code: str = DEFAULT_LANGUAGE
    note: str = ""
    external_reference: str | None = None
    date_joined: datetime = LONG_AGO
    public_metadata: Mapping[str, str] = field(default_factory=dict)
    private_metadata: Mapping[str, str] = field(default_factory=dict)
    permissions: tuple[str, ...] = ()
    groups: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Rights:
    """What a person may do at the source.

    ``codenames`` are of permissions that were given directly; ``groups`` are imported ones, and
    ``restricted_groups`` those that have no members here.
    """

    codenames: tuple[str, ...] = ()
    groups: tuple[int, ...] = ()
    restricted_groups: tuple[str, ...] = ()


NO_RIGHTS = Rights()


@dataclass(frozen=True, slots=True)
class ImportedGroup:
    """A permission group as an import writes it, without members."""

    name: str
    permissions: tuple[str, ...] = ()


def convert_person(
    source: Mapping[str, object], rights: Rights = NO_RIGHTS, hidden_metadata: Collection[str] = ()
) -> Converted[ImportedPerson]:
    """Return the person in a row of ``account_user``; ``None`` if the email can't be used.

    ``hidden_metadata`` are keys of private metadata that aren't kept.
    """
    row = SourceRow(USERS, source)
    email = normalize_email(row.text("email"))
    problem = email_problem(email)
    if problem is not None:
        template = "The email can't be used here: {problem}"
        return row.refused("EMAIL_INVALID", template, problem=problem.message)
    is_staff = row.flag("is_staff")
    permissions = _rights(row, rights) if is_staff else ()
    private = row.metadata("private_metadata", without=hidden_metadata)
    person = ImportedPerson(
        email=email,
        first_name=row.line("first_name", max_length=MAX_NAME_LENGTH),
        last_name=row.line("last_name", max_length=MAX_NAME_LENGTH),
        is_staff=is_staff,
        is_superuser=is_staff and row.flag("is_superuser"),
        is_active=row.flag("is_active"),
        is_confirmed=source.get("is_confirmed") is not False,
        language_code=_language(row),
        note=row.prose("note", max_length=MAX_NOTE_LENGTH),
        external_reference=_reference(row),
        date_joined=row.moment("date_joined"),
        public_metadata=row.metadata("metadata"),
        private_metadata=private,
        permissions=permissions,
        groups=rights.groups if is_staff else (),
    )
    if not is_staff and (row.flag("is_superuser") or rights != NO_RIGHTS):
        template = "A customer can't be a superuser, in groups, or have permissions here."
        row.add("CUSTOMER_WITH_PERMISSIONS", Outcome.LEFT_OUT, template)
    return row.converted(person)


def convert_group(
    source: Mapping[str, object], codenames: Iterable[str]
) -> Converted[ImportedGroup]:
    """Return the group in a row of ``account_group``; its members come with the people."""
    row = SourceRow(GROUPS, source)
    name = row.line("name", max_length=MAX_GROUP_NAME_LENGTH)
    if not name:
        name = f"Group {row.key}"
        template = "It has no name that can be used here, so it's called {name}."
        row.add("NAME_MISSING", Outcome.CHANGED, template, name=name)
    if is_restricted(source):
        template = "It's restricted to channels, which aren't imported: it has no members here."
        row.add("GROUP_RESTRICTED", Outcome.CHANGED, template)
    return row.converted(ImportedGroup(name, _names(row.permissions(codenames))))


def is_restricted(source: Mapping[str, object]) -> bool:
    """Whether a group's permissions hold only in some channels."""
    return bool(source.get("restricted_access_to_channels"))


def state_of(value: ImportedPerson | ImportedGroup) -> dict[str, object]:
    """Return what is compared with the source and with what is here, as digests take it."""
    return {name: getattr(value, name) for name in _FIELDS[type(value)]}


_FIELDS = {kind: tuple(kind.__slots__) for kind in (ImportedPerson, ImportedGroup)}
"""``asdict`` copies every value, which was half of the time of an import."""


def _rights(row: SourceRow, rights: Rights) -> tuple[str, ...]:
    if rights.restricted_groups:
        template = "Not a member of groups that are restricted to channels: {groups}."
        groups = ", ".join(rights.restricted_groups)
        row.add("MEMBERSHIP_RESTRICTED", Outcome.LEFT_OUT, template, groups=groups)
    return _names(row.permissions(rights.codenames))


def _names(permissions: frozenset[Permission]) -> tuple[str, ...]:
    return tuple(sorted(permission.value for permission in permissions))


def _reference(row: SourceRow) -> str | None:
    return row.line("external_reference", max_length=MAX_REFERENCE_LENGTH) or None


def _language(row: SourceRow) -> str:
    written = row.text("language_code")
    code = written.replace("-", "_").upper()
    if not code or code in LANGUAGE_NAMES:
        return code or DEFAULT_LANGUAGE
    template = "The language {language} doesn't exist here; {used} is used."
    row.add(
        "LANGUAGE_UNKNOWN", Outcome.CHANGED, template, language=written[:40], used=DEFAULT_LANGUAGE
    )
    return DEFAULT_LANGUAGE


ADDRESSES = "account_address"
LINKS = "account_user_addresses"
ADDRESS_COLUMNS = (*MAX_LENGTHS, "validation_skipped", "metadata", "private_metadata")

_COUNTRY = re.compile("[A-Z]{2}")


@dataclass(frozen=True, slots=True)
class AddressLink:
    """Who has an address at the source, and what for.

    ``shared_with`` is the person whose address it is here, if that is another one: this person
    gets a copy, with the ID ``copy``.
    """

    user_id: int
    is_default_shipping: bool = False
    is_default_billing: bool = False
    shared_with: int | None = None
    copy: int | None = None


@dataclass(frozen=True, slots=True)
class ImportedAddress:
    """An address as an import writes it."""

    user_id: int
    validation_skipped: bool
    is_default_shipping: bool
    is_default_billing: bool
    details: Mapping[str, str]
    public_metadata: Mapping[str, str] = field(default_factory=dict)
    private_metadata: Mapping[str, str] = field(default_factory=dict)

    def as_state(self) -> dict[str, object]:
        """Return the values of its columns here."""
        state = asdict(self)
        state.pop("details")
        return {**state, **self.details}


def convert_address(source: Mapping[str, object], link: AddressLink) -> Converted[ImportedAddress]:
    """Return the address in a row of ``account_address``, for one of the people who have it.

    The platform has checked it; only what can't be stored is changed.
    """
    row = SourceRow(ADDRESSES, source)
    details = {
        name: row.line(name, max_length=length)
        for name, length in MAX_LENGTHS.items()
        if name != "country"
    }
    details["country"] = _country(row)
    if link.shared_with is not None:
        template = "User {owner} has the same address. User {user} got a copy, address {copy}."
        row.add(
            "ADDRESS_SHARED",
            Outcome.CHANGED,
            template,
            owner=link.shared_with,
            user=link.user_id,
            copy=link.copy,
        )
    address = ImportedAddress(
        user_id=link.user_id,
        validation_skipped=row.flag("validation_skipped"),
        is_default_shipping=link.is_default_shipping,
        is_default_billing=link.is_default_billing,
        details=details,
        public_metadata=row.metadata("metadata"),
        private_metadata=row.metadata("private_metadata"),
    )
    return row.converted(address)


def without_owner(count: int) -> Finding:
    """Return the finding for ``count`` addresses that no person has."""
    template = "{count} addresses belong to no person, such as those of orders."
    return Finding(
        ADDRESSES, "", "ADDRESS_WITHOUT_OWNER", template, Outcome.LEFT_OUT, {"count": count}
    )


def default_of_other(key: int, user: int, owner: int) -> Finding:
    """Return the finding for a default address that is another person's alone."""
    template = "A default address of user {user} belongs to user {owner}."
    values = {"user": user, "owner": owner}
    return Finding(ADDRESSES, key, "DEFAULT_OF_OTHER", template, Outcome.LEFT_OUT, values)


def owner_left_out(key: int, owner: int) -> Finding:
    """Return the finding for an address of a person who isn't here."""
    template = "Its owner, user {owner}, isn't here."
    return Finding(ADDRESSES, key, "OWNER_LEFT_OUT", template, Outcome.LEFT_OUT, {"owner": owner})


def _country(row: SourceRow) -> str:
    code = row.text("country").upper()
    if not code or _COUNTRY.fullmatch(code):
        return code
    template = "The country {country} isn't a code of two letters."
    row.add("COUNTRY_INVALID", Outcome.LEFT_OUT, template, country=code[:20])
    return ""
