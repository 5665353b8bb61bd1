"""Lift the block of an account whose password was entered incorrectly too often."""

from datetime import UTC, datetime

from app.domain.accounts.users import User
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.values.errors import Problem, Refused
from app.ports import Ports
from app.services.audit.log import Change, record
from app.services.authorization.register import requires
from app.services.identity.users import find_user_by_key, require_manageable

_OWN = Problem(
    "INVALID",
    "You can't unblock your own account. Wait, or ask someone else who manages people.",
    "id",
)


@requires(Permission.MANAGE_STAFF, Permission.MANAGE_USERS)
def unblock_account(ports: Ports, actor: Actor, user_id: int) -> User:
    """Allow an account's password and codes to be entered again at once.

    Staff need MANAGE_STAFF, customers MANAGE_USERS. Refuses on ``id`` NOT_FOUND for an unknown or
    unblocked account, OUT_OF_SCOPE_USER, and INVALID for the caller's own: in a stolen session,
    codes could be guessed without end. Raises ``ThrottleUnavailable``.
    """
    now = ports.throttle.timestamp(ports.shared_clock)
    until = ports.throttle.blocks_of(user_id, (), now).account_until
    with ports.database.transaction() as session:
        user = find_user_by_key(session, user_id)
        require_manageable(actor, user)
        if actor.is_user and actor.user_id == user_id:
            raise Refused(_OWN)
        if until is None:
            raise Refused(Problem("NOT_FOUND", "This account isn't blocked.", "id"))
        # Written first, as when an IP address is unblocked: the counters may be in Redis.
        before = {"blocked_until": datetime.fromtimestamp(until, UTC).isoformat()}
        change = Change("user.unblock", "User", user_id, user.email, before=before)
        record(ports, actor, session, change)
    ports.throttle.reset_guesses(user_id)
    return user
