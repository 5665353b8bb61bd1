"""What a provider's tokens must say before they are believed; their signatures come first."""

from dataclasses import replace

import pytest

from app.domain.authorization.permissions import Permission, ScopeGrant
from app.domain.single_sign_on.provider_tokens import (
    ProviderTokenRejected,
    SignedToken,
    is_opaque,
    is_signed,
    read_access_token,
    read_bearer_token,
    read_id_token,
    read_logout_token,
    reason_of,
)
from app.domain.single_sign_on.providers import Provider
from app.domain.values.errors import TokenFault, TokenRejected
from tests.fixtures.cases import cases

NOW = 1_800_000_000.0
ISSUER, CLIENT, API = "https://id.example", "shop", "https://shop.example/api"
LOGOUT: dict[str, object] = {"http://schemas.openid.net/event/backchannel-logout": {}}
PLAIN = Provider(1, "default", "One", active=True, issuer=ISSUER, client_id=CLIENT)
STRICT = replace(PLAIN, audience=API, use_oauth_scope_permissions=True)
INVALID, EXPIRED, IMMATURE = TokenFault.INVALID, TokenFault.EXPIRED, TokenFault.IMMATURE
ACCESS = {"iss": ISSUER, "sub": "alice", "aud": API, "iat": NOW, "exp": NOW + 60, "scope": ""}
ID = {"iss": ISSUER, "sub": "alice", "aud": CLIENT, "iat": NOW, "exp": NOW + 60, "nonce": "n"}
OUT = {"iss": ISSUER, "sub": "alice", "aud": CLIENT, "iat": NOW, "exp": NOW + 60, "events": LOGOUT}


def signed(claims: dict[str, object], typ: object = "JWT", /, **changes: object) -> SignedToken:
    """A token with these claims, some of them otherwise; ``...`` leaves one out."""
    present = {name: value for name, value in (claims | changes).items() if value is not ...}
    return SignedToken({} if typ is ... else {"typ": typ}, present)


TIMES = [
    ({"exp": ...}, INVALID),
    ({"exp": None}, INVALID),
    ({"exp": str(int(NOW + 60))}, INVALID),
    ({"exp": True}, INVALID),
    *(({"exp": value}, INVALID) for value in (1e300, float("inf"), float("nan"))),
    ({"exp": NOW}, EXPIRED),
    ({"exp": NOW - 1}, EXPIRED),
    ({"exp": -1e9}, EXPIRED),
    ({"exp": NOW + 0.5}, None),
    ({"iat": NOW + 60}, None),
    ({"iat": NOW + 61}, IMMATURE),
    ({"iat": "now"}, INVALID),
    ({"nbf": NOW + 60}, None),
    ({"nbf": NOW + 61}, IMMATURE),
    *(({"nbf": value}, INVALID) for value in ([NOW], True, float("nan"))),
]
ISSUERS = [
    ({"iss": ...}, INVALID),
    ({"iss": f"{ISSUER}/"}, INVALID),
    ({"iss": "https://evil.example"}, INVALID),
    ({"iss": [ISSUER]}, INVALID),
    ({"iss": 5}, INVALID),
]
SUBJECTS = [
    ({"sub": ...}, INVALID),
    ({"sub": ""}, INVALID),
    ({"sub": 5}, INVALID),
    ({"sub": "x" * 255}, None),
    ({"sub": "x" * 256}, INVALID),
    ({"sub": "a\nb"}, INVALID),
]


def check(read: object, fault: TokenFault | None) -> None:
    """``read`` raises what was expected, or nothing at all."""
    assert callable(read)
    if fault is None:
        read()
        return
    with pytest.raises(ProviderTokenRejected) as rejected:
        read()
    assert rejected.value.fault is fault
    assert rejected.value.reason.endswith(".")


@cases(
    ("text", "form"),
    [("a.b.c", True), ("..", True), ("a.b", False), ("a.b.c.d", False), ("opaque", False)],
)
def test_three_parts_are_recognized_as_a_signed_token(text: str, form: bool) -> None:
    assert is_signed(text) is form


