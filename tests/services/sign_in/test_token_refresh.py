"""`tokenRefresh`: contract, "Operations" and "`tokenCreate` and friends: codes"."""

from dataclasses import replace
from itertools import product

import pytest
from sqlalchemy import Delete, Update, delete, update

from app import models
from app.domain.authorization.actor import Actor, SessionOrigin, anonymous
from app.domain.authorization.permissions import Permission
from app.domain.shop.settings import PasswordLoginMode
from app.domain.values.errors import Refused, TokenFault
from app.ports import Ports
from app.services.identity.identify import identify
from app.services.sign_in.password_login import create_token
from app.services.sign_in.tokens import TokenPair, refresh_token
from tests.builders.people import (
    ADDRESS,
    ISSUER,
    NOBODY,
    PASSWORD,
    make_staff,
    make_user,
    sign_in,
    visit,
)
from tests.builders.shop import set_mode
from tests.builders.tokens import altered, claims_in
from tests.fakes.clock import FakeClock
from tests.services.invalid_tokens import break_token, broken_tokens

MONTH = 30 * 24 * 3600
CODES = {
    TokenFault.EXPIRED: "JWT_SIGNATURE_EXPIRED",
    TokenFault.UNDECODABLE: "JWT_DECODE_ERROR",
    TokenFault.SIGNATURE: "JWT_DECODE_ERROR",
    TokenFault.ALGORITHM: "JWT_INVALID_TOKEN",
    TokenFault.IMMATURE: "JWT_INVALID_TOKEN",
    TokenFault.INVALID: "JWT_INVALID_TOKEN",
}
OF_NO_SESSION = {"unknown session", "unknown user"}


def refresh(ports: Ports, token: str | None, actor: Actor = NOBODY) -> TokenPair:
    return refresh_token(ports, actor, token=token)


def refusal_of(ports: Ports, token: str | None) -> tuple[str | None, str]:
    with pytest.raises(Refused) as refused:
        refresh(ports, token)
    [problem] = refused.value.problems
    return problem.field, problem.code


def test_refresh_token_gives_an_access_token_of_the_same_session(
    ports: Ports, clock: FakeClock
) -> None:
    user_id = make_user(ports)
    pair = sign_in(ports, user_id)
    clock.pass_(hours=2)

    refreshed = refresh(ports, pair.refresh)

    before, after = claims_in(ports, pair.access), claims_in(ports, refreshed.access)
    now = int(clock.timestamp())
    assert after == {**before, "iat": now, "exp": now + 300}
    assert refreshed.user.id == user_id
    assert identify(ports, visit(refreshed.access)).actor.user_id == user_id


def test_refresh_token_stays_valid_and_returns_no_other(ports: Ports, clock: FakeClock) -> None:
    pair = sign_in(ports, make_user(ports))

    for _ in range(3):
        assert not refresh(ports, pair.refresh).refresh
        clock.pass_(hours=200)

    assert identify(ports, visit(refresh(ports, pair.refresh).access)).actor.is_user


@pytest.mark.parametrize("origin", [SessionOrigin.PASSWORD, SessionOrigin.OIDC])
def test_refreshing_never_changes_how_a_session_began(ports: Ports, origin: SessionOrigin) -> None:
    pair = sign_in(ports, make_user(ports), origin)

    once = refresh(ports, pair.refresh).access

    assert identify(ports, visit(once)).actor.origin is origin
    assert identify(ports, visit(refresh(ports, pair.refresh).access)).actor.origin is origin


def test_refreshed_access_token_never_outlives_the_session(ports: Ports, clock: FakeClock) -> None:
    pair = sign_in(ports, make_user(ports))
    clock.pass_(seconds=MONTH - 100)

    refreshed = refresh(ports, pair.refresh).access

    assert claims_in(ports, refreshed)["exp"] == claims_in(ports, pair.refresh)["exp"]


def test_refreshed_token_keeps_its_audience(ports: Ports) -> None:
    make_user(ports)
    pair = create_token(
        ports, NOBODY, email="customer@example.com", password=PASSWORD, audience="custom:x"
    )

    assert claims_in(ports, refresh(ports, pair.refresh).access)["aud"] == "custom:x"


def test_refreshed_token_has_the_current_account(ports: Ports) -> None:
    pair = sign_in(ports, make_user(ports))
    with ports.database.transaction() as session:
        session.execute(update(models.User).values(email="new@example.com", is_staff=True))

    refreshed = refresh(ports, pair.refresh)

    claims = claims_in(ports, refreshed.access)
    assert (claims["email"], claims["is_staff"]) == ("new@example.com", True)
    assert (refreshed.user.email, refreshed.user.is_staff) == ("new@example.com", True)


def test_blocked_or_unknown_ip_address_can_refresh(ports: Ports) -> None:
    make_user(ports)
    pair = sign_in(ports, make_user(ports, "other@example.com"))
    with pytest.raises(Refused):
        create_token(ports, NOBODY, email="customer@example.com", password="wrong")
    assert not ports.throttle.begin(ADDRESS, ports.clock.timestamp()).lease

    assert refresh(ports, pair.refresh).access
    assert refresh(ports, pair.refresh, anonymous(issuer=ISSUER)).access


def test_invalid_credential_in_the_header_is_ignored(ports: Ports) -> None:
    pair = sign_in(ports, make_user(ports))
    caller = identify(ports, visit("garbage")).actor

    assert refresh(ports, pair.refresh, caller).access


