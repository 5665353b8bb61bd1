"""Import people from a file of CSV or JSON Lines."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from app import models
from app.domain.authorization.actor import Actor
from app.domain.imports import runs
from app.domain.imports.people import ImportedPerson, Rights, convert_person, state_of
from app.domain.imports.user_files import FileRow, count_lines, read_people
from app.domain.passwords import imported_hashes
from app.ports import Ports
from app.services.authorization.register import internal
from app.services.imports.bulk import opened_session
from app.services.imports.ledger import Entry, add_entries, find_entries
from app.services.imports.people_writing import NewPerson, insert_people
from app.services.imports.runs import begin_run, end_run
from app.services.imports.sections import OnFinding, OnRows

OpenChunks = Callable[[], Iterable[bytes]]
"""Returns the bytes of the file from the first one on."""

_KIND = "user"
_TITLE = "People"
_BATCH = 1_000
_PASSWORD_COLUMNS = ("password_hash", "salt")


@dataclass(frozen=True, slots=True)
class UserFileOptions:
    """How a file is imported.

    ``source`` names it: a later run with the same name adds what is new. ``with_staff`` also
    imports staff and their groups. ``firebase`` are the parameters of Firebase's hashes.
    """

    source: str
    dry_run: bool = False
    with_staff: bool = False
    firebase: imported_hashes.FirebaseParameters | None = None


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A row that can be imported; ``digest`` is of the row as the file has it."""

    line: int
    new: NewPerson
    digest: str

    @property
    def person(self) -> ImportedPerson:
        return self.new.person

    def without_reference(self) -> "_Candidate":
        person = replace(self.person, external_reference=None)
        return replace(self, new=replace(self.new, person=person))


@dataclass(slots=True)
class _Run:
    """``groups`` are by name; ``deleted`` are digests of imported people who were deleted here.

    ``seen`` are digests of emails and external references in the lines before.
    """

    ports: Ports
    options: UserFileOptions
    report: OnFinding
    import_id: int
    groups: Mapping[str, int]
    deleted: frozenset[str]
    now: datetime
    counts: runs.Counts = field(default_factory=lambda: runs.Counts(_KIND, _TITLE))
    seen: set[int] = field(default_factory=set)

    def add(
        self, line: int, code: str, template: str, outcome: runs.Outcome, **values: object
    ) -> None:
        self.report(runs.Finding(self.options.source, line, code, template, outcome, values))

    def leave_out(self, line: int, code: str, template: str, **values: object) -> None:
        self.counts.left_out += 1
        self.add(line, code, template, runs.Outcome.LEFT_OUT, **values)


@internal
def import_users(
    ports: Ports,
    actor: Actor,
    open_chunks: OpenChunks,
    options: UserFileOptions,
    on_finding: OnFinding,
    on_rows: OnRows,
) -> runs.RunReport:
    """Import the people in a file; who is here already stays unchanged.

    Checks the whole file first: refuses INVALID for one that can't be read, or of which the rows
    can't be told, and UNIQUE for a source of another kind.
    """
    findings: Counter[str] = Counter()

    def report(finding: runs.Finding) -> None:
        findings[finding.code] += 1
        on_finding(replace(finding, name=emails.get(finding.key, "")))

    emails: dict[int | str, str] = {}
    now = ports.clock.now()
    total = count_lines(options.source, open_chunks(), now)
    rows = read_people(options.source, open_chunks(), now)
    import_id = begin_run(ports, runs.ImportKind.FILE, options.source, dry_run=options.dry_run)
    run = _make_run(ports, options, report, import_id)
    while batch := [*islice(rows, _BATCH)]:
        emails = {row.line: runs.name_of(row.values or {}) for row in batch}
        _import_batch(run, batch)
        on_rows(_TITLE, batch[-1].line, total)
    result = runs.RunReport(options.source, "", options.dry_run, (run.counts,), dict(findings))
    end_run(ports, actor, import_id, result)
    return result


def _make_run(ports: Ports, options: UserFileOptions, report: OnFinding, import_id: int) -> _Run:
    deleted = (
        select(models.ImportedRow.source_digest)
        .outerjoin(models.User, models.User.id == models.ImportedRow.row_id)
        .where(
            models.ImportedRow.import_id == import_id,
            models.ImportedRow.kind == _KIND,
            models.User.id.is_(None),
        )
    )
    with ports.database.reading() as session:
        groups = {
            row.name: row.id for row in session.execute(select(models.Group.name, models.Group.id))
        }
        gone = frozenset(session.scalars(deleted))
    return _Run(ports, options, report, import_id, groups, gone, ports.clock.now())


def _import_batch(run: _Run, rows: Sequence[FileRow]) -> None:
    candidates = [found for row in rows if (found := _candidate(run, row)) is not None]
    with opened_session(run.ports, dry_run=run.options.dry_run) as session:
        new = _new_ones(run, session, candidates)
        run.counts.created += len(new)
        for each in new:
            _report_password(run, each)
        if new and not run.options.dry_run:
            keys = insert_people(session, run.import_id, [each.new for each in new])
            entries = [
                Entry(key, each.digest, runs.digest_of(state_of(each.person)))
                for key, each in zip(keys, new, strict=True)
            ]
            add_entries(session, run.import_id, _KIND, entries)


