"""No page fails, whatever stands in its path, its query string or its form."""

import html
import itertools
import re
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from flask import Request
from typing_extensions import override
from werkzeug.datastructures import ImmutableMultiDict
from werkzeug.routing import Rule

from app.composition.factory import create_app
from app.composition.settings import Settings
from app.domain.sign_in.rate_limits import RATE_LIMITS, RateLimitPolicy
from app.ports import Ports
from tests.browser.pages import SAMPLES
from tests.builders.people import PASSWORD
from tests.builders.shop import configure_shop
from tests.console.populated_shop import ADMIN, CUSTOMER, open_console, populate
from tests.console.route_requests import KEYS
from tests.fakes.clock import FakeClock
from tests.fixtures.databases import StoredRows
from tests.fixtures.one_of_each import InTurn
from tests.fixtures.ports import fake_ports
from tests.hosted.customer_browser import Browser

pytestmark = pytest.mark.first

BIG, HUGE, NUL = str(2**63), str(2**200), "1\0"
IN_PATHS = (BIG, "0", "\u0663", NUL)
ONE_BY_ONE = (BIG, "9999-12-31")
IN_VALUES = (
    *(HUGE, NUL, "0000-00-00", "5" * 5000, "\u0663", "\ud800", "", "-1", "1e9", "1\u202e2"),
    *ONE_BY_ONE,
)
STRICT = (BIG, NUL, "9999-12-31")
"""What PostgreSQL could take differently from SQLite."""

NAMES = (
    "endpoint",
    "_method",
    "_external",
    "_anchor",
    "_scheme",
    "values",
    "self",
    "key",
    "slug",
    "kind",
    "q[]",
    "__class__",
    "",
    "ż",
    "\0",
    "\u202e",
    "a" * 4000,
)
"""Names in a query string: of arguments that the code's functions have, and odd ones."""

QUERIES = (
    *(urlencode({name: "FOO"}).encode() for name in NAMES),
    *("é=1".encode(), "q=ż".encode(), b"q=\xff", b"\xed\xa0\x80=\xed\xa0\x80"),
    *(b"&&=&=;", b"%", b"%00=%ff", b"q=1" + b"&q=1" * 2000),
)
"""Each of these names alone, and query strings that no browser sends."""

PLAUSIBLE = {
    "act": "run",
    "app": "1",
    "email": "new@example.com",
    "event": "PRODUCT_UPDATED",
    "groups": "1",
    "id": "1",
    "issuer": "https://127.0.0.1/there",
    "life": "30",
    "name": "New",
    "new_email": "new@example.com",
    "new_password": "a good long sentence",
    "old_password": PASSWORD,
    "password": PASSWORD,
    "permissions": "MANAGE_PRODUCTS",
    "provider": "new",
    "since": "24",
    "target_url": "https://app.example.com/hook",
    "to": "on",
    "token": "x",
    "url": "https://127.0.0.1/manifest",
    "webhook": "1",
}
"""What a form is filled with, so that the one absurd value in it gets as far as it can."""

_LEAVE = "console.sign_in.leave"
_HOSTED = ("/account", "/oauth")
_CONFLICT = HTTPStatus.CONFLICT
_LOADED = re.compile(r'name="loaded" value="([^"]*)"')
_PROVE = "console.sign_in.prove"
_ANSWERS = {"proof_password", "proof_code", "proof_challenge", "proof_credential"}
"""Fields of that page, which any form can have: a wrong answer is refused before its view."""


class Noting(ImmutableMultiDict[str, str]):
    """A query string or form that notes which names a page looks for."""

    names_read: set[str] = set()  # noqa: RUF012 - of whichever route is being walked

    @override
    def __contains__(self, name: object) -> bool:
        self.names_read.add(str(name))
        return super().__contains__(name)

    @override
    def __getitem__(self, name: str) -> str:
        self.names_read.add(name)
        return super().__getitem__(name)

    @override
    def getlist(self, name: str, type: Any = None) -> list[Any]:
        self.names_read.add(name)
        return super().getlist(name, type)


class NotingRequest(Request):
    parameter_storage_class = Noting


