"""``ALLOWED_GRAPHQL_ORIGINS`` as an operator writes it."""

import pytest

from app.composition.settings import SettingsError, load_settings
from app.web.headers import cors_headers
from tests.fixtures.cases import cases


@cases(
    ("written", "sent"),
    [
        ("https://shop.example.com", "https://shop.example.com"),
        ("https://Shop.Example.com/", "https://shop.example.com"),
        ("http://localhost:3000, https://shop.example.com", "http://localhost:3000"),
        ("capacitor://localhost", "capacitor://localhost"),
        ("*", "https://anywhere.example.com"),
    ],
)
def test_origin_matches_in_any_spelling(written: str, sent: str) -> None:
    allowed = load_settings({"ALLOWED_GRAPHQL_ORIGINS": written}).allowed_graphql_origins
    assert cors_headers(sent, allowed)["Access-Control-Allow-Origin"] in (sent, "*")


@cases(
    "written",
    [
        "shop.example.com",
        "https://",
        "https://a.example.com/path",
        "null",
        "https://*.example.com",
    ],
)
def test_invalid_origin_stops_the_start(written: str) -> None:
    with pytest.raises(SettingsError, match="ALLOWED_GRAPHQL_ORIGINS: "):
        load_settings({"ALLOWED_GRAPHQL_ORIGINS": written})