def _candidate(run: _Run, row: FileRow) -> _Candidate | None:
    """Return the person of a row that can be imported; reports why it can't be."""
    run.counts.read += row.is_row
    for finding in row.findings:
        run.report(finding)
    if row.values is None:
        run.counts.left_out += row.is_row
        return None
    is_staff = row.values.get("is_staff") is True or bool(row.values.get("groups"))
    if is_staff and not run.options.with_staff:
        template = "Staff and members of groups are imported only with --staff."
        run.leave_out(row.line, "STAFF_NOT_WANTED", template)
        return None
    new = _make_person(run, row.line, row.values)
    if new is None:
        run.counts.left_out += 1
        return None
    if _is_repeated(run, row.line, new.person):
        return None
    return _Candidate(row.line, new, _digest(row.values, new.password))


def _digest(values: Mapping[str, object], password: imported_hashes.ImportedPassword) -> str:
    others = {
        name: _stable(value) for name, value in values.items() if name not in _PASSWORD_COLUMNS
    }
    return runs.digest_of({**others, "password": password.mark})


def _stable(value: object) -> object:
    return value.isoformat() if isinstance(value, datetime) else value


def _make_person(run: _Run, line: int, values: Mapping[str, object]) -> NewPerson | None:
    complete = {"id": line, "is_active": True, "date_joined": run.now, **values}
    converted = convert_person(complete, Rights(groups=_groups(run, line, values)))
    for finding in converted.findings:
        run.report(replace(finding, table=run.options.source))
    if converted.value is None:
        return None
    last_login = values.get("last_login")
    return NewPerson(
        converted.value,
        updated_at=run.now,
        last_login=last_login if isinstance(last_login, datetime) else None,
        password=_password(run, values),
    )


def _groups(run: _Run, line: int, values: Mapping[str, object]) -> tuple[int, ...]:
    names = values.get("groups")
    found = []
    for name in names if isinstance(names, list) else []:
        if name in run.groups:
            found.append(run.groups[name])
        else:
            template = "There is no group named {group} here."
            run.add(line, "GROUP_UNKNOWN", template, runs.Outcome.LEFT_OUT, group=name[:80])
    return tuple(sorted(set(found)))


def _password(run: _Run, values: Mapping[str, object]) -> imported_hashes.ImportedPassword:
    stored, salt = str(values.get("password_hash", "")), str(values.get("salt", ""))
    if stored and salt:
        if run.options.firebase is None:
            lacking = imported_hashes.UnusableHash(
                "PASSWORD_UNKNOWN_FORMAT",
                "The row has a salt. For Firebase's hashes, pass --firebase-signer-key-file.",
            )
            return imported_hashes.must_reset(lacking)
        try:
            stored = imported_hashes.firebase_hash(stored, salt, run.options.firebase)
        except imported_hashes.UnusableHash as error:
            return imported_hashes.must_reset(error)
    return imported_hashes.classify(stored)


def _report_password(run: _Run, each: _Candidate) -> None:
    password = each.new.password
    if password.state is imported_hashes.ImportedPasswordState.MUST_RESET:
        run.add(
            each.line, password.code, password.template, runs.Outcome.MUST_RESET, **password.values
        )


def _is_repeated(run: _Run, line: int, person: ImportedPerson) -> bool:
    """Whether an earlier line has this email or external reference; reports it."""
    marks = {"email": f"email {person.email}"}
    if person.external_reference:
        marks["external_reference"] = f"reference {person.external_reference}"
    numbers = {name: int(runs.digest_of_text(mark)[:16], 16) for name, mark in marks.items()}
    for name, number in numbers.items():
        if number in run.seen:
            template = "An earlier line has the same {column}."
            run.leave_out(line, "LINE_REPEATED", template, column=name)
            return True
    run.seen.update(numbers.values())
    return False


def _new_ones(run: _Run, session: Session, candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """Return who isn't here yet; reports the others unless this file brought them."""
    holders = _holders(session, candidates)
    entries = find_entries(session, run.import_id, _KIND, set(holders.values()))
    new = []
    for each in candidates:
        by_email = holders.get(each.person.email)
        by_reference = holders.get(f"={each.person.external_reference}")
        holder = by_email if by_email is not None else by_reference
        entry = None if holder is None else entries.get(holder)
        if entry is not None and entry.source == each.digest:
            run.counts.unchanged += 1
        elif entry is not None:
            run.counts.kept += 1
            template = "User {holder} was imported from this file before, and isn't updated."
            run.add(each.line, "CHANGED_IN_FILE", template, runs.Outcome.KEPT, holder=holder)
        elif by_email is not None:
            template = "User {holder} is here already, and isn't changed."
            run.leave_out(each.line, "EMAIL_TAKEN", template, holder=by_email)
        elif each.digest in run.deleted:
            run.counts.unchanged += 1
        elif by_reference is not None:
            template = "User {holder} has the same external reference. Imported without it."
            run.add(
                each.line, "REFERENCE_TAKEN", template, runs.Outcome.CHANGED, holder=by_reference
            )
            new.append(each.without_reference())
        else:
            new.append(each)
    return new


def _holders(session: Session, candidates: Sequence[_Candidate]) -> dict[str, int]:
    """Return the IDs of people here by email, and by external reference after ``=``."""
    emails = [each.person.email for each in candidates]
    references = [
        each.person.external_reference for each in candidates if each.person.external_reference
    ]
    query = select(models.User.id, models.User.email, models.User.external_reference)
    here = or_(models.User.email.in_(emails), models.User.external_reference.in_(references))
    holders: dict[str, int] = {}
    for row in session.execute(query.where(here)):
        holders[row.email] = row.id
        if row.external_reference:
            holders[f"={row.external_reference}"] = row.id
    return holders
