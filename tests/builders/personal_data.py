"""A person who has left traces in every table that can hold some, and where they are found."""

import json
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import select, update

from app import models
from app.domain.accounts.email_links import LinkPurpose
from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import Permission
from app.domain.events import CustomerUpdated, EventType
from app.domain.mails.mail import Mail, MailKind
from app.domain.sign_in.sign_in_log import EMAIL_PURPOSE
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.services.accounts.addresses import delete_address
from app.services.outbox.publisher import add_event, add_mail
from app.services.people.customers import update_customer
from app.services.people.users import Details
from tests.builders.addresses import make_address
from tests.builders.apps import make_app
from tests.builders.links import link_for
from tests.builders.orders import make_cart, make_order
from tests.builders.people import actor_of, make_user, sign_in
from tests.builders.provider_records import link_identity
from tests.builders.second_factors import make_authenticator_app, make_recovery_codes
from tests.builders.sign_in_events import make_sign_in
from tests.builders.webhooks import change_delivery, make_delivery, make_webhook

EMAIL = "zoe.tracy@example.com"
LAST_NAME = "Tracyson"
IP_ADDRESS = "198.51.100.77"
ZOES = "of-zoephone"
WORDS = ("zoe.tracy", LAST_NAME, IP_ADDRESS, "Zoephone", "subject-of-zoe", "formername")
"""Texts by which the person is found anywhere in the database."""


@dataclass(frozen=True, slots=True)
class Person:
    id: int
    order: int
    webhook: int


def make_person_with_traces(ports: Ports) -> Person:
    """Store a customer with orders, sign-ins, audit entries, deliveries and so on."""
    key = make_user(ports, "formername@example.com", first_name="Zoe", last_name="Old")
    change = Details(email=EMAIL, last_name=LAST_NAME)
    update_customer(ports, OPERATOR, to_global_id("User", key), change)
    deleted = _delete_address(ports, key)
    address = make_address(ports, key, last_name=LAST_NAME)
    link_identity(ports, key, subject="subject-of-zoe")
    link_for(ports, key, LinkPurpose.SET_PASSWORD)
    sign_in(ports, key)
    known = {"user_id": key, "name": EMAIL, "address": IP_ADDRESS, "device": "Zoephone"}
    make_sign_in(ports, **known)
    unknown = ports.encryption.fingerprint(EMAIL_PURPOSE, EMAIL)
    make_sign_in(ports, email_digest=unknown, address=IP_ADDRESS, reason="UNKNOWN_EMAIL")
    order = make_order(ports, actor_of(ports, key))
    make_cart(ports, actor_of(ports, key))
    app, _ = make_app(ports, "Mailer", Permission.MANAGE_USERS)
    webhook = make_webhook(ports, app, EventType.CUSTOMER_UPDATED)
    _deliver(ports, webhook, "CUSTOMER_UPDATED", key)
    _deliver(ports, webhook, "ORDER_CREATED", order.id)
    _deliver(ports, webhook, "ADDRESS_UPDATED", address)
    _deliver(ports, webhook, "ADDRESS_DELETED", deleted)
    _dismiss_problem(ports, app, key)
    _add_rows(ports, key)
    make_authenticator_app(ports, key)
    make_recovery_codes(ports, key)
    return Person(key, order.id, webhook)


def _delete_address(ports: Ports, key: int) -> int:
    """Let the person delete an address, of which the audit log and an event tell."""
    deleted = make_address(ports, key, last_name=LAST_NAME)
    delete_address(ports, actor_of(ports, key), to_global_id("Address", deleted))
    return deleted


def _dismiss_problem(ports: Ports, app: int, key: int) -> None:
    now = ports.clock.now()
    problem = {"key": "sync", "message": "Late", "created_at": now, "updated_at": now}
    with ports.database.transaction() as session:
        session.add(
            models.AppProblem(app_id=app, dismissed_by=EMAIL, dismissed_by_id=key, **problem)
        )


def _deliver(ports: Ports, webhook: int, event: str, subject: int) -> None:
    delivery = make_delivery(ports, webhook, json.dumps({"email": EMAIL}))
    change_delivery(ports, delivery, event=event, subject_id=subject)


def _add_rows(ports: Ports, key: int) -> None:
    now = ports.clock.now()
    with ports.database.transaction() as session:
        add_event(ports, OPERATOR, session, CustomerUpdated(key))
        add_mail(ports, session, Mail(MailKind.EMAIL_CHANGED, EMAIL, {"email": EMAIL}))
        elsewhere = Mail(MailKind.EMAIL_CHANGE_REQUEST, "zoe.tracy@elsewhere.example")
        add_mail(ports, session, elsewhere, user_id=key)
        source = models.Import(kind="FILE", source="a file", started_at=now, last_run_at=now)
        session.add(source)
        session.flush()
        digests = {"source_digest": "digest-of-zoe", "written_digest": "digest-of-zoe"}
        for kind in ("user", "avatar", "external_identity"):
            session.add(models.ImportedRow(kind=kind, row_id=key, import_id=source.id, **digests))
        for kind, owned in (("address", models.Address), ("identity", models.ExternalIdentity)):
            for row_id in session.scalars(select(owned.id).where(owned.user_id == key)).all():
                row = models.ImportedRow(kind=kind, row_id=row_id, import_id=source.id, **digests)
                session.add(row)
        session.add(
            models.ImportedPassword(user_id=key, import_id=source.id, state="IMPORTED", **digests)
        )
        session.add(
            models.AppInstallation(
                app_name="Mailer",
                manifest_url="https://app.example.com/manifest",
                caller={"user_id": key, "name": EMAIL, "address": IP_ADDRESS},
                created_at=now,
                updated_at=now,
            )
        )
        session.add_all(_second_factor_rows(key, now))
        values = {"note": f"Calls herself {LAST_NAME}", "public_metadata": {"crm": LAST_NAME}}
        session.execute(update(models.User).where(models.User.id == key).values(values))


def _second_factor_rows(key: int, now: datetime) -> list[models.Record]:
    times = {"created_at": now, "expires_at": now + timedelta(days=7)}
    notice = {"kind": "new_device", "address": IP_ADDRESS, "device": "Zoephone"}
    return [
        models.Passkey(
            user_id=key,
            user_handle="handle-of-zoe",
            credential_id="credential-of-zoe",
            public_key="key-of-zoe",
            name="Zoephone",
            created_at=now,
        ),
        models.KnownDevice(
            user_id=key, device="Zoephone", network=IP_ADDRESS, first_used_at=now, last_used_at=now
        ),
        models.SecondFactorChallenge(
            user_id=key, digest="digest-of-a-challenge", purpose=ZOES, **times
        ),
        models.AccountLink(
            user_id=key,
            purpose="not_me",
            digest="digest-of-a-link",
            state="s",
            notice=notice,
            **times,
        ),
    ]


def tables_with(ports: Ports, *words: str) -> dict[str, list[str]]:
    """Return the rows in which any of ``words`` occurs, ignoring case, by table."""
    found: dict[str, list[str]] = {}
    with ports.database.reading() as session:
        for table in models.Record.metadata.sorted_tables:
            for row in session.execute(select(table)):
                text = json.dumps(dict(row._mapping), default=str, ensure_ascii=False)  # noqa: SLF001
                if any(word.lower() in text.lower() for word in words):
                    found.setdefault(table.name, []).append(text)
    return found
