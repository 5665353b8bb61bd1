"""Forged tokens with a single fault, signed with the installation's key."""

import base64
import hmac
import json
from collections.abc import Callable, Mapping
from functools import cache

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from app.domain.sign_in.tokens import CSRF_TOKEN_LENGTH, TokenType
from app.domain.values.ids import to_global_id
from tests.spec.recorded_shop import DOMAIN, RecordedShop

Claims = dict[str, object]
_ACCESS_SECONDS = 300
_LONG_AGO = 3600


class Forger:
    """Creates the tokens that the recordings call ``<JWT:x>``, and others."""

    def __init__(self, shop: RecordedShop) -> None:
        self._shop = shop
        pair, self.key = shop.signer()
        self.kid = pair.public.kid

    def make(self, name: str) -> str:
        """Return the token ``<JWT:name>``."""
        return _MAKERS[name](self)

    def claims(self, name: str = "customer", /, **changed: object) -> Claims:
        """Return the claims of a person's access token with changes; ``None`` removes one."""
        token = self._shop.access(name)
        return _without_none({**_read(token), **changed})

    def refresh_claims(self, name: str = "customer", /, **changed: object) -> Claims:
        """Return the same for a refresh token."""
        return _without_none({**_read(self._shop.refresh(name)), **changed})

    def header(self, **changed: object) -> Claims:
        """Return the header of our tokens with changes; ``None`` removes a member."""
        return _without_none({"alg": "RS256", "kid": self.kid, "typ": "JWT", **changed})

    def sign(
        self,
        claims: Mapping[str, object],
        header: Mapping[str, object] | None = None,
        key: rsa.RSAPrivateKey | None = None,
    ) -> str:
        """Return ``claims`` signed with RS256 and our key, or another one."""
        return self.sign_bytes(
            _json(self.header() if header is None else header), _json(claims), key
        )

    def sign_bytes(
        self, header: bytes, payload: bytes, key: rsa.RSAPrivateKey | None = None
    ) -> str:
        """The same for text that no library would write."""
        return self.sign_text(f"{encode(header)}.{encode(payload)}", key)

    def sign_text(self, signed: str, key: rsa.RSAPrivateKey | None = None) -> str:
        """The same for text that isn't canonical base64url."""
        signature = (key or self.key).sign(signed.encode(), PKCS1v15(), SHA256())
        return f"{signed}.{encode(signature)}"

    def of_inactive(self, token_type: TokenType) -> str:
        """Return a token of the inactive user's earlier session."""
        made = self.refresh_claims() if token_type is TokenType.REFRESH else self.claims()
        about = {
            "token": self._shop.session_of_inactive(),
            "email": f"inactive@{DOMAIN}",
            "user_id": to_global_id("User", self._shop.people["inactive"]),
        }
        return self.sign({**made, **about})

    def expired(self, name: str = "customer") -> str:
        """Return a person's expired access token of a live session."""
        issued = self._seconds_ago(_LONG_AGO)
        return self.sign(self.claims(name, iat=issued, exp=issued + _ACCESS_SECONDS))

    def expired_refresh(self) -> str:
        issued = self._seconds_ago(_LONG_AGO)
        return self.sign(self.refresh_claims(iat=issued, exp=issued + _ACCESS_SECONDS))

    def from_the_future(self) -> str:
        issued = self._seconds_ago(-_LONG_AGO)
        return self.sign(self.claims(iat=issued, exp=issued + _ACCESS_SECONDS))

    def unsigned(self) -> str:
        header = self.header(alg="none")
        return f"{encode(_json(header))}.{encode(_json(self.claims()))}."

    def with_hmac_of_the_public_key(self) -> str:
        """The classic confusion (RFC 8725, 2.1): HS256 with what everybody can fetch as secret."""
        public = self.key.public_key().public_numbers()
        secret = encode(public.n.to_bytes((public.n.bit_length() + 7) // 8)).encode()
        return jwt.encode(self.claims(), secret, "HS256", headers={"kid": self.kid})

    def with_hmac_of_the_pem(self) -> str:
        """The same with the other common format of a public key."""
        pem = self.key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        signed = f"{encode(_json(self.header(alg='HS256')))}.{encode(_json(self.claims()))}"
        return f"{signed}.{encode(hmac.digest(pem, signed.encode(), 'sha256'))}"

    def _seconds_ago(self, seconds: int) -> int:
        return int(self._shop.ports.clock.timestamp()) - seconds


def encode(data: bytes) -> str:
    """Base64url without padding (RFC 7515)."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


@cache
def foreign_key() -> rsa.RSAPrivateKey:
    """Return a key that isn't ours."""
    return rsa.generate_private_key(65537, 2048)


def broken_signature(token: str) -> str:
    """Return ``token`` with one flipped bit in its signature."""
    body, _, signature = token.rpartition(".")
    data = bytearray(base64.urlsafe_b64decode(signature + "=" * (-len(signature) % 4)))
    data[0] ^= 1
    return f"{body}.{encode(bytes(data))}"


def _read(token: str) -> Claims:
    claims: Claims = jwt.decode(token, options={"verify_signature": False})
    return claims


def _json(members: Mapping[str, object]) -> bytes:
    return json.dumps(members, separators=(",", ":")).encode()


def _without_none(members: Claims) -> Claims:
    return {name: value for name, value in members.items() if value is not None}


_MAKERS: Mapping[str, Callable[[Forger], str]] = {
    "alg_none": Forger.unsigned,
    "badsig": lambda forger: broken_signature(forger.sign(forger.claims())),
    "expired": Forger.expired,
    "expired_refresh": Forger.expired_refresh,
    "expired_staff": lambda forger: forger.expired("staff"),
    "foreign_owner": lambda forger: forger.sign(forger.claims(owner="someone")),
    "iat_future": Forger.from_the_future,
    "inactive": lambda forger: forger.of_inactive(TokenType.ACCESS),
    "inactive_refresh": lambda forger: forger.of_inactive(TokenType.REFRESH),
    "is_staff_forged": lambda forger: forger.sign(forger.claims(is_staff=True)),
    "no_exp": lambda forger: forger.sign(forger.claims(exp=None)),
    "no_type": lambda forger: forger.sign(forger.claims(type=None)),
    "unknown_email": lambda forger: forger.sign(forger.claims(email=f"nobody@{DOMAIN}")),
    "wrong_jti": lambda forger: forger.sign(forger.claims(token="x" * CSRF_TOKEN_LENGTH)),
    "wrongsig": lambda forger: forger.sign(forger.claims(), key=foreign_key()),
}
