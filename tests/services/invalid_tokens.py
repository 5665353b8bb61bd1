"""Invalid tokens of every kind, with their faults."""

import base64
import json
from collections.abc import Callable
from typing import Any

from app.domain.values.errors import TokenFault
from app.ports import Ports
from tests.builders.tokens import altered
from tests.fakes.keys import ReadyKeyStore

Break = Callable[[Ports, str], str]


def break_token(ports: Ports, token: str, name: str) -> tuple[str, TokenFault]:
    """Return ``token`` broken in the way ``name``, and the expected fault."""
    fault, how = BROKEN[name]
    return how(ports, token), fault


def broken_tokens(ports: Ports, token: str) -> dict[str, tuple[str, TokenFault]]:
    """Return ``token`` broken in every way, by name, with the expected faults."""
    return {name: break_token(ports, token, name) for name in BROKEN}


def _with(**changes: object) -> Break:
    return lambda ports, token: altered(ports, token, **changes)


def _garbage(text: str) -> Break:
    return lambda ports, token: text


def _headed(**header: object) -> Break:
    """Replace the token's header and keep its signature."""

    def change(_ports: Ports, token: str) -> str:
        old, rest = token.split(".", 1)
        members: dict[str, Any] = {**json.loads(_decode(old)), **header}
        present = {name: value for name, value in members.items() if value is not ...}
        return f"{_encode(json.dumps(present).encode())}.{rest}"

    return change


def _foreign(_ports: Ports, token: str) -> str:
    """Sign the same claims with a key that isn't in the ring."""
    claims = json.loads(_decode(token.split(".")[1]))
    store = ReadyKeyStore(99)
    return store.sign(store.generate(), claims)


def _other_signature(_ports: Ports, token: str) -> str:
    signed, _, signature = token.rpartition(".")
    flipped = bytearray(_decode(signature))
    flipped[0] ^= 1
    return f"{signed}.{_encode(bytes(flipped))}"


def _other_payload(_ports: Ports, token: str) -> str:
    header, payload, signature = token.split(".")
    claims = {**json.loads(_decode(payload)), "is_staff": True}
    return f"{header}.{_encode(json.dumps(claims).encode())}.{signature}"


def _decode(segment: str) -> bytes:
    return base64.urlsafe_b64decode(segment + "=" * (-len(segment) % 4))


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


_UNDECODABLE = {
    "empty": "",
    "a word": "garbage",
    "two dots": "..",
    "three words": "a.b.c",
    "spaces": "   ",
    "nul": "\0",
    "half a surrogate pair": "\ud800",
    "umlauts": "ä.ö.ü",
    "very long": "x" * 100_000,
    "very many dots": "." * 10_000,
    "json": '{"alg":"RS256"}',
    "an app token with a bad checksum": "lkapp_" + "x" * 43,
}

_NO_TIMES: dict[str, object] = {
    "true": True,
    "text": "4000000000",
    "null": None,
    "fraction": 4e9 + 0.5,
    "list": [1],
    "huge": 10**300,
    "year 5138": 10**11 + 1,
}
BROKEN: dict[str, tuple[TokenFault, Break]] = {
    **{name: (TokenFault.UNDECODABLE, _garbage(text)) for name, text in _UNDECODABLE.items()},
    "with its scheme": (TokenFault.UNDECODABLE, lambda _, token: f"Bearer {token}"),
    "cut off": (TokenFault.UNDECODABLE, lambda _, token: token.rpartition(".")[0]),
    "padded": (TokenFault.UNDECODABLE, lambda _, token: f"{token}="),
    "other signature": (TokenFault.SIGNATURE, _other_signature),
    "other payload": (TokenFault.SIGNATURE, _other_payload),
    "foreign key": (TokenFault.SIGNATURE, _foreign),
    "unknown kid": (TokenFault.SIGNATURE, _headed(kid="../../etc/passwd")),
    "no kid": (TokenFault.SIGNATURE, _headed(kid=...)),
    "alg none": (TokenFault.ALGORITHM, _headed(alg="none")),
    "alg HS256": (TokenFault.ALGORITHM, _headed(alg="HS256")),
    "alg missing": (TokenFault.ALGORITHM, _headed(alg=...)),
    "crit": (TokenFault.INVALID, _headed(crit=["exp"])),
    "own key": (TokenFault.INVALID, _headed(jwk={"kty": "RSA"})),
    "expired": (TokenFault.EXPIRED, _with(exp=1)),
    "from the future": (TokenFault.IMMATURE, _with(iat=4_000_000_000, exp=4_000_000_300)),
    "good later": (TokenFault.IMMATURE, _with(nbf=4_000_000_000)),
    **{
        f"{claim} as {kind}": (TokenFault.INVALID, _with(**{claim: value}))
        for claim in ("iat", "exp", "nbf")
        for kind, value in _NO_TIMES.items()
    },
    "no exp": (TokenFault.INVALID, _with(exp=...)),
    "no iat": (TokenFault.INVALID, _with(iat=...)),
    "no type": (TokenFault.INVALID, _with(type=...)),
    "no owner": (TokenFault.INVALID, _with(owner=...)),
    "foreign owner": (TokenFault.INVALID, _with(owner="someone")),
    "no issuer": (TokenFault.INVALID, _with(iss=...)),
    "foreign issuer": (TokenFault.INVALID, _with(iss="https://evil.example.com/graphql/")),
    "no session": (TokenFault.INVALID, _with(token=...)),
    "unknown session": (TokenFault.INVALID, _with(token="x" * 16)),
    "no user": (TokenFault.INVALID, _with(user_id=...)),
    "user as a number": (TokenFault.INVALID, _with(user_id=1)),
    "unknown user": (TokenFault.INVALID, _with(user_id="VXNlcjo0MDQ=")),
    "an app as user": (TokenFault.INVALID, _with(user_id="QXBwOjE=")),
    "unknown app": (TokenFault.INVALID, _with(app="VXNlcjox")),
}
