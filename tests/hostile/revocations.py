"""Ways in which a caller loses rights, and the refusals that follow."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from sqlalchemy import delete, func, select

from app import models
from app.domain.authorization.actor import OPERATOR, Actor
from app.domain.authorization.permissions import Permission
from app.domain.shop.settings import PasswordLoginMode, ShopUpdate
from app.domain.values.errors import PermissionDenied, TokenFault, TokenRejected
from app.ports import Ports
from app.services.people.user_status import deactivate_user
from app.services.shop.settings import update_shop
from app.services.sign_in.sessions import end_sessions
from tests.builders.apps import change_app
from tests.builders.people import change_user

APPS = Permission.MANAGE_APPS

Revoke = Callable[[Ports, Actor], object]


def _write(ports: Ports, what: Any) -> None:
    with ports.database.transaction() as session:
        session.execute(what)


def products(ports: Ports) -> int:
    with ports.database.reading() as session:
        return session.scalar(select(func.count()).select_from(models.Product)) or 0


def app_tokens(ports: Ports, app_id: int) -> int:
    of_app = models.AppToken.app_id == app_id
    with ports.database.reading() as session:
        return session.scalar(select(func.count()).where(of_app)) or 0


def deactivate(ports: Ports, actor: Actor) -> None:
    deactivate_user(ports, OPERATOR, actor.user_id or 0)


def end_session(ports: Ports, actor: Actor) -> None:
    _write(ports, delete(models.Session).where(models.Session.id == actor.session_id))


def sign_out_everywhere(ports: Ports, actor: Actor) -> None:
    with ports.database.transaction() as session:
        end_sessions(ports, session, actor.user_id or 0)


def take_direct_permission(ports: Ports, actor: Actor) -> None:
    of_user = models.UserPermission.user_id == actor.user_id
    _write(ports, delete(models.UserPermission).where(of_user))


def take_other_permission(ports: Ports, actor: Actor) -> None:
    """One that the use case doesn't ask for: what can be granted depends on it."""
    is_other = models.UserPermission.permission == APPS.value
    _write(ports, delete(models.UserPermission).where(is_other))


def take_group_permission(ports: Ports, _actor: Actor) -> None:
    _write(ports, delete(models.GroupPermission))


def remove_from_staff(ports: Ports, actor: Actor) -> None:
    change_user(ports, actor.user_id or 0, is_staff=False)


def set_mode(ports: Ports, mode: PasswordLoginMode) -> None:
    update_shop(ports, OPERATOR, ShopUpdate(password_login_mode=mode))


def limit_to_customers(ports: Ports, _actor: Actor) -> None:
    set_mode(ports, PasswordLoginMode.CUSTOMERS_ONLY)


def switch_off_passwords(ports: Ports, _actor: Actor) -> None:
    set_mode(ports, PasswordLoginMode.DISABLED)


def refusal_of(use_case: Callable[[], object]) -> str:
    """Return how ``use_case`` is refused: the token's fault or the missing permissions."""
    try:
        use_case()
    except TokenRejected as rejected:
        return rejected.fault.value
    except PermissionDenied as denied:
        return " ".join(denied.required)
    return ""


def revoke_token(ports: Ports, actor: Actor) -> None:
    _write(ports, delete(models.AppToken).where(models.AppToken.app_id == actor.app_id))


def narrow_token(ports: Ports, actor: Actor) -> None:
    with ports.database.transaction() as session:
        session.scalars(select(models.AppToken)).one().permissions = ""


def expire_token(ports: Ports, actor: Actor) -> None:
    with ports.database.transaction() as session:
        past = ports.clock.now() - timedelta(seconds=1)
        session.scalars(select(models.AppToken)).one().expires_at = past


def deactivate_app(ports: Ports, actor: Actor) -> None:
    change_app(ports, actor.app_id or 0, is_active=False)


def take_app_permission(ports: Ports, actor: Actor) -> None:
    _write(ports, delete(models.AppPermission).where(models.AppPermission.app_id == actor.app_id))


INVALID = TokenFault.INVALID.value

OF_PEOPLE: list[tuple[Revoke, str]] = [
    (deactivate, INVALID),
    (end_session, INVALID),
    (sign_out_everywhere, INVALID),
    (switch_off_passwords, INVALID),
    (take_direct_permission, "MANAGE_APPS"),
    (take_other_permission, "MANAGE_APPS"),
    (take_group_permission, "MANAGE_PRODUCTS"),
    (remove_from_staff, "AUTHENTICATED_STAFF_USER"),
    (limit_to_customers, "AUTHENTICATED_STAFF_USER"),
]
