"""Whether a provider's token says that the person signed in with a second factor (RFC 8176)."""

import re
from collections.abc import Iterator, Mapping
from itertools import islice

from app.domain.second_factors.methods import AuthenticationMethod
from app.domain.single_sign_on.providers import Provider

MAX_METHODS = 10
"""Authentication methods of a provider that a session stores."""

_WORD = re.compile(r"[\x21-\x7e]{1,20}")


def read_session_methods(claims: Mapping[str, object], provider: Provider) -> tuple[str, ...]:
    """Return the authentication methods of a session that ``claims`` begin.

    Those of the claim ``amr`` and ``mfa``, if ``amr`` contains a value, or ``acr`` is a value,
    that the provider's settings list; otherwise none. ``claims`` are of a verified token.
    """
    methods = tuple(_strings(claims.get("amr")))
    by_amr = not set(provider.second_factor_amr.split()).isdisjoint(methods)
    by_acr = claims.get("acr") in provider.second_factor_acr.split()
    if not (by_amr or by_acr):
        return ()
    words = dict.fromkeys(method for method in methods if _WORD.fullmatch(method))
    words.pop(AuthenticationMethod.MULTIPLE_FACTORS, None)
    return (*islice(words, MAX_METHODS), AuthenticationMethod.MULTIPLE_FACTORS.value)


def _strings(value: object) -> Iterator[str]:
    """Yield the values of a claim that is an array of strings; some providers send one string."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        yield from (entry for entry in value if isinstance(entry, str))
