"""The headers that make browsers careful."""

from app.ports.configuration import Configuration
from app.web.headers import data_headers, security_headers
from tests.fixtures.cases import cases


@cases(
    ("public_url", "insists"),
    [("", False), ("http://localhost:8000", False), ("https://shop.example.com", True)],
)
def test_hsts_is_sent_only_with_an_https_public_url(public_url: str, insists: bool) -> None:
    headers = dict(security_headers(Configuration(public_url=public_url)))
    assert ("Strict-Transport-Security" in headers) is insists


def test_data_headers_forbid_sniffing_framing_and_caching() -> None:
    headers = dict(data_headers(Configuration()))
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Cache-Control"] == "no-store"
    assert "default-src 'none'" in headers["Content-Security-Policy"]


def test_no_header_is_repeated() -> None:
    names = [name for name, _ in data_headers(Configuration(public_url="https://a.b"))]
    assert len(names) == len(set(names))
