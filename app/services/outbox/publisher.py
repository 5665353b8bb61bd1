"""The outbox: what use cases promise in the transaction that makes it true."""

import json
from dataclasses import fields

from sqlalchemy.orm import Session

from app.domain.authorization.actor import Actor
from app.domain.events import Event, LinkRequested
from app.domain.keys.encryption_purposes import OUTBOX_EVENT, OUTBOX_MAIL
from app.domain.mails.mail import Mail
from app.models import OutboxEventRecord, OutboxMailRecord
from app.ports import Ports
from app.services.authorization.register import part

TRACEPARENT = "traceparent"
"""Where an event has the trace that it belongs to, beside its own fields."""

_SECRET = "token"  # noqa: S105


@part
def add_event(ports: Ports, actor: Actor, session: Session, event: Event) -> None:
    """Note that ``event`` happened, in the transaction of ``session``."""
    data = {
        field.name: getattr(event, field.name)
        for field in fields(event)
        if field.name not in ("subject_id", _SECRET)
    }
    traceparent = ports.traces.traceparent()
    if traceparent:
        data[TRACEPARENT] = traceparent
    secret = (event.token or "") if isinstance(event, LinkRequested) else ""
    session.add(
        OutboxEventRecord(
            type=event.type.value,
            subject_id=event.subject_id,
            data=data,
            sealed=ports.encryption.encrypt(OUTBOX_EVENT, secret) if secret else "",
            issued_at=ports.clock.now(),
            principal_type="User" if actor.is_user else "App" if actor.is_app else "",
            principal_id=actor.user_id if actor.is_user else actor.app_id,
            issuer=actor.issuer,
        )
    )


@part
def add_mail(
    ports: Ports,
    session: Session,
    mail: Mail,
    *,
    user_id: int | None = None,
    redirect_url: str = "",
) -> None:
    """Promise ``mail``: it is sent after the transaction of ``session`` has been committed.

    ``user_id`` is the account it is about, ``redirect_url`` the page of its link, both for the
    mail log.
    """
    now = ports.clock.now()
    session.add(
        OutboxMailRecord(
            kind=mail.kind.value,
            recipient=mail.recipient,
            user_id=user_id,
            redirect_url=redirect_url,
            sealed=ports.encryption.encrypt(OUTBOX_MAIL, json.dumps(dict(mail.values))),
            created_at=now,
            next_attempt_at=now,
        )
    )
