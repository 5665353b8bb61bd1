"""Remove the second factors of someone who lost them."""

from sqlalchemy import delete
from sqlalchemy.orm import Session

from app.domain.accounts.users import User
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Caller, Permission
from app.domain.mails.mail import MailKind
from app.domain.values.errors import PermissionDenied, Problem, Refused
from app.domain.values.ids import key_of
from app.models import AuthenticatorAppRecord, PasskeyRecord, UserRecord
from app.ports import Ports
from app.ports.database import account
from app.services.audit.log import Change, record
from app.services.authorization.register import fresh_proof, requires_person
from app.services.identity.users import load_user, require_manageable
from app.services.outbox.security_notices import notify
from app.services.second_factors.code_checks import drop_codes
from app.services.second_factors.stored_factors import read_factors
from app.services.sign_in.sessions import end_sessions

_MISSING = Problem("NOT_FOUND", "This user doesn't exist.", "id")
_OWN = Problem(
    "INVALID",
    "You can't reset your own second factors. Remove them under Sign-in and security.",
    "id",
)


@fresh_proof("always", lambda *_args: True)
@requires_person(Permission.MANAGE_STAFF, Permission.MANAGE_USERS)
def reset_second_factors(ports: Ports, actor: Actor, user_id: str) -> User:
    """Remove all second factors and recovery codes of a user (`userSecondFactorReset`).

    Ends all their sessions, and mails them. Their password and SSO identities stay: where the shop
    requires a second factor, they add one at the next sign-in to the console. Refuses on ``id``:
    NOT_FOUND, INVALID for the caller's own account, OUT_OF_SCOPE_USER for a user with permissions
    that the caller lacks. Staff need MANAGE_STAFF, customers MANAGE_USERS. Raises
    ``PermissionDenied`` for extensions, as for apps.
    """
    if actor.is_user and not actor.is_account_owner:
        raise PermissionDenied(Caller.USER)
    key = key_of(user_id, "User")
    with ports.database.transaction(account(key)) as session:
        stored = session.get(UserRecord, key, with_for_update=True)
        if stored is None:
            raise Refused(_MISSING)
        user = load_user(session, key)
        require_manageable(actor, user)
        if actor.is_user and actor.user_id == key:
            raise Refused(_OWN)
        before = _remove(session, key)
        ended = end_sessions(ports, session, key)
        stored.updated_at = ports.clock.now()
        change = Change(
            "second_factor.reset", "User", key, user.email, {**before, "sessions": ended}
        )
        record(ports, actor, session, change)
        if any(before.values()):
            notify(ports, actor, session, key, MailKind.SECOND_FACTORS_RESET)
        return load_user(session, key)


def _remove(session: Session, user_id: int) -> dict[str, object]:
    """Delete the factors and codes; return what there was, for the audit log."""
    had = read_factors(session, user_id)
    for factor in (PasskeyRecord, AuthenticatorAppRecord):
        session.execute(delete(factor).where(factor.user_id == user_id))
    drop_codes(session, user_id)
    return {
        "passkeys": had.passkeys,
        "authenticator_app": had.has_authenticator_app,
        "recovery_codes": had.recovery_codes,
    }
