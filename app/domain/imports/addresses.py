"""Addresses of another installation, as they are to be here."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from app.domain.accounts.addresses import MAX_LENGTHS
from app.domain.imports.findings import Converted, Finding, Outcome
from app.domain.imports.fitting import SourceRow

ADDRESSES = "account_address"
LINKS = "account_user_addresses"
COLUMNS = (*MAX_LENGTHS, "validation_skipped", "metadata", "private_metadata")

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
    return Converted(address, tuple(row.findings))


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
