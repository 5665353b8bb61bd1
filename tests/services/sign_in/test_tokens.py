"""Claims and `tokenVerify`: contract, "Access and refresh tokens", "`tokenCreate` and friends"."""

import re
from dataclasses import replace

import pytest
from sqlalchemy import Delete, Update, delete, update

from app import models
from app.domain.authorization.actor import SessionOrigin
from app.domain.authorization.permissions import Permission
from app.domain.shop.settings import PasswordLoginMode
from app.domain.values.errors import Refused, TokenFault
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.services.identity.identify import identify
from app.services.sign_in.tokens import Verified, check_token, refresh_token, verify_token
from tests.builders.apps import make_app
from tests.builders.people import ISSUER, NOBODY, make_staff, make_user, sign_in, visit
from tests.builders.shop import set_mode
from tests.builders.tokens import altered, claims_in, extension_of, signed
from tests.fakes.clock import START, FakeClock
from tests.services.invalid_tokens import broken_tokens

NOW = int(START.timestamp())
MONTH = 30 * 24 * 3600


def verify(ports: Ports, token: str | None) -> Verified:
    """What is told of a good token; whoever does not ask for its user is told the same."""
    verified = verify_token(ports, NOBODY, token=token)
    assert check_token(ports, NOBODY, token=token) == verified.payload
    return verified


def refusal_of(ports: Ports, token: str | None) -> tuple[str | None, str]:
    with pytest.raises(Refused) as refused:
        verify_token(ports, NOBODY, token=token)
    with pytest.raises(Refused) as refused_briefly:
        check_token(ports, NOBODY, token=token)
    [problem] = refused.value.problems
    assert refused_briefly.value.problems == (problem,)
    return problem.field, problem.code


@pytest.mark.parametrize("is_staff", [False, True])
def test_access_token_holds_exactly_the_claims_of_the_contract(
    ports: Ports, is_staff: bool
) -> None:
    user_id = make_user(ports, is_staff=is_staff)

    claims = claims_in(ports, sign_in(ports, user_id).access)

    assert re.fullmatch(r"[0-9A-Za-z]{16}", claims.pop("token"))
    assert claims == {
        "iat": NOW,
        "exp": NOW + 300,
        "owner": "saleor",
        "iss": ISSUER,
        "email": "customer@example.com",
        "type": "access",
        "user_id": to_global_id("User", user_id),
        "is_staff": is_staff,
    }
    assert {type(claims[name]) for name in ("iat", "exp")} == {int}


def test_refresh_token_has_a_later_expiry_and_a_csrf_token(ports: Ports) -> None:
    pair = sign_in(ports, make_user(ports))

    access, refresh = claims_in(ports, pair.access), claims_in(ports, pair.refresh)

    assert re.fullmatch(r"[0-9A-Za-z]{64}", refresh.pop("csrf_token"))
    assert refresh == {**access, "type": "refresh", "exp": NOW + MONTH}


def test_no_permission_is_ever_embedded(ports: Ports) -> None:
    staff = make_staff(ports, "staff@example.com", Permission.MANAGE_APPS)

    pair = sign_in(ports, staff)

    for token in (pair.access, pair.refresh):
        assert "MANAGE" not in str(claims_in(ports, token))


def test_lifetimes_and_owner_follow_the_settings(ports: Ports) -> None:
    configuration = replace(
        ports.configuration, jwt_ttl_access=60, jwt_ttl_refresh=3600, token_owner="acme"
    )
    pair = sign_in(replace(ports, configuration=configuration), make_user(ports))

    access, refresh = claims_in(ports, pair.access), claims_in(ports, pair.refresh)

    assert (access["exp"], refresh["exp"]) == (NOW + 60, NOW + 3600)
    assert access["owner"] == "acme"


def test_tokens_of_the_former_owner_stay_valid_until_they_expire(
    ports: Ports, clock: FakeClock
) -> None:
    former = replace(ports.configuration, token_owner=ports.configuration.vendor.lower())
    pair = sign_in(replace(ports, configuration=former), make_user(ports))
    assert claims_in(ports, pair.access)["owner"] == "latchkey"

    assert verify(ports, pair.access).user is not None
    assert identify(ports, visit(pair.access)).actor.user_id is not None
    renewed = refresh_token(ports, NOBODY, token=pair.refresh).access
    assert claims_in(ports, renewed)["owner"] == "saleor"
    clock.pass_(seconds=301)
    assert refusal_of(ports, pair.access) == ("token", "JWT_SIGNATURE_EXPIRED")


def test_access_token_never_outlives_its_session(ports: Ports) -> None:
    configuration = replace(ports.configuration, jwt_ttl_access=300, jwt_ttl_refresh=200)

    pair = sign_in(replace(ports, configuration=configuration), make_user(ports))

    assert claims_in(ports, pair.access)["exp"] == claims_in(ports, pair.refresh)["exp"]


