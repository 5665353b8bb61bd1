"""Set up an authenticator app, move it to a new phone, turn it off; make new recovery codes.

Only the console offers this, after a fresh proof, so that a stolen API token can't do it.
"""

from dataclasses import dataclass, field
from functools import partial

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from app import models
from app.domain import second_factors
from app.domain.authorization.actor import Actor
from app.domain.keys import authenticator_app_purpose
from app.domain.mails.mail import MailKind
from app.domain.mails.values import APP_VALUES
from app.domain.values.errors import Problem, Refused
from app.ports import Ports
from app.ports.keys import DecryptionError
from app.ports.second_factors import QrCode
from app.services.audit.log import record, user_change
from app.services.authorization.register import account_owner_only, fresh_proof
from app.services.outbox.security_notices import notify
from app.services.second_factors.challenges import add_method, count_other_sessions, settle_removal
from app.services.second_factors.factor_checks import (
    hash_first_codes,
    hash_new_codes,
    replace_codes,
    store_first_codes,
)
from app.services.second_factors.stored_factors import read_factors
from app.services.sign_in.reauthentication import lock_own_account, own_id, own_session

WRONG_CODE = Problem(
    "INVALID_SECOND_FACTOR",
    "Incorrect code. Enter the code that the app shows now. If it is, check your phone's clock.",
    "code",
)
SETUP_ENDED = Problem(
    "INVALID", "This setup was canceled or replaced. Start it again and scan the new QR code."
)

_APP = {"type": second_factors.SecondFactorType.AUTHENTICATOR_APP.value}


@dataclass(frozen=True, slots=True)
class AppSetup:
    """What sets up an authenticator app: a QR code, and the key to type instead."""

    key: str = field(repr=False)
    qr_code: QrCode = field(repr=False)


@dataclass(frozen=True, slots=True)
class AddedFactor:
    """A second factor that now counts: ``recovery_codes``, to be shown once, are new.

    They are empty if the account had codes. ``other_sessions`` stay signed in. ``is_moved``: the
    app was on already, on another phone.
    """

    recovery_codes: tuple[str, ...] = field(repr=False)
    other_sessions: int
    is_moved: bool = False


@fresh_proof("You're about to set up an authenticator app.")
@account_owner_only
def start_app_setup(ports: Ports, actor: Actor) -> None:
    """Begin to set up an authenticator app, or to move it to a new phone.

    Until ``confirm_app_setup`` nothing changes. A setup that this session began goes on; that of
    another session is replaced, so that its secret can't be confirmed by mistake.
    """
    user_id, session_id = own_id(actor), own_session(actor)
    secret = second_factors.encode_secret(ports.randomness.secret(second_factors.SECRET_BYTES))
    pending = _encrypt(ports, user_id, f"{session_id} {secret}")
    with ports.database.transaction() as session:
        lock_own_account(session, actor)
        app = session.get(models.AuthenticatorApp, user_id)
        if app is None:
            now = ports.clock.now()
            app = models.AuthenticatorApp(user_id=user_id, pending_secret="", created_at=now)
            session.add(app)
        if not _own_secret(ports, actor, app.pending_secret):
            app.pending_secret = pending


@fresh_proof("You're about to set up an authenticator app.")
@account_owner_only
def show_app_setup(ports: Ports, actor: Actor) -> AppSetup | None:
    """Return the setup that this session began, ``None`` without one or once it is confirmed."""
    user_id = own_id(actor)
    with ports.database.reading() as session:
        secret = _own_secret(ports, actor, _pending(session, user_id))
        if not secret:
            return None
        email = session.scalar(select(models.User.email).where(models.User.id == user_id)) or ""
        issuer = session.get_one(models.Shop, models.SHOP_ID).name
    apps = ports.authenticator_apps
    return AppSetup(
        second_factors.setup_key(secret), apps.qr_code(apps.setup_uri(secret, email, issuer))
    )


@account_owner_only
def cancel_app_setup(ports: Ports, actor: Actor) -> None:
    """Forget a setup that wasn't confirmed; an authenticator app that is on stays on."""
    app, user_id = models.AuthenticatorApp, own_id(actor)
    with ports.database.transaction() as session:
        session.execute(delete(app).where(app.user_id == user_id, app.confirmed_at.is_(None)))
        session.execute(update(app).where(app.user_id == user_id).values(pending_secret=""))


