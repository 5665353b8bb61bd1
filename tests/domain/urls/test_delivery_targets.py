"""No spelling of an internal address is taken for a place where deliveries may go."""

import ipaddress

from app.domain.urls.web_urls import is_private_target, target_problem
from tests.fixtures.cases import cases

INTERNAL = (
    "http://127.0.0.1/",
    "http://127.1/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0x7f.1/",
    "http://0177.0.0.1/",
    "http://127.0.0.1./",
    "http://\uff11\uff12\uff17.0.0.1/",
    "http://127\u30020\u30020\u30021/",
    "http://localhost/",
    "http://LOCALHOST./",
    "http://shop.localhost:8000/",
    "http://[::1]/",
    "http://[::]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[::7f00:1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://[2002:7f00:1::]/",
    "http://[fe80::1%25eth0]/",
    "http://[fd00::1]/",
    "http://[fec0::1]/",
    "http://[ff02::1]/",
    "http://0/",
    "http://0.0.0.0/",
    "http://10.1.2.3/",
    "http://172.16.0.1/",
    "http://192.168.1.1/",
    "http://169.254.169.254/latest/meta-data",
    "http://100.64.0.1/",
    "http://192.0.0.8/",
    "http://224.0.0.1/",
    "http://255.255.255.255/",
    "http://127%2e0.0.1/",
)
NO_ADDRESSES = (
    "ftp://app.example.com/",
    "app.example.com/hook",
    "https://",
    "https:///hook",
    "javascript:alert(1)",
    "https://user:word@app.example.com/",
    "https://app.example.com\\@127.0.0.1/",
    "https://app.example.com/a b",
    "https://app.example.com:99999/",
    "https://[::1/",
    "https://app.example.com/\n",
)


@cases("url", [*INTERNAL, *NO_ADDRESSES])
def test_invalid_target_is_refused(url: str) -> None:
    problem = target_problem(url, ())
    assert problem is not None
    assert (problem.field, problem.code) == ("targetUrl", "INVALID")


@cases(
    "url",
    [
        "https://app.example.com/hook?a=1",
        "http://93.184.216.34:8080/",
        "https://[2606:2800:220:1:248:1893:25c8:1946]/",
        "https://xn--bcher-kva.example/",
        "https://0x.example.com/",
    ],
)
def test_public_host_is_allowed(url: str) -> None:
    assert target_problem(url, ()) is None


def test_listed_network_is_allowed() -> None:
    allowed = (ipaddress.ip_network("127.0.0.0/8"),)
    assert target_problem("http://127.0.0.1:8899/hook", allowed) is None
    assert target_problem("http://10.0.0.1/hook", allowed) is not None


def test_missing_target_is_required() -> None:
    problem = target_problem("", ())
    assert problem is not None
    assert problem.code == "REQUIRED"


@cases("url", ["http://localhost:3123/hook", "http://10.0.0.1/", "http://[::1]/"])
def test_private_ip_address_is_distinguished_from_invalid_urls(url: str) -> None:
    problem = target_problem(url, ())
    assert problem is not None
    assert "OUTGOING_ALLOWED_NETWORKS" in problem.message
    assert is_private_target(url)


@cases("url", ["", *NO_ADDRESSES, "https://app.example.com/hook"])
def test_public_and_invalid_hosts_are_not_private(url: str) -> None:
    assert not is_private_target(url)
