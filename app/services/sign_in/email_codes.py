"""Sign in with a code by email.

A request stores what was typed, and the worker looks up the account, so that neither the answer
nor its time tells which emails are known. The code is worth something only with the token that the
requester has. A code proves the email and nothing more: a second factor is asked for as after a
password, and what was set before the email was proved is dropped. A code that was asked for to
register makes an account without a password, if none has the email; the answers are the same.

A code takes ``MAX_FAILURES`` answers, an email ``MAX_FAILURES_A_DAY``, from wherever they come;
each is counted, and committed, before it is looked at.
"""

import hashlib
import hmac
import json
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete, func, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app import models
from app.domain.accounts.emails import email_problem, normalize_email
from app.domain.accounts.users import name_problems
from app.domain.authorization.actor import Actor
from app.domain.keys import EMAIL_CODE
from app.domain.mails.mail import Mail, MailKind
from app.domain.mails.values import code_values
from app.domain.second_factors import (
    DIGITS,
    AuthenticationMethod,
    Challenge,
    digest_of_challenge,
    read_one_time_code,
)
from app.domain.shop.settings import PasswordLoginMode
from app.domain.sign_in.rate_limits import CODE_EMAIL
from app.domain.sign_in.sign_in_log import SignInMethod, SignInPlace, SignInReason
from app.domain.values.errors import Problem, Refused, TooManyRequests, refuse_any
from app.ports import Ports
from app.ports.database import Subject, SubjectKind, account
from app.services.audit.log import store_requester
from app.services.authorization.rate_limits import within_rate
from app.services.authorization.register import building_block, input_decides
from app.services.authorization.session_rights import switches_of
from app.services.authorization.shop_state import load_shop_state
from app.services.identity.users import add_registered, find_owner, prove_email, stored_email
from app.services.outbox.publisher import add_mail
from app.services.second_factors.challenges import PendingSession, read_audience, write_audience
from app.services.sign_in.login_throttle import attempt
from app.services.sign_in.second_factor_sign_in import incorrect_code
from app.services.sign_in.sessions import (
    PasswordSignIn,
    UnfinishedSignIn,
    begin_session,
    require_account,
    require_password_login,
)
from app.services.sign_in.tokens import TokenPair, sign_pair
from app.services.sign_in_log.recording import SignInEntry, logged_sign_in

LIFETIME = timedelta(minutes=10)
"""For how long a code works."""

MAX_FAILURES = 5
"""Incorrect codes after which a sign-in ends."""

MAX_FAILURES_A_DAY = 30
"""Incorrect codes for one email in a day, over all sign-ins and clients."""

MAX_CODES_AN_HOUR = 5
"""Codes that are mailed to one email."""

KEPT = timedelta(days=1)
"""For how long requests are kept, to be counted."""

MAX_WAITING = 10_000
"""Requests that can wait for the worker: more are not stored."""

_TOKEN_LENGTH = 43
_RETRY_AFTER = 60
_RANDOM_BYTES = 16

_OFF = Problem("DISABLED_AUTHENTICATION_METHOD", "Sign-in with a code by email is off.")
_ENDED = Problem("INVALID", "This code expired or was already used. Request another.", "challenge")
_TOO_MANY = Problem(
    "LOGIN_ATTEMPT_DELAYED",
    "Too many incorrect codes for this email. Sign in another way, or try again tomorrow.",
)


@dataclass(frozen=True, slots=True)
class AccountByCode:
    """The account that a code makes if none has the email; ``language_code`` "" is the shop's."""

    first_name: str = ""
    last_name: str = ""
    language_code: str = ""


@input_decides
def request_email_code(ports: Ports, actor: Actor, *, email: str, audience: str = "") -> Challenge:
    """Ask for a code by email (`emailCodeRequest`); the same for every email.

    Refuses DISABLED_AUTHENTICATION_METHOD while the setting or local sign-in is off, and INVALID
    on ``email`` for what can't be one. Raises ``TooManyRequests`` while too many wait.
    """
    return ask_for_code(ports, actor, email, PendingSession(audience=audience))


