"""``latchkey-verifier``, against a real shop's keys and against key sets that lie."""

import asyncio
import base64
import hmac
import json
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from latchkey_verifier import Forbidden, InvalidToken, Token, Unavailable, Verifier, bearer

from app.adapters.system import SystemClock
from tests.clients import fastapi_service, flask_service, verified_user
from tests.clients.api_session import ApiSession
from tests.clients.conftest import ADMIN, CUSTOMER, PASSWORD, Shop, running_shop, watched
from tests.servers.event_loops import run_in_thread
from tests.servers.free_ports import free_port
from tests.servers.http import HttpServer, Reply, http_server
from tests.servers.run import ROOT
from tests.servers.sandbox import PATIENCE

KEY_SET = "/.well-known/jwks.json"
USER_ID = "VXNlcjox"


@pytest.fixture(scope="module")
def _checking_shop(
    tmp_path_factory: pytest.TempPathFactory, _migrated_file: Path
) -> Iterator[Shop]:
    folder = tmp_path_factory.mktemp("verifier")
    with running_shop(folder, _migrated_file, FORWARD_AUTH="true") as shop:
        yield shop


@pytest.fixture
def shop(_checking_shop: Shop) -> Iterator[Shop]:
    """A running shop that answers checks."""
    with watched(_checking_shop):
        yield _checking_shop


def _now() -> int:
    return int(SystemClock().timestamp())


@cache
def private_key(name: str) -> rsa.RSAPrivateKey:
    del name
    return rsa.generate_private_key(65537, 2048)


@dataclass(slots=True)
class StandIn:
    """A shop of which only the key set is there, and which signs whatever a test wants."""

    server: HttpServer
    keys: list[dict[str, Any]] = field(default_factory=list)

    @property
    def issuer(self) -> str:
        return f"{self.server.url}/graphql/"

    def publish(self, *names: str) -> None:
        self.keys = [self.entry(name) for name in names]
        self.answer(json.dumps({"keys": self.keys}).encode())

    def entry(self, name: str, **changes: object) -> dict[str, Any]:
        public = private_key(name).public_key()
        listed = jwt.get_algorithm_by_name("RS256").to_jwk(public, as_dict=True)
        return {**listed, "kid": name, "use": "sig", "alg": "RS256", **changes}

    def answer(self, body: bytes, status: int = 200, **headers: str) -> None:
        self.server.answer(KEY_SET, Reply(status, body, headers))

    def fetches(self) -> int:
        return len(self.server.calls(KEY_SET))

    def token(
        self, name: str = "one", headers: dict[str, Any] | None = None, **changes: Any
    ) -> str:
        claims = self.claims(**changes)
        return jwt.encode(claims, private_key(name), "RS256", {"kid": name, **(headers or {})})

    def claims(self, **changes: Any) -> dict[str, Any]:
        now = _now()
        claims = {
            "iss": self.issuer,
            "iat": now,
            "exp": now + 300,
            "user_id": USER_ID,
            "token": "a session",
            "email": "ann@example.com",
            "type": "access",
            **changes,
        }
        return {name: value for name, value in claims.items() if value is not ...}


@pytest.fixture
def stand_in() -> Iterator[StandIn]:
    with http_server() as server:
        made = StandIn(server)
        made.publish("one")
        yield made


class Hands:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def verifier_of(stand_in: StandIn, **options: Any) -> tuple[Verifier, Hands]:
    clock = Hands()
    return Verifier(stand_in.issuer, clock=clock, **options), clock


def test_access_token_of_a_shop_is_verified_by_its_key_set(shop: Shop) -> None:
    session = ApiSession(shop.server.issuer, CUSTOMER, PASSWORD)
    verifier = Verifier(shop.server.issuer)
    token = verifier.verify(session.token)
    assert token.user_id == session.query("{ me { id } }")["me"]["id"]
    assert (token.email, token.type, token.app) == (CUSTOMER, "access", "")
    assert token.expires > _now()
    with pytest.raises(InvalidToken, match="another type"):
        verifier.verify(session.refresh_token)
    with pytest.raises(InvalidToken):
        verifier.verify(f"{session.token[:-6]}AAAAAA")


