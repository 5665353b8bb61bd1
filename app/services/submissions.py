"""Submitted forms of pages: what the console creates once, and what is answered once.

They are stored for minutes or seconds, so that every process knows them. A form that creates
something belongs to a session and ends with it; a form that is sent twice at once (a double click)
can be that of somebody who signs in.
"""

from datetime import timedelta

from sqlalchemy import delete, select, update
from sqlalchemy.exc import IntegrityError

from app import models
from app.domain.authorization.actor import Actor
from app.domain.keys import FORM_ANSWER, FORM_FIELDS, FORM_SECRET
from app.ports import Ports
from app.services.authorization.register import account_owner_only, input_decides

LIFETIME = timedelta(minutes=10)
"""For how long a form that created something is recognized, and its secret can be shown."""

CLAIM_LEASE = timedelta(minutes=1)
"""For how long a form can be creating something: longer than any request takes.

If its process dies meanwhile, the form can be sent again after that.
"""

ANSWER_LIFETIME = timedelta(seconds=10)
"""For how long the same form of the console, sent again, gets the answer of the first."""

KEY_LENGTH = 32
"""Letters and digits of a form's key."""


@account_owner_only
def claim_submission(ports: Ports, actor: Actor, key: str) -> bool:
    """Return whether the form with ``key`` can create something now; no other call then can.

    Of concurrent calls, one gets ``True``. Expired submissions of the session are deleted. The
    claim ends with ``finish_submission``, ``release_submission`` or after ``CLAIM_LEASE``.
    """
    record, now = models.FormSubmission, ports.shared_clock.now()
    is_old = (record.session_id == actor.session_id) & (record.expires_at <= now)
    claimed = record(key=key, session_id=actor.session_id, expires_at=now + CLAIM_LEASE)
    try:
        with ports.database.transaction() as session:
            session.execute(delete(record).where(is_old))
            session.add(claimed)
    except IntegrityError:
        return False
    return True


@account_owner_only
def release_submission(ports: Ports, actor: Actor, key: str) -> None:
    """Forget the submission of a form that created nothing, so that it can be sent again."""
    record = models.FormSubmission
    mine = (record.key == key) & (record.session_id == actor.session_id)
    with ports.database.transaction() as session:
        session.execute(delete(record).where(mine))


@account_owner_only
def finish_submission(
    ports: Ports, actor: Actor, key: str, location: str, secret: str = ""
) -> None:
    """Store the page of what a form created, and the ``secret`` to show there once.

    A creation that took longer than ``CLAIM_LEASE`` is stored, too.
    """
    created = models.FormSubmission(
        key=key,
        session_id=actor.session_id,
        location=location,
        encrypted_secret=ports.encryption.encrypt(FORM_SECRET, secret) if secret else "",
        expires_at=ports.shared_clock.now() + LIFETIME,
    )
    with ports.database.transaction() as session:
        session.merge(created)


@account_owner_only
def find_created_page(ports: Ports, actor: Actor, key: str) -> str | None:
    """Return the page of what the caller's form created, empty while it is being created.

    ``None`` for a form that the caller's session didn't submit lately.
    """
    record, now = models.FormSubmission, ports.shared_clock.now()
    mine = (record.key == key) & (record.session_id == actor.session_id)
    with ports.database.reading() as session:
        return session.scalar(select(record.location).where(mine, record.expires_at > now))


@account_owner_only
def take_created_secret(ports: Ports, actor: Actor, key: str) -> str:
    """Return the secret of what the caller's form created, and remove it.

    Empty if there is none, or it was taken before or expired.
    """
    record, now = models.FormSubmission, ports.shared_clock.now()
    mine = (record.key == key) & (record.session_id == actor.session_id)
    query = select(record).where(mine, record.expires_at > now).with_for_update()
    with ports.database.transaction() as session:
        stored = session.scalar(query)
        if stored is None or not stored.encrypted_secret:
            return ""
        encrypted, stored.encrypted_secret = stored.encrypted_secret, ""
    return ports.encryption.decrypt(FORM_SECRET, encrypted)


@account_owner_only
def keep_entered(ports: Ports, actor: Actor, key: str, entered: str) -> None:
    """Keep what was entered in a form, encrypted, for the page that follows it."""
    record, now = models.FormSubmission, ports.shared_clock.now()
    is_old = (record.session_id == actor.session_id) & (record.expires_at <= now)
    kept = record(
        key=key,
        session_id=actor.session_id,
        encrypted_secret=ports.encryption.encrypt(FORM_FIELDS, entered),
        expires_at=now + LIFETIME,
    )
    with ports.database.transaction() as session:
        session.execute(delete(record).where(is_old))
        session.add(kept)


@account_owner_only
def find_entered(ports: Ports, actor: Actor, key: str) -> str:
    """Return what the caller's session kept under ``key``; empty if there is nothing."""
    record, now = models.FormSubmission, ports.shared_clock.now()
    mine = (record.key == key) & (record.session_id == actor.session_id)
    with ports.database.reading() as session:
        encrypted = session.scalar(
            select(record.encrypted_secret).where(mine, record.expires_at > now)
        )
    return ports.encryption.decrypt(FORM_FIELDS, encrypted) if encrypted else ""


@input_decides
def claim_answer(ports: Ports, actor: Actor, key: str) -> bool:
    """Return whether the form with ``key`` is to be answered now; no other call then answers it.

    An answer that isn't repeated is for those who came while it was made: the next one is made
    anew. The claim ends with ``keep_answer``, ``release_answer`` or after ``CLAIM_LEASE``.
    """
    record, now = models.FormAnswer, ports.shared_clock.now()
    is_refused = (record.encrypted_answer != "") & record.is_repeated.is_(False)
    is_over = (record.expires_at <= now) | ((record.key == key) & is_refused)
    try:
        with ports.database.transaction(signs_in=True) as session:
            session.execute(delete(record).where(is_over))
            session.add(record(key=key, expires_at=now + CLAIM_LEASE))
    except IntegrityError:
        return False
    return True


@input_decides
def keep_answer(
    ports: Ports,
    actor: Actor,
    key: str,
    answer: str,
    lifetime: timedelta = ANSWER_LIFETIME,
    *,
    is_repeated: bool,
) -> None:
    """Store the answer to the form with ``key``, encrypted, for ``lifetime``."""
    record = models.FormAnswer
    kept = {
        "encrypted_answer": ports.encryption.encrypt(FORM_ANSWER, answer),
        "is_repeated": is_repeated,
        "expires_at": ports.shared_clock.now() + lifetime,
    }
    with ports.database.transaction(signs_in=True) as session:
        session.execute(update(record).where(record.key == key).values(kept))


@input_decides
def release_answer(ports: Ports, actor: Actor, key: str) -> None:
    """Forget a form that got no answer, so that it can be sent again."""
    with ports.database.transaction(signs_in=True) as session:
        session.execute(delete(models.FormAnswer).where(models.FormAnswer.key == key))


@input_decides
def find_answer(ports: Ports, actor: Actor, key: str) -> str | None:
    """Return the answer to the form with ``key``, empty while it is made; ``None`` for none."""
    record, now = models.FormAnswer, ports.shared_clock.now()
    with ports.database.reading() as session:
        encrypted = session.scalar(
            select(record.encrypted_answer).where(record.key == key, record.expires_at > now)
        )
    return ports.encryption.decrypt(FORM_ANSWER, encrypted) if encrypted else encrypted
