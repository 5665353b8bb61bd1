"""Names, email and status of a user, changed by others."""

from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.domain.accounts.emails import email_problem, email_spellings, normalize_email
from app.domain.accounts.users import name_problems, note_problems
from app.domain.authorization.actor import Actor
from app.domain.values.errors import Problem, Refused
from app.domain.values.inputs import ABSENT, Absent
from app.models import UserRecord
from app.ports import Ports
from app.services.accounts.email_links import drop_links
from app.services.authorization.register import part
from app.services.identity.stored_metadata import Pairs, save_sent_metadata
from app.services.identity.users import confirm_email, has_email
from app.services.outbox.security_notices import notify_email_change
from app.services.people.user_creation import UNIQUE, require_free_reference


@dataclass(frozen=True, slots=True)
class Details:
    """A change of a user; ``ABSENT`` keeps a field, ``None`` is null.

    A null name or note is empty, an empty external reference is null; email and status can't be
    null. ``metadata`` and ``private_metadata`` are keys to set; other keys stay.
    """

    first_name: str | Absent | None = ABSENT
    last_name: str | Absent | None = ABSENT
    email: str | Absent | None = ABSENT
    is_active: bool | Absent | None = ABSENT
    is_confirmed: bool | Absent | None = ABSENT
    language_code: str | Absent = ABSENT
    note: str | Absent | None = ABSENT
    external_reference: str | Absent | None = ABSENT
    metadata: Pairs = ()
    private_metadata: Pairs = ()

    @property
    def wanted_reference(self) -> str:
        """Return the new external reference, empty when it stays or is removed."""
        return _text(self.external_reference)

    @property
    def wanted_email(self) -> str | None:
        """The one spelling of the new address, ``None`` when it stays."""
        if isinstance(self.email, Absent):
            return None
        return normalize_email(self.email or "")


@dataclass(slots=True)
class Changed:
    """The changed fields, for the audit log."""

    before: dict[str, object]
    after: dict[str, object]

    def note(self, name: str, before: object, after: object) -> None:
        self.before[name], self.after[name] = before, after


@part
def detail_problems(details: Details) -> list[Problem]:
    """Return the problems of the new details: REQUIRED and INVALID on each."""
    problems: list[Problem | None] = [
        *name_problems(_text(details.first_name), _text(details.last_name)),
        *note_problems(_text(details.note), details.wanted_reference),
    ]
    if details.wanted_email is not None:
        problems.append(email_problem(details.wanted_email))
    for value, field in ((details.is_active, "isActive"), (details.is_confirmed, "isConfirmed")):
        if value is None:
            problems.append(Problem("INVALID", "Say true or false.", field))
    return [problem for problem in problems if problem is not None]


@part
def change_details(
    ports: Ports,
    actor: Actor,
    session: Session,
    user: UserRecord,
    details: Details,
    changed: Changed,
) -> None:
    """Write changed fields to ``user``, whose row is locked, and to ``changed``.

    Refuses UNIQUE on ``email`` and ``externalReference``, and as ``save_sent_metadata`` does.
    After a change of email the old one gets a mail, and links mailed there stop working. A
    confirmed account loses its unverified identities (``account_trust``). Doesn't change whether
    the user is active.
    """
    values: dict[str, str | Absent | None] = {
        "first_name": details.first_name,
        "last_name": details.last_name,
        "email": _new_email(user, details),
        "language_code": details.language_code,
    }
    old_email = user.email
    _change_note(session, user, details, changed)
    for name, value in values.items():
        new = "" if value is None else value
        old = getattr(user, name)
        if not isinstance(new, Absent) and new != old:
            if name == "email":
                _require_free(session, str(new), user.id)
            setattr(user, name, new)
            changed.note(name, old, new)
    if isinstance(details.is_confirmed, bool) and details.is_confirmed is not user.is_confirmed:
        changed.note("is_confirmed", user.is_confirmed, details.is_confirmed)
        if details.is_confirmed:
            confirm_email(ports, actor, session, user)
        else:
            user.is_confirmed = False
    changed.after.update(
        save_sent_metadata(
            session, UserRecord, user.id, details.metadata, details.private_metadata
        )
    )
    if user.email != old_email:
        session.flush()
        drop_links(session, user.id)
        notify_email_change(ports, actor, session, user, old_email)


def _change_note(session: Session, user: UserRecord, details: Details, changed: Changed) -> None:
    """Write a new note, whose text the audit log doesn't get, and a new external reference."""
    if not isinstance(details.note, Absent) and (details.note or "") != user.note:
        changed.note("has_note", bool(user.note), bool(details.note))
        user.note = details.note or ""
    if isinstance(details.external_reference, Absent):
        return
    reference = details.external_reference or None
    if reference != user.external_reference:
        if reference is not None:
            require_free_reference(session, reference)
        changed.note("external_reference", user.external_reference, reference)
        user.external_reference = reference


def _text(value: str | Absent | None) -> str:
    return "" if isinstance(value, Absent) else value or ""


def _new_email(user: UserRecord, details: Details) -> str | Absent:
    """Return the email to store; the one that is stored is kept in its own spelling."""
    wanted = details.wanted_email
    is_same = isinstance(details.email, str) and user.email == email_spellings(details.email)[0]
    return ABSENT if wanted is None or is_same else wanted


def _require_free(session: Session, email: str, user_id: int) -> None:
    others = select(UserRecord.id).where(has_email(email), UserRecord.id != user_id)
    if session.scalar(others.limit(1)) is not None:
        raise Refused(UNIQUE)
