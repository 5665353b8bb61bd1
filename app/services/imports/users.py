"""Import people: customers and staff, with their rights, passwords and avatars."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import delete, select, update
from sqlalchemy.orm import InstrumentedAttribute, Session
from typing_extensions import override

from app import models
from app.domain.accounts.emails import email_spellings, normalize_email
from app.domain.accounts.users import AVATAR_NAME_LENGTH, AVATAR_SIZES, MAX_AVATAR_SIZE
from app.domain.imports.people import USERS, Rights, convert_person, state_of
from app.domain.imports.runs import Converted, Finding, Outcome, Part, digest_of_text
from app.domain.passwords.imported_hashes import ImportedPasswordState, classify
from app.ports.images import InvalidImage
from app.ports.import_source import MediaFolder, TableRow, UnreadableFile
from app.services.authorization.register import building_block
from app.services.imports import people_writing
from app.services.imports.bulk import insert_rows
from app.services.imports.groups import (
    RESTRICTED,
    USER_PERMISSIONS,
    find_codenames,
    load_codenames,
    number,
)
from app.services.imports.ledger import forget_entries
from app.services.imports.sections import Row, Run, Section, State


def _find_losers(run: Run) -> Mapping[int, int]:
    """Return the people whose email goes to another one, with that one's ID.

    The one who was imported with it before keeps it, else the first active one who has confirmed
    it, else the first active one, else the first.
    """
    groups = [list(ids) for ids in run.source.alike(USERS, "email")]
    groups += _unusual_spellings(run)
    losers: dict[int, int] = {}
    for ids in groups:
        owner = _owner(run, ids)
        losers |= {key: owner for key in ids if key != owner}
    # Of overlapping groups, someone could lose to a loser.
    return {key: losers.get(owner, owner) for key, owner in losers.items()}


def _unusual_spellings(run: Run) -> list[list[int]]:
    """Return groups of people whose emails become equal by more than case: ``ﬁ`` and ``fi``."""
    spelled: dict[str, list[int]] = {}
    for key, email in run.source.beyond_ascii(USERS, "email"):
        spelled.setdefault(normalize_email(email), []).append(key)
    plain = [each for email in spelled for each in email_spellings(email) if each.isascii()]
    for key, email in run.source.spelled_alike(USERS, "email", plain):
        spelled[normalize_email(email)].append(key)
    return [sorted(set(ids)) for ids in spelled.values() if len(ids) > 1]


def _owner(run: Run, ids: list[int]) -> int:
    rows = run.source.matching(USERS, ("email", "is_active", "is_confirmed"), "id", ids)
    emails = {normalize_email(str(row["email"])) for row in rows}
    imported = (
        select(models.User.id)
        .join(models.ImportedRow, models.ImportedRow.row_id == models.User.id)
        .where(
            models.ImportedRow.kind == "user",
            models.ImportedRow.import_id == run.import_id,
            models.User.email.in_(emails),
            models.User.id.in_(ids),
        )
    )
    with run.ports.database.reading() as session:
        before = session.scalar(imported)
    return before or number(min(rows, key=_trust)["id"])


def _trust(row: TableRow) -> tuple[bool, bool, int]:
    """Sort active accounts first, then those whose email is confirmed."""
    is_unconfirmed = row.get("is_confirmed", True) is not True
    return not row["is_active"], is_unconfirmed, number(row["id"])


REFERENCE_TAKEN = "REFERENCE_TAKEN"

_MEMBERS = "account_user_groups"


class Users(Section):
    """Customers, staff, or both."""

    part = Part.PEOPLE
    kind = "user"
    title = "People"
    table = USERS
    required = ("id", "email", "password", "is_staff", "is_superuser", "is_active")
    optional = (
        "is_confirmed",
        "first_name",
        "last_name",
        "note",
        "external_reference",
        "language_code",
        "date_joined",
        "updated_at",
        "last_login",
        "metadata",
        "private_metadata",
    )
    record = models.User
    removes_left_out = False

    def __init__(self) -> None:
        self._codenames: Mapping[int, str] = {}
        self._losers: Mapping[int, int] = {}
        self._rehearsed: dict[str, int] = {}

    @override
    def is_wanted(self, parts: Collection[Part]) -> bool:
        return Part.PEOPLE in parts or Part.STAFF in parts

    @override
    def prepare(self, run: Run) -> None:
        self._codenames = load_codenames(run.source)
        self._losers = _find_losers(run)

    @override
    def batches(self, run: Run) -> Iterator[Sequence[TableRow]]:
        wanted = wanted_staff(run)
        for rows in super().batches(run):
            yield [row for row in rows if bool(row["is_staff"]) in wanted]

    @override
    def convert(self, run: Run, rows: Sequence[TableRow]) -> Iterable[Converted[Row]]:
        rights = self._rights(run, [number(row["id"]) for row in rows])
        for row in rows:
            converted = self._convert(run, row, rights[number(row["id"])])
            if converted.value is None:
                run.leave_out(self.kind, number(row["id"]))
            yield converted

    @override
    def current(self, run: Run, session: Session, keys: Collection[int]) -> Mapping[int, State]:
        return people_writing.read_people(session, keys)

    @override
    def insert(self, run: Run, session: Session, rows: Sequence[Row]) -> None:
        people_writing.insert_people(session, run.import_id, [_new_person(row) for row in rows])

    @override
    def update(self, run: Run, session: Session, rows: Sequence[Row]) -> None:
        people_writing.update_people(run.ports, session, [_new_person(row) for row in rows])

    @override
    def remove(self, run: Run, session: Session, keys: Collection[int]) -> None:
        # Their addresses go with them. Of a shared one, the next owner gets the ID.
        owned = select(models.Address.id).where(models.Address.user_id.in_(keys))
        forget_entries(session, "address", session.scalars(owned).all())
        forget_entries(session, "avatar", keys)
        session.execute(delete(models.User).where(models.User.id.in_(keys)))

    @override
    def conflicts(self, run: Run, session: Session, rows: Sequence[Row]) -> Mapping[int, Finding]:
        people = {row.key: _new_person(row).person for row in rows}
        emails = _holders(session, models.User.email, [person.email for person in people.values()])
        wanted = {each.external_reference for each in people.values() if each.external_reference}
        references = _holders(session, models.User.external_reference, wanted)
        # A dry run doesn't write who has a reference first.
        references |= {each: self._rehearsed[each] for each in wanted & self._rehearsed.keys()}
        moving = self._moving(run, session, emails) if run.options.dry_run else set()
        found = {}
        for key, person in people.items():
            # Of two new people who are alike, the first is written.
            holder = emails.setdefault(person.email, key)
            reference = person.external_reference
            other = references.setdefault(reference, key) if reference else key
            if holder not in (key, *moving):
                found[key] = _email_taken(key, holder)
            elif other != key:
                found[key] = _reference_taken(key, other)
            elif reference and run.options.dry_run:
                self._rehearsed[reference] = key
        return found

    @override
    def without_conflict(self, row: Row, conflict: Finding) -> Row | None:
        """Return a person without an external reference that is taken."""
        if conflict.code != REFERENCE_TAKEN:
            return None
        new = _new_person(row)
        person = replace(new.person, external_reference=None)
        return replace(row, state=state_of(person), value=replace(new, person=person))

    @override
    def follow_up(self, run: Run, session: Session, rows: Sequence[Row]) -> None:
        """Take over passwords that changed at the source, unless they were changed here."""
        people = {row.key: _new_person(row) for row in rows}
        if not people:
            return
        query = select(
            models.ImportedPassword.user_id,
            models.ImportedPassword.source_digest,
            models.ImportedPassword.written_digest,
            models.User.password_hash,
        ).join(models.User, models.User.id == models.ImportedPassword.user_id)
        replaced = []
        for row in session.execute(query.where(models.ImportedPassword.user_id.in_(people))):
            if row.source_digest == digest_of_text(people[row.user_id].password.mark):
                continue
            if row.written_digest == digest_of_text(row.password_hash or ""):
                replaced.append(row.user_id)
            else:
                template = "The password changed at the source, but also here. Ours was kept."
                kept = Finding(USERS, row.user_id, "PASSWORD_CHANGED", template, Outcome.KEPT)
                run.report(kept)
        if replaced and not run.options.dry_run:
            for key in replaced:
                _replace_password(session, run.import_id, people[key], key)
            people_writing.sign_out(run.ports, session, replaced)

    def _moving(self, run: Run, session: Session, emails: Mapping[str, int]) -> set[int]:
        """Return the holders of these emails who have another one at the source by now.

        A dry run doesn't write that.
        """
        imported = self.known_keys(run, session, emails.values())
        held = {key: email for email, key in emails.items() if key in imported}
        return {
            number(row["id"])
            for row in run.source.matching(USERS, ("email",), "id", held)
            if normalize_email(str(row["email"])) != held[number(row["id"])]
        }

    def _convert(self, run: Run, row: TableRow, rights: Rights) -> Converted[Row]:
        key = number(row["id"])
        if key in self._losers:
            return Converted(None, (_email_taken(key, self._losers[key]),))
        converted = convert_person(row, rights, run.hidden_metadata)
        if converted.value is None:
            return Converted(None, converted.findings)
        stored = row["password"]
        password = classify(stored if isinstance(stored, str) else None)
        findings = converted.findings
        if password.state is ImportedPasswordState.MUST_RESET:
            template, values = password.template, password.values
            must = Finding(USERS, key, password.code, template, Outcome.MUST_RESET, values)
            findings = (*findings, must)
        new = people_writing.NewPerson(
            person=converted.value,
            updated_at=_moment(row.get("updated_at")) or converted.value.date_joined,
            key=key,
            last_login=_moment(row.get("last_login")),
            password=password,
        )
        extra = {
            "last_login": new.last_login,
            "updated_at": new.updated_at,
            "password": new.password.mark,
        }
        return Converted(Row(key, state_of(new.person), extra, new), findings)

    def _rights(self, run: Run, keys: Sequence[int]) -> Mapping[int, Rights]:
        codenames = find_codenames(run.source, self._codenames, USER_PERMISSIONS, keys)
        groups: dict[int, list[int]] = {key: [] for key in keys}
        restricted: dict[int, list[str]] = {key: [] for key in keys}
        columns = ("user_id", "group_id")
        for row in run.source.matching(_MEMBERS, columns, "user_id", keys):
            user, group = number(row["user_id"]), number(row["group_id"])
            if run.is_left_out(RESTRICTED, group):
                restricted[user].append(str(group))
            elif not run.is_left_out("group", group):
                groups[user].append(group)
        return {
            key: Rights(
                codenames.get(key, ()), tuple(sorted(set(groups[key]))), tuple(restricted[key])
            )
            for key in keys
        }


@building_block
def wanted_staff(run: Run) -> set[bool]:
    """Return the values of ``is_staff`` of the people who are imported."""
    return {is_staff for is_staff, each in _PARTS.items() if each in run.options.parts}


_PARTS = {False: Part.PEOPLE, True: Part.STAFF}
"""The part of people who aren't staff, and of those who are."""


