"""Who keeps an email that several people of the source have, in different spellings."""

from collections.abc import Mapping

from sqlalchemy import select

from app.domain.accounts.emails import email_spellings, normalize_email
from app.domain.imports.people import USERS
from app.models import ImportedRowRecord, UserRecord
from app.ports.import_source import TableRow
from app.services.authorization.register import part
from app.services.imports.sections import Run
from app.services.imports.source_permissions import number


@part
def find_losers(run: Run) -> Mapping[int, int]:
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
        select(UserRecord.id)
        .join(ImportedRowRecord, ImportedRowRecord.row_id == UserRecord.id)
        .where(
            ImportedRowRecord.kind == "user",
            ImportedRowRecord.import_id == run.import_id,
            UserRecord.email.in_(emails),
            UserRecord.id.in_(ids),
        )
    )
    with run.ports.database.reading() as session:
        before = session.scalar(imported)
    return before or number(min(rows, key=_trust)["id"])


def _trust(row: TableRow) -> tuple[bool, bool, int]:
    """Sort first who is active, then who has proven that the email is theirs."""
    is_unconfirmed = row.get("is_confirmed", True) is not True
    return not row["is_active"], is_unconfirmed, number(row["id"])
