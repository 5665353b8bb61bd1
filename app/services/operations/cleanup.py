"""Delete expired data, so that tables grow with the shop, not with time."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, delete, exists, or_, select, true
from sqlalchemy.orm import InstrumentedAttribute, aliased

from app import models
from app.domain.apps.apps import EXPIRED_TOKEN_KEPT
from app.domain.authorization.actor import Actor
from app.domain.commerce.sales import CHECKOUT_RETENTION
from app.domain.deliveries.deliveries import RETENTION
from app.domain.oauth import USE_KEPT
from app.domain.values.errors import Refused
from app.domain.values.ids import to_global_id
from app.domain.webhooks import MAX_TEMPORARY_AGE, TEMPORARY_URL, has_own_app
from app.ports import Ports
from app.services.apps.activity import delete_old_activity
from app.services.apps.app_changes import delete_app
from app.services.audit.entries import delete_entries
from app.services.authorization.register import internal
from app.services.keys import delete_old_keys
from app.services.shop.traffic import delete_old_traffic
from app.services.sign_in.email_codes import KEPT
from app.services.webhooks.changes import delete_webhook


@internal
def delete_expired_endpoints(ports: Ports, actor: Actor) -> int:
    """Delete temporary endpoints after ``MAX_TEMPORARY_AGE``, with the apps created for them.

    Returns how many there were.
    """
    query = (
        select(models.Webhook.id, models.Webhook.name, models.App.id, models.App.name)
        .join(models.App, models.App.id == models.Webhook.app_id)
        .where(
            models.Webhook.target_url == TEMPORARY_URL,
            models.Webhook.created_at <= ports.clock.now() - MAX_TEMPORARY_AGE,
        )
    )
    with ports.database.reading() as session:
        expired = session.execute(query).all()
    for webhook_id, webhook_name, app_id, app_name in expired:
        with suppress(Refused):  # another process has deleted it
            if has_own_app(webhook_name, app_name):
                delete_app(ports, actor, app_id)
            else:
                delete_webhook(ports, actor, to_global_id("Webhook", webhook_id))
    return len(expired)


_AT_ONCE = 1000
_PAUSED = select(models.Webhook.id).where(models.Webhook.paused_at.is_not(None))
_KNOWN_TO_CLIENTS = exists().where(models.OAuthClientSession.session_id == models.Session.id)
_DEVICE_KEPT = timedelta(days=365)
_NO_SYNC = {"synchronize_session": False}
_MAX_OPAQUE_TOKEN_LENGTH = timedelta(days=90)
"""Access tokens don't live that long; when one was first seen is of no use afterwards."""


@dataclass(frozen=True, slots=True)
class CleanupResult:
    """How many of each were forgotten."""

    sessions: int
    links: int
    sign_ins: int
    sign_in_events: int
    mails: int
    audit_entries: int
    profile_changes: int
    provider_tokens: int
    app_tokens: int
    traffic_counts: int
    throttle_counters: int
    keys: int
    deliveries: int
    events: int
    carts: int
    form_submissions: int
    form_answers: int
    temporary_endpoints: int
    challenges: int
    known_devices: int
    oauth_codes: int
    oauth_assertions: int
    oauth_device_codes: int
    client_sessions: int
    oauth_uses: int