def _new_person(row: Row) -> people_writing.NewPerson:
    return row.value_of(people_writing.NewPerson)


def _holders(
    session: Session, column: InstrumentedAttribute[Any], values: Collection[str]
) -> dict[str, int]:
    """Return who has each of these values in a unique column."""
    if not values:
        return {}
    query = select(column, models.User.id).where(column.in_(values))
    return {row[0]: row[1] for row in session.execute(query)}


def _moment(value: object) -> datetime | None:
    return value if isinstance(value, datetime) else None


def _email_taken(key: int, holder: int) -> Finding:
    template = "User {holder} has the same email, in the same or another spelling."
    return Finding(USERS, key, "EMAIL_TAKEN", template, Outcome.LEFT_OUT, {"holder": holder})


def _reference_taken(key: int, holder: int) -> Finding:
    template = "User {holder} has the same external reference. Imported without it."
    return Finding(USERS, key, REFERENCE_TAKEN, template, Outcome.CHANGED, {"holder": holder})


def _replace_password(
    session: Session, import_id: int, new: people_writing.NewPerson, key: int
) -> None:
    values = people_writing.password_values(import_id, key, new.password)
    session.execute(
        update(models.User)
        .where(models.User.id == key)
        .values(password_hash=new.password.password_hash)
    )
    session.execute(
        update(models.ImportedPassword)
        .where(models.ImportedPassword.user_id == key)
        .values(**values, replaced_at=None)
    )


