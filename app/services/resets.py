"""Forgotten passwords: asked for by anybody in the same time, answered by the worker.

A request looks at nothing that depends on an account: it writes down what was typed. Whose address
it is, and whether a link may be made, the worker finds out afterwards, so neither the answer nor
the time it takes can tell known from unknown addresses.
"""

from sqlalchemy import select

from app.domain.actor import Actor, ActorKind
from app.domain.emails import email_problem, normalize_email
from app.domain.shop import PasswordLoginMode
from app.models import ResetRequestRecord, ShopRecord, UserRecord
from app.models.shop import SHOP_ID
from app.ports import Ports
from app.services.access import internal, public
from app.services.callers import switches_of
from app.services.links import require_redirect
from app.services.login import needs_password_login
from app.services.reset_links import promise_link, take_turn

_BATCH = 100


@needs_password_login
@public
def request_password_reset(ports: Ports, actor: Actor, *, email: str, redirect_url: str) -> None:
    """Ask for a link to set a new password (`requestPasswordReset`); the same for every address.

    Refuses DISABLED_AUTHENTICATION_METHOD, and INVALID on ``redirectUrl`` when mails may not lead
    there. Nothing else is ever said: unknown, inactive, locked and known users get one answer.
    """
    require_redirect(ports, redirect_url)
    address = normalize_email(email)
    if email_problem(address) is not None:
        return  # no account can have it, so there is nobody to hide
    caller = {
        "kind": actor.kind.value,
        "user_id": actor.user_id,
        "app_id": actor.app_id,
        "name": actor.name,
        "address": actor.address,
        "issuer": actor.issuer,
    }
    with ports.database.transaction() as session:
        session.add(
            ResetRequestRecord(
                email=address,
                redirect_url=redirect_url,
                caller=caller,
                created_at=ports.clock.now(),
            )
        )


@internal
def answer_reset_requests(ports: Ports, actor: Actor) -> int:
    """Make the links that were asked for, with their mails and events; how many requests were met.

    One link per user and ``RESET_PASSWORD_LOCK_TIME``, of however many processes; none for an
    address that is nobody's or an inactive account's, nor while passwords are switched off.
    """
    met = 0
    while met < _BATCH and _answer_one(ports):
        met += 1
    return met


def _answer_one(ports: Ports) -> bool:
    with ports.database.transaction() as session:
        request = session.scalar(
            select(ResetRequestRecord)
            .order_by(ResetRequestRecord.id)
            .limit(1)
            .with_for_update(skip_locked=True)
        )
        if request is None:
            return False
        session.delete(request)
        switches = switches_of(session.get_one(ShopRecord, SHOP_ID))
        if switches.password_login_mode is not PasswordLoginMode.DISABLED:
            user = take_turn(ports, session, UserRecord.email == request.email)
            if user is not None:
                asker = _asker(request.caller)
                promise_link(ports, asker, session, user, request.redirect_url)
    return True


def _asker(caller: dict[str, object]) -> Actor:
    """Whoever asked, as far as audit and events tell of them."""
    user_id, app_id, address = caller["user_id"], caller["app_id"], caller["address"]
    return Actor(
        ActorKind(str(caller["kind"])),
        user_id=user_id if isinstance(user_id, int) else None,
        app_id=app_id if isinstance(app_id, int) else None,
        name=str(caller["name"]),
        address=None if address is None else str(address),
        issuer=str(caller["issuer"]),
    )
