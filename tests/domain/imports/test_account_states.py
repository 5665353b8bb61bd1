"""What other systems call an account that can't be used."""

from datetime import UTC, datetime

import pytest

from app.domain.imports.account_states import (
    FIELDS,
    Effect,
    field_key,
    looks_like_state,
    read_state,
    unknown_effect,
)
from tests.fixtures.cases import cases

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
EMAIL = "ann@example.com"
NONE, INACTIVE, UNCONFIRMED, RESET = (
    *(Effect.NONE, Effect.INACTIVE),
    *(Effect.UNCONFIRMED, Effect.MUST_RESET),
)


@cases(
    ("name", "value", "effect"),
    [
        # Keycloak
        ("enabled", False, INACTIVE),
        ("enabled", True, NONE),
        ("enabled", "FALSE", INACTIVE),
        ("requiredActions", ["VERIFY_EMAIL", "UPDATE_PASSWORD"], UNCONFIRMED),
        ("requiredActions", ["UPDATE_PASSWORD"], RESET),
        ("requiredActions", ["CONFIGURE_TOTP"], NONE),
        ("requiredActions", [], NONE),
        # Auth0, Firebase, Clerk, Better Auth, Logto
        ("blocked", True, INACTIVE),
        ("blocked", False, NONE),
        ("email_verified", False, UNCONFIRMED),
        ("email_verified", True, NONE),
        ("emailVerified", None, UNCONFIRMED),
        ("emailVerified", "2024-02-01T10:00:00Z", NONE),
        ("disabled", True, INACTIVE),
        ("banned", True, INACTIVE),
        ("locked", True, INACTIVE),
        ("banExpires", "2030-01-01T00:00:00Z", INACTIVE),
        ("banExpires", "2020-01-01T00:00:00Z", NONE),
        ("isSuspended", True, INACTIVE),
        ("unverified_email_addresses", "ann@example.com, x@example.com", UNCONFIRMED),
        ("unverified_email_addresses", ["x@example.com"], NONE),
        # Cognito, Okta, Entra ID, Google Workspace, Zitadel
        ("Enabled", False, INACTIVE),
        ("UserStatus", "UNCONFIRMED", UNCONFIRMED),
        ("UserStatus", "COMPROMISED", INACTIVE),
        ("UserStatus", "FORCE_CHANGE_PASSWORD", RESET),
        ("UserStatus", "CONFIRMED", NONE),
        ("status", "SUSPENDED", INACTIVE),
        ("status", "LOCKED_OUT", INACTIVE),
        ("status", "DEPROVISIONED", INACTIVE),
        ("status", "PASSWORD_EXPIRED", RESET),
        ("status", "ACTIVE", NONE),
        ("accountEnabled", "False", INACTIVE),
        ("externalUserState", "PendingAcceptance", UNCONFIRMED),
        ("Status [READ ONLY]", "Suspended", INACTIVE),
        ("state", "USER_STATE_LOCKED", INACTIVE),
        # Shopify, Magento, WordPress, Drupal
        ("state", "disabled", INACTIVE),
        ("state", "invited", UNCONFIRMED),
        ("state", "enabled", NONE),
        ("verified_email", False, UNCONFIRMED),
        ("confirmation", "f3b9c1", UNCONFIRMED),
        ("confirmation", None, NONE),
        ("confirmation", "Confirmation Not Required", NONE),
        ("lock_expires", "2026-03-01 12:30:00", INACTIVE),
        ("lock_expires", "0000-00-00 00:00:00", NONE),
        ("user_status", "0", NONE),
        ("user_status", 1, INACTIVE),
        ("status", 0, INACTIVE),
        ("spam", 1, INACTIVE),
        # Supabase, Devise, Laravel, ASP.NET, Discourse, Active Directory, SCIM
        ("banned_until", "2030-01-01T00:00:00+00:00", INACTIVE),
        ("banned_until", "infinity", INACTIVE),
        ("banned_until", "2020-01-01T00:00:00+00:00", NONE),
        ("banned_until", None, NONE),
        ("email_confirmed_at", "", UNCONFIRMED),
        ("email_confirmed_at", "2020-01-01 10:00:00+00", NONE),
        ("deleted_at", "2020-01-01", INACTIVE),
        ("deleted_at", None, NONE),
        ("locked_at", "2020-01-01", INACTIVE),
        ("LockoutEnd", "9999-12-31T23:59:59.9999999+00:00", INACTIVE),
        ("suspended_till", "1900000000", INACTIVE),
        ("LockedOut", "True", INACTIVE),
        ("active", False, INACTIVE),
        ("mustChangePassword", "yes", RESET),
    ],
)
def test_field_of_another_system_narrows(name: str, value: object, effect: Effect) -> None:
    assert read_state(field_key(name), value, EMAIL, NOW) == effect


@cases(
    ("name", "value"),
    [
        ("enabled", "perhaps"),
        ("status", "GREEN"),
        ("blocked", ["ip"]),
        ("emailVerified", "perhaps"),
        ("requiredActions", {"a": 1}),
    ],
)
def test_unreadable_state_is_no_state(name: str, value: object) -> None:
    with pytest.raises(ValueError, match=r".*"):
        read_state(field_key(name), value, EMAIL, NOW)


@cases(
    ("name", "value", "effect"),
    [
        ("restricted", True, INACTIVE),
        ("fraudulent", "yes", INACTIVE),
        ("shop_login_enabled", False, INACTIVE),
        ("membership_status", "cancelled", NONE),
        ("membership_status", "suspended", INACTIVE),
        ("customer_email_verified", "no", UNCONFIRMED),
        ("restricted", False, NONE),
        ("shop_login_enabled", True, NONE),
        ("unlocked", True, NONE),
    ],
)
def test_unknown_field_of_that_look_narrows_where_it_is_plain(
    name: str, value: object, effect: Effect
) -> None:
    key = field_key(name)
    assert key not in FIELDS
    assert looks_like_state(key)
    assert unknown_effect(key, value) == effect


@cases(
    "name",
    [
        *("mfa_enabled", "phone_number_verified", "lockoutEnabled", "disable_auto_group_change"),
        *("accepts_marketing", "clock", "favourite", "address_state", "two_factor_enabled"),
    ],
)
def test_other_matters_have_no_such_look(name: str) -> None:
    assert field_key(name) not in FIELDS
    assert not looks_like_state(field_key(name))
