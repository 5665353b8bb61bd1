"""Compares a response with the recorded one: exactly, or by kind."""

import base64
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

import jwt

from app.domain.apps.apps import is_app_token
from tests.spec.client import Answer
from tests.spec.exchanges import PAGE, Exchange

BLANKED = "…"
"""A message whose text is ours."""

TEXT = "<TEXT>"
"""Any text; only our table of differences contains it."""

_TOKENS = ("<ACCESS>", "<REFRESH>", "<APP_USER_JWT>")
_APP_TOKEN = "<APP_TOKEN>"
_NOT_COMPARED = frozenset(("locations",))
_RENAMED = {"csrfToken": "csrf_token"}
"""The claim is ``csrf_token`` (contract, "Differences from the recorded platform")."""

_MIN_SESSION_TOKEN_LENGTH = 12
_OK = 200


def differences(exchange: Exchange, answer: Answer, issuer: str) -> list[str]:
    """Where ``answer`` is not what ``exchange`` tells, each place in one line."""
    found = [] if answer.status == exchange.status else [f"status: {answer.status}"]
    if exchange.answer == PAGE:
        return found + list(_page(answer))
    if exchange.answer == "":
        empty = answer.status != _OK or answer.body == ""
        return found + ([] if empty else [f"answer: {answer.body!r} instead of nothing"])
    return found + list(_compare(exchange.answer, answer.body, "answer", issuer))


def token_differences(
    expected: Mapping[str, Mapping[str, object]], token: str, issuer: str, kids: Collection[str]
) -> Iterator[str]:
    """Where ``token`` is not of the form that the recording describes, or of none of the keys."""
    header = jwt.get_unverified_header(token)
    if header.get("kid") not in kids:
        yield f"header.kid: {header.get('kid')!r} is none of {kids}"
    yield from _names(expected["header"], header, "header")
    for name in ("alg", "typ"):
        if header.get(name) != expected["header"][name]:
            yield f"header.{name}: {header.get(name)!r}"
    claims: dict[str, Any] = jwt.decode(token, options={"verify_signature": False})
    described = {_RENAMED.get(name, name): value for name, value in expected["payload"].items()}
    lifetime = described.pop("_lifetime_s")
    yield from _names(described, claims, "claims")
    if claims["exp"] - claims["iat"] != lifetime:
        yield f"lifetime: {claims['exp'] - claims['iat']} s instead of {lifetime} s"
    for name, value in described.items():
        yield from _claim(name, value, claims.get(name), issuer)


def _claim(name: str, expected: object, actual: object, issuer: str) -> Iterator[str]:
    if isinstance(expected, str) and expected.startswith(("<JTI len ", "<CSRF len ")):
        least = int(expected.removesuffix(">").rpartition(" ")[2])
        if not isinstance(actual, str) or len(actual) < least:
            yield f"claims.{name}: {actual!r} is shorter than {least} characters"
    else:
        yield from _compare(expected, actual, f"claims.{name}", issuer)


def _page(response: Answer) -> Iterator[str]:
    # What stands on the page of an error is nobody's interface.
    kind = response.headers.get("Content-Type", "")
    if response.status == _OK and not kind.startswith("text/html"):
        yield f"content type: {kind!r} instead of a page"


def _compare(expected: object, actual: object, where: str, issuer: str) -> Iterator[str]:
    rule = _rule(expected, where)
    if rule is not None:
        if not rule(expected, actual, issuer):
            yield f"{where}: {actual!r} instead of {expected!r}"
    elif isinstance(expected, dict) and isinstance(actual, dict):
        yield from _compare_members(expected, actual, where, issuer)
    elif isinstance(expected, list) and isinstance(actual, list):
        if len(expected) != len(actual):
            yield f"{where}: {len(actual)} items instead of {len(expected)}: {actual!r}"
        for place, pair in enumerate(zip(expected, actual, strict=False)):
            yield from _compare(*pair, f"{where}[{place}]", issuer)
    elif type(expected) is not type(actual) or expected != actual:
        yield f"{where}: {actual!r} instead of {expected!r}"


