"""Identity providers: what their settings allow, and the plugin ids that name them."""

from dataclasses import replace
from typing import Any

from app.domain.authorization.permissions import Permission
from app.domain.single_sign_on.providers import (
    DEFAULT_SLUG,
    Provider,
    choose,
    is_slug,
    requested_scope,
    slug_in,
)
from tests.fixtures.cases import cases

NOTHING = Provider(1, DEFAULT_SLUG, "One", active=True)
WHOLE = replace(
    NOTHING,
    client_id="shop",
    oauth_authorization_url="https://id.example/authorize",
    oauth_token_url="https://id.example/token",
    json_web_key_set_url="https://id.example/keys",
    user_info_url="https://id.example/userinfo",
)


@cases(
    ("missing", "takes_tokens", "signs_in"),
    [
        ("", True, True),
        ("client_id", True, False),
        ("oauth_authorization_url", True, False),
        ("oauth_token_url", True, False),
        ("user_info_url", False, True),
        ("json_web_key_set_url", False, False),
    ],
)
def test_settings_decide_which_flows_a_provider_supports(
    missing: str, takes_tokens: bool, signs_in: bool
) -> None:
    changes: dict[str, Any] = {missing: ""} if missing else {}
    provider = replace(WHOLE, **changes)
    assert (provider.takes_tokens, provider.signs_in) == (takes_tokens, signs_in)


def test_client_secret_is_never_shown() -> None:
    assert "hunter2" not in repr(replace(WHOLE, client_secret="hunter2"))


@cases(
    ("slug", "vendor", "plugin_id"),
    [
        (DEFAULT_SLUG, "Latchkey", "latchkey.authentication.openidconnect"),
        (DEFAULT_SLUG, "SHOP", "shop.authentication.openidconnect"),
        ("staff", "Latchkey", "staff.authentication.openidconnect"),
    ],
)
def test_default_provider_has_the_vendors_name_and_others_their_slug(
    slug: str, vendor: str, plugin_id: str
) -> None:
    assert replace(NOTHING, slug=slug).plugin_id(vendor) == plugin_id


@cases(
    ("plugin_id", "slug"),
    [
        ("latchkey.authentication.openidconnect", "latchkey"),
        ("STAFF.authentication.openidconnect", "staff"),
        ("a_b-1.authentication.openidconnect", "a_b-1"),
        ("authentication.openidconnect", None),
        (".authentication.openidconnect", None),
        ("x.y.authentication.openidconnect", None),
        ("x.authentication.openidconnect.y", None),
        ("x.authentication.openidconnect\n", None),
        ("x.Authentication.openidconnect", None),
        (f"{'x' * 65}.authentication.openidconnect", None),
        ("", None),
    ],
)
def test_plugin_id_contains_one_slug(plugin_id: str, slug: str | None) -> None:
    assert slug_in(plugin_id) == slug


@cases(
    ("text", "fits"),
    [
        ("staff", True),
        ("a", True),
        ("0-9", True),
        ("x" * 63, True),
        ("x" * 64, False),
        ("", False),
        ("-a", False),
        ("Staff", False),
        ("a b", False),
        ("a/b", False),
        ("ä", False),
        ("a\n", False),
    ],
)
def test_provider_slug_fits_into_a_url(text: str, fits: bool) -> None:
    assert is_slug(text) is fits


def test_unknown_slug_selects_the_default_provider() -> None:
    default, staff = NOTHING, replace(NOTHING, id=2, slug="staff")
    assert choose([default, staff], "staff") is staff
    assert choose([default, staff], "mirumee") is default
    assert choose([staff], "mirumee") is None
    assert choose([], DEFAULT_SLUG) is None


def test_unconfigured_issuer_counts_for_its_provider_only() -> None:
    configured = replace(NOTHING, issuer="https://id.example")
    assert configured.issuer_here("https://another.example") == "https://id.example"
    one, other = (replace(NOTHING, slug=slug) for slug in ("one", "other"))
    assert one.issuer_here("https://id.example") != other.issuer_here("https://id.example")
    assert one.issuer_here("https://id.example") != configured.issuer_here("https://id.example")


@cases(
    ("domains", "email", "is_staff"),
    [
        ("shop.example", "ann@shop.example", True),
        ("shop.example", "ann@SHOP.example", True),
        (" other.example , @Shop.Example ", "ann@shop.example", True),
        ("shop.example", "ann@sub.shop.example", False),
        ("shop.example", "ann@myshop.example", False),
        ("shop.example", "shop.example@evil.example", False),
        ("", "ann@shop.example", False),
        (",,", "ann@shop.example", False),
        (",", "", False),
    ],
)
def test_staff_domain_makes_only_its_people_staff(
    domains: str, email: str, is_staff: bool
) -> None:
    assert replace(NOTHING, staff_user_domains=domains).makes_staff(email) is is_staff


@cases("refreshes", [True, False])
@cases("rules", [True, False])
def test_login_requests_only_the_needed_scopes(refreshes: bool, rules: bool) -> None:
    provider = replace(WHOLE, enable_refresh_token=refreshes, use_oauth_scope_permissions=rules)
    requested = requested_scope(provider, "latchkey").split(" ")
    expected = ["openid", "profile", "email", *(["offline_access"] if refreshes else [])]
    granting = {f"latchkey:{permission.value.lower()}" for permission in Permission}
    scopes = granting | {"latchkey:staff"} if rules else set()
    assert requested[: len(expected)] == expected
    assert set(requested[len(expected) :]) == scopes
    assert len(requested) == len(set(requested))


def test_own_scope_prefix_replaces_the_installations() -> None:
    provider = replace(WHOLE, use_oauth_scope_permissions=True, scope_prefix="saleor")
    scopes = requested_scope(provider, "latchkey").split(" ")
    assert "saleor:manage_products" in scopes
    assert not [scope for scope in scopes if scope.startswith("latchkey:")]


def test_imported_identities_are_found_by_their_own_provider_only() -> None:
    configured = replace(NOTHING, issuer="https://id.example")
    assert configured.issuers_here("https://id.example") == ("https://id.example",) * 2
    one, other = (replace(NOTHING, slug=slug) for slug in ("one", "other"))
    assert one.issuers_here("https://id.example") == ("one|https://id.example", "one|*")
    assert one.imported_issuer != other.imported_issuer
