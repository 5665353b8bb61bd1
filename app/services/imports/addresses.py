"""Import people's addresses: here each has one owner."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain

from sqlalchemy import delete, exists, select, update
from sqlalchemy.orm import Session, aliased
from typing_extensions import override

from app import models
from app.domain.accounts.addresses import MAX_LENGTHS
from app.domain.imports import people
from app.domain.imports.runs import Converted, Finding, Outcome, Part
from app.models.search_words import write_user_words
from app.ports.import_source import TableRow
from app.services.imports.bulk import insert_rows, update_rows
from app.services.imports.groups import number
from app.services.imports.ledger import find_markers, set_markers
from app.services.imports.sections import Row, Run, Section, State
from app.services.imports.users import wanted_staff

_BASE = "address_copies"
"""Under this name the ledger remembers where the IDs of copies begin."""

_DEFAULTS = ("default_shipping_address_id", "default_billing_address_id")
_OWNER = ("is_staff", *_DEFAULTS)
_LINK = ("user_id", "address_id")
_FLAGS = ("is_default_shipping", "is_default_billing")
_STATE = (
    "user_id",
    *MAX_LENGTHS,
    "validation_skipped",
    *_FLAGS,
    "public_metadata",
    "private_metadata",
)


class Addresses(Section):
    """Addresses, by the links between them and people.

    The first person who has an address gets it with its ID. Others get copies, whose IDs are those
    of the links, above a base that is fixed in the first run. A default address without a link
    goes to the first person who has it as a default.
    """

    part = Part.PEOPLE
    kind = "address"
    title = "Addresses"
    table = people.LINKS
    required = ("id", "user_id", "address_id")
    record = models.Address
    removes_left_out = False

    def __init__(self) -> None:
        self._base = 0
        self._owners: Mapping[int, TableRow] = {}
        self._tried: set[int] = set()

    @override
    def is_wanted(self, parts: Collection[Part]) -> bool:
        return Part.PEOPLE in parts or Part.STAFF in parts

    @override
    def highest_id(self, run: Run) -> int:
        return run.source.highest(people.ADDRESSES)

    @override
    def reserved_until(self, run: Run) -> int:
        return self._base + run.source.highest(people.LINKS) + run.options.reserve

    @override
    def prepare(self, run: Run) -> None:
        with run.ports.database.reading() as session:
            [fixed] = find_markers(session, run.import_id, _BASE)
        self._base = fixed or self.highest_id(run) + run.options.reserve
        if not fixed and not run.options.dry_run:
            with run.ports.database.transaction() as session:
                set_markers(session, run.import_id, {_BASE: self._base})
        named = [(people.LINKS, "address_id"), *((people.USERS, column) for column in _DEFAULTS)]
        unowned = run.source.count_unnamed(people.ADDRESSES, named)
        if unowned:
            run.report(people.without_owner(unowned))

    @override
    def count(self, run: Run) -> int:
        return super().count(run) + sum(len(rows) for rows in _unlinked_defaults(run))

    @override
    def batches(self, run: Run) -> Iterator[Sequence[TableRow]]:
        wanted = wanted_staff(run)
        for rows in chain(super().batches(run), _unlinked_defaults(run)):
            keys = {number(row["user_id"]) for row in rows}
            owners = run.source.matching(people.USERS, _OWNER, "id", keys)
            self._owners = {number(row["id"]): row for row in owners}
            yield [
                row
                for row in rows
                if bool(self._owners[number(row["user_id"])]["is_staff"]) in wanted
            ]

    @override
    def convert(self, run: Run, rows: Sequence[TableRow]) -> Iterable[Converted[Row]]:
        keys = {number(row["address_id"]) for row in rows}
        addresses = {
            number(row["id"]): row
            for row in run.source.matching(people.ADDRESSES, people.ADDRESS_COLUMNS, "id", keys)
        }
        first = run.source.lowest(people.LINKS, "address_id", keys)
        holders = {
            number(row["id"]): number(row["user_id"])
            for row in run.source.matching(people.LINKS, ("user_id",), "id", set(first.values()))
        }
        named = _first_named(run, keys - first.keys())
        for row in rows:
            link, key, user = (number(row[name]) for name in ("id", "address_id", "user_id"))
            if run.is_left_out("user", user):
                yield Converted(None, (people.owner_left_out(key, user),))
                continue
            holder = holders[first[key]] if key in first else named[key]
            if not link and (key in first or holder != user):
                yield Converted(None, (people.default_of_other(key, user, holder),))
                continue
            owner = self._owners[user]
            is_copy = first.get(key, link) != link
            converted = people.convert_address(
                addresses[key],
                people.AddressLink(
                    user,
                    is_default_shipping=owner.get("default_shipping_address_id") == key,
                    is_default_billing=owner.get("default_billing_address_id") == key,
                    shared_with=holder if is_copy else None,
                    copy=self._base + link if is_copy else None,
                ),
            )
            if converted.value is None:
                yield Converted(None, converted.findings)
                continue
            own = self._base + link if is_copy else key
            value = Row(own, converted.value.as_state(), source_key=key)
            yield Converted(value, converted.findings)

    @override
    def keys_at_source(self, run: Run, keys: Collection[int]) -> set[int]:
        copies = [key - self._base for key in keys if key > self._base]
        links = run.source.matching(people.LINKS, ("address_id",), "id", copies)
        originals = {key for key in keys if key <= self._base}
        linked = originals | {number(row["address_id"]) for row in links}
        first = run.source.lowest(people.LINKS, "address_id", linked)
        named = _first_named(run, originals - first.keys())
        still = {key for key in originals if key in first or key in named}
        return still | {
            self._base + number(row["id"])
            for row in links
            if first[row["address_id"]] != row["id"]
        }

    @override
    def current(self, run: Run, session: Session, keys: Collection[int]) -> Mapping[int, State]:
        columns = [getattr(models.Address, name) for name in _STATE]
        query = select(models.Address.id, *columns).where(models.Address.id.in_(keys))
        return {row[0]: dict(zip(_STATE, row[1:], strict=True)) for row in session.execute(query)}

    @override
    def insert(self, run: Run, session: Session, rows: Sequence[Row]) -> None:
        off = dict.fromkeys(_FLAGS, False)
        insert_rows(session, models.Address, [{"id": row.key, **row.state, **off} for row in rows])
        _set_defaults(session, rows)
        write_user_words(session.connection(), _new_owners(rows))

    @override
    def update(self, run: Run, session: Session, rows: Sequence[Row]) -> None:
        off = dict.fromkeys(_FLAGS, False)
        owners = _owners(session, [row.key for row in rows]) | _new_owners(rows)
        update_rows(session, models.Address, {row.key: {**row.state, **off} for row in rows})
        _set_defaults(session, rows)
        write_user_words(session.connection(), owners)

    @override
    def remove(self, run: Run, session: Session, keys: Collection[int]) -> None:
        owners = _owners(session, keys)
        session.execute(delete(models.Address).where(models.Address.id.in_(keys)))
        write_user_words(session.connection(), owners)

    @override
    def conflicts(self, run: Run, session: Session, rows: Sequence[Row]) -> Mapping[int, Finding]:
        """Return the rows that become defaults while another address still is; once each.

        The second time the other address is one that was chosen here, and stays the default.
        """
        waiting: dict[int, Finding] = {}
        for flag in _FLAGS:
            wanted = {
                number(row.state["user_id"]): row.key
                for row in rows
                if row.state[flag] and row.key not in self._tried
            }
            holders = select(models.Address.user_id, models.Address.id).where(
                models.Address.user_id.in_(wanted), getattr(models.Address, flag).is_(True)
            )
            ours = {row.key for row in rows}
            for user, holder in session.execute(holders) if wanted else ():
                if holder not in ours:
                    key = wanted[user]
                    template = "Another address is the default here."
                    waiting[key] = Finding(
                        people.ADDRESSES, key, "DEFAULT_TAKEN", template, Outcome.KEPT
                    )
        self._tried |= waiting.keys()
        return waiting


def _unlinked_defaults(run: Run) -> Iterator[Sequence[TableRow]]:
    """Yield rows like those of links, with the ID 0, for default addresses without a link."""
    for rows in run.source.unlinked(
        people.USERS, _DEFAULTS, people.LINKS, _LINK, run.options.batch
    ):
        yield [{"id": 0, **row} for row in rows]


def _first_named(run: Run, keys: Collection[int]) -> Mapping[int, int]:
    """Return the lowest ID of a person who has each of these as a default address."""
    found = [run.source.lowest(people.USERS, column, keys) for column in _DEFAULTS]
    return {
        key: min(each[key] for each in found if key in each)
        for key in keys
        if any(key in each for each in found)
    }


def _owners(session: Session, keys: Collection[int]) -> set[int]:
    return set(session.scalars(select(models.Address.user_id).where(models.Address.id.in_(keys))))


def _new_owners(rows: Sequence[Row]) -> set[int]:
    return {number(row.state["user_id"]) for row in rows}


def _set_defaults(session: Session, rows: Sequence[Row]) -> None:
    """Make addresses defaults, unless their owner has another one."""
    other = aliased(models.Address)
    for flag in _FLAGS:
        keys = [row.key for row in rows if row.state[flag]]
        if keys:
            column = getattr(models.Address, flag)
            taken = exists().where(
                other.user_id == models.Address.user_id, getattr(other, flag).is_(True)
            )
            session.execute(
                update(models.Address)
                .where(models.Address.id.in_(keys), ~taken)
                .values({column: True})
                .execution_options(synchronize_session=False)
            )