_BATCH = 100
"""Avatars in one transaction: their pictures are in memory until then."""

_PURPOSE = "imported avatar"

Pictures = Mapping[int, bytes]


class Avatars(Section):
    """Avatars by their owner's ID; their names here are made from the file's, keyed and new."""

    part = Part.PEOPLE
    kind = "avatar"
    title = "Avatars"
    table = USERS
    required = ("id",)
    optional = ("avatar", "is_staff")
    removes_left_out = False

    def __init__(self) -> None:
        self._folder: MediaFolder | None = None

    @override
    def is_wanted(self, parts: Collection[Part]) -> bool:
        return Part.PEOPLE in parts or Part.STAFF in parts

    @override
    def prepare(self, run: Run) -> None:
        if run.options.media is not None:
            self._folder = run.ports.import_sources.open_media(run.options.media)
            return
        count = run.source.count_filled(USERS, "avatar")
        if count:
            one = "{count} person has an avatar. Pass --media to import it."
            many = "{count} people have avatars. Pass --media to import them."
            values, outcome = {"count": count}, Outcome.LEFT_OUT
            run.report(Finding(USERS, "", "AVATARS_SKIPPED", one, outcome, values, plural=many))

    @override
    def batches(self, run: Run) -> Iterator[Sequence[TableRow]]:
        if self._folder is None:
            return
        wanted = wanted_staff(run)
        found: list[TableRow] = []
        for rows in super().batches(run):
            found += [row for row in rows if row.get("avatar") and bool(row["is_staff"]) in wanted]
            while len(found) >= _BATCH:
                yield found[:_BATCH]
                found = found[_BATCH:]
        if found:
            yield found

    @override
    def convert(self, run: Run, rows: Sequence[TableRow]) -> Iterable[Converted[Row]]:
        with run.ports.database.reading() as session:
            here = self.current(run, session, [number(row["id"]) for row in rows])
        for row in rows:
            key = number(row["id"])
            if run.is_left_out("user", key):
                yield Converted(None)
            else:
                yield self._convert(run, key, str(row["avatar"]), here.get(key, {}))

    @override
    def keys_at_source(self, run: Run, keys: Collection[int]) -> set[int]:
        if self._folder is None:
            return set(keys)
        rows = run.source.matching(USERS, ("avatar",), "id", keys)
        return {number(row["id"]) for row in rows if row.get("avatar")}

    @override
    def current(self, run: Run, session: Session, keys: Collection[int]) -> Mapping[int, State]:
        query = select(models.User.id, models.User.avatar).where(models.User.id.in_(keys))
        return {row.id: {"avatar": row.avatar} for row in session.execute(query)}

    @override
    def insert(self, run: Run, session: Session, rows: Sequence[Row]) -> None:
        _write(session, rows)

    @override
    def update(self, run: Run, session: Session, rows: Sequence[Row]) -> None:
        _write(session, rows)

    @override
    def remove(self, run: Run, session: Session, keys: Collection[int]) -> None:
        session.execute(delete(models.Avatar).where(models.Avatar.user_id.in_(keys)))
        session.execute(update(models.User).where(models.User.id.in_(keys)).values(avatar=""))

    @override
    def conflicts(self, run: Run, session: Session, rows: Sequence[Row]) -> Mapping[int, Finding]:
        """Return those whose owner has chosen an avatar here before the first import of it."""
        known = self.known_keys(run, session, [row.key for row in rows])
        here = self.current(run, session, [row.key for row in rows if row.key not in known])
        template = "An avatar was set here before. Ours was kept."
        return {
            key: Finding(USERS, key, "AVATAR_SET_HERE", template, Outcome.KEPT)
            for key, state in here.items()
            if state["avatar"]
        }

    def _convert(self, run: Run, key: int, path: str, here: State) -> Converted[Row]:
        if self._folder is None:
            return Converted(None)
        try:
            version = self._folder.version(path)
            text = f"{key}\n{path}\n{version}"
            name = run.ports.encryption.fingerprint(_PURPOSE, text)[:AVATAR_NAME_LENGTH]
            pictures: Pictures = {}
            if here.get("avatar") != name:
                data = self._folder.read(path, MAX_AVATAR_SIZE)
                pictures = run.ports.images.crop_squares(data, AVATAR_SIZES)
        except (UnreadableFile, InvalidImage) as error:
            template = "The avatar {path} can't be used: {reason}"
            values = {"path": path[:200], "reason": str(error)}
            finding = Finding(USERS, key, "AVATAR_UNUSABLE", template, Outcome.LEFT_OUT, values)
            return Converted(None, (finding,))
        return Converted(Row(key, {"avatar": name}, value=pictures))


def _write(session: Session, rows: Sequence[Row]) -> None:
    keys = [row.key for row in rows]
    session.execute(delete(models.Avatar).where(models.Avatar.user_id.in_(keys)))
    for row in rows:
        change = update(models.User).where(models.User.id == row.key)
        session.execute(change.values(avatar=row.state["avatar"]))
    insert_rows(
        session,
        models.Avatar,
        [
            {"name": row.state["avatar"], "size": size, "user_id": row.key, "data": data}
            for row in rows
            if isinstance(row.value, Mapping)
            for size, data in row.value.items()
        ],
    )
