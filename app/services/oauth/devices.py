"""Devices without a browser, which their person lets in elsewhere by a short code (RFC 8628).

A device that asks for rights over the shop is let in at the console: its sign-in is no storefront
traffic, so that works while the storefront is closed.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, delete, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app import models
from app.domain import oauth
from app.domain.authorization.actor import Actor
from app.domain.sign_in.devices import device_of
from app.domain.sign_in.rate_limits import DEVICE_CODE
from app.domain.values.errors import Problem, Refused, TrafficClosed
from app.ports import Ports
from app.ports.database import account
from app.services.audit.log import Change, record
from app.services.authorization.rate_limits import within_rate
from app.services.authorization.register import account_owner_only, fresh_proof, input_decides
from app.services.authorization.shop_state import load_shop_state
from app.services.oauth.clients import to_client
from app.services.oauth.consents import store_consent
from app.services.oauth.grants import (
    Approval,
    Granted,
    begin_grant,
    require_second_factor,
    sign_grant,
)
from app.services.sign_in.reauthentication import own_id

USER_CODE_LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
"""Consonants alone (RFC 8628, 6.1): no two look alike, and they spell no words."""

_ATTEMPTS = 3
_UNKNOWN = Problem(
    "INVALID", "This code is unknown, was used, or has expired. Check the device.", "userCode"
)
_TOO_MANY = Problem("INVALID", "Too many codes. Try again in a few minutes.", "userCode")
_ONLY_IN_CONSOLE = Problem(
    "INVALID", "This program asks for staff rights. Enter its code in the console.", "userCode"
)


@dataclass(frozen=True, slots=True)
class DeviceCodes:
    """What a device gets: the code that it polls with, and the one that it shows."""

    device_code: str = field(repr=False)
    user_code: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class WaitingDevice:
    """A device that waits for its person, and who asked: ``address`` and ``device``, and when.

    The form of a page that shows it carries ``proof`` of what it shows.
    """

    user_code: str
    client: oauth.OAuthClient
    scopes: frozenset[str]
    address: str
    device: str
    created_at: datetime
    expires_at: datetime
    proof: str = field(repr=False)


class DeviceChanged(Exception):
    """What a person decided about isn't what they saw: ``device`` as it is now."""

    def __init__(self, device: WaitingDevice) -> None:
        super().__init__("The program or its scopes changed since the page was shown.")
        self.device = device


@dataclass(frozen=True, slots=True)
class StoredDevice:
    """A device as its program polls; ``is_allowed`` is ``None`` until its person has decided."""

    id: int
    client_id: str
    scopes: frozenset[str]
    is_expired: bool
    is_allowed: bool | None


@input_decides
def begin_device(
    ports: Ports, actor: Actor, client: oauth.OAuthClient, scopes: frozenset[str]
) -> DeviceCodes:
    """Return codes for a device that asks for ``scopes``.

    Raises ``TrafficClosed`` while the storefront is closed, unless it asks for rights of staff.
    """
    if not (load_shop_state(ports).switches.allow_storefront_traffic or oauth.privileged(scopes)):
        raise TrafficClosed
    for _ in range(_ATTEMPTS):
        codes = DeviceCodes(ports.randomness.token(oauth.CODE_LENGTH), _new_user_code(ports))
        try:
            _store(ports, actor, client, scopes, codes)
        except IntegrityError:  # another device has this short code
            continue
        return codes
    raise RuntimeError("no free user code")


def _new_user_code(ports: Ports) -> str:
    count = len(USER_CODE_LETTERS)
    # A byte below a multiple of the count, so that every letter is as likely.
    fair = 256 - 256 % count
    letters: list[str] = []
    while len(letters) < oauth.USER_CODE_LENGTH:
        fitting = (byte for byte in ports.randomness.secret(oauth.USER_CODE_LENGTH) if byte < fair)
        letters += [USER_CODE_LETTERS[byte % count] for byte in fitting]
    return "".join(letters[: oauth.USER_CODE_LENGTH])


def _store(
    ports: Ports,
    actor: Actor,
    client: oauth.OAuthClient,
    scopes: frozenset[str],
    codes: DeviceCodes,
) -> None:
    now = ports.clock.now()
    with ports.database.transaction() as session:
        session.add(
            models.OAuthDeviceCode(
                digest=oauth.digest_of_secret(codes.device_code),
                user_code=ports.encryption.fingerprint(_PURPOSE, codes.user_code),
                client_id=client.id,
                scope=oauth.store_scopes(scopes),
                address=actor.address or "",
                user_agent=actor.user_agent,
                created_at=now,
                expires_at=now + oauth.USER_CODE_LIFETIME,
                interval=oauth.POLL_INTERVAL,
            )
        )


