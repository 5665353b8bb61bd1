"""The claims of our tokens: contract, "Access and refresh tokens", "Credentials, precisely"."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.sign_in.tokens import (
    CSRF_TOKEN_LENGTH,
    SESSION_TOKEN_LENGTH,
    Claims,
    Subject,
    TokenType,
    check_claims,
    is_access,
    is_loopback_host,
    is_loopback_issuer,
    make_claims,
    read_claims,
    successor_of,
)
from app.domain.values.errors import TokenFault, TokenRejected
from app.domain.values.ids import to_global_id
from tests.fixtures.cases import cases

NOW = 1_772_366_400.5
ISSUER = "https://shop.example.com/graphql/"
OWNERS = frozenset(("latchkey", "acme"))
SUBJECT = Subject(
    user_id=4,
    email="customer@example.com",
    is_staff=False,
    session="2xPW1QfB1GlePq7Z",
    issuer=ISSUER,
    owner="latchkey",
)


def _made(**changed: object) -> dict[str, Any]:
    claims = make_claims(SUBJECT, TokenType.ACCESS, now=NOW, expires=NOW + 300)
    return {name: value for name, value in {**claims, **changed}.items() if value is not ...}


def _claims(**changed: object) -> Claims:
    return read_claims(_made(**changed), OWNERS)


def _fault_of(claims: Claims, *, issuer: str = ISSUER, configured: bool = True) -> TokenFault:
    with pytest.raises(TokenRejected) as rejected:
        check_claims(claims, now=NOW, issuer=issuer, configured=configured)
    return rejected.value.fault


def test_token_holds_exactly_the_claims_of_the_contract() -> None:
    assert _made() == {
        "iat": 1_772_366_400,
        "owner": "latchkey",
        "iss": ISSUER,
        "exp": 1_772_366_700,
        "token": "2xPW1QfB1GlePq7Z",
        "email": "customer@example.com",
        "type": "access",
        "user_id": "VXNlcjo0",
        "is_staff": False,
    }


def test_session_id_has_at_least_twelve_random_characters() -> None:
    assert SESSION_TOKEN_LENGTH >= 12


@given(
    user_id=st.integers(min_value=1, max_value=10**18 - 1),
    kind=st.sampled_from(TokenType),
    now=st.integers(min_value=0, max_value=2**36),
    lifetime=st.integers(min_value=1, max_value=10**8),
)
def test_claims_round_trip(user_id: int, kind: TokenType, now: int, lifetime: int) -> None:
    subject = Subject(user_id, "a@example.com", True, "s" * 16, ISSUER, "latchkey")  # noqa: FBT003 - in the order of the claims
    made = make_claims(subject, kind, now=now, expires=now + lifetime)

    claims = read_claims(made, OWNERS)

    assert (claims.user_id, claims.type, claims.session) == (user_id, kind, "s" * 16)
    assert (claims.iat, claims.exp) == (now, now + lifetime)
    assert claims.everything == made
    check_claims(claims, now=now, issuer=ISSUER, configured=True)


@cases("name", ["iat", "exp", "owner", "iss", "token", "type", "user_id"])
@cases("value", [..., None, "", [], {}, 1.5, True])
def test_claim_that_is_missing_or_of_another_kind_makes_the_token_invalid(
    name: str, value: object
) -> None:
    with pytest.raises(TokenRejected) as rejected:
        read_claims(_made(**{name: value}), OWNERS)
    assert rejected.value.fault is TokenFault.INVALID


@cases("name", ["iat", "exp"])
@cases("value", ["1772366700", float("inf"), float("nan"), 1_772_366_700.0])
def test_time_claims_must_be_integers(name: str, value: object) -> None:
    with pytest.raises(TokenRejected) as rejected:
        read_claims(_made(**{name: value}), OWNERS)
    assert rejected.value.fault is TokenFault.INVALID


@cases(
    "user_id",
    ["4", to_global_id("App", 4), to_global_id("User", "x"), to_global_id("User", "-4"), "VXNlcg"],
)
def test_token_names_a_user_by_global_id(user_id: str) -> None:
    with pytest.raises(TokenRejected):
        _claims(user_id=user_id)


@cases("owner", ["saleor", "Latchkey", "latchkey2", "latchke", "latchkey acme"])
def test_token_of_another_owner_is_foreign(owner: str) -> None:
    with pytest.raises(TokenRejected) as rejected:
        _claims(owner=owner)
    assert rejected.value.fault is TokenFault.INVALID


def test_token_of_a_former_owner_is_accepted() -> None:
    assert _claims(owner="acme").owner == "acme"


def test_token_without_email_or_role_is_accepted() -> None:
    claims = _claims(email=..., is_staff=...)
    assert claims.user_id == SUBJECT.user_id


def test_only_refresh_tokens_have_a_csrf_token() -> None:
    assert _claims().csrf_token == ""
    assert _claims(csrf_token="x" * 64).csrf_token == "x" * 64
    assert _claims(csrf_token=7).csrf_token == ""


def test_refresh_token_has_one_unique_successor() -> None:
    chain = ["x" * CSRF_TOKEN_LENGTH]
    for _ in range(50):
        chain.append(successor_of(chain[-1]))
        assert successor_of(chain[-2]) == chain[-1]
    assert len(set(chain)) == len(chain)
    assert {len(token) for token in chain} == {CSRF_TOKEN_LENGTH}


def test_extension_token_names_its_app_by_global_id() -> None:
    assert _claims().app_id is None
    assert _claims(app=to_global_id("App", 7)).app_id == 7
    with pytest.raises(TokenRejected):
        _claims(app=to_global_id("User", 7))


@cases(
    ("kind", "may_stand_in_a_header"),
    [
        ("access", True),
        ("thirdparty", True),
        ("refresh", False),
        ("ACCESS", False),
        ("offline", False),
    ],
)
def test_only_access_and_extension_tokens_are_accepted_in_headers(
    kind: str, may_stand_in_a_header: bool
) -> None:
    assert is_access(_claims(type=kind)) is may_stand_in_a_header


@cases(
    ("expires", "now", "expired"),
    [
        (1000, 999.0, False),
        (1000, 999.999, False),
        (1000, 1000.0, True),
        (1000, 1000.001, True),
        (1000, 5000.0, True),
        (0, 1000.0, True),
        (-(10**11), 1000.0, True),
        (10**11, 1000.0, False),
    ],
)
def test_token_expires_in_its_exact_second_without_leeway(
    expires: int, now: float, expired: bool
) -> None:
    claims = _claims(iat=0, exp=expires)
    if not expired:
        check_claims(claims, now=now, issuer=ISSUER, configured=True)
        return
    with pytest.raises(TokenRejected) as rejected:
        check_claims(claims, now=now, issuer=ISSUER, configured=True)
    assert rejected.value.fault is TokenFault.EXPIRED


@cases("claim", ["iat", "nbf"])
def test_token_is_immature_when_a_start_is_more_than_the_leeway_ahead(claim: str) -> None:
    check_claims(_claims(**{claim: int(NOW) + 60}), now=NOW, issuer=ISSUER, configured=True)
    assert _fault_of(_claims(**{claim: int(NOW) + 61})) is TokenFault.IMMATURE


def test_expiry_is_checked_before_immaturity() -> None:
    assert _fault_of(_claims(iat=int(NOW) + 600, exp=int(NOW) - 60)) is TokenFault.EXPIRED


def test_expired_token_of_another_issuer_is_invalid() -> None:
    foreign = _claims(iss="https://elsewhere.example.com/graphql/", exp=int(NOW) - 60)
    assert _fault_of(foreign) is TokenFault.INVALID


LOOPBACK = "http://localhost:8000/graphql/"


@cases(
    ("iss", "request_issuer", "configured", "accepted"),
    [
        (ISSUER, ISSUER, True, True),
        (LOOPBACK, LOOPBACK, True, True),
        (LOOPBACK, ISSUER, True, False),
        ("https://shop.example.com/graphql", ISSUER, True, False),
        ("https://shop.example.com:443/graphql/", ISSUER, True, False),
        ("https://SHOP.example.com/graphql/", ISSUER, True, False),
        ("http://shop.example.com/graphql/", ISSUER, True, False),
        (ISSUER, ISSUER, False, True),
        (LOOPBACK, ISSUER, False, True),
        ("http://127.0.0.1:5000/graphql/", LOOPBACK, False, True),
        ("http://[::1]:8000/graphql/", LOOPBACK, False, True),
        (ISSUER, LOOPBACK, False, False),
        ("http://localhost.example.com/graphql/", LOOPBACK, False, False),
    ],
)
def test_issuer_is_the_public_url_or_else_the_requests_or_loopback(
    iss: str, request_issuer: str, configured: bool, accepted: bool
) -> None:
    claims = _claims(iss=iss)
    if accepted:
        check_claims(claims, now=NOW, issuer=request_issuer, configured=configured)
    else:
        fault = _fault_of(claims, issuer=request_issuer, configured=configured)
        assert fault is TokenFault.INVALID


@cases(
    ("issuer", "is_loopback"),
    [
        ("http://localhost/graphql/", True),
        ("https://localhost:8000/graphql/", True),
        ("http://shop.localhost:8000/graphql/", True),
        ("http://127.8.9.1/graphql/", True),
        ("http://localhost:8000/graphql", False),
        ("http://localhost:8000/", False),
        ("ftp://localhost/graphql/", False),
        ("localhost:8000/graphql/", False),
        ("http://user@evil.example.com/graphql/", False),
        ("http://localhost@evil.example.com/graphql/", False),
        ("http://10.0.0.1/graphql/", False),
        ("http://[::1/graphql/", False),
        ("http:///graphql/", False),
        ("", False),
    ],
)
def test_loopback_issuers_are_recognized(issuer: str, is_loopback: bool) -> None:
    assert is_loopback_issuer(issuer) is is_loopback


@cases(
    ("host", "is_loopback"),
    [
        ("localhost", True),
        ("a.b.localhost", True),
        ("127.0.0.1", True),
        ("::1", True),
        ("notlocalhost", False),
        ("127.0.0.1.example.com", False),
        ("0.0.0.0", False),  # noqa: S104 - an address that must not pass, bound by nobody
        ("", False),
    ],
)
def test_loopback_hosts_are_recognized(host: str, is_loopback: bool) -> None:
    assert is_loopback_host(host) is is_loopback


@given(st.dictionaries(st.sampled_from(list(_made())), st.none() | st.integers() | st.text()))
def test_any_claims_are_read_or_refused(changed: dict[str, object]) -> None:
    with suppress(TokenRejected):
        check_claims(_claims(**changed), now=NOW, issuer=ISSUER, configured=True)