def test_token_signed_after_a_rotation_is_verified(shop: Shop) -> None:
    verifier = Verifier(shop.server.issuer, refetch_seconds=0)
    before = ApiSession(shop.server.issuer, CUSTOMER, PASSWORD).token
    first = jwt.get_unverified_header(before)["kid"]
    verifier.verify(before)
    for _ in range(2):  # the next key was published before it signs
        assert shop.operate("keys", "rotate", "--force").returncode == 0
    after = ApiSession(shop.server.issuer, CUSTOMER, PASSWORD).token
    assert jwt.get_unverified_header(after)["kid"] != first
    assert verifier.verify(after).email == CUSTOMER


def test_live_check_sees_an_ended_session_that_keys_cannot(shop: Shop) -> None:
    session = ApiSession(shop.server.issuer, CUSTOMER, PASSWORD)
    verifier = Verifier(shop.server.issuer)
    caller = verifier.check(session.token)
    assert (caller.kind, caller.email, caller.is_staff) == ("user", CUSTOMER, False)
    assert caller.permissions == frozenset()
    assert caller.expires == verifier.verify(session.token).expires
    session.query("mutation { tokensDeactivateAll { errors { code } } }")
    verifier.verify(session.token)
    with pytest.raises(InvalidToken):
        verifier.check(session.token)


def test_live_check_asks_for_permissions_and_staff(shop: Shop) -> None:
    verifier = Verifier(shop.server.issuer)
    admin, customer = (
        ApiSession(shop.server.issuer, email, PASSWORD).token for email in (ADMIN, CUSTOMER)
    )
    caller = verifier.check(admin, require=["MANAGE_ORDERS", "MANAGE_USERS"], staff=True)
    assert caller.is_staff
    for asked in ({"require": "MANAGE_ORDERS"}, {"staff": True}):
        with pytest.raises(Forbidden):
            verifier.check(customer, **asked)
    with pytest.raises(Unavailable, match="400"):
        verifier.check(admin, require=["MANAGE_ORDER"])


def test_user_is_told_by_keys_and_permissions_by_a_check(shop: Shop) -> None:
    session = ApiSession(shop.server.issuer, ADMIN, PASSWORD)
    verifier = Verifier(shop.server.issuer)
    headers = {"Authorization": f"Bearer {session.token}"}
    assert verified_user.user_of(verifier, headers) == session.query("{ me { id } }")["me"]["id"]
    assert verified_user.can_manage_orders(verifier, headers)


def test_app_token_has_a_live_check_alone(shop: Shop) -> None:
    made = shop.operate("app", "create", "Stock", "--permission", "MANAGE_ORDERS")
    token = made.stdout.strip()
    verifier = Verifier(shop.server.issuer)
    caller = verifier.check(token, require=["MANAGE_ORDERS"])
    assert (caller.kind, caller.email, caller.expires) == ("app", "", None)
    with pytest.raises(InvalidToken):
        verifier.verify(token)


