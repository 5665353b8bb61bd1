"""Detached signatures of webhooks, checked as their receivers check them."""

from collections.abc import Mapping

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

from app.domain.keys import PublicKey
from app.domain.sign_in.jws import ALGORITHM, decode, read_members
from app.domain.values.errors import TokenFault, TokenRejected

_RS256 = jwt.get_algorithm_by_name(ALGORITHM)


class DetachedSignatures:
    """Checks by public keys alone; knows no secret."""

    def verify_detached(
        self, keys: Mapping[str, PublicKey], signature: str, body: bytes
    ) -> PublicKey:
        header, encoded = _parts(signature)
        members = read_members(decode(header))
        if members.get("alg") != ALGORITHM:
            raise TokenRejected(TokenFault.ALGORITHM)
        if members.get("b64") is not False or members.get("crit") != ["b64"]:
            raise TokenRejected(TokenFault.INVALID)
        key = keys.get(str(members.get("kid")))
        if key is None or not _is_signed(key, header.encode() + b"." + body, decode(encoded)):
            raise TokenRejected(TokenFault.SIGNATURE)
        return key


def _parts(signature: str) -> tuple[str, str]:
    try:
        header, body, encoded = signature.strip().split(".")
    except ValueError:
        raise TokenRejected(TokenFault.UNDECODABLE) from None
    if body or not signature.isascii():
        raise TokenRejected(TokenFault.UNDECODABLE)
    return header, encoded


def _is_signed(key: PublicKey, signed: bytes, signature: bytes) -> bool:
    try:
        numbers = rsa.RSAPublicNumbers(_number(key.e), _number(key.n))
        return _RS256.verify(signed, numbers.public_key(), signature)
    except ValueError:
        return False  # no such key can be: an even modulus, an exponent of one


def _number(text: str) -> int:
    return int.from_bytes(decode(text))