@cases(
    ("changes", "fault"),
    [
        *TIMES,
        *ISSUERS,
        *SUBJECTS[2:],
        ({"sub": ...}, None),
        ({"sub": None}, None),
        ({"sub": ""}, INVALID),
        ({"iat": ...}, None),
        ({"aud": [API, "another"]}, None),
        ({"aud": "another"}, INVALID),
        ({"aud": ...}, INVALID),
        ({"aud": []}, INVALID),
        ({"aud": [API, 5]}, INVALID),
        ({"aud": {API: 1}}, INVALID),
        ({"aud": API[:-1]}, INVALID),
        ({"nonce": "n"}, None),
        ({"at_hash": "x"}, INVALID),
        ({"c_hash": "x"}, INVALID),
        ({"s_hash": "x"}, INVALID),
        ({"events": LOGOUT}, INVALID),
        ({"typ": "ID"}, INVALID),
        ({"typ": "Refresh"}, INVALID),
        ({"typ": "Offline"}, INVALID),
        ({"typ": "Logout"}, INVALID),
        ({"typ": "Bearer"}, None),
        ({"token_use": "id"}, INVALID),
        ({"token_use": "access"}, None),
        ({"at_hash": None, "events": None}, None),
    ],
)
def test_access_token_claims_are_checked(
    changes: dict[str, object], fault: TokenFault | None
) -> None:
    token = signed(ACCESS, "at+jwt", **changes)
    check(lambda: read_access_token(token, STRICT, now=NOW, shop="latchkey"), fault)


@cases(
    ("typ", "fault"),
    [
        (..., None),
        ("", None),
        ("JWT", None),
        ("at+jwt", None),
        ("application/AT+JWT", None),
        ("logout+jwt", INVALID),
        ("dpop+jwt", INVALID),
        ("id_token", INVALID),
        (5, INVALID),
    ],
)
def test_access_token_needs_its_header_type(typ: object, fault: TokenFault | None) -> None:
    token = signed(ACCESS, typ)
    check(lambda: read_access_token(token, STRICT, now=NOW, shop="latchkey"), fault)


@cases(
    ("typ", "changes", "fault"),
    [
        ("JWT", {"aud": CLIENT, "scope": ...}, INVALID),
        ("JWT", {"aud": [CLIENT], "scope": ...}, INVALID),
        ("JWT", {"aud": CLIENT, "scope": "openid"}, None),
        ("at+jwt", {"aud": CLIENT, "scope": ...}, None),
        ("JWT", {"aud": "account", "scope": ...}, None),
        ("JWT", {"aud": ..., "scope": ...}, None),
    ],
)
def test_id_token_without_audience_is_for_the_client(
    typ: str, changes: dict[str, object], fault: TokenFault | None
) -> None:
    token = signed(ACCESS, typ, **changes)
    check(lambda: read_access_token(token, PLAIN, now=NOW, shop="latchkey"), fault)


def bearer(provider: Provider, **changes: object) -> object:
    token = signed(ACCESS, "at+jwt", **changes)
    return read_bearer_token(token, provider, now=NOW, shop="latchkey")


@cases(
    ("changes", "fault"),
    [
        ({"scope": "openid"}, None),
        ({"scope": "profile openid email"}, None),
        ({"scope": ["email", "openid"]}, None),
        ({"scope": ...}, None),
        ({"scope": None}, None),
        ({"scope": ..., "scp": "access_as_user"}, None),
        ({"scope": ..., "scp": ["profile"]}, None),
        ({"scope": ""}, INVALID),
        ({"scope": []}, INVALID),
        ({"scope": 5}, INVALID),
        ({"scope": "profile email"}, INVALID),
        ({"scope": "openid2 xopenid open id OPENID"}, INVALID),
        ({"scope": "profile,openid"}, INVALID),
        ({"scope": "latchkey:manage_users", "scp": ["openid"]}, INVALID),
    ],
)
def test_bearer_whose_scope_lacks_openid_is_refused(
    changes: dict[str, object], fault: TokenFault | None
) -> None:
    check(lambda: bearer(PLAIN, **changes), fault)