def _unsigned(claims: dict[str, Any], **header: object) -> str:
    parts = ({"typ": "JWT", "kid": "one", **header}, claims)
    encoded = [base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=") for part in parts]
    return b".".join(encoded).decode()


def test_algorithm_is_the_verifiers_and_never_the_tokens(stand_in: StandIn) -> None:
    verifier, _ = verifier_of(stand_in)
    claims = stand_in.claims()
    public = private_key("one").public_key()
    pem = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    signed = _unsigned(claims, alg="HS256")
    mac = base64.urlsafe_b64encode(hmac.digest(pem, signed.encode(), "sha256")).rstrip(b"=")
    forged = [
        f"{_unsigned(claims, alg='none')}.",
        f"{_unsigned(claims, alg='None')}.",
        f"{_unsigned(claims, alg='RS256')}.",
        f"{signed}.{mac.decode()}",
        jwt.encode(claims, private_key("one"), "RS512", {"kid": "one"}),
        jwt.encode(claims, private_key("one"), "PS256", {"kid": "one"}),
        jwt.encode(claims, private_key("other"), "RS256", {"kid": "one"}),
        stand_in.token(headers={"crit": ["b64"], "b64": False}),
        jwt.encode(claims, private_key("one"), "RS256"),
        jwt.encode(claims, private_key("one"), "RS256", {"kid": ""}),
    ]
    for token in forged:
        with pytest.raises(InvalidToken):
            verifier.verify(token)
    assert verifier.verify(stand_in.token()).user_id == USER_ID


def test_keys_come_from_the_shop_and_never_from_the_token(stand_in: StandIn) -> None:
    verifier, _ = verifier_of(stand_in, refetch_seconds=0)
    with http_server() as evil:
        entry = stand_in.entry("evil")
        evil.answer("/keys", Reply(200, json.dumps({"keys": [entry]}).encode()))
        headers = {"jku": f"{evil.url}/keys", "x5u": f"{evil.url}/keys", "jwk": entry}
        with pytest.raises(InvalidToken, match="unknown key"):
            verifier.verify(stand_in.token("evil", headers))
        assert evil.received == []


@pytest.mark.parametrize(
    "changes",
    [
        {"iss": "https://evil.example.com/graphql/"},
        {"iss": ...},
        {"exp": ...},
        {"exp": 1},
        {"exp": "soon"},
        {"iat": ...},
        {"iat": _now() + 3600},
        {"nbf": _now() + 3600},
        {"nbf": "now"},
        {"type": "refresh"},
        {"type": "thirdparty"},
        {"type": ...},
        {"type": ["access"]},
        {"user_id": ...},
        {"user_id": 1},
        {"token": ""},
        {"aud": "somebody else"},
    ],
    ids=".".join,  # without the values, which tell the second
)
def test_claims_that_a_shop_would_reject_are_rejected(
    stand_in: StandIn, changes: dict[str, Any]
) -> None:
    verifier, _ = verifier_of(stand_in)
    with pytest.raises(InvalidToken):
        verifier.verify(stand_in.token(**changes))
    assert verifier.verify(stand_in.token(nbf=_now() + 30)).session == "a session"


def test_configured_audience_must_be_in_the_token(stand_in: StandIn) -> None:
    verifier, _ = verifier_of(stand_in, audience="orders")
    assert verifier.verify(stand_in.token(aud=["orders", "stock"])).user_id == USER_ID
    refused: tuple[dict[str, Any], ...] = ({}, {"aud": "stock"}, {"aud": []})
    for changes in refused:
        with pytest.raises(InvalidToken):
            verifier.verify(stand_in.token(**changes))
    # Tokens of OAuth clients name theirs: a service that names none takes no third party's.
    with pytest.raises(InvalidToken):
        verifier_of(stand_in)[0].verify(stand_in.token(aud=["https://shop.example.com/graphql/"]))


def test_extension_token_needs_to_be_asked_for(stand_in: StandIn) -> None:
    verifier, _ = verifier_of(stand_in, types=("access", "thirdparty"))
    assert verifier.verify(stand_in.token(type="thirdparty", app="QXBwOjE=")).app == "QXBwOjE="
    for types in ("access", ("refresh",)):
        with pytest.raises(ValueError, match="types"):
            verifier_of(stand_in, types=types)


@pytest.mark.parametrize(
    "token", ["", "a", "a.b", "..", "é.é.é", "a b.c.d", "\x00.\n.", "a" * 20_000, "e30.e30.e30"]
)
def test_garbage_is_invalid_and_costs_no_call(stand_in: StandIn, token: str) -> None:
    verifier, _ = verifier_of(stand_in)
    with pytest.raises(InvalidToken):
        verifier.verify(token)
    assert stand_in.server.received == []


def test_unknown_keys_are_looked_up_at_a_limited_rate(stand_in: StandIn) -> None:
    verifier, clock = verifier_of(stand_in)
    verifier.verify(stand_in.token())
    for attempt in range(50):
        with pytest.raises(InvalidToken, match="unknown key"):
            verifier.verify(stand_in.token("other", {"kid": f"made up {attempt}"}))
    assert stand_in.fetches() == 1
    clock.now += 11
    stand_in.publish("one", "two")
    assert verifier.verify(stand_in.token("two")).user_id == USER_ID
    assert stand_in.fetches() == 2


def test_key_that_the_shop_removed_is_unknown_after_the_cache_time(stand_in: StandIn) -> None:
    verifier, clock = verifier_of(stand_in)
    verifier.verify(stand_in.token())
    stand_in.publish("two")
    verifier.verify(stand_in.token())
    clock.now += 301
    with pytest.raises(InvalidToken, match="unknown key"):
        verifier.verify(stand_in.token())


def test_known_keys_outlast_an_outage_for_a_bounded_time(stand_in: StandIn) -> None:
    verifier, clock = verifier_of(stand_in)
    verifier.verify(stand_in.token())
    stand_in.answer(b"", 503)
    for passed in (400, 3000):
        clock.now = 1000 + passed
        assert verifier.verify(stand_in.token()).user_id == USER_ID
    clock.now = 1000 + 3601
    with pytest.raises(Unavailable):
        verifier.verify(stand_in.token())
    clock.now += 11
    stand_in.publish("one")
    assert verifier.verify(stand_in.token()).user_id == USER_ID


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"[]",
        b'{"keys": {}}',
        b'{"keys": []}',
        b'{"keys": [1, null, {"kid": "one"}]}',
        b" " * 1_000_000 + b'{"keys": []}',
    ],
    ids=["empty", "page", "list", "object", "none", "junk", "long"],
)
def test_answer_that_is_no_key_set_is_an_outage(stand_in: StandIn, body: bytes) -> None:
    verifier, _ = verifier_of(stand_in)
    stand_in.answer(body)
    with pytest.raises(Unavailable):
        verifier.verify(stand_in.token())


