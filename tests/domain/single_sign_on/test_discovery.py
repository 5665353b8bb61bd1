"""A provider's own description: OpenID Connect Discovery 1.0, 3 and 4.3."""

from app.domain.single_sign_on.provider_settings import read_description
from tests.fixtures.cases import cases

ISSUER = "https://id.example"
WHOLE = {
    "issuer": ISSUER,
    "authorization_endpoint": f"{ISSUER}/authorize",
    "token_endpoint": f"{ISSUER}/token",
    "jwks_uri": f"{ISSUER}/keys",
    "userinfo_endpoint": f"{ISSUER}/userinfo",
    "end_session_endpoint": f"{ISSUER}/logout",
    "response_types_supported": ["code", "id_token"],
    "code_challenge_methods_supported": ["plain", "S256"],
    "token_endpoint_auth_methods_supported": ["client_secret_post", "client_secret_basic"],
    "id_token_signing_alg_values_supported": ["RS256", "HS256"],
}


def read(issuer: str = ISSUER, /, **changes: object) -> tuple[dict[str, str], list[str]]:
    """The settings in the usual description, some members otherwise, and what is wrong."""
    present = {name: value for name, value in (WHOLE | changes).items() if value is not ...}
    settings, problems = read_description(present, issuer)
    assert {(problem.field, problem.code) for problem in problems} <= {("issuer", "INVALID")}
    return settings, [problem.message for problem in problems]


def test_discovery_document_fills_the_settings() -> None:
    assert read() == (
        {
            "issuer": ISSUER,
            "oauth_authorization_url": f"{ISSUER}/authorize",
            "oauth_token_url": f"{ISSUER}/token",
            "json_web_key_set_url": f"{ISSUER}/keys",
            "user_info_url": f"{ISSUER}/userinfo",
            "oauth_logout_url": f"{ISSUER}/logout",
        },
        [],
    )


@cases(
    ("configured", "issuer"), [(ISSUER, f"{ISSUER}/"), (f"{ISSUER}/", ISSUER), (ISSUER, ISSUER)]
)
def test_issuer_is_stored_verbatim_except_for_a_slash(configured: str, issuer: str) -> None:
    settings, problems = read(configured, issuer=issuer)
    assert (settings["issuer"], problems) == (issuer, [])


@cases(
    "issuer",
    [
        ...,
        None,
        5,
        [ISSUER],
        "",
        "https://evil.example",
        f"{ISSUER}.evil.example",
        "HTTPS://id.example",
    ],
)
def test_document_of_another_issuer_is_refused(issuer: object) -> None:
    settings, problems = read(issuer=issuer)
    assert settings == {}
    assert problems[0].startswith("The configuration is for another issuer")


NEEDED = ["authorization_endpoint", "token_endpoint", "jwks_uri"]
OTHERS = ["userinfo_endpoint", "end_session_endpoint"]


@cases("member", NEEDED)
@cases("value", [..., None])
def test_required_metadata_must_be_present(member: str, value: object) -> None:
    _, problems = read(**{member: value})
    assert problems == [f"{member} is missing or isn't a URL."]


@cases("member", OTHERS)
@cases("value", [..., None])
def test_optional_metadata_can_be_missing(member: str, value: object) -> None:
    settings, problems = read(**{member: value})
    assert (len(settings), problems) == (5, [])


@cases("member", NEEDED + OTHERS)
@cases("value", ["", 5, ["https://id.example"], "/keys", "javascript:alert(1)", "x" * 3000, "a b"])
def test_invalid_url_is_reported(member: str, value: object) -> None:
    settings, problems = read(**{member: value})
    assert (len(settings), problems) == (5, [f"{member} is missing or isn't a URL."])


@cases("member", NEEDED + OTHERS)
def test_https_document_cannot_contain_http_urls(member: str) -> None:
    _, problems = read(**{member: "http://id.example/x"})
    assert problems == [f"{member} changes from https to http://id.example/x."]


def test_loopback_provider_can_use_http() -> None:
    plain = "http://127.0.0.1:9000"
    members: dict[str, object] = dict.fromkeys(NEEDED + OTHERS, f"{plain}/x")
    _, problems = read(plain, issuer=plain, **members)
    assert problems == []


@cases(
    ("member", "value", "fits"),
    [
        ("response_types_supported", ["code"], True),
        ("response_types_supported", ["id_token", "code id_token"], False),
        ("response_types_supported", [], False),
        ("response_types_supported", "code", False),
        ("response_types_supported", ..., True),
        ("code_challenge_methods_supported", ["S256"], True),
        ("code_challenge_methods_supported", ["plain"], False),
        ("code_challenge_methods_supported", ..., True),
        ("token_endpoint_auth_methods_supported", ["none"], True),
        ("token_endpoint_auth_methods_supported", ["private_key_jwt"], False),
        ("token_endpoint_auth_methods_supported", ..., True),
        ("id_token_signing_alg_values_supported", ["EdDSA"], True),
        ("id_token_signing_alg_values_supported", ["ES256", "none"], True),
        ("id_token_signing_alg_values_supported", ["HS256", "none"], False),
        ("id_token_signing_alg_values_supported", [5, None], False),
        ("id_token_signing_alg_values_supported", ..., True),
    ],
)
def test_provider_without_a_supported_option_is_refused(
    member: str, value: object, fits: bool
) -> None:
    settings, problems = read(**{member: value})
    assert len(settings) == 6
    assert [problem.partition(" supports none of ")[0] for problem in problems] == (
        [] if fits else [member]
    )


def test_all_problems_are_reported_at_once() -> None:
    _, problems = read(jwks_uri=..., token_endpoint="x y", response_types_supported=[])
    assert len(problems) == 3