class Walker:
    """Somebody who may do everything, sending whatever comes to mind to every route.

    What a request changes is put back.
    """

    def __init__(self, ports: Ports, in_turn: InTurn, file: Path | None = None) -> None:
        self._in_turn = in_turn
        populate(ports)
        configure_shop(ports, hosted_pages=True, email_code_login=True)
        unlimited = RateLimitPolicy(changed=dict.fromkeys(RATE_LIMITS, ()))
        configuration = replace(ports.configuration, rate_limits=unlimited)
        ports = replace(ports, configuration=configuration)
        self._app = create_app(ports, Settings())
        self._app.request_class = NotingRequest
        self.desk = open_console(self._app, ports, ADMIN)
        customer = Browser(self.desk.client)
        customer.sign_in(CUSTOMER)
        self._hosted_token = customer.fill("/account/")["csrf_token"]
        self._token = self.desk.token()
        self._cookies = customer.cookies()
        self._loaded: dict[str, str] = {}
        self._file = None if file is None else sqlite3.connect(file, isolation_level=None)
        self._kept = None if self._file is None else StoredRows.of(self._file)
        self.faults: list[str] = []
        self.statuses: Counter[int] = Counter()

    @property
    def routes(self) -> list[tuple[str, Rule, str]]:
        """Every route by each of its methods, with a path that it answers."""
        return [
            (method, rule, good_path(rule))
            for rule in self._app.url_map.iter_rules()
            for method in sorted({"GET", "POST"} & set(rule.methods or ()))
            if rule.endpoint != _LEAVE
        ]

    def close(self) -> None:
        if self._file is not None:
            self._file.close()

    def send(self, method: str, path: str, values: Mapping[str, str]) -> None:
        """Send one request, and note it when its answer is a fault of ours."""
        csrf_token = self._hosted_token if path.startswith(_HOSTED) else self._token
        token = {"csrf_token": csrf_token} if method == "POST" else {}
        encoded = urlencode({**values, **token}, errors="surrogatepass")
        mark = "&" if "?" in path else "?"
        answer = self.desk.client.open(
            path if method == "POST" else f"{path}{mark}{encoded}",
            method=method,
            data=encoded if method == "POST" else None,
            content_type="application/x-www-form-urlencoded",
        )
        status = answer.status_code
        shown = _LOADED.search(answer.get_data(as_text=True)) if status == _CONFLICT else None
        if shown and values.get("loaded") != html.unescape(shown[1]):
            # What is stored is known now, so the values get as far as they can.
            self._loaded[path] = html.unescape(shown[1])
            self.send(method, path, {**values, "loaded": self._loaded[path]})
        self.statuses[status] += 1
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            self.faults.append(f"{method} {path[:80]} {encoded[:160]}: {status}")
        if status == HTTPStatus.SEE_OTHER and self._file is not None and self._kept is not None:
            self._kept.put_back(self._file)
            for name, value in self._cookies.items():
                self.desk.client.set_cookie(name, value)

    def send_bytes(self, path: str, query: bytes) -> None:
        """Send a GET with ``query`` as it is, in the form of PEP 3333."""
        status = self.desk.client.get(
            path, environ_overrides={"QUERY_STRING": query.decode("latin1")}
        ).status_code
        self.statuses[status] += 1
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            self.faults.append(f"GET {path[:80]} {query[:160]!r}: {status}")

    def names(self, method: str, rule: Rule, path: str) -> list[str]:
        """Return what a page looks for in its query string or form, tried with plausible values.

        Odd names in a query string must not disturb it.
        """
        skipped = {"csrf_token"} if rule.endpoint == _PROVE else {"csrf_token", *_ANSWERS}
        odd = dict.fromkeys(NAMES if method == "GET" else ["x"], "FOO")
        Noting.names_read = set()
        before: set[str] | None = None
        while before != Noting.names_read:
            before = Noting.names_read - skipped
            self.send(method, path, odd | self.plausible(path, before))
            Noting.names_read -= skipped
        return sorted(before)

    def plausible(self, path: str, names: Iterable[str]) -> dict[str, str]:
        known = {"loaded": self._loaded[path]} if path in self._loaded else {}
        return {name: known.get(name, PLAUSIBLE.get(name, "1")) for name in names}

    def walk(self, method: str, rule: Rule, path: str) -> list[str]:
        """Send what is absurd in one part of the path, in one value, and in all values at once.

        Return the names that the page looks for.
        """
        names = self.names(method, rule, path)
        good = self.plausible(path, names)
        absurd: list[tuple[str, dict[str, str]]] = [
            (_path_with(rule, path, place, value), {})
            for place in range(rule.rule.count("<"))
            for value in IN_PATHS
        ]
        for turn in range(0, len(IN_VALUES), 2) if names else ():
            values = itertools.cycle(IN_VALUES[turn:] + IN_VALUES[:turn])
            absurd.append((path, dict(zip(names, values, strict=False))))
        absurd += [(path, {**good, name: value}) for name in names for value in ONE_BY_ONE]
        for sent_to, sent in self._in_turn(absurd, 1 + len(names) // 4):
            self.send(method, sent_to, sent)
        return names


def _path_with(rule: Rule, path: str, place: int, value: str) -> str:
    """``path`` with ``value`` in one of the variable parts of ``rule``."""
    variable = [number for number, part in enumerate(rule.rule.split("/")) if "<" in part]
    parts = path.split("/")
    parts[variable[place]] = quote(value.encode("utf-8", "surrogatepass"), safe="")
    return "/".join(parts)


def good_path(rule: Rule) -> str:
    group = rule.endpoint.split(".")[1] if "." in rule.endpoint else ""
    values = {name: SAMPLES.get(name, KEYS.get(group, 1)) for name in rule.arguments}
    # Not by the endpoint alone, which can have several rules.
    built = rule.build(values, append_unknown=False)
    assert built is not None, rule.rule
    return built[1]


@pytest.fixture
def walker(sqlite_url: str, clock: FakeClock, in_turn: InTurn) -> Iterator[Walker]:
    ports = fake_ports(sqlite_url, clock)
    made = Walker(ports, in_turn, Path(sqlite_url.removeprefix("sqlite:///")))
    yield made
    made.close()
    ports.database.close()


def test_no_path_or_form_causes_an_internal_error(walker: Walker) -> None:
    for method, rule, path in walker.routes:
        if method == "POST":
            walker.walk(method, rule, path)
    assert walker.faults == []
    assert all(walker.statuses[status] > 100 for status in (303, 422)), walker.statuses
    assert walker.statuses[429] == 0


def test_no_path_query_or_name_in_a_query_string_causes_an_internal_error(
    walker: Walker, postgresql_url: str, clock: FakeClock, in_turn: InTurn
) -> None:
    ports = fake_ports(postgresql_url, clock)
    on_postgresql = Walker(ports, in_turn)
    for method, rule, path in walker.routes:
        if method == "GET":
            names = walker.walk(method, rule, path)
            for value in in_turn(STRICT) if names else ():
                on_postgresql.send(method, path, dict.fromkeys(names, value))
            for query in in_turn(QUERIES):
                walker.send_bytes(path, query)
    on_postgresql.close()
    ports.database.close()
    assert [walker.faults, on_postgresql.faults] == [[], []]
    assert walker.statuses[200] > 300, walker.statuses
    assert on_postgresql.statuses[200] > 60, on_postgresql.statuses


def test_links_of_a_list_keep_a_query_value_of_any_name(walker: Walker) -> None:
    for name in ("endpoint", "_method", "_external", "_anchor", "key", "list_name"):
        shown = walker.desk.open(f"/console/apps/?{name}=FOO&q=ware&state=active")
        assert shown.status == HTTPStatus.OK, name
        assert f"?{name}=FOO&amp;" in shown.html


def test_valid_keys_and_days_find_their_pages(walker: Walker) -> None:
    for path in (
        "/console/people/1",
        "/console/people/0001",
        "/console/apps/1?token=1",
        "/console/deliveries/1?attempt=1",
        "/console/deliveries/?webhook=1&from=2020-01-01&to=2030-12-31",
        "/console/audit/?from=0001-01-01&to=9999-12-31",
        "/console/dry-run/?webhook=1",
        "/console/single-sign-on/default/",
    ):
        walker.send("GET", path, {})
    assert set(walker.statuses) <= {HTTPStatus.OK, HTTPStatus.SEE_OTHER}


def test_every_path_parameter_has_our_converter(walker: Walker) -> None:
    untyped = {
        rule.rule for _, rule, _ in walker.routes if re.search(r"<([a-z_]+|int.*:.*)>", rule.rule)
    }
    assert untyped == set()