def test_only_public_rsa_keys_for_signatures_are_used(stand_in: StandIn) -> None:
    short = rsa.generate_private_key(65537, 1024).public_key()  # noqa: S505 - the test's point
    weak = jwt.get_algorithm_by_name("RS256").to_jwk(short, as_dict=True)
    unusable = [
        stand_in.entry("one", use="enc"),
        stand_in.entry("one", alg="HS256"),
        stand_in.entry("one", kty="oct", k="c2VjcmV0"),
        stand_in.entry("one", d="AQAB"),
        {**weak, "kid": "one"},
    ]
    stand_in.answer(json.dumps({"keys": [*unusable, stand_in.entry("two")]}).encode())
    verifier, _ = verifier_of(stand_in)
    with pytest.raises(InvalidToken, match="unknown key"):
        verifier.verify(stand_in.token("one"))
    assert verifier.verify(stand_in.token("two")).user_id == USER_ID


def test_redirects_are_not_followed(stand_in: StandIn) -> None:
    with http_server() as other:
        other.answer(KEY_SET, Reply(200, json.dumps({"keys": stand_in.keys}).encode()))
        other.answer("/auth/check", Reply(200, headers={"X-Auth-Kind": "user"}))
        stand_in.answer(b"", 302, Location=f"{other.url}{KEY_SET}")
        stand_in.server.answer(
            "/auth/check", Reply(307, headers={"Location": f"{other.url}/auth/check"})
        )
        verifier, _ = verifier_of(stand_in)
        with pytest.raises(Unavailable):
            verifier.verify(stand_in.token())
        with pytest.raises(Unavailable):
            verifier.check(stand_in.token())
        assert other.received == []


@pytest.mark.parametrize("status", [200, 204, 302, 404, 429, 500, 503])
def test_only_a_shops_check_is_believed(stand_in: StandIn, status: int) -> None:
    stand_in.server.answer("/auth/check", Reply(status, headers={"Retry-After": "7"}))
    verifier, _ = verifier_of(stand_in)
    with pytest.raises(Unavailable) as away:
        verifier.check("lkapp_something")
    assert away.value.retry_after == (5 if status == 200 else 7)


