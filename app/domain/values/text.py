"""Sentences for people, whole, with the places of their values.

These are English: the API and the command line speak no other language. Pages look up a sentence
by its English text (``app.web.translation``). So a sentence is never pasted from pieces; a number
chooses between whole sentences.

Why a call, a delivery or an installation failed is stored as an English text, long before a person
reads it in their language. ``find_reason`` finds its sentence and values; ``tests/domain`` keeps
the list complete.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Self, TypeAlias

Sentence: TypeAlias = str
"""A text that pages translate: ``translations/extraction`` finds what is passed as one."""

Plural: TypeAlias = str
"""Its form for other numbers than one."""


def text(singular: str, plural: str = "", /, **values: object) -> str:
    """Return a sentence with its values.

    ``text("{count} app", "{count} apps", count=3)`` chooses the plural form by ``count``. A text
    without values is returned as it is, with its braces. ``Markup`` stays markup and escapes
    the values.
    """
    sentence = singular if not plural or values["count"] == 1 else plural
    return sentence.format_map(values) if values else sentence


class Phrase(str):
    """A value in a sentence that is a sentence or a name itself: pages translate it, too."""

    __slots__ = ()


class Phrases(str):
    """Several such values, with ``joint`` between them: "order or customer"."""

    __slots__ = ("items", "joint")
    items: tuple[str, ...]
    joint: str

    def __new__(cls, items: Iterable[str], joint: str = ", ") -> Self:
        found = tuple(dict.fromkeys(items))
        made = super().__new__(cls, joint.join(found))
        made.items, made.joint = found, joint
        return made


def translatable(sentence: Sentence) -> Sentence:
    """Return ``sentence`` as it is: it is translated where it is shown."""
    return sentence


def forms(singular: Sentence, plural: Plural) -> tuple[str, str]:
    """Return both forms of a sentence as they are, as ``translatable`` does."""
    return singular, plural


REASONS: tuple[Sentence, ...] = (
    "{host} didn't respond within {seconds} seconds.",
    "{host} sent an invalid HTTP response.",
    "{host} closed the connection without a response.",
    "The proxy set by OUTGOING_PROXY didn't connect to {host}.",
    "{host} closed the connection before the end of its response.",
    "{host} expects TLS on this port. Use https://.",
    "{host} doesn't use TLS on this port. Use http://, or the port for https://.",
    "{host} and this server have no TLS version or cipher in common.",
    "{host} has a certificate that has expired.",
    "{host} has a certificate for another name.",
    "{host} doesn't have a trusted certificate.",
    "Can't connect to {host}.",
    "{host} is in a private network. {allow_hint}",
    "The response is larger than {size} bytes.",
    "Use at most {count} characters.",
    "{endpoint} answered with HTTP {status}.",
    "{endpoint} didn't return a JSON object.",
    "{endpoint} returned an empty response.",
    "{endpoint} returned JSON in UTF-16; it must be UTF-8.",
    "{endpoint} returned JSON in which {name} appears twice.",
    "{endpoint} returned an encrypted or malformed JWT.",
    "{endpoint} sent an invalid OAuth 2.0 response.",
    "{endpoint} returned no bearer token.",
    "Too many requests are waiting for {url}.",
    "{url} failed several times recently.",
    "{url} is being fetched.",
    "The provider's response couldn't be used. {reason}",
    "The user info was sent as a JWT that isn't valid. {reason}",
    "The token has no {claim}, which is the provider's subject claim.",
    "The token's {claim} isn't a time.",
    "A fault of ours kept the payload from being made. Request id: {id}",
    "A fault of ours kept the delivery from being made. Request id: {id}",
    "The app no longer has {permission}.",
    "There is no payload: {given_up}",
    "The app couldn't be given its token: {reason}",
    "The app rejected its token: HTTP {status}.",
    "The app rejected its token: HTTP {status}. It answered: {answer}",
    "manifestUrl: {reason}",
    "To access this path, you need one of the following permissions: {permissions}",
)
"""Those with values: a value of a URL or a number has no spaces, the others can be sentences."""

WHOLE_REASONS: tuple[Sentence, ...] = (
    "This is no address.",
    "A header of the request isn't valid.",
    "Use a full URL: https://id.example.com",
    "The response is compressed, which isn't supported.",
    "The key set has no key that can verify a signature.",
    "No identity provider issues this kind of token.",
    "The provider doesn't accept this token.",
    "Access tokens aren't accepted without a user info URL.",
    "The key set",
    "The user-info endpoint",
    "The token endpoint",
    "The provider's configuration",
    "The address of the manifest",
    "The app",
    "The installation was interrupted several times. Try again.",
    "The webhook is disabled.",
    "The app is inactive.",
    "The webhook's secret was encrypted with another SECRET_KEY. Set a new secret.",
    "The webhook's secret or headers were encrypted with another SECRET_KEY. Set them again.",
    "The payload was encrypted with another SECRET_KEY. The link must be requested again.",
    "The event was sealed under another SECRET_KEY.",
    (
        "Not sent: this link gives access to an account with permissions that the app, or the "
        "person who saved the webhook, doesn't have."
    ),
    "The endpoint returned 410 Gone.",
    "The endpoint failed for 5 days without a successful delivery.",
    "The identity provider ended the session.",
)
"""Those without values, and names of endpoints in the others."""

_WITH_SPACES = frozenset({"allow_hint", "answer", "endpoint", "given_up", "permissions", "reason"})


def find_reason(reason: str) -> tuple[str, Mapping[str, str]]:
    """Return the sentence that ``reason`` is, and its values; an unknown one is its own."""
    for sentence, pattern in _PATTERNS:
        found = pattern.fullmatch(reason)
        if found is not None:
            return sentence, found.groupdict()
    return reason, {}


def _pattern(sentence: str) -> re.Pattern[str]:
    parts = re.split(r"\{(\w+)\}", sentence)
    for place, name in enumerate(parts):
        any_text = r".+" if name in _WITH_SPACES else r"\S+"
        parts[place] = f"(?P<{name}>{any_text})" if place % 2 else re.escape(name)
    return re.compile("".join(parts), re.DOTALL)


_PATTERNS = tuple((sentence, _pattern(sentence)) for sentence in REASONS)