@internal
def clean_up(ports: Ports, actor: Actor) -> CleanupResult:
    """Delete expired sessions, links, sign-ins, challenges, forms, old traffic, counters and keys.

    Deliveries and processed events go after 14 days, unless a delivery is being retried by a
    webhook that isn't paused; untouched carts after 90; app tokens 30 days after they expired;
    entries of the sign-in log after ``SIGN_IN_LOG_DAYS``, of the mail log after
    ``MAIL_LOG_DAYS``, of the audit log after ``AUDIT_LOG_DAYS`` if that is set; what customers
    changed of their own profile after ``PROFILE_CHANGES_DAYS``; temporary endpoints after 24
    hours; devices of staff that weren't used for a year, except the last one of an account.

    Safe to repeat, and to run in several processes at once.
    """
    return CleanupResult(
        # First, and sessions only without them: what has merely expired isn't reported as ended.
        client_sessions=_forget_client_sessions(ports),
        sessions=_delete_old(
            ports, models.Session.id, models.Session.expires_at, ~_KNOWN_TO_CLIENTS
        ),
        links=_delete_old(ports, models.AccountLink.id, models.AccountLink.expires_at),
        sign_ins=_delete_old(ports, models.OidcState.digest, models.OidcState.expires_at),
        sign_in_events=_delete_old(
            ports,
            models.SignInEvent.id,
            models.SignInEvent.at,
            older_by=timedelta(days=ports.configuration.sign_in_log_days),
        ),
        mails=_delete_old(
            ports,
            models.OutboxMail.id,
            models.OutboxMail.created_at,
            models.OutboxMail.next_attempt_at.is_(None),
            older_by=timedelta(days=ports.configuration.mail_log_days),
        ),
        audit_entries=_delete_audit_entries(ports),
        profile_changes=_delete_old(
            ports,
            models.AuditEntry.id,
            models.AuditEntry.at,
            models.AuditEntry.own_profile == true(),
            older_by=timedelta(days=ports.configuration.profile_changes_days),
        ),
        provider_tokens=_delete_old(
            ports,
            models.ProviderToken.digest,
            models.ProviderToken.first_seen_at,
            older_by=_MAX_OPAQUE_TOKEN_LENGTH,
        ),
        app_tokens=_delete_old(
            ports, models.AppToken.id, models.AppToken.expires_at, older_by=EXPIRED_TOKEN_KEPT
        ),
        traffic_counts=delete_old_traffic(ports) + delete_old_activity(ports),
        throttle_counters=ports.throttle.delete_expired(
            ports.throttle.timestamp(ports.shared_clock)
        ),
        keys=delete_old_keys(ports, actor),
        deliveries=_delete_old(
            ports,
            models.Delivery.id,
            models.Delivery.created_at,
            or_(
                models.Delivery.next_attempt_at.is_(None), models.Delivery.webhook_id.in_(_PAUSED)
            ),
            older_by=RETENTION,
        ),
        events=_delete_old(
            ports, models.OutboxEvent.id, models.OutboxEvent.closed_at, older_by=RETENTION
        ),
        carts=_delete_old(
            ports, models.Checkout.id, models.Checkout.updated_at, older_by=CHECKOUT_RETENTION
        ),
        form_submissions=_delete_old(
            ports, models.FormSubmission.key, models.FormSubmission.expires_at
        ),
        form_answers=_delete_old(ports, models.FormAnswer.key, models.FormAnswer.expires_at),
        temporary_endpoints=delete_expired_endpoints(ports, actor),
        challenges=_delete_old(
            ports, models.SecondFactorChallenge.id, models.SecondFactorChallenge.expires_at
        )
        + _delete_old(ports, models.EmailCode.id, models.EmailCode.created_at, older_by=KEPT),
        known_devices=_delete_old_devices(ports),
        oauth_codes=_delete_old(ports, models.OAuthCode.id, models.OAuthCode.expires_at),
        oauth_assertions=_delete_old(
            ports, models.OAuthAssertion.digest, models.OAuthAssertion.expires_at
        ),
        oauth_device_codes=_delete_old(
            ports, models.OAuthDeviceCode.id, models.OAuthDeviceCode.expires_at
        ),
        oauth_uses=_delete_old_uses(ports),
    )


def _forget_client_sessions(ports: Ports) -> int:
    expired = select(models.Session.id).where(models.Session.expires_at <= ports.clock.now())
    forget = delete(models.OAuthClientSession).where(
        models.OAuthClientSession.session_id.in_(expired)
    )
    with ports.database.transaction() as session:
        return len(session.scalars(forget.returning(models.OAuthClientSession.id)).all())


def _delete_old_uses(ports: Ports) -> int:
    """Forget who used an OAuth client more than 30 days ago."""
    old = delete(models.OAuthUse).where(models.OAuthUse.used_at <= ports.clock.now() - USE_KEPT)
    with ports.database.transaction() as session:
        return len(session.scalars(old.returning(models.OAuthUse.client_id)).all())


def _delete_audit_entries(ports: Ports) -> int:
    days = ports.configuration.audit_log_days
    return delete_entries(ports, ports.clock.now() - timedelta(days=days)) if days else 0


def _delete_old_devices(ports: Ports) -> int:
    """Keep the newest of each account: without any, the next new device wouldn't be mailed."""
    device, newer = models.KnownDevice, aliased(models.KnownDevice)
    is_old = device.last_used_at <= ports.clock.now() - _DEVICE_KEPT
    has_newer = exists().where(
        newer.user_id == device.user_id, newer.last_used_at > device.last_used_at
    )
    forget = delete(device).where(is_old, has_newer).returning(device.user_id)
    with ports.database.transaction() as session:
        return len(session.scalars(forget, execution_options=_NO_SYNC).all())


def _delete_old(
    ports: Ports,
    key: InstrumentedAttribute[int] | InstrumentedAttribute[str],
    moment: InstrumentedAttribute[datetime] | InstrumentedAttribute[datetime | None],
    *conditions: ColumnElement[bool],
    older_by: timedelta = timedelta(),
) -> int:
    """Delete in small transactions, so that sign-ins wait for one of them at most."""
    is_old = moment <= ports.clock.now() - older_by
    old = select(key).where(is_old, *conditions).order_by(moment).limit(_AT_ONCE)
    forget = delete(key.class_).where(key.in_(old))
    total = 0
    while True:
        with ports.database.transaction() as session:
            gone = len(session.scalars(forget.returning(key)).all())
        total += gone
        if gone < _AT_ONCE:
            return total