def _compare_members(
    expected: Mapping[str, object], actual: Mapping[str, object], where: str, issuer: str
) -> Iterator[str]:
    if expected.keys() == {"errors"} and actual.keys() == {"errors"} and _coded(expected):
        # A request that never ran: how many faults are told of one document is the checker's.
        if _codes(expected) != _codes(actual):
            yield f"{where}.errors: {actual['errors']!r} instead of {expected['errors']!r}"
        return
    if not where.endswith(".extensions"):  # ours tell more: what permission was missing, say
        yield from _names(expected, actual, where)
    for name in expected.keys() & actual.keys() - _NOT_COMPARED:
        yield from _compare(expected[name], actual[name], f"{where}.{name}", issuer)


def _names(
    expected: Mapping[str, object], actual: Mapping[str, object], where: str
) -> Iterator[str]:
    told_names, names = expected.keys() - _NOT_COMPARED, actual.keys() - _NOT_COMPARED
    if told_names != names:
        yield f"{where}: has {sorted(names)} instead of {sorted(told_names)}"


def _coded(response: Mapping[str, object]) -> bool:
    return all("exception" in code for code in _extensions(response))


def _codes(response: Mapping[str, object]) -> set[str]:
    return {str(extensions.get("exception")) for extensions in _extensions(response)}


def _extensions(response: Mapping[str, object]) -> list[Mapping[str, object]]:
    errors = response["errors"]
    assert isinstance(errors, list)
    return [error.get("extensions", {}) for error in errors]


Rule = Callable[[Any, Any, str], bool]


def _rule(expected: object, where: str) -> Rule | None:
    """How the value at ``where`` is compared, when it is not simply the same."""
    if expected is None:
        return None
    if expected in (BLANKED, TEXT):
        return _is_text
    if expected in _TOKENS:
        return _is_token
    if expected == _APP_TOKEN:
        return _opens_for_an_app
    if isinstance(expected, list) and where.endswith("ermissions"):
        return _names_the_same if all(isinstance(value, str) for value in expected) else None
    return next((rule for pattern, rule in _RULES if pattern.search(where)), None)


def _is_text(_told: object, actual: object, _issuer: str) -> bool:
    return isinstance(actual, str) and actual != ""


def _is_token(_told: object, actual: object, _issuer: str) -> bool:
    return isinstance(actual, str) and actual.count(".") == 2


def _opens_for_an_app(_told: object, actual: object, _issuer: str) -> bool:
    return isinstance(actual, str) and is_app_token(actual)


def _names_the_same(expected: list[str], actual: object, _issuer: str) -> bool:
    """Compare permissions in any order."""
    return isinstance(actual, list) and sorted(actual) == sorted(expected)


def _is_session_token(_told: object, actual: object, _issuer: str) -> bool:
    return isinstance(actual, str) and len(actual) >= _MIN_SESSION_TOKEN_LENGTH


def _is_seconds(_told: object, actual: object, _issuer: str) -> bool:
    return type(actual) is int


def _is_issuer(_told: object, actual: object, issuer: str) -> bool:
    return actual == issuer


def _is_id_of_same_type(expected: str, actual: object, _issuer: str) -> bool:
    # A plugin's ID isn't a global ID: it must be equal.
    same = isinstance(actual, str) and actual == expected
    return same or (isinstance(actual, str) and _type_of(actual) == _type_of(expected))


def _type_of(global_id: str) -> bytes:
    return base64.b64decode(global_id, validate=True).partition(b":")[0]


_RULES = (
    (re.compile(r"\.(id|user_id)$"), _is_id_of_same_type),
    (re.compile(r"\.(iat|exp)$"), _is_seconds),
    (re.compile(r"\.iss$"), _is_issuer),
    (re.compile(r"\.payload\.token$"), _is_session_token),
    (re.compile(r"\.shop\.name$"), _is_text),
    (re.compile(r"[pP]ermissions\[\d+\]\.name$"), _is_text),
)