@pytest.mark.parametrize("kind", ["access", "refresh"])
def test_valid_token_is_verified_with_user_and_claims(ports: Ports, kind: str) -> None:
    staff = make_staff(ports, "staff@example.com", Permission.MANAGE_APPS)
    token: str = getattr(sign_in(ports, staff), kind)

    verified = verify(ports, token)

    assert verified.user.id == staff
    assert verified.user.permissions == {Permission.MANAGE_APPS}
    assert verified.payload == claims_in(ports, token)


def test_extension_token_verifies(ports: Ports) -> None:
    user_id = make_user(ports)
    app_id, _ = make_app(ports)
    token = extension_of(ports, sign_in(ports, user_id).access, app_id)

    assert verify(ports, token).user.id == user_id


def test_missing_token_is_required(ports: Ports) -> None:
    assert refusal_of(ports, None) == ("token", "REQUIRED")


CODES = {
    TokenFault.EXPIRED: "JWT_SIGNATURE_EXPIRED",
    TokenFault.UNDECODABLE: "JWT_DECODE_ERROR",
    TokenFault.SIGNATURE: "JWT_DECODE_ERROR",
    TokenFault.ALGORITHM: "JWT_INVALID_TOKEN",
    TokenFault.IMMATURE: "JWT_INVALID_TOKEN",
    TokenFault.INVALID: "JWT_INVALID_TOKEN",
}


def test_broken_token_is_refused_with_its_code(ports: Ports) -> None:
    broken = broken_tokens(ports, sign_in(ports, make_user(ports)).access)

    refusals = {name: refusal_of(ports, token) for name, (token, _) in broken.items()}

    assert refusals == {name: ("token", CODES[fault]) for name, (_, fault) in broken.items()}


@pytest.mark.parametrize("kind", ["access", "refresh"])
def test_expired_token_is_expired(ports: Ports, clock: FakeClock, kind: str) -> None:
    token: str = getattr(sign_in(ports, make_user(ports)), kind)
    clock.pass_(seconds=MONTH)

    assert refusal_of(ports, token) == ("token", "JWT_SIGNATURE_EXPIRED")


@pytest.mark.parametrize(
    "ending", [update(models.User).values(is_active=False), delete(models.User)], ids=str
)
def test_token_of_a_deactivated_or_deleted_user_is_invalid(
    ports: Ports, ending: Update | Delete
) -> None:
    pair = sign_in(ports, make_user(ports))
    with ports.database.transaction() as session:
        session.execute(ending)

    assert refusal_of(ports, pair.access) == ("token", "JWT_INVALID_TOKEN")


def test_token_of_another_users_session_is_invalid(ports: Ports) -> None:
    mine = sign_in(ports, make_user(ports))
    other = make_user(ports, "other@example.com")

    token = altered(ports, mine.access, user_id=to_global_id("User", other))

    assert refusal_of(ports, token) == ("token", "JWT_INVALID_TOKEN")


def test_token_of_an_unknown_type_is_invalid(ports: Ports) -> None:
    token = altered(ports, sign_in(ports, make_user(ports)).access, type="offline")

    assert refusal_of(ports, token) == ("token", "JWT_INVALID_TOKEN")


def test_email_and_role_claims_are_ignored(ports: Ports) -> None:
    user_id = make_user(ports)
    make_staff(ports, "staff@example.com", Permission.MANAGE_APPS)
    forged = altered(
        ports, sign_in(ports, user_id).access, email="staff@example.com", is_staff=True
    )

    user = verify(ports, forged).user

    assert (user.id, user.email, user.is_staff) == (user_id, "customer@example.com", False)
    assert user.permissions == frozenset()


def test_own_token_is_verified_with_extra_claims(ports: Ports) -> None:
    pair = sign_in(ports, make_user(ports))
    claims = {**claims_in(ports, pair.access), "aud": "custom:x", "nested": {"a": [1, None]}}

    assert verify(ports, signed(ports, claims)).payload == claims


def test_token_verifies_in_every_mode_with_its_effective_rights(ports: Ports) -> None:
    staff = make_staff(ports, "staff@example.com", Permission.MANAGE_APPS)
    for origin in (SessionOrigin.PASSWORD, SessionOrigin.OIDC):
        pair = sign_in(ports, staff, origin)
        for mode in PasswordLoginMode:
            set_mode(ports, mode)
            keeps = mode is PasswordLoginMode.ENABLED or origin is SessionOrigin.OIDC

            user = verify(ports, pair.access).user

            assert user.is_staff is keeps, (origin, mode)
            assert user.permissions == ({Permission.MANAGE_APPS} if keeps else set())