@building_block
def ask_for_code(
    ports: Ports,
    actor: Actor,
    email: str,
    begins: PendingSession,
    account: AccountByCode | None = None,
) -> Challenge:
    """Store the request of a code for a session that ``begins`` there; see ``request_...``.

    With ``account`` the code makes that one, if none has the email; refuses INVALID on
    ``firstName`` and ``lastName``.
    """
    require_password_login(load_shop_state(ports).switches)
    address, now = normalize_email(email), ports.clock.now()
    names = name_problems(account.first_name, account.last_name) if account else []
    refuse_any(email_problem(address), *names)
    token = ports.randomness.token(_TOKEN_LENGTH)
    is_within = within_rate(ports, CODE_EMAIL, hashlib.sha256(address.encode()).hexdigest())
    with ports.database.transaction() as session:
        _require_on(session.get_one(models.Shop, models.SHOP_ID))
        require_room(session)
        code = models.EmailCode(
            digest=digest_of_challenge(token),
            email=stored_email(session, email),
            is_hosted=begins.place is SignInPlace.HOSTED,
            audience=write_audience(begins.audience),
            new_account=json.dumps(asdict(account)) if account else "",
            created_at=now,
            expires_at=now + LIFETIME,
        )
        session.add(code)
        session.flush()
        if is_within:
            session.add(_request_for(code, actor))
    return Challenge(token, now + LIFETIME)


@building_block
def require_room(session: Session) -> None:
    """Raise ``TooManyRequests`` while ``MAX_WAITING`` requests wait for the worker."""
    some = select(models.ResetRequest.id).limit(MAX_WAITING).subquery()
    if (session.scalar(select(func.count()).select_from(some)) or 0) >= MAX_WAITING:
        raise TooManyRequests(_RETRY_AFTER)


def _request_for(code: models.EmailCode, actor: Actor) -> models.ResetRequest:
    """Return the request that the worker answers with a mail of ``code``."""
    return models.ResetRequest(
        email=code.email,
        redirect_url="",
        caller=store_requester(actor),
        code_id=code.id,
        created_at=code.created_at,
    )


@building_block
def send_code(ports: Ports, session: Session, request: models.ResetRequest) -> None:
    """Make the code that ``request`` asked for and mail it, if the account can get one.

    Nothing is mailed to inactive accounts and, unless the code makes an account, to unknown
    emails, nor more than ``MAX_CODES_AN_HOUR``.
    """
    code = session.get(models.EmailCode, request.code_id, with_for_update=True)
    shop, now = session.get_one(models.Shop, models.SHOP_ID), ports.clock.now()
    mode = switches_of(shop, now).password_login_mode
    if code is None or mode is PasswordLoginMode.DISABLED or not shop.email_code_login:
        return
    user = session.scalar(
        select(models.User).where(models.User.email == request.email).with_for_update()
    )
    can_use_code = bool(code.new_account) if user is None else user.is_active
    if not can_use_code or _sent_lately(session, request.email, now) >= MAX_CODES_AN_HOUR:
        return
    digits, key = _digits(ports), None if user is None else user.id
    code.user_id, code.expires_at = key, now + LIFETIME
    code.sealed = ports.encryption.encrypt(EMAIL_CODE, digits)
    language = _new_account(code).language_code if code.new_account else ""
    values = code_values(digits, LIFETIME)
    mail = Mail(MailKind.SIGN_IN_CODE, request.email, values, language_code=language)
    add_mail(ports, session, mail, user_id=key)


@input_decides
def verify_email_code(ports: Ports, actor: Actor, *, challenge: str, code: str) -> TokenPair:
    """Return the tokens for a code by email (`emailCodeVerify`).

    Refuses DISABLED_AUTHENTICATION_METHOD; a throttled address (LOGIN_ATTEMPT_DELAYED), and an
    email with too many incorrect codes; INVALID on ``challenge`` for one that is over; INVALID on
    ``code``; INACTIVE. Opening the mail confirms the account. Raises ``SecondFactorRequired`` for
    an account with a second factor.
    """
    entered, audience = sign_in_with_code(ports, actor, challenge, code, SignInPlace.API)
    return sign_pair(ports, actor, entered.opened, entered.user, entered.switches, audience)


@building_block
def sign_in_with_code(
    ports: Ports, actor: Actor, token: str, entered: str, place: SignInPlace
) -> tuple[PasswordSignIn, str]:
    """Open a session by a code; return it and its audience; refuses as ``verify_email_code``."""
    entry = SignInEntry(SignInMethod.EMAIL_CODE, reason=SignInReason.INCORRECT_CODE)
    with logged_sign_in(ports, actor, entry):
        require_password_login(load_shop_state(ports).switches)
        with attempt(ports, actor.address) as this:
            found = _count_answer(ports, token, place)
            entry.email, entry.user_id = found.email, found.user_id
            _require_guesses_left(ports, found.email)
            if not _is_right(ports, found, entered):
                # As for an unknown email, whether or not the account exists.
                this.fail(None)
                raise Refused(incorrect_code("INVALID", MAX_FAILURES - found.failures))
            signed_in = _open_session(ports, actor, found, entry, place)
            if isinstance(signed_in, PasswordSignIn):
                this.succeed(signed_in.user.id)
        if isinstance(signed_in, UnfinishedSignIn):
            raise signed_in.refusal()
        return signed_in, read_audience(found)


