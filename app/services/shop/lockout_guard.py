"""Count who could undo a change of the two switches.

The console refuses a change that no one could undo, though the contract lets GraphQL and the
command line make it. ``provider_coverage`` does the same for providers.
"""

from dataclasses import fields

from sqlalchemy import ColumnElement, exists, false, func, literal_column, or_, select

from app import models
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.shop.lockouts import AccessChange, Lockout, SettingsManagers, check_lockout
from app.domain.shop.settings import PasswordLoginMode
from app.domain.values.errors import Problem, Refused
from app.ports import NamedRow, Ports
from app.services.authorization.register import building_block, requires
from app.services.identity.permission_holders import holder_ids
from app.services.identity.providers import KNOWN_BY, has_sign_on, working_providers, works

_NEEDED = Permission.MANAGE_SETTINGS

_GRANTED = models.Session.scope != literal_column("''")
"""Few sessions carry rights from a provider: an index has them, found by these very words."""


@requires(Permission.MANAGE_SETTINGS, Permission.MANAGE_PLUGINS)
def lockout(ports: Ports, actor: Actor, change: AccessChange) -> Lockout:
    """Whether no one could undo ``change``, though someone could now.

    Those who can: staff with MANAGE_SETTINGS and a sign-in method that still works, apps with
    MANAGE_SETTINGS. One statement; nothing changes.
    """
    now = settings_manager_columns(ports)
    then = settings_manager_columns(ports, without=change.provider_off, prefix="later")
    with ports.database.reading() as session:
        row = session.execute(select(models.Shop.password_login_mode, *now, *then)).one()
    before = PasswordLoginMode(row.password_login_mode)
    after = change.password_login_mode or before
    was = check_lockout(actor, read_settings_managers(row), before, AccessChange())
    will_be = check_lockout(actor, read_settings_managers(row, "later"), after, change)
    return will_be.unless_before(was)


@building_block
def prevent_access_lockout(ports: Ports, actor: Actor, change: AccessChange) -> None:
    """Refuse LOCKOUT for a change that no administrator could undo; the console's rule alone."""
    if not actor.holds(_NEEDED):
        return
    judged = lockout(ports, actor, change)
    if judged.reason is not None:
        raise Refused(Problem("LOCKOUT", judged.reason.value))


@building_block
def settings_manager_columns(
    ports: Ports, *, without: str | None = None, prefix: str = "managers"
) -> tuple[ColumnElement[int], ...]:
    """Return what ``read_settings_managers`` expects in a row, labelled with ``prefix``.

    ``without`` is a provider to be disabled.
    """
    has_right = or_(models.User.is_superuser, models.User.id.in_(holder_ids(_NEEDED)))
    staff = (
        select(func.count())
        .select_from(models.User)
        .where(models.User.is_staff, models.User.is_active, has_right)
    )
    way_in = or_(models.User.password_hash.is_not(None), has_sign_on(without=without))
    by_sign_on = has_sign_on(without=without, rights_kept_here=True)
    return (
        staff.where(way_in).scalar_subquery().label(f"{prefix}_people"),
        staff.where(by_sign_on).scalar_subquery().label(f"{prefix}_by_sign_on"),
        _granted(ports, without).label(f"{prefix}_by_grant"),
        _apps(ports).label(f"{prefix}_apps"),
        working_providers(without).label(f"{prefix}_providers"),
        working_providers(without, waiting=True).label(f"{prefix}_waiting"),
    )


@building_block
def read_settings_managers(row: NamedRow, prefix: str = "managers") -> SettingsManagers:
    """Who manages settings, from a row that has the columns of ``settings_manager_columns``."""
    return SettingsManagers(
        **{
            field.name: getattr(row, f"{prefix}_{field.name}")
            for field in fields(SettingsManagers)
        }
    )


def _granted(ports: Ports, without: str | None) -> ColumnElement[int]:
    """People who are signed in with the right from a provider that rules over rights.

    Only sessions that began at a provider have an identity there.
    """
    provider, identity = models.IdentityProvider, models.ExternalIdentity
    return (
        select(func.count(models.Session.user_id.distinct()))
        .join(provider, provider.id == models.Session.provider_id)
        .join(models.User, models.User.id == models.Session.user_id)
        .join(identity, identity.id == models.Session.identity_id)
        .where(
            KNOWN_BY,
            _GRANTED,
            models.Session.expires_at > ports.clock.now(),
            models.Session.scope.contains(_NEEDED.value),
            provider.use_oauth_scope_permissions != false(),
            works(without),
            models.User.is_active,
        )
        .scalar_subquery()
    )


def _apps(ports: Ports) -> ColumnElement[int]:
    """Apps with a token that may manage settings."""
    token = models.AppToken
    has_token = exists().where(
        token.app_id == models.App.id,
        or_(token.expires_at.is_(None), token.expires_at > ports.clock.now()),
        or_(token.permissions.is_(None), token.permissions.contains(_NEEDED.value)),
    )
    return (
        select(func.count())
        .select_from(models.AppPermission)
        .join(models.App, models.App.id == models.AppPermission.app_id)
        .where(
            models.AppPermission.permission == _NEEDED.value,
            models.App.is_active,
            models.App.is_installed,
            has_token,
        )
        .scalar_subquery()
    )