@fresh_proof("You're about to turn on an authenticator app.")
@account_owner_only
def confirm_app_setup(ports: Ports, actor: Actor, *, code: str) -> AddedFactor:
    """Turn on the authenticator app whose setup this session began, with a code that it shows.

    It takes the place of the one that was on. Refuses INVALID_SECOND_FACTOR on ``code``; INVALID
    if the setup was canceled, replaced or begun in another session. The code can't be used again.
    """
    user_id = own_id(actor)
    with ports.database.reading() as session:
        pending = _pending(session, user_id)
    secret = _own_secret(ports, actor, pending)
    if not secret:
        raise Refused(SETUP_ENDED)
    code_at = partial(ports.authenticator_apps.code_at, secret)
    step = second_factors.find_step(
        second_factors.read_one_time_code(code), ports.clock.timestamp(), 0, code_at
    )
    if step is None:
        raise Refused(WRONG_CODE)
    codes = hash_first_codes(ports, user_id)
    with ports.database.transaction() as session:
        user = lock_own_account(session, actor)
        app = session.get(models.AuthenticatorApp, user_id)
        if app is None or app.pending_secret != pending:
            raise Refused(SETUP_ENDED)
        is_moved = app.confirmed_at is not None
        app.secret, app.pending_secret = _encrypt(ports, user_id, secret), ""
        app.last_step = step
        app.confirmed_at = app.last_used_at = ports.clock.now()
        action = "second_factor.replace" if is_moved else "second_factor.add"
        record(ports, actor, session, user_change(action, user, after=_APP))
        shown = store_first_codes(ports, session, user_id, codes)
        add_method(session, actor, second_factors.AuthenticationMethod.ONE_TIME_CODE)
        notify(ports, actor, session, user_id, MailKind.SECOND_FACTOR_ADDED, APP_VALUES)
        others = count_other_sessions(ports, session, actor, user_id)
        return AddedFactor(shown, others, is_moved=is_moved)


@fresh_proof("You're about to turn off your authenticator app.")
@account_owner_only
def turn_off_app(ports: Ports, actor: Actor) -> None:
    """Turn off the caller's authenticator app, and forget its secret.

    Refuses REQUIRED if it is the last second factor while staff need one.
    """
    app, user_id = models.AuthenticatorApp, own_id(actor)
    with ports.database.transaction() as session:
        user = lock_own_account(session, actor)
        removed = session.scalar(
            delete(app)
            .where(app.user_id == user_id, app.confirmed_at.is_not(None))
            .returning(app.user_id)
        )
        if removed is None:
            return
        settle_removal(session, user)
        record(ports, actor, session, user_change("second_factor.remove", user, _APP))
        notify(ports, actor, session, user_id, MailKind.SECOND_FACTOR_REMOVED, APP_VALUES)


def _pending(session: Session, user_id: int) -> str:
    app = models.AuthenticatorApp
    stored = session.scalar(select(app.pending_secret).where(app.user_id == user_id))
    return stored or ""


def _own_secret(ports: Ports, actor: Actor, pending: str) -> str:
    """Return the secret of a setup if the caller's session began it, else an empty text.

    Otherwise a stolen session could read, or provide, the secret that its owner confirms. A setup
    that can't be decrypted any more is begun again, like that of another session.
    """
    try:
        opened = ports.encryption.decrypt(authenticator_app_purpose(own_id(actor)), pending)
    except DecryptionError:
        return ""
    session_id, _, secret = opened.partition(" ")
    return secret if session_id == str(actor.session_id) else ""


def _encrypt(ports: Ports, user_id: int, text: str) -> str:
    return ports.encryption.encrypt(authenticator_app_purpose(user_id), text)


NO_FACTOR = Problem(
    "NOT_FOUND", "Recovery codes need a second factor. Add a passkey or an authenticator app."
)


@fresh_proof("You're about to generate new recovery codes.")
@account_owner_only
def replace_own_recovery_codes(ports: Ports, actor: Actor) -> tuple[str, ...]:
    """Return new recovery codes, to be shown once; the old ones stop working.

    Refuses NOT_FOUND for an account without a passkey or authenticator app.
    """
    user_id = own_id(actor)
    with ports.database.reading() as session:
        if not read_factors(session, user_id).is_active:
            raise Refused(NO_FACTOR)
    codes = hash_new_codes(ports)
    with ports.database.transaction() as session:
        user = lock_own_account(session, actor)
        if not read_factors(session, user_id).is_active:
            raise Refused(NO_FACTOR)
        shown = replace_codes(ports, session, user_id, codes)
        change = user_change("recovery_codes.replace", user, after={"count": len(shown)})
        record(ports, actor, session, change)
        notify(ports, actor, session, user_id, MailKind.RECOVERY_CODES_REPLACED)
        return shown