def _open_session(
    ports: Ports, actor: Actor, found: models.EmailCode, entry: SignInEntry, place: SignInPlace
) -> PasswordSignIn | UnfinishedSignIn:
    """Use up the code and open the session, if mode and account still allow it."""
    begins = PendingSession(SignInMethod.EMAIL_CODE, place, audience=read_audience(found))
    subjects = [Subject(SubjectKind.EMAIL, found.email)]
    if found.user_id is not None:
        subjects.insert(0, account(found.user_id))
    with ports.database.transaction(*subjects) as session:
        known = found.user_id
        user = None if known is None else session.get(models.User, known, with_for_update=True)
        used = delete(models.EmailCode).where(models.EmailCode.id == found.id)
        is_first = session.scalar(used.returning(models.EmailCode.id)) is not None
        shop = session.get_one(models.Shop, models.SHOP_ID)
        require_password_login(switches_of(shop, ports.clock.now()))
        _require_on(shop)
        if known is None and is_first:
            user = _make_account(ports, actor, session, shop, found)
            entry.user_id = user.id
        if user is None or not is_first or user.email != found.email:
            raise Refused(_ENDED)
        if user.is_active:
            prove_email(ports, actor, session, user)
        require_account(shop, user, entry)
        amr = (AuthenticationMethod.ONE_TIME_CODE,)
        return begin_session(ports, actor, session, user, entry, begins, amr)


def _make_account(
    ports: Ports, actor: Actor, session: Session, shop: models.Shop, found: models.EmailCode
) -> models.User:
    """Store the account that the code was asked for to register; its email isn't confirmed yet.

    Refuses INVALID on ``challenge`` if another account got the email since: another code signs in.
    """
    if not found.new_account or find_owner(session, found.email) is not None:
        raise Refused(_ENDED)
    new = _new_account(found)
    user = models.User(
        email=found.email,
        first_name=new.first_name,
        last_name=new.last_name,
        language_code=new.language_code or shop.default_language,
    )
    try:
        add_registered(ports, actor, session, user)
    except IntegrityError as error:
        raise Refused(_ENDED) from error
    return user


def _count_answer(ports: Ports, token: str, place: SignInPlace) -> models.EmailCode:
    """Count an answer before it is looked at, and return its code; refuses INVALID."""
    code = models.EmailCode
    counted = (
        update(code)
        .where(
            code.digest == digest_of_challenge(token),
            code.is_hosted.is_(place is SignInPlace.HOSTED),
            code.expires_at > ports.clock.now(),
            code.failures < MAX_FAILURES,
        )
        .values(failures=code.failures + 1)
        .returning(code)
    )
    with ports.database.transaction() as session:
        found: models.EmailCode | None = session.scalar(counted)
    if found is None:
        raise Refused(_ENDED)
    return found


def _require_guesses_left(ports: Ports, email: str) -> None:
    """Refuse once the email had too many answers; those of others that run now count too."""
    since = ports.clock.now() - KEPT
    failures = select(func.sum(models.EmailCode.failures)).where(
        models.EmailCode.email == email, models.EmailCode.created_at > since
    )
    with ports.database.reading() as session:
        if (session.scalar(failures) or 0) > MAX_FAILURES_A_DAY:
            raise Refused(_TOO_MANY)


def _is_right(ports: Ports, found: models.EmailCode, entered: str) -> bool:
    code = read_one_time_code(entered)
    kept = ports.encryption.decrypt(EMAIL_CODE, found.sealed) if found.sealed else ""
    return bool(kept) and hmac.compare_digest(kept, code)


def _sent_lately(session: Session, email: str, now: datetime) -> int:
    code = models.EmailCode
    recent = select(func.count(code.id)).where(
        code.email == email, code.sealed != "", code.created_at > now - timedelta(hours=1)
    )
    return session.scalar(recent) or 0


def _require_on(shop: models.Shop) -> None:
    if not shop.email_code_login:
        raise Refused(_OFF)


def _digits(ports: Ports) -> str:
    drawn = int.from_bytes(ports.randomness.secret(_RANDOM_BYTES))
    return f"{drawn % 10**DIGITS:0{DIGITS}d}"


def _new_account(found: models.EmailCode) -> AccountByCode:
    return AccountByCode(**json.loads(found.new_account))