def test_refusal_for_a_missing_openid_names_the_scope() -> None:
    with pytest.raises(ProviderTokenRejected) as rejected:
        bearer(PLAIN, scope="profile")
    assert rejected.value.reason.startswith("The token's scope doesn't contain openid.")


def test_access_token_of_a_code_needs_no_openid() -> None:
    """The ID token that came with it proves the scope."""
    token = signed(ACCESS, "at+jwt", scope="latchkey:manage_users")
    assert read_access_token(token, PLAIN, now=NOW, shop="latchkey").subject == "alice"


@cases(("changes", "subject"), [({"uid": "00u1"}, "00u1"), ({"uid": "00u1", "sub": ...}, "00u1")])
def test_subject_is_the_configured_claim(changes: dict[str, object], subject: str) -> None:
    okta = replace(PLAIN, subject_claim="uid")
    read = read_access_token(signed(ACCESS, **changes), okta, now=NOW, shop="latchkey")
    assert read.subject == subject


@cases("uid", [..., None, "", 5, "x" * 256])
def test_configured_subject_claim_must_be_there(uid: object) -> None:
    okta = replace(PLAIN, subject_claim="uid")
    check(
        lambda: read_access_token(signed(ACCESS, uid=uid), okta, now=NOW, shop="latchkey"), INVALID
    )


def test_id_token_subject_is_always_sub() -> None:
    okta = replace(PLAIN, subject_claim="uid")
    token = signed(ID, uid="another")
    assert read_id_token(token, okta, nonce="n", now=NOW).subject == "alice"


def test_any_issuer_is_accepted_without_a_configured_one() -> None:
    free = replace(PLAIN, issuer="")
    for issuer, expected in ((..., ""), ("https://x.example", "https://x.example"), ("", "")):
        token = signed(ACCESS, iss=issuer)
        assert read_access_token(token, free, now=NOW, shop="latchkey").issuer == expected
    endless = signed(ACCESS, iss="x" * 901)
    check(lambda: read_access_token(endless, free, now=NOW, shop="latchkey"), INVALID)


@cases(
    ("provider", "grant"),
    [
        (PLAIN, None),
        (replace(PLAIN, audience=API), None),
        (STRICT, ScopeGrant(frozenset({Permission.MANAGE_USERS}), is_staff=True)),
        (replace(STRICT, audience=""), ScopeGrant()),
    ],
)
def test_scopes_grant_permissions_only_for_our_audience(
    provider: Provider, grant: ScopeGrant | None
) -> None:
    token = signed(ACCESS, scope="openid latchkey:manage_users")
    read = read_access_token(token, provider, now=NOW, shop="latchkey")
    assert read.grant == grant
    assert (read.subject, read.expires, read.issued) == ("alice", NOW + 60, NOW)


@cases(
    ("scope", "grant"),
    [
        ("saleor:manage_users", ScopeGrant(frozenset({Permission.MANAGE_USERS}), is_staff=True)),
        ("saleor:staff", ScopeGrant(is_staff=True)),
        ("latchkey:manage_users latchkey:staff", ScopeGrant()),
    ],
)
def test_only_the_providers_own_scope_prefix_counts(scope: str, grant: ScopeGrant) -> None:
    token = signed(ACCESS, scope=scope)
    provider = replace(STRICT, scope_prefix="saleor")
    assert read_access_token(token, provider, now=NOW, shop="latchkey").grant == grant


@cases(
    ("changes", "fault"),
    [
        *TIMES,
        *ISSUERS,
        *SUBJECTS,
        ({"nonce": "another"}, INVALID),
        ({"nonce": ...}, INVALID),
        ({"nonce": ["n"]}, INVALID),
        ({"aud": "another"}, INVALID),
        ({"aud": ...}, INVALID),
        ({"aud": [CLIENT]}, None),
        ({"aud": [CLIENT, "another"]}, INVALID),
        ({"aud": [CLIENT, "another"], "azp": CLIENT}, None),
        ({"azp": CLIENT}, None),
        ({"azp": "another"}, INVALID),
        ({"azp": ""}, INVALID),
        ({"events": LOGOUT}, INVALID),
    ],
)
def test_id_token_claims_are_checked(changes: dict[str, object], fault: TokenFault | None) -> None:
    token = signed(ID, **changes)
    check(lambda: read_id_token(token, PLAIN, nonce="n", now=NOW), fault)


