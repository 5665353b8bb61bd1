"""Store changes of identity providers, and confirm them: the only module that writes settings."""

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from sqlalchemy import delete, exists, select, update
from sqlalchemy.orm import Session, aliased

from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission, in_order
from app.domain.single_sign_on.providers import Provider
from app.domain.single_sign_on.waiting_changes import (
    before_waiting,
    changer_of,
    confirmed,
    read_waiting,
    waits_for,
    with_waiting_changes,
)
from app.domain.values.errors import Problem, Refused
from app.models import (
    ExternalIdentityRecord,
    IdentityProviderRecord,
    SessionRecord,
    ShopRecord,
)
from app.models.shop import SHOP_ID
from app.ports import Ports
from app.services.audit.log import Change, record
from app.services.authorization.register import building_block, fresh_proof, requires
from app.services.identity.providers import to_provider

_SETTINGS = tuple(field.name for field in fields(Provider) if field.name not in ("id", "slug"))
_NOTHING_WAITS = Problem("INVALID", "Nothing waits for confirmation.", "provider")
_CHANGED = Problem(
    "INVALID",
    "The settings have been changed since. Check them again, then confirm.",
    "version",
)


@building_block
def next_settings(
    ports: Ports, actor: Actor, before: Provider, values: Mapping[str, Any]
) -> Provider:
    """Return ``before`` with the new ``values``, and with what waits for confirmation then."""
    changed = replace(before, **values)
    after = with_waiting_changes(before, changed, changer_of(actor), ports.clock.timestamp())
    if after.audience or after.accepted_clients:
        after = replace(after, serves_staff_of_any_client=False)
    return after


@building_block
def store_settings(session: Session, stored: IdentityProviderRecord, after: Provider) -> None:
    """Store what ``next_settings`` returned, in the transaction that read ``stored``.

    Links and sessions that the former settings made while they waited for confirmation count no
    more. Identities move to the issuer when a confirmed one becomes known.
    """
    before = to_provider(stored)
    for name in _SETTINGS:
        if getattr(before, name) != getattr(after, name):
            setattr(stored, name, getattr(after, name))
    if before.waits and before.trust_version != after.trust_version:
        _end_sessions(session, before)
    _move_identities(session, before, after)
    session.execute(
        update(ShopRecord)
        .where(ShopRecord.id == SHOP_ID)
        .values(providers_version=ShopRecord.providers_version + 1)
    )


@building_block
def lock_providers(session: Session) -> None:
    """Keep other changes of providers waiting until the transaction of ``session`` ends."""
    session.execute(select(ShopRecord.id).where(ShopRecord.id == SHOP_ID).with_for_update())


@fresh_proof("You're about to confirm an identity provider's settings.")
@requires(Permission.MANAGE_PLUGINS)
def confirm_provider(ports: Ports, actor: Actor, slug: str, version: int) -> Provider:
    """Confirm the settings of a provider that wait, so that it can assert everything again.

    ``version`` is the provider's ``trust_version`` as it was shown. Refuses NOT_FOUND and, if
    nothing waits, INVALID on ``provider``; INVALID on ``version`` for settings that have changed
    since; OUT_OF_SCOPE_PERMISSION for anyone who doesn't hold every permission.
    """
    with ports.database.transaction() as session:
        lock_providers(session)
        stored = session.scalar(
            select(IdentityProviderRecord).where(IdentityProviderRecord.slug == slug)
        )
        if stored is None:
            message = "There is no provider {slug}."
            raise Refused(Problem("NOT_FOUND", message, "provider", values={"slug": slug}))
        before = to_provider(stored)
        if changer_of(actor) is not None:
            raise Refused(_missing_permissions(actor))
        if not before.waits:
            raise Refused(_NOTHING_WAITS)
        if before.trust_version != version:
            raise Refused(_CHANGED)
        _honour_links(session, before)
        after = confirmed(before)
        store_settings(session, stored, after)
        _record_confirmation(ports, actor, session, before)
    return after


def _missing_permissions(actor: Actor) -> Problem:
    lacking = ", ".join(in_order(ALL_PERMISSIONS - actor.held_everywhere))
    if not lacking:
        return Problem("OUT_OF_SCOPE_PERMISSION", "Only staff can confirm this.", "provider")
    message = (
        "Only a superuser or staff with every permission can confirm this. You lack {lacking}."
    )
    values = {"lacking": lacking}
    return Problem("OUT_OF_SCOPE_PERMISSION", message, "provider", values=values)


def _honour_links(session: Session, provider: Provider) -> None:
    """Make the links of the settings that are confirmed now like any others."""
    identity = ExternalIdentityRecord
    session.execute(
        update(identity).where(identity.waiting_mark == provider.link_mark).values(waiting_mark="")
    )


def _end_sessions(session: Session, provider: Provider) -> None:
    """End the sessions that the settings of ``provider`` opened while they waited."""
    marked = select(ExternalIdentityRecord.id).where(
        ExternalIdentityRecord.waiting_mark == provider.link_mark
    )
    session.execute(
        delete(SessionRecord)
        .where(SessionRecord.identity_id.in_(marked))
        .execution_options(synchronize_session=False)
    )


def _move_identities(session: Session, before: Provider, after: Provider) -> None:
    """Move identities to the provider's issuer when one that is confirmed becomes known."""
    known = before_waiting(before)
    if known.issuer or not after.issuer or waits_for(after, "issuer"):
        return
    other_identity, record_of = aliased(ExternalIdentityRecord), ExternalIdentityRecord
    for issuer in (*known.issuers_here(after.issuer), known.issuer_here("")):
        taken = exists().where(
            other_identity.issuer == after.issuer, other_identity.subject == record_of.subject
        )
        session.execute(
            update(record_of).where(record_of.issuer == issuer, ~taken).values(issuer=after.issuer)
        )


def _record_confirmation(ports: Ports, actor: Actor, session: Session, before: Provider) -> None:
    changes = read_waiting(before.waiting_changes)
    was = {change.setting: change.was for change in changes if hasattr(before, change.setting)}
    now = {name: getattr(before, name) for name in was}
    secret = "client_secret"  # noqa: S105 - the name of a setting
    for values in (was, now):
        values.pop(secret, None)
    change = Change("provider.confirm", "IdentityProvider", before.id, before.name, was, now)
    record(ports, actor, session, change)
