"""Shop settings of the platform, as they are stored here."""

from collections.abc import Mapping

from app.domain.imports.runs import Outcome
from app.domain.imports.shop_settings import IMPORTED_SETTINGS, convert_settings
from app.domain.values.errors import Problem
from tests.fixtures.cases import cases

SITE: Mapping[str, object] = {
    "id": 1,
    "description": "Tea\nand mugs.",
    "default_mail_sender_name": "Northlight",
    "default_mail_sender_address": "shop@northlight.example",
    "customer_set_password_url": "https://shop.example/password",
    "enable_account_confirmation_by_email": True,
    "allow_login_without_confirmation": False,
    "password_login_mode": "customers_only",
    "allow_storefront_traffic": True,
    "metadata": {},
    "private_metadata": {},
    "company_address_id": None,
}


def allow(_url: str) -> None:
    return None


def refuse(_url: str) -> Problem:
    return Problem("INVALID", "Not allowed.", "url")


def test_settings_keep_their_values_and_the_mode_is_upper_case() -> None:
    converted = convert_settings(SITE, allow)
    assert converted.findings == ()
    assert converted.value is not None
    expected = {name: SITE[name] for name in IMPORTED_SETTINGS}
    assert converted.value.values == {**expected, "password_login_mode": "CUSTOMERS_ONLY"}


def test_null_texts_are_empty() -> None:
    nothing = {"default_mail_sender_address": None, "customer_set_password_url": None}
    converted = convert_settings({**SITE, **nothing}, refuse)
    assert converted.findings == ()
    assert converted.value is not None
    assert [converted.value.values[name] for name in nothing] == ["", ""]


@cases(
    ("name", "value", "reason"),
    [
        ("default_mail_sender_name", "North\nlight", ""),
        ("default_mail_sender_name", "x" * 257, ""),
        ("default_mail_sender_address", "nobody", ""),
        ("password_login_mode", "passkeys", "Unknown mode PASSKEYS."),
    ],
)
def test_refused_setting_stays_as_it_is_here(name: str, value: str, reason: str) -> None:
    converted = convert_settings({**SITE, name: value}, allow)
    assert converted.value is not None
    assert name not in converted.value.values
    [finding] = converted.findings
    assert (finding.code, finding.outcome) == ("SETTING_REFUSED", Outcome.LEFT_OUT)
    assert finding.values["column"] == name
    assert finding.reason.endswith(reason or ".")


def test_url_that_links_cannot_lead_to_is_refused() -> None:
    converted = convert_settings(SITE, refuse)
    assert converted.value is not None
    assert "customer_set_password_url" not in converted.value.values
    assert [finding.code for finding in converted.findings] == ["SETTING_REFUSED"]


def test_long_description_is_shortened() -> None:
    converted = convert_settings({**SITE, "description": "x" * 10_001}, allow)
    assert converted.value is not None
    assert converted.value.values["description"] == "x" * 10_000
    assert [finding.code for finding in converted.findings] == ["TOO_LONG"]


def test_values_without_a_place_are_one_finding() -> None:
    extra = {"metadata": {"a": "b"}, "company_address_id": 4}
    [finding] = convert_settings({**SITE, **extra}, allow).findings
    assert (finding.code, finding.outcome) == ("NO_PLACE", Outcome.LEFT_OUT)
    assert "metadata, company_address_id" in finding.reason


def test_settings_of_an_older_release_are_left_alone() -> None:
    older = {name: value for name, value in SITE.items() if name != "allow_storefront_traffic"}
    converted = convert_settings(older, allow)
    assert converted.findings == ()
    assert converted.value is not None
    assert "allow_storefront_traffic" not in converted.value.values
