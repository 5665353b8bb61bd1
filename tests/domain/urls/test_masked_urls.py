"""URLs as lists and logs show them."""

from app.domain.urls.web_urls import masked_url
from tests.fixtures.cases import cases

SLACK = "https://hooks.slack.com/services"
TELEGRAM = "https://api.telegram.org"


@cases(
    ("url", "shown"),
    [
        (f"{SLACK}/T00000000/B00000000/XXXXXXXXXXXXXXXX", f"{SLACK}/***/***/***"),
        ("https://ann:secret@app.example/hook", "https://***@app.example/hook"),
        ("https://app.example/hook?key=1&v=&flag", "https://app.example/hook?key=***&v=&***"),
        (
            "https://discord.com/api/webhooks/123/abc-DEF",
            "https://discord.com/api/webhooks/***/***",
        ),
        (
            "https://hooks.zapier.com/hooks/catch/1/a",
            "https://hooks.zapier.com/hooks/catch/***/***",
        ),
        (
            f"{TELEGRAM}/bot110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw/sendMessage",
            f"{TELEGRAM}/***/sendMessage",
        ),
        ("https://a.example/6b1c8a6e-0b1c-4a6e-9d0a-111111111111", "https://a.example/***"),
        ("https://a.example/token/short", "https://a.example/token/***"),
        ("https://[broken", "***"),
        ("", ""),
    ],
)
def test_keys_are_masked(url: str, shown: str) -> None:
    assert masked_url(url) == shown
    assert masked_url(shown) == shown


@cases(
    "url",
    [
        "https://app.example.com/hook",
        "http://[::1]:8000/webhooks/orders",
        "https://app.example/api/v1/webhooks/order-confirmation-v2",
        "https://app.example/product-information-management",
    ],
)
def test_ordinary_paths_are_shown(url: str) -> None:
    assert masked_url(url) == url
