"""The view models of identity providers, made of plugins without HTTP."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from app.console.frame.parts import Pill
from app.console.security.provider_editing import linked_accounts_warning
from app.console.security.providers_page import (
    CheckLine,
    Trial,
    make_provider_page,
    provider_columns,
)
from app.domain.single_sign_on.provider_settings import SETTINGS, SettingValue
from app.domain.values.installation import CheckResult, CheckState
from app.services.shop.impact import BoundedCount
from app.services.single_sign_on.provider_coverage import ProviderCoverage
from app.services.single_sign_on.provider_settings import Plugin
from tests.console.list_cells import cell_text
from tests.fixtures.cases import cases

SIGN_IN = {
    "client_id": "shop",
    "oauth_authorization_url": "https://id.example.com/authorize",
    "oauth_token_url": "https://id.example.com/token",
    "json_web_key_set_url": "https://id.example.com/keys",
}
TOKENS = {
    "json_web_key_set_url": "https://id.example.com/keys",
    "user_info_url": "https://id.example.com/me",
}
NONE = ProviderCoverage(BoundedCount(0), BoundedCount(0))
MANY = ProviderCoverage(BoundedCount(10_000, is_more=True), BoundedCount(1240))


def plugin(
    settings: Mapping[str, str] | None = None, *, slug: str = "acme", active: bool = False
) -> Plugin:
    values = tuple(SettingValue(one, (settings or {}).get(one.name)) for one in SETTINGS)
    return Plugin(f"{slug}.authentication.openidconnect", slug, "Acme", active, values)


def test_numbers_say_how_far_they_were_counted() -> None:
    columns = provider_columns({"acme": MANY})
    assert cell_text(columns, "Linked accounts", plugin()) == "more than 10,000"
    assert cell_text(columns, "Active sessions", plugin()) == "1,240"


@pytest.mark.usefixtures("translated_page")
@cases(("slug", "note"), [("default", "Default"), ("acme", "acme")])
def test_default_provider_is_marked(slug: str, note: str) -> None:
    shown = cell_text(provider_columns({slug: NONE}), "Provider", plugin(slug=slug))
    assert shown == f"Acme {note}"
    assert make_provider_page(plugin(slug=slug), NONE).is_default is (slug == "default")


@cases(
    ("provider", "status", "methods", "switch"),
    [
        (plugin(), Pill("", "Not set up"), "None", ""),
        (plugin(SIGN_IN), Pill("off", "Disabled"), "Sign-in page", "on"),
        (plugin(TOKENS), Pill("off", "Disabled"), "Access tokens", "on"),
        (
            plugin({**SIGN_IN, **TOKENS}, active=True),
            Pill("ok", "Enabled"),
            "Sign-in page, access tokens",
            "off",
        ),
    ],
)
def test_status_follows_state_and_settings(
    provider: Plugin, status: Pill, methods: str, switch: str
) -> None:
    columns = provider_columns({"acme": NONE})
    assert cell_text(columns, "Status", provider) == status.words
    assert cell_text(columns, "Sign-in methods", provider) == methods
    page = make_provider_page(provider, NONE)
    assert (page.status, page.switch) == (status, switch)
    assert page.sentence.startswith("People can" if provider.active else "People can't")


def test_missing_settings_are_named() -> None:
    incomplete = make_provider_page(plugin(TOKENS), NONE)
    sign_in, tokens = incomplete.methods
    assert sign_in.missing == (
        "Not available yet. Missing: Client ID, Authorization URL, Token URL."
    )
    assert (sign_in.state, tokens.state, tokens.missing) == ("warn", "ok", "")
    assert not incomplete.is_complete
    assert make_provider_page(plugin({**SIGN_IN, **TOKENS}), NONE).is_complete


@cases(
    ("finding", "line"),
    [
        (
            CheckResult("issuer", CheckState.FINE, "Agrees."),
            CheckLine("ok", "Passed", "Issuer", "Agrees.", "", ""),
        ),
        (
            CheckResult("active", CheckState.WARNING, "Off.", "flask oidc set active true"),
            CheckLine(
                "warn",
                "Warning",
                "Sign-in methods",
                "Off.",
                "",
                "flask oidc set active true --provider acme",
            ),
        ),
        (
            CheckResult("elsewhere", CheckState.FAILED, "Broken.", "Check it."),
            CheckLine("bad", "Failed", "elsewhere", "Broken.", "Check it.", ""),
        ),
    ],
)
def test_checks_show_remedies(finding: CheckResult, line: CheckLine) -> None:
    page = make_provider_page(plugin(), NONE, Trial(findings=[finding]))
    assert page.checks == (line,)
    assert page.test_label == "Test again"


def test_connection_is_tested_once_by_its_button() -> None:
    page = make_provider_page(plugin(), NONE)
    assert (page.checks, page.test_label) == (None, "Test connection")


def test_settings_never_show_a_secret() -> None:
    shown = make_provider_page(
        plugin({"client_id": "shop", "client_secret": "****", "trust_emails": "true"}), NONE
    )
    facts = {fact.label: fact.value for fact in shown.settings}
    assert facts["Client ID"] == "<code>shop</code>"
    assert facts["Client secret"] == '<span class="lk-muted">Set, hidden</span>'
    assert facts["Issuer"] == '<span class="lk-muted">Not set</span>'
    assert facts["Trust emails from this provider"] == "Yes"


def test_command_names_the_provider() -> None:
    assert make_provider_page(plugin(), NONE).command == "flask oidc show --provider acme"
    assert make_provider_page(plugin(slug="default"), NONE).command == "flask oidc show"


@cases(
    ("people", "warning"),
    [
        (BoundedCount(0), ""),
        (BoundedCount(1), "<b>1 person</b> has a linked account. "),
        (BoundedCount(2), "<b>2 people</b> have linked accounts. "),
        (MANY.people, "<b>More than 10,000 people</b> have linked accounts. "),
    ],
)
def test_other_issuer_unlinks_accounts(people: BoundedCount, warning: str) -> None:
    assert linked_accounts_warning(people).startswith(warning)
    assert bool(linked_accounts_warning(people)) is bool(people.number)


def test_name_is_escaped_in_settings() -> None:
    (value, *_) = make_provider_page(plugin({"client_id": "<b>"}), NONE).settings
    assert value == replace(value, value="<code>&lt;b&gt;</code>")