def test_token_is_sent_as_one_header_or_not_at_all(stand_in: StandIn) -> None:
    stand_in.server.answer("/auth/check", Reply(200, headers={"X-Auth-Kind": "app"}))
    verifier, _ = verifier_of(stand_in)
    for token in ("", "a b", "a\r\nX-Auth-Kind: app", "é", "a" * 20_000):
        with pytest.raises(InvalidToken):
            verifier.check(token)
    assert stand_in.server.received == []
    assert verifier.check("a-token").kind == "app"
    [call] = stand_in.server.received
    assert call.headers["authorization-bearer"] == "a-token"


@pytest.mark.parametrize(
    "url",
    [
        "http://shop.example.com/graphql/",
        "ftp://shop.example.com/",
        "https://",
        "shop",
        "file:///etc",
    ],
)
def test_url_must_be_https_except_on_this_machine(url: str) -> None:
    with pytest.raises(ValueError, match=r"https://"):
        Verifier(url)
    for fine in ("https://shop.example.com/graphql/", "http://localhost:8000/graphql/"):
        Verifier(fine)
    Verifier("http://web:8000/graphql/", insecure=True)
    Verifier("https://shop.example.com/graphql/", server_url="http://[::1]:8000")


def test_missing_shop_is_unavailable() -> None:
    verifier = Verifier(f"http://127.0.0.1:{free_port()}/graphql/")
    token = jwt.encode({}, private_key("one"), "RS256", {"kid": "one"})
    for judge in (verifier.verify, verifier.check):
        with pytest.raises(Unavailable):
            judge(token)


@pytest.mark.parametrize(
    ("headers", "token"),
    [
        ({"Authorization": "Bearer a"}, "a"),
        ({"Authorization": "jwt a"}, "a"),
        ({"Authorization": "Basic a"}, ""),
        ({"Authorization": "Bearer a", "Authorization-Bearer": "b"}, "b"),
        ({}, ""),
    ],
)
def test_bearer_is_found_as_the_shop_finds_it(headers: dict[str, str], token: str) -> None:
    assert bearer(headers) == token


def test_flask_service_lets_callers_in_by_permission(shop: Shop) -> None:
    client = flask_service.create_service(Verifier(shop.server.issuer)).test_client()
    admin, customer = (
        ApiSession(shop.server.issuer, email, PASSWORD).token for email in (ADMIN, CUSTOMER)
    )
    for token, status in ((admin, 200), (customer, 403), ("nonsense", 401)):
        response = client.get("/orders", headers={"Authorization": f"Bearer {token}"})
        assert response.status_code == status
    assert client.get("/orders").status_code == 401


def test_fastapi_service_lets_signed_in_users_in(shop: Shop) -> None:
    service = fastapi_service.create_service(Verifier(shop.server.issuer))
    session = ApiSession(shop.server.issuer, CUSTOMER, PASSWORD)
    for token, status in ((session.token, 200), (session.refresh_token, 401), ("", 401)):
        assert _asgi_status(service, f"Bearer {token}") == status


def _asgi_status(service: Any, authorization: str) -> int:
    sent: list[dict[str, Any]] = []
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": "/wishlist",
        "raw_path": b"/wishlist",
        "query_string": b"",
        "root_path": "",
        "headers": [(b"authorization", authorization.encode())],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
    }

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    run_in_thread(asyncio.run, service(scope, receive, send))
    status: int = sent[0]["status"]
    return status


def test_wheel_is_whole_and_asks_for_pyjwt_alone(tmp_path: Path) -> None:
    """``make verifier`` lets pip install the wheel with PyJWT into an empty environment, too."""
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    done = subprocess.run(
        build,
        cwd=ROOT / "verifier",
        capture_output=True,
        text=True,
        check=False,
        timeout=3 * PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    [wheel] = tmp_path.glob("latchkey_verifier-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")
    [package] = distributions(path=[str(tmp_path / "installed")])
    assert package.requires == ["pyjwt[crypto]>=2.10"]
    assert {"__init__.py", "py.typed"} <= {file.name for file in package.files or ()}


def test_token_shows_no_claims_when_it_is_printed(stand_in: StandIn) -> None:
    verifier, _ = verifier_of(stand_in)
    token = verifier.verify(stand_in.token(note="private"))
    assert isinstance(token, Token)
    assert "private" not in repr(token)
