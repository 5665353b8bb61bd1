"""Every route with random keys, queries and forms, as staff and without a session."""

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from hypothesis import strategies as st
from typing_extensions import override

from app.composition.factory import create_app
from benchmarks.fuzz.client import Answer, Client, Request
from benchmarks.fuzz.shop import EMAIL
from benchmarks.fuzz.values import moments, numbers, texts
from tests.builders.people import PASSWORD

SIGN_IN = "/console/sign-in"
_PLACEHOLDER = re.compile(r"<(?:(?P<kind>\w+)(?:\([^)]*\))?:)?(?P<name>\w+)>")
_FORM = {"Content-Type": "application/x-www-form-urlencoded"}
_TOO_LONG = 6_000
_NUMBERS = st.one_of(
    st.integers(1, 6).map(str), st.integers(1, 6).map(str), numbers.map(str), texts
)
_NAMES = st.one_of(st.sampled_from(["default", "csv", "json", "nobody"]), texts)
Fields = dict[str, str]


@dataclass(slots=True)
class Form:
    """A form of a page: where it goes, and what a browser would send."""

    method: str
    action: str
    fields: Fields = field(default_factory=dict)


class _Forms(HTMLParser):
    """The forms of a page, and the names in the queries of its links."""

    def __init__(self) -> None:
        super().__init__()
        self.forms: list[Form] = []
        self.names: set[str] = set()

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.forms.append(Form(values.get("method", "get").upper(), values.get("action", "")))
        elif tag == "a":
            self.names.update(
                name for name, _ in parse_qsl(urlsplit(values.get("href", "")).query)
            )
        elif tag in ("input", "select", "textarea", "button") and values.get("name"):
            self.names.add(values["name"])
            if self.forms:
                self.forms[-1].fields.setdefault(values["name"], _value(values))


def _value(values: dict[str, str]) -> str:
    return PASSWORD if values.get("type") == "password" else values.get("value", "")


class Pages:
    """Asks for pages and sends their forms, with some of the fields changed."""

    name = "pages"

    def __init__(self, client: Client) -> None:
        self._client = client
        self._cookie = ""
        app = create_app(client.shop.ports, client.shop.settings)
        self._rules = sorted(
            {
                (rule.rule, method)
                for rule in app.url_map.iter_rules()
                for method in {"GET", "POST"} & (rule.methods or set())
            }
        )
        names = self._crawl()
        values = st.one_of(texts, moments, numbers.map(str))
        fields = st.dictionaries(st.sampled_from(sorted(names)), values, max_size=4)
        self.strategy = st.tuples(
            st.sampled_from(self._rules).flatmap(_addresses),
            fields,
            st.booleans(),
            fields,
            st.integers(0, 30),
            st.sampled_from(["staff", "staff", "staff", "anonymous"]),
        )

    def attempt(
        self, seed: int, example: tuple[tuple[str, str], Fields, bool, Fields, int, str]
    ) -> None:
        (path, method), query, fills_form, changes, which, caller = example
        address = f"{path}?{_encoded(query)}" if query else path
        if method == "POST":
            self._post(seed, address, changes, caller)
            return
        answer = self._send(seed, "GET", address, caller)
        forms = _read(answer).forms
        if fills_form and forms:
            form = forms[which % len(forms)]
            target = form.action if form.action.startswith("/") else address
            fields = {**form.fields, **changes}
            if form.method == "POST":
                self._send(seed, "POST", target, caller, _encoded(fields))
            else:
                self._send(seed, "GET", f"{target.partition('?')[0]}?{_encoded(fields)}", caller)

    def _post(self, seed: int, address: str, changes: Fields, caller: str) -> None:
        page = self._send(seed, "GET", "/console/" if caller == "staff" else SIGN_IN, caller)
        token = [form.fields.get("csrf_token", "") for form in _read(page).forms]
        fields = {**changes, "csrf_token": next(filter(None, token), "")}
        self._send(seed, "POST", address, caller, _encoded(fields))

    def _send(self, seed: int, method: str, address: str, caller: str, body: str = "") -> Answer:
        cookie = {"Cookie": self._cookie} if caller == "staff" and self._cookie else {}
        headers = {**cookie, **(_FORM if method == "POST" else {})}
        request = Request(method, address[:_TOO_LONG], headers, body.encode())
        answer = self._client.send(self.name, seed, request)
        if caller == "staff":
            self._keep_cookie(answer)
            if SIGN_IN in answer.headers.get("location", ""):
                self._sign_in(seed)
        return answer

    def _keep_cookie(self, answer: Answer) -> None:
        cookie = answer.headers.get("set-cookie", "").partition(";")[0]
        if cookie:
            self._cookie = cookie

    def _sign_in(self, seed: int) -> None:
        """Sign in as the superuser, whatever has been done to that account."""
        shop = self._client.shop
        shop.restore()
        shop.restore_password()
        self._cookie = ""
        page = self._client.send(self.name, seed, Request("GET", SIGN_IN))
        self._keep_cookie(page)
        form = next(iter(_read(page).forms), Form("POST", SIGN_IN))
        fields = {**form.fields, "email": EMAIL, "password": PASSWORD}
        headers = {**_FORM, "Cookie": self._cookie}
        request = Request("POST", SIGN_IN, headers, _encoded(fields).encode())
        self._keep_cookie(self._client.send(self.name, seed, request))

    def _crawl(self) -> set[str]:
        """Sign in, look at every page once, and return all names of fields and parameters."""
        self._sign_in(0)
        names = {"csrf_token", "ask", "next"}
        for rule, method in self._rules:
            if method == "GET":
                answer = self._send(0, method, _PLACEHOLDER.sub("1", rule), "staff")
                names |= _read(answer).names
        return names


def _read(answer: Answer) -> _Forms:
    parser = _Forms()
    if "html" in answer.headers.get("content-type", ""):
        parser.feed(answer.body.decode(errors="replace"))
    return parser


def _addresses(match: tuple[str, str]) -> st.SearchStrategy[tuple[str, str]]:
    """Paths of a rule, their keys good or odd, with the method."""
    rule, method = match
    keys: list[Any] = [
        _NUMBERS if placeholder["kind"] == "int" else _NAMES
        for placeholder in _PLACEHOLDER.finditer(rule)
    ]
    return st.tuples(*keys).map(lambda values: (_fill(rule, values), method))


def _fill(rule: str, values: tuple[str, ...]) -> str:
    given = iter(values)
    return _PLACEHOLDER.sub(
        lambda _hole: quote(next(given).encode(errors="replace"), safe="/:@")[:_TOO_LONG], rule
    )


def _encoded(fields: Fields) -> str:
    return urlencode(fields, errors="replace")
