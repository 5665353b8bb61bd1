"""The caller's own passkeys: add, rename and delete them.

Only the console offers this, after a fresh proof, so that a stolen API token can't do it.
"""

from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app import models
from app.domain.authorization.actor import Actor
from app.domain.mails.mail import MailKind
from app.domain.mails.values import passkey_values
from app.domain.second_factors import ChallengePurpose, SecondFactorType
from app.domain.sign_in.devices import device_of
from app.domain.values.errors import Problem, Refused, refuse_any
from app.domain.values.inputs import Seen, require_unchanged
from app.domain.values.text_rules import line_problem
from app.models.record import insert_into
from app.ports import Ports
from app.ports.second_factors import NewPasskey, PasskeyOwner, PasskeyRefused
from app.services.accounts.authenticator_apps import AddedFactor
from app.services.audit.log import record, user_change
from app.services.authorization.register import account_owner_only, fresh_proof
from app.services.lists.paging import columns_for, record_from
from app.services.outbox.security_notices import notify
from app.services.second_factors import challenges, factor_checks
from app.services.sign_in.reauthentication import lock_own_account, own_id, own_session

MAX_PASSKEYS = 20
"""Passkeys of an account."""

MAX_NAME_LENGTH = 100
"""Characters of a passkey's name."""

_HANDLE = "user handle of passkeys"
_MISSING = Problem("NOT_FOUND", "Passkey not found. It may have been deleted.")
_REFUSED = Problem(
    "INVALID_SECOND_FACTOR",
    "The passkey couldn't be verified, so it wasn't added. Try again, and confirm with your "
    "fingerprint, face or PIN.",
    "credential",
)
_TAKEN = Problem("UNIQUE", "This passkey was already added.", "credential")
_TOO_MANY = Problem(
    "INVALID",
    "You have {count} passkeys, which is the maximum. Delete one first.",
    values={"count": MAX_PASSKEYS},
)
_ENDED = Problem("INVALID", "This took too long or was already used. Try again.", "challenge")


@dataclass(frozen=True, slots=True)
class OwnPasskey:
    """A passkey of the caller's; ``device`` is where it was added, in plain words.

    ``is_reported``: it doesn't work since the owner reported a change of the account.
    """

    id: int
    name: str
    device: str
    is_synced: bool
    created_at: datetime
    last_used_at: datetime | None
    is_reported: bool


@dataclass(frozen=True, slots=True)
class PasskeyCreation:
    """The options (JSON) with which a browser makes a passkey, and a name to suggest for it."""

    challenge: str = field(repr=False)
    options: str
    name: str


@account_owner_only
def list_passkeys(ports: Ports, actor: Actor) -> tuple[OwnPasskey, ...]:
    """Return the caller's passkeys, the oldest first."""
    is_reported = (models.Passkey.public_key == "").label("is_reported")
    columns = (*columns_for(OwnPasskey, models.Passkey), is_reported)
    mine = select(*columns).where(models.Passkey.user_id == own_id(actor))
    with ports.database.reading() as session:
        rows = session.execute(mine.order_by(models.Passkey.id))
        return tuple(record_from(OwnPasskey, row) for row in rows)


@account_owner_only
def show_passkey(ports: Ports, actor: Actor, passkey_id: int) -> OwnPasskey:
    """Return one of the caller's passkeys; refuses NOT_FOUND for any other."""
    for passkey in list_passkeys(ports, actor):
        if passkey.id == passkey_id:
            return passkey
    raise Refused(_MISSING)


@fresh_proof("You're about to add a passkey.")
@account_owner_only
def begin_passkey(ports: Ports, actor: Actor) -> PasskeyCreation:
    """Return the options to make a passkey for the caller, within minutes and in this session.

    Refuses INVALID on an IP address, and for an account with ``MAX_PASSKEYS``.
    """
    party, user_id = factor_checks.require_party(ports, actor), own_id(actor)
    random, purpose = (
        ports.randomness.token(factor_checks.RANDOM_LENGTH),
        ChallengePurpose.ADD_PASSKEY,
    )
    with ports.database.transaction() as session:
        user = lock_own_account(session, actor)
        _require_room(session, user_id)
        asked = challenges.ask(
            ports, session, purpose, user_id=user_id, session_id=own_session(actor)
        )
        session.flush()
        factor_checks.store_random(ports, actor, session, purpose, asked.token, random)
        handle = _handle_of(ports, session, user_id)
        known = factor_checks.known_passkeys(session, user_id)
        shop = session.get_one(models.Shop, models.SHOP_ID).name
    full_name = f"{user.first_name} {user.last_name}".strip()
    owner = PasskeyOwner(handle, user.email, full_name or user.email)
    options = ports.passkeys.creation_options(party, shop, random, owner, known)
    return PasskeyCreation(asked.token, options, device_of(actor.user_agent))


