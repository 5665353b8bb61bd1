"""What a provider's user info can be: JSON, or a JWT signed by the provider."""

from collections.abc import Callable

import pytest

from app.domain.authorization.actor import OPERATOR
from app.domain.values.errors import TokenFault
from app.ports import Ports
from app.services.single_sign_on.provider_checks import preview_mapping
from tests.builders.people import make_user
from tests.builders.providers import set_up
from tests.fixtures.cases import cases
from tests.servers.http import Received, Reply
from tests.servers.own_provider import CLIENT, Claims, OwnProvider, as_json, rsa_key
from tests.services.provider_bearers import EMAIL, fault, who
from tests.services.provider_logins import begin, finish, grant

Answer = Callable[[OwnProvider, Claims], bytes]


@pytest.fixture
def database_url(sqlite_url: str) -> str:
    """SQLite alone: the answer is read before the database is asked."""
    return sqlite_url


def signed(**changes: object) -> Answer:
    def answer(provider: OwnProvider, person: Claims) -> bytes:
        members = {"iss": provider.url, "aud": CLIENT, **person, **changes}
        return provider.sign(members).encode()

    return answer


def by_another_key(provider: OwnProvider, person: Claims) -> bytes:
    return provider.sign({"iss": provider.url, **person}, rsa_key(1)).encode()


def not_signed(provider: OwnProvider, person: Claims) -> bytes:
    body = provider.sign(person).split(".")[1]
    return f"eyJhbGciOiJub25lIn0.{body}.".encode()


def encrypted(provider: OwnProvider, person: Claims) -> bytes:
    return b"eyJhbGciOiJkaXIiLCJlbmMiOiJBMTI4R0NNIn0.a.b.c.d"


def serve(provider: OwnProvider, answer: Answer, kind: str = "application/jwt") -> None:
    def reply(received: Received) -> Reply:
        token = received.headers.get("authorization", "").removeprefix("Bearer ")
        person = provider.people.get(token, provider.person())
        return Reply(200, answer(provider, person), {"Content-Type": kind})

    provider.server.routes["/userinfo"] = reply


@cases(
    ("sub", "kind"),
    [
        ("alice", "application/jwt"),
        ("bob", "application/JWT; charset=utf-8"),
        ("carol", "text/plain"),
    ],
)
def test_signed_user_info_is_verified_by_the_providers_keys(
    ports: Ports, provider: OwnProvider, sub: str, kind: str
) -> None:
    serve(provider, signed(), kind)
    assert who(ports, provider.access_token(sub)).actor.name == f"{sub}@sso.example"


def test_signed_user_info_is_read_at_a_sign_in_by_code(
    ports: Ports, provider: OwnProvider
) -> None:
    user_id = make_user(ports, EMAIL)
    serve(provider, signed())
    parameters = begin(ports)
    claims = provider.id_claims(parameters["nonce"], email=..., email_verified=...)
    grant(provider, parameters, id_token=provider.sign(claims))
    assert finish(ports, parameters["state"]).user.id == user_id


@cases(
    ("answer", "expected"),
    [
        (by_another_key, TokenFault.PROVIDER),
        (not_signed, TokenFault.PROVIDER),
        (encrypted, TokenFault.PROVIDER),
        (signed(iss="https://evil.example"), TokenFault.PROVIDER),
        (signed(exp=1), TokenFault.PROVIDER),
        (signed(sub="root"), TokenFault.INVALID),
        (signed(sub=...), TokenFault.INVALID),
    ],
)
def test_signed_user_info_that_is_not_the_providers_signs_no_one_in(
    ports: Ports, provider: OwnProvider, answer: Answer, expected: TokenFault
) -> None:
    serve(provider, answer)
    assert fault(ports, provider.access_token(jti=repr(answer))) is expected


def test_preview_says_what_is_wrong_with_a_signed_user_info(
    ports: Ports, provider: OwnProvider
) -> None:
    serve(provider, by_another_key)
    reason = preview_mapping(ports, OPERATOR, "default", provider.access_token()).reason
    assert "The user info was sent as a JWT that isn't valid." in reason
    assert "Signature verification failed." in reason


def test_byte_order_mark_is_skipped(ports: Ports, provider: OwnProvider) -> None:
    set_up(ports, provider)
    keys = provider.answer_keys
    provider.server.routes["/keys"] = lambda received: with_mark(keys(received))
    known = provider.answer_user_info
    provider.server.routes["/userinfo"] = lambda received: with_mark(known(received))
    assert who(ports, provider.access_token()).actor.name == EMAIL


def with_mark(reply: Reply) -> Reply:
    return Reply(reply.status, b"\xef\xbb\xbf" + reply.body, reply.headers)


@cases(
    ("body", "reason"),
    [
        (b"", "The user-info endpoint returned an empty response."),
        (b"<html>", "The user-info endpoint didn't return a JSON object."),
        ('{"sub": "alice"}'.encode("utf-16"), "JSON in UTF-16; it must be UTF-8."),
        (b'{"sub": "alice", "sub": "root"}', "JSON in which 'sub' appears twice."),
    ],
)
def test_preview_gives_the_true_reason(
    ports: Ports, provider: OwnProvider, body: bytes, reason: str
) -> None:
    provider.server.answer("/userinfo", Reply(200, body))
    token = provider.access_token(jti=reason)
    found = preview_mapping(ports, OPERATOR, "default", token).reason
    assert found.endswith(reason)


def test_names_with_two_dots_are_no_token(ports: Ports, provider: OwnProvider) -> None:
    person = {**provider.person(), "given_name": "A.B.C"}
    provider.server.answer("/userinfo", as_json(person))
    assert who(ports, provider.access_token()).actor.name == EMAIL
