"""Inspect a pasted token of any kind."""

from dataclasses import replace

from app.domain.apps.apps import TOKEN_PREFIX
from app.domain.authorization.actor import Actor
from app.domain.inspector import (
    CheckName,
    Inspection,
    KeyStatus,
    TokenKind,
    failed,
)
from app.domain.sign_in.jws import (
    MAX_PROVIDER_TOKEN_LENGTH,
    claimed_key,
    peek,
    peek_header,
)
from app.domain.sign_in.tokens import is_loopback_issuer
from app.domain.single_sign_on.provider_tokens import claimed_issuer, is_signed
from app.ports import Ports
from app.services.authorization.register import staff_only
from app.services.inspector.app_tokens import inspect_app_token, inspect_imported_token
from app.services.inspector.own_tokens import find_named_key, inspect_own_token
from app.services.inspector.provider_tokens import inspect_provider_token

_SCHEMES = ("bearer", "jwt")


@staff_only
def inspect_token(ports: Ports, actor: Actor, token: str) -> Inspection:
    """Explain ``token``; never raises for any text but ``TooManyRequests``.

    For all staff: anyone with a token can use it anyway. Its person's permissions are shown to
    themselves and to those who manage them. The token isn't logged, stored, returned or sent to a
    provider. A leading scheme (``Bearer``) is ignored.
    """
    text = _without_scheme(token)
    if not text:
        return _unreadable("Paste a token.")
    if len(text) > MAX_PROVIDER_TOKEN_LENGTH:
        return _unreadable("It's too long for a token.")
    if text.startswith(TOKEN_PREFIX):
        return inspect_app_token(ports, text)
    if not is_signed(text):
        return inspect_imported_token(ports, actor, text) or _unreadable(
            "Not a Latchkey token format. Only a provider can read its opaque tokens."
        )
    inspection = _inspect_signed(ports, actor, text)
    return replace(inspection, header=peek_header(text), claims=peek(text))


def _inspect_signed(ports: Ports, actor: Actor, text: str) -> Inspection:
    if claimed_key(text) is None and not peek_header(text):
        return _unreadable("It can't be decoded: a part is missing or was changed.")
    key = find_named_key(ports, text)
    is_ours = key is not None and key.status is not KeyStatus.UNKNOWN
    if is_ours or _is_own_issuer(ports, actor, text):
        return inspect_own_token(ports, actor, text, key)
    inspection = inspect_provider_token(ports, actor, text)
    if inspection is not None:
        return inspection
    nobody = failed(CheckName.ISSUER, "It wasn't issued by this service or a configured provider.")
    return Inspection(TokenKind.FOREIGN, (nobody,), key=key)


def _is_own_issuer(ports: Ports, actor: Actor, text: str) -> bool:
    issuer = claimed_issuer(text)
    configured = ports.configuration.issuer
    if issuer is None or configured:
        return issuer is not None and issuer == configured
    return issuer == actor.issuer or is_loopback_issuer(issuer)


def _without_scheme(token: str) -> str:
    text = token.strip()
    scheme, _, rest = text.partition(" ")
    return rest.strip() if scheme.lower().rstrip(":") in _SCHEMES else text


def _unreadable(why: str) -> Inspection:
    return Inspection(TokenKind.UNREADABLE, (failed(CheckName.FORM, why),))