def test_refreshed_id_token_needs_no_nonce() -> None:
    assert read_id_token(signed(ID, nonce=...), PLAIN, nonce=None, now=NOW).subject == "alice"


@cases(("sid", "stored"), [("s-1", "s-1"), (..., ""), (5, ""), (["s"], ""), ("x" * 256, "")])
def test_sid_is_stored_if_valid(sid: object, stored: str) -> None:
    assert read_id_token(signed(ID, sid=sid), PLAIN, nonce="n", now=NOW).sid == stored


@cases(
    ("changes", "fault"),
    [
        *TIMES,
        *ISSUERS,
        ({"aud": "another"}, INVALID),
        ({"aud": [CLIENT, "another"]}, None),
        ({"events": ...}, INVALID),
        ({"events": {}}, INVALID),
        ({"events": list(LOGOUT)}, INVALID),
        ({"events": dict.fromkeys(LOGOUT, True)}, INVALID),
        ({"nonce": "n"}, INVALID),
        ({"nonce": None}, INVALID),
        ({"iat": ...}, EXPIRED),
        ({"iat": NOW - 300}, None),
        ({"iat": NOW - 301}, EXPIRED),
        ({"sub": ...}, INVALID),
        ({"sub": ..., "sid": "s-1"}, None),
        ({"sid": "s-1"}, None),
        ({"sub": "", "sid": ""}, INVALID),
        ({"sub": 5}, INVALID),
        ({"sid": 5}, INVALID),
    ],
)
def test_logout_token_claims_are_checked(
    changes: dict[str, object], fault: TokenFault | None
) -> None:
    token = signed(OUT, "logout+jwt", **changes)
    check(lambda: read_logout_token(token, PLAIN, now=NOW), fault)


@cases(
    ("typ", "fault"),
    [(..., None), ("JWT", None), ("application/logout+jwt", None), ("at+jwt", INVALID)],
)
def test_logout_token_needs_its_header_type(typ: object, fault: TokenFault | None) -> None:
    check(lambda: read_logout_token(signed(OUT, typ), PLAIN, now=NOW), fault)


def test_token_types_are_not_interchangeable() -> None:
    access, identity, logout = signed(ACCESS), signed(ID), signed(OUT)
    for token in (identity, logout):
        check(lambda it=token: read_access_token(it, PLAIN, now=NOW, shop="latchkey"), INVALID)
    for token in (access, logout):
        check(lambda it=token: read_id_token(it, PLAIN, nonce="n", now=NOW), INVALID)
    for token in (access, identity):
        check(lambda it=token: read_logout_token(it, PLAIN, now=NOW), INVALID)


@cases("token", ["", "opaque", "a.b", "a.b.c.d", "eyJlbmMiOiIifQ.a.b.c.d"])
def test_token_without_structure_is_opaque(token: str) -> None:
    assert is_opaque(token)


@cases("token", ["a.b.c", "lkapp_1", "WHSEC_1"])
def test_token_that_is_signed_or_ours_is_not_opaque(token: str) -> None:
    assert not is_opaque(token)


@cases("token", ["eyJhIjoxfQ", "eyJhIjoxfQ.b", "a.eyJhIjoxfQ", "eyJlbmMiOiIifQ.a"])
def test_fragment_of_a_signed_token_is_not_opaque(token: str) -> None:
    assert not is_opaque(token)


@cases("fault", TokenFault)
def test_reason_names_what_is_wrong_with_the_token(fault: TokenFault) -> None:
    fails = f"A token from the provider can't be trusted: {fault.message.rstrip('.')}."
    assert reason_of(TokenRejected(fault)) == fails
    assert (
        reason_of(ProviderTokenRejected("This isn't an access token."))
        == "This isn't an access token."
    )
