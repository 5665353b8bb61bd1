"""Where a mail may lead, and how a link keeps what the client had in its address."""

from app.domain.urls.redirects import may_redirect_to_other_host, redirect_problem, with_query
from tests.fixtures.cases import cases

ALLOWED = (
    "shop.example.com",
    "localhost:3000",
    "*.stores.example",
    "bücher.example",
    "[::1]:8080",
)


def code(url: str, *, development: bool = False) -> str | None:
    problem = redirect_problem(url, ALLOWED, development=development)
    assert problem is None or problem.field == "redirectUrl"
    return None if problem is None else problem.code


@cases(
    "url",
    [
        "https://shop.example.com",
        "https://shop.example.com/reset?x=1#/y",
        "HTTPS://SHOP.EXAMPLE.COM/",
        "https://shop.example.com./",
        "https://localhost:3000/reset",
        "https://one.stores.example/",
        "https://a.b.stores.example/",
        "https://bücher.example/größe",
        "https://xn--bcher-kva.example/",
        "https://[::1]:8080/",
        "https://shop.example.com:443/",
    ],
)
def test_listed_hosts_are_allowed(url: str) -> None:
    assert code(url) is None


@cases(
    "url",
    [
        "https://evil.example/",
        "https://shop.example.com.evil.example/",
        "https://evilshop.example.com/",
        "https://shop.example.com@evil.example/",
        "https://evil.example#@shop.example.com/",
        "https://evil.example\\@shop.example.com/",
        "https://shop.example.com\\.evil.example/",
        "https://localhost:3001/",
        "http://shop.example.com/",
        "http://localhost:3000/",
        "https://shop.example.com:8443/",
        "http://localhost/",
        "https://stores.example/",
        "https://notstores.example/",
        "//shop.example.com/",
        "shop.example.com/reset",
        "/reset",
        "javascript:alert(1)//shop.example.com",
        "ftp://shop.example.com/",
        "https:///reset",
        "https://shop.example.com:port/",
        "https://[shop.example.com/",
        "https://shop.example.com/a b",
        "https://shop.example.com/\r\nBcc: x",
        "https://shop.example.com/\u200b",
        'https://shop.example.com/"><script>',
        "https://shop.example.com/" + "x" * 2048,
    ],
)
def test_invalid_text_is_refused(url: str) -> None:
    assert code(url) == "INVALID"


def test_redirect_url_is_required() -> None:
    assert code("") == "REQUIRED"


@cases(
    "url",
    [
        "http://localhost/",
        "http://127.0.0.1:5173/x",
        "http://[::1]/",
        "https://shop.localhost:3000/",
    ],
)
def test_in_development_every_loopback_host_and_port_is_allowed(url: str) -> None:
    assert code(url, development=True) is None


@cases("url", ["http://shop.example.com/", "https://shop.example.com:8443/"])
def test_in_development_a_listed_host_is_allowed_with_any_scheme_and_port(url: str) -> None:
    assert code(url, development=True) is None


def test_in_development_hosts_outside_are_still_refused() -> None:
    assert code("https://evil.example/", development=True) == "INVALID"


@cases(
    ("url", "link"),
    [
        ("https://s.example", "https://s.example?email=a%40b.example&token=T"),
        ("https://s.example/reset", "https://s.example/reset?email=a%40b.example&token=T"),
        ("https://s.example/?", "https://s.example/?email=a%40b.example&token=T"),
        (
            "https://s.example/?x=1&y=%C3%BC&flag#/form?tab=2",
            "https://s.example/?x=1&y=%C3%BC&flag&email=a%40b.example&token=T#/form?tab=2",
        ),
        (
            "https://s.example/?token=old&to%6ben=older&email=x&keep=1",
            "https://s.example/?keep=1&email=a%40b.example&token=T",
        ),
    ],
)
def test_link_adds_to_the_query_and_keeps_the_rest(url: str, link: str) -> None:
    assert with_query(url, email="a@b.example", token="T") == link


def test_international_address_is_encoded_in_a_link() -> None:
    link = with_query("https://s.example/", email="jörg+1@bücher.example")
    assert link == "https://s.example/?email=j%C3%B6rg%2B1%40b%C3%BCcher.example"


@cases(
    "text",
    [
        "https://a.example",
        "https:/\\a.example",
        "https:a.example",
        "//a.example",
        "/\\a.example",
        " \\\\a.example",
        "app:/callback",
        "JavaScript:alert(1)",
        "next=https:a.example",
    ],
)
def test_redirect_to_another_host_is_recognized(text: str) -> None:
    assert may_redirect_to_other_host(text)


@cases("text", ["", "/bye", "bye?x=1", "user:123", "a//b", "profile:1", "xhttp:1"])
def test_other_text_stays_on_the_host(text: str) -> None:
    assert not may_redirect_to_other_host(text)
