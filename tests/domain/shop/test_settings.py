"""The two switches as truth tables: contract, "Password login mode" and "Modes, precisely"."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from app.domain.authorization.actor import (
    OPERATOR,
    WORKER,
    Actor,
    ActorKind,
    SessionOrigin,
    anonymous,
)
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission
from app.domain.shop.settings import (
    PasswordLoginMode,
    PublicShop,
    Switches,
    admits,
    effective_permissions,
    mode_change_problem,
    rejects_password_sessions,
    removes_staff_rights,
)
from app.domain.values.errors import TokenFault
from tests.fixtures.cases import cases

ENABLED, CUSTOMERS_ONLY, DISABLED = PasswordLoginMode
PASSWORD, OIDC, NONE = SessionOrigin
SETTINGS = frozenset({Permission.MANAGE_SETTINGS})
SETS = st.frozensets(st.sampled_from(Permission))


def _staff(origin: SessionOrigin, app_id: int | None = None) -> Actor:
    return Actor(
        ActorKind.USER,
        user_id=1,
        app_id=app_id,
        is_staff=True,
        origin=origin,
        permissions=SETTINGS,
    )


APP = Actor(ActorKind.APP, app_id=1, permissions=SETTINGS)


@cases(
    ("actor", "target", "allowed"),
    [
        (_staff(PASSWORD), ENABLED, True),
        (_staff(PASSWORD), CUSTOMERS_ONLY, False),
        (_staff(PASSWORD), DISABLED, False),
        (_staff(OIDC), ENABLED, True),
        (_staff(OIDC), CUSTOMERS_ONLY, True),
        (_staff(OIDC), DISABLED, True),
        (_staff(NONE), ENABLED, True),
        (_staff(NONE), CUSTOMERS_ONLY, False),
        (_staff(NONE), DISABLED, False),
        (_staff(PASSWORD, app_id=7), DISABLED, False),
        (_staff(OIDC, app_id=7), DISABLED, True),
        (APP, ENABLED, True),
        (APP, CUSTOMERS_ONLY, False),
        (APP, DISABLED, False),
        (replace(APP, origin=OIDC), DISABLED, False),
        *((actor, mode, True) for actor in (OPERATOR, WORKER) for mode in PasswordLoginMode),
    ],
)
def test_password_login_is_restricted_only_by_sso_callers(
    actor: Actor, target: PasswordLoginMode, allowed: bool
) -> None:
    problem = mode_change_problem(actor, target)

    assert (problem is None) is allowed
    if problem is not None:
        assert (problem.code, problem.field) == ("PASSWORD_AUTH_RESTRICTION", "passwordLoginMode")


@cases("mode", PasswordLoginMode)
@cases("origin", SessionOrigin)
def test_password_sessions_are_rejected_while_password_login_is_disabled(
    mode: PasswordLoginMode, origin: SessionOrigin
) -> None:
    assert rejects_password_sessions(mode, origin) is (mode is DISABLED and origin is PASSWORD)


@cases("mode", PasswordLoginMode)
@cases("origin", SessionOrigin)
def test_staff_lose_their_rights_in_password_sessions_of_every_restricted_mode(
    mode: PasswordLoginMode, origin: SessionOrigin
) -> None:
    assert removes_staff_rights(mode, origin) is (mode is not ENABLED and origin is PASSWORD)


@given(granted=SETS, scopes=st.none() | SETS, app=st.none() | SETS)
def test_removed_permissions_are_not_restored_by_grants_scopes_or_apps(
    granted: frozenset[Permission],
    scopes: frozenset[Permission] | None,
    app: frozenset[Permission] | None,
) -> None:
    for mode in (CUSTOMERS_ONLY, DISABLED):
        kept = effective_permissions(granted, mode=mode, origin=PASSWORD, scopes=scopes, app=app)
        assert kept == frozenset(), mode


@given(granted=SETS)
def test_permissions_are_kept_in_sso_sessions_and_enabled_mode(
    granted: frozenset[Permission],
) -> None:
    for mode, origin in ((ENABLED, PASSWORD), *((mode, OIDC) for mode in PasswordLoginMode)):
        assert effective_permissions(granted, mode=mode, origin=origin) == granted, (mode, origin)


@given(granted=SETS, scopes=SETS)
def test_provider_scopes_replace_local_permissions(
    granted: frozenset[Permission], scopes: frozenset[Permission]
) -> None:
    effective = effective_permissions(granted, mode=ENABLED, origin=OIDC, scopes=scopes)
    assert effective == scopes


@given(granted=SETS, scopes=st.none() | SETS, app=SETS)
def test_extension_lacks_what_its_app_or_user_lacks(
    granted: frozenset[Permission],
    scopes: frozenset[Permission] | None,
    app: frozenset[Permission],
) -> None:
    of_user = effective_permissions(granted, mode=ENABLED, origin=OIDC, scopes=scopes)
    both = effective_permissions(granted, mode=ENABLED, origin=OIDC, scopes=scopes, app=app)

    assert both == of_user & app


@cases(
    ("actor", "admitted"),
    [
        (_staff(PASSWORD), True),
        (_staff(OIDC), True),
        (_staff(OIDC, app_id=7), True),
        (Actor(ActorKind.USER, user_id=1, is_staff=True), True),
        (APP, True),
        (Actor(ActorKind.APP, app_id=1), True),
        (OPERATOR, True),
        (WORKER, True),
        (Actor(ActorKind.USER, user_id=2, origin=PASSWORD), False),
        (Actor(ActorKind.USER, user_id=2, origin=OIDC), False),
        (Actor(ActorKind.USER, user_id=2, permissions=ALL_PERMISSIONS), False),
        (anonymous(address="203.0.113.7"), False),
        *((anonymous(fault=fault), False) for fault in TokenFault),
    ],
)
def test_closed_storefront_admits_only_apps_and_staff(actor: Actor, admitted: bool) -> None:
    assert admits(actor, Switches(allow_storefront_traffic=False)) is admitted
    assert admits(actor, Switches(allow_storefront_traffic=True))


def test_new_shop_allows_every_sign_in_method() -> None:
    assert Switches() == Switches(ENABLED, allow_storefront_traffic=True)


def test_switches_are_part_of_the_shop_settings() -> None:
    shop = PublicShop("Shop", "", DISABLED, allow_storefront_traffic=False)

    assert shop.switches == Switches(DISABLED, allow_storefront_traffic=False)