@fresh_proof("You're about to add a passkey.")
@account_owner_only
def add_passkey(
    ports: Ports, actor: Actor, *, challenge: str, credential: str, name: str
) -> AddedFactor:
    """Add the passkey that a browser made with the options of ``begin_passkey``.

    Refuses INVALID on ``name``; INVALID on ``challenge`` for one that is over or of another
    session; INVALID_SECOND_FACTOR on ``credential``, and UNIQUE for a passkey that was added
    before; INVALID for an account with ``MAX_PASSKEYS``.
    """
    party, user_id, name = (
        factor_checks.require_party(ports, actor),
        own_id(actor),
        _checked_name(name),
    )
    asked_id, random = _take_answer(ports, actor, challenge)
    try:
        made = ports.passkeys.verify_creation(party, random, credential)
    except PasskeyRefused as refused:
        raise Refused(_REFUSED) from refused
    codes = factor_checks.hash_first_codes(ports, user_id)
    with ports.database.transaction() as session:
        user = lock_own_account(session, actor)
        # The session before its challenge: a session that ends takes its challenges along.
        challenges.add_method(session, actor, factor_checks.method_of(is_synced=made.is_synced))
        challenges.use_up(session, asked_id)
        _require_room(session, user_id)
        _store(ports, actor, session, user_id, made, name)
        after = _described(name)
        record(ports, actor, session, user_change("second_factor.add", user, after=after))
        values = passkey_values(name)
        notify(ports, actor, session, user_id, MailKind.SECOND_FACTOR_ADDED, values)
        shown = factor_checks.store_first_codes(ports, session, user_id, codes)
        return AddedFactor(shown, challenges.count_other_sessions(ports, session, actor, user_id))


@account_owner_only
def rename_passkey(
    ports: Ports, actor: Actor, *, passkey_id: int, name: str, seen: Seen | None = None
) -> None:
    """Rename one of the caller's passkeys; refuses NOT_FOUND, and INVALID on ``name``.

    Raises ``Stale`` if its ``name`` isn't as ``seen`` anymore.
    """
    name = _checked_name(name)
    with ports.database.transaction() as session:
        user = lock_own_account(session, actor)
        passkey = _load(session, user.id, passkey_id)
        require_unchanged(seen, {"name": passkey.name})
        if passkey.name == name:
            return
        before, passkey.name = {"name": passkey.name}, name
        change = user_change("second_factor.rename", user, before, {"name": name})
        record(ports, actor, session, change)


@fresh_proof("You're about to delete a passkey.")
@account_owner_only
def delete_passkey(ports: Ports, actor: Actor, *, passkey_id: int) -> None:
    """Delete one of the caller's passkeys, which then no longer signs in.

    Refuses NOT_FOUND, and REQUIRED if it is the last second factor while staff need one.
    """
    with ports.database.transaction() as session:
        user = lock_own_account(session, actor)
        passkey = _load(session, user.id, passkey_id)
        session.delete(passkey)
        session.flush()
        challenges.settle_removal(session, user)
        before = _described(passkey.name)
        record(ports, actor, session, user_change("second_factor.remove", user, before=before))
        values = passkey_values(passkey.name)
        notify(ports, actor, session, user.id, MailKind.SECOND_FACTOR_REMOVED, values)


def _take_answer(ports: Ports, actor: Actor, token: str) -> tuple[int, str]:
    """Count an answer of the caller's session; return the challenge's key and random text."""
    with ports.database.transaction() as session:
        try:
            asked = challenges.count_answer(ports, session, ChallengePurpose.ADD_PASSKEY, token)
        except Refused as refused:
            raise Refused(_ENDED) from refused
        if asked.session_id != own_session(actor):
            raise Refused(_ENDED)
        return asked.id, asked.passkey_challenge


def _store(
    ports: Ports, actor: Actor, session: Session, user_id: int, made: NewPasskey, name: str
) -> None:
    now = ports.clock.now()
    row = {
        "user_id": user_id,
        "user_handle": _handle_of(ports, session, user_id),
        "credential_id": made.credential_id,
        "public_key": made.public_key,
        "sign_count": made.sign_count,
        "is_synced": made.is_synced,
        "transports": " ".join(made.transports),
        "aaguid": made.aaguid,
        "name": name,
        "device": device_of(actor.user_agent),
        "created_at": now,
    }
    new = insert_into(session, models.Passkey).values(row).on_conflict_do_nothing()
    if session.scalar(new.returning(models.Passkey.id)) is None:
        raise Refused(_TAKEN)


def _handle_of(ports: Ports, session: Session, user_id: int) -> str:
    """Return what names the account to authenticators; all its passkeys have the same."""
    stored = select(models.Passkey.user_handle).where(models.Passkey.user_id == user_id).limit(1)
    return session.scalar(stored) or ports.encryption.fingerprint(_HANDLE, str(user_id))


def _require_room(session: Session, user_id: int) -> None:
    count = select(func.count(models.Passkey.id)).where(models.Passkey.user_id == user_id)
    if (session.scalar(count) or 0) >= MAX_PASSKEYS:
        raise Refused(_TOO_MANY)


def _load(session: Session, user_id: int, passkey_id: int) -> models.Passkey:
    passkey = session.get(models.Passkey, passkey_id)
    if passkey is None or passkey.user_id != user_id:
        raise Refused(_MISSING)
    return passkey


def _checked_name(name: str) -> str:
    name = name.strip()
    if not name:
        raise Refused(Problem("REQUIRED", "Enter a name for the passkey.", "name"))
    refuse_any(line_problem(name, "name", max_length=MAX_NAME_LENGTH))
    return name


def _described(name: str) -> dict[str, object]:
    return {"type": SecondFactorType.PASSKEY.value, "name": name}