_PURPOSE = "oauth user code"


def _waits(ports: Ports, user_code: str) -> ColumnElement[bool]:
    """Return the condition that finds the device of a code that a person has entered."""
    known = ports.encryption.known_fingerprints(_PURPOSE, oauth.read_user_code(user_code))
    stored = models.OAuthDeviceCode
    is_waiting = stored.session_id.is_(None) & (stored.expires_at > ports.clock.now())
    return stored.user_code.in_(known) & is_waiting


@account_owner_only
def find_waiting_device(
    ports: Ports, actor: Actor, user_code: str, proof: str = ""
) -> WaitingDevice:
    """Return the device that shows ``user_code``, for its person to compare.

    Refuses INVALID on ``userCode``: for a code that is none, for too many of one person's, and
    outside the console for a program that asks for rights over the shop. With the ``proof`` of the
    device as they were shown it, the code isn't counted again.
    """
    device, in_console = _find_waiting(ports, actor, user_code)
    if device is None or device.proof != proof:
        _count_code(ports, actor)
    if device is None:
        raise Refused(_UNKNOWN)
    if oauth.privileged(device.scopes) and not in_console:
        raise Refused(_ONLY_IN_CONSOLE)
    return device


def _find_waiting(ports: Ports, actor: Actor, user_code: str) -> tuple[WaitingDevice | None, bool]:
    """Return the device of a code, and whether the caller is at the console."""
    here = select(models.Session.in_console).where(models.Session.id == actor.session_id)
    query = (
        select(models.OAuthDeviceCode, models.OAuthClient, here.scalar_subquery())
        .join(models.OAuthClient, models.OAuthClient.id == models.OAuthDeviceCode.client_id)
        .where(_waits(ports, user_code), _CAN_ASK)
    )
    with ports.database.reading() as session:
        row = session.execute(query).one_or_none()
        if row is None:
            return None, False
        stored, client, in_console = row
        scopes = frozenset(stored.scope.split()) & frozenset(client.scopes.split())
        asking = to_client(client)
        device = WaitingDevice(
            user_code=oauth.write_user_code(oauth.read_user_code(user_code)),
            client=asking,
            scopes=scopes,
            address=stored.address,
            device=device_of(stored.user_agent),
            created_at=stored.created_at,
            expires_at=stored.expires_at,
            proof=_proof(ports, actor, stored.id, asking, scopes),
        )
        return device, bool(in_console)


def _proof(
    ports: Ports, actor: Actor, device_id: int, client: oauth.OAuthClient, scopes: frozenset[str]
) -> str:
    party = "first" if client.is_first_party else "third"
    program = f"{client.consent_version} {party}"
    shown = f"{actor.session_id} {device_id} {program} {oauth.store_scopes(scopes)}"
    return ports.encryption.fingerprint("oauth device", shown)


def _count_code(ports: Ports, actor: Actor) -> None:
    """Count a code that the caller entered, before the answer tells whether a device shows it.

    Refuses INVALID on ``userCode`` for too many.
    """
    if not within_rate(ports, DEVICE_CODE, f"user {own_id(actor)}"):
        raise Refused(_TOO_MANY)


_CAN_ASK = models.OAuthClient.is_active & models.OAuthClient.allows_devices


def _asks_for_rights(
    ports: Ports, actor: Actor, user_code: str, proof: str, *_more: object
) -> bool:
    return bool(oauth.privileged(find_waiting_device(ports, actor, user_code, proof).scopes))


@fresh_proof(
    "You're about to let a device act with your rights.",
    "for a device that asks for staff rights",
    _asks_for_rights,
)
@account_owner_only
def allow_device(
    ports: Ports, actor: Actor, user_code: str, proof: str, authenticated_at: datetime
) -> WaitingDevice:
    """Let the device that shows ``user_code`` act for the caller, within the scopes they saw.

    ``proof`` is that of the ``WaitingDevice`` that they saw, ``authenticated_at`` when they proved
    who they are. Refuses as ``find_waiting_device`` does; of several decisions the first counts.
    Raises ``DeviceChanged`` if the device isn't as they saw it, and ``SecondFactorSkipped`` as
    ``issue_code`` does.
    """
    device = find_waiting_device(ports, actor, user_code, proof)
    if proof != device.proof:
        raise DeviceChanged(device)
    with ports.database.transaction(account(own_id(actor))) as session:
        require_second_factor(session, actor)
        if not device.client.is_first_party:
            store_consent(ports, actor, session, device.client, device.scopes)
        _decide(ports, actor, session, device, authenticated_at, is_denied=False)
    return device