def test_missing_refresh_token_is_reported_as_missing(ports: Ports) -> None:
    assert refusal_of(ports, None) == ("refreshToken", "JWT_MISSING_TOKEN")


def test_broken_refresh_token_is_refused_with_its_code(ports: Ports) -> None:
    broken = broken_tokens(ports, sign_in(ports, make_user(ports)).refresh)
    for name in OF_NO_SESSION:
        del broken[name]

    refusals = {name: refusal_of(ports, token) for name, (token, _) in broken.items()}

    assert refusals == {
        name: ("refreshToken", CODES[fault]) for name, (_, fault) in broken.items()
    }


def test_only_a_refresh_token_refreshes(ports: Ports) -> None:
    pair = sign_in(ports, make_user(ports))
    for kind in ("access", "thirdparty", "offline"):
        token = altered(ports, pair.refresh, type=kind)
        assert refusal_of(ports, token) == ("refreshToken", "JWT_INVALID_TOKEN"), kind
    assert refresh(ports, pair.refresh).access


def test_access_token_of_an_ended_session_is_not_a_refresh_token(ports: Ports) -> None:
    token = sign_in(ports, make_user(ports)).access
    with ports.database.transaction() as session:
        session.execute(delete(models.Session))

    assert refusal_of(ports, token) == ("refreshToken", "JWT_INVALID_TOKEN")


def test_expired_refresh_token_is_expired(ports: Ports, clock: FakeClock) -> None:
    pair = sign_in(ports, make_user(ports))
    clock.pass_(seconds=MONTH)

    assert refusal_of(ports, pair.refresh) == ("refreshToken", "JWT_SIGNATURE_EXPIRED")


def test_ended_session_and_inactive_user_are_invalid_without_a_field(ports: Ports) -> None:
    endings: tuple[Update | Delete, ...] = (
        delete(models.Session),
        update(models.User).values(is_active=False),
        delete(models.User),
    )
    for mode, (number, ending) in product(PasswordLoginMode, enumerate(endings)):
        set_mode(ports, PasswordLoginMode.ENABLED)
        pair = sign_in(ports, make_user(ports, f"{mode}-{number}@example.com"))
        refresh(ports, pair.refresh)
        set_mode(ports, mode)
        with ports.database.transaction() as session:
            session.execute(ending)

        is_off = mode is PasswordLoginMode.DISABLED
        code = "DISABLED_AUTHENTICATION_METHOD" if is_off else "JWT_INVALID_TOKEN"
        assert refusal_of(ports, pair.refresh) == (None, code), (mode, str(ending))


@pytest.mark.parametrize("name", sorted(OF_NO_SESSION))
def test_refresh_token_without_a_session_is_invalid_without_a_field(
    ports: Ports, name: str
) -> None:
    token, _ = break_token(ports, sign_in(ports, make_user(ports)).refresh, name)

    assert refusal_of(ports, token) == (None, "JWT_INVALID_TOKEN")


def test_no_session_refreshes_while_password_login_is_disabled(ports: Ports) -> None:
    people = (make_user(ports), make_user(ports, "staff@example.com", is_staff=True))
    for user_id, origin in product(people, (SessionOrigin.PASSWORD, SessionOrigin.OIDC)):
        pair = sign_in(ports, user_id, origin)
        set_mode(ports, PasswordLoginMode.DISABLED)

        assert refusal_of(ports, pair.refresh) == (None, "DISABLED_AUTHENTICATION_METHOD"), origin

        set_mode(ports, PasswordLoginMode.ENABLED)
        assert refresh(ports, pair.refresh).access


@pytest.mark.parametrize("mode", [PasswordLoginMode.ENABLED, PasswordLoginMode.CUSTOMERS_ONLY])
def test_sso_sessions_refresh_with_their_rights_while_passwords_work(
    ports: Ports, mode: PasswordLoginMode
) -> None:
    staff = make_staff(ports, "staff@example.com", Permission.MANAGE_APPS)
    pair = sign_in(ports, staff, SessionOrigin.OIDC)
    set_mode(ports, mode)

    user = refresh(ports, pair.refresh).user

    assert (user.is_staff, user.permissions) == (True, frozenset({Permission.MANAGE_APPS}))


def test_staff_refresh_without_rights_in_customers_only(ports: Ports) -> None:
    staff = make_staff(ports, "staff@example.com", Permission.MANAGE_APPS)
    pair = sign_in(ports, staff)
    set_mode(ports, PasswordLoginMode.CUSTOMERS_ONLY)

    refreshed = refresh(ports, pair.refresh)

    assert (refreshed.user.is_staff, refreshed.user.permissions) == (False, frozenset())
    assert claims_in(ports, refreshed.access)["is_staff"] is True
    actor = identify(ports, visit(refreshed.access)).actor
    assert (actor.is_staff, actor.permissions) == (False, frozenset())


def test_new_access_token_lifetime_applies_to_the_next_refresh(ports: Ports) -> None:
    pair = sign_in(ports, make_user(ports))
    shorter = replace(ports, configuration=replace(ports.configuration, jwt_ttl_access=30))

    claims = claims_in(ports, refresh(shorter, pair.refresh).access)

    assert claims["exp"] - claims["iat"] == 30
