"""New recovery codes for the caller's own account."""

from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Caller
from app.domain.mails.mail import MailKind
from app.domain.values.errors import PermissionDenied, Problem, Refused
from app.models import UserRecord
from app.ports import Ports
from app.services.audit.log import Change, record
from app.services.authorization.register import account_owner_only, fresh_proof
from app.services.outbox.security_notices import notify
from app.services.second_factors.recovery_codes import hash_new_codes, replace_codes
from app.services.second_factors.stored_factors import read_factors
from app.services.sign_in.reauthentication import own_id

NO_FACTOR = Problem(
    "NOT_FOUND", "Recovery codes need a second factor. Add a passkey or an authenticator app."
)


@fresh_proof("always", lambda *_args: True)
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
        user = session.get(UserRecord, user_id, with_for_update=True)
        if user is None:
            raise PermissionDenied(Caller.USER)
        if not read_factors(session, user_id).is_active:
            raise Refused(NO_FACTOR)
        shown = replace_codes(ports, session, user_id, codes)
        after = {"count": len(shown)}
        change = Change("recovery_codes.replace", "User", user_id, user.email, after=after)
        record(ports, actor, session, change)
        notify(ports, actor, session, user_id, MailKind.RECOVERY_CODES_REPLACED)
        return shown