@account_owner_only
def deny_device(ports: Ports, actor: Actor, user_code: str, proof: str = "") -> WaitingDevice:
    """Refuse the device that shows ``user_code``; refuses as ``find_waiting_device`` does."""
    device = find_waiting_device(ports, actor, user_code, proof)
    with ports.database.transaction() as session:
        _decide(ports, actor, session, device, ports.clock.now(), is_denied=True)
    return device


def _decide(
    ports: Ports,
    actor: Actor,
    session: Session,
    device: WaitingDevice,
    since: datetime,
    *,
    is_denied: bool,
) -> None:
    decision = {
        "session_id": actor.session_id,
        "authenticated_at": since,
        "is_denied": is_denied,
        "scope": oauth.store_scopes(device.scopes),
    }
    claim = (
        update(models.OAuthDeviceCode)
        .where(_waits(ports, device.user_code))
        .values(**decision)
        .returning(models.OAuthDeviceCode.id)
    )
    if actor.session_id is None or session.scalar(claim) is None:
        raise Refused(_UNKNOWN)
    after = {
        "client": device.client.name,
        "scope": sorted(device.scopes),
        "device": device.device,
        "address": device.address,
    }
    action = "oauth_consent.deny_device" if is_denied else "oauth_consent.allow_device"
    record(ports, actor, session, Change(action, "User", own_id(actor), actor.name, after=after))


@input_decides
def find_device(ports: Ports, actor: Actor, device_code: str) -> StoredDevice | None:
    """Return the device that polls with ``device_code``; ``None`` for any other text."""
    query = (
        select(models.OAuthDeviceCode, models.OAuthClient.client_id)
        .join(models.OAuthClient, models.OAuthClient.id == models.OAuthDeviceCode.client_id)
        .where(models.OAuthDeviceCode.digest == oauth.digest_of_secret(device_code))
    )
    with ports.database.reading() as session:
        row = session.execute(query).one_or_none()
        if row is None:
            return None
        stored, client_id = row
        return StoredDevice(
            id=stored.id,
            client_id=client_id,
            scopes=frozenset(stored.scope.split()),
            is_expired=stored.expires_at <= ports.clock.now(),
            is_allowed=None if stored.session_id is None else not stored.is_denied,
        )


@input_decides
def polls_too_often(ports: Ports, actor: Actor, device_id: int) -> bool:
    """Record a device's poll; return whether it came too early, so that it must wait longer."""
    now = ports.clock.now()
    with ports.database.transaction() as session:
        stored = session.get(models.OAuthDeviceCode, device_id, with_for_update=True)
        if stored is None:
            return False
        wait = timedelta(seconds=stored.interval)
        is_early = stored.polled_at is not None and now < stored.polled_at + wait
        stored.polled_at = now
        if is_early:
            stored.interval += oauth.POLL_INTERVAL
        return is_early


@input_decides
def use_device(
    ports: Ports, actor: Actor, client: oauth.OAuthClient, device_id: int
) -> Granted | None:
    """Use up an allowed device, and begin the session that its person granted.

    ``None`` for one that was used, denied or has expired, and if the sign-in behind it has ended
    or no longer counts. Raises ``TrafficClosed`` as ``use_code`` does; it can ask again then.
    """
    stored = models.OAuthDeviceCode
    claim = (
        delete(stored)
        .where(
            stored.id == device_id,
            stored.client_id == client.id,
            stored.session_id.is_not(None),
            stored.is_denied.is_(False),
            stored.expires_at > ports.clock.now(),
        )
        .returning(stored.session_id, stored.scope, stored.authenticated_at)
    )
    with ports.database.transaction() as session:
        row = session.execute(claim).one_or_none()
        if row is None:
            return None
        approval = Approval(row.session_id, row.scope, row.authenticated_at, is_of_device=True)
        begun = begin_grant(ports, actor, session, client, approval)
    return None if begun is None else sign_grant(ports, actor, client, begun)
