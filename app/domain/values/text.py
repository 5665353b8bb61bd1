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


REASONS = (
    translatable("{host} didn't respond within {seconds} seconds."),
    translatable("{host} sent an invalid HTTP response."),
    translatable("{host} closed the connection without a response."),
    translatable("The proxy set by OUTGOING_PROXY didn't connect to {host}."),
    translatable("{host} closed the connection before the end of its response."),
    translatable("{host} expects TLS on this port. Use https://."),
    translatable("{host} doesn't use TLS on this port. Use http://, or the port for https://."),
    translatable("{host} and this server have no TLS version or cipher in common."),
    translatable("{host} has a certificate that has expired."),
    translatable("{host} has a certificate for another name."),
    translatable("{host} doesn't have a trusted certificate."),
    translatable("Can't connect to {host}."),
    translatable("{host} is in a private network. {allow_hint}"),
    translatable("The response is larger than {size} bytes."),
    translatable("Use at most {count} characters."),
    translatable("{endpoint} answered with HTTP {status}."),
    translatable("{endpoint} didn't return a JSON object."),
    translatable("{endpoint} returned an empty response."),
    translatable("{endpoint} returned JSON in UTF-16; it must be UTF-8."),
    translatable("{endpoint} returned JSON in which {name} appears twice."),
    translatable("{endpoint} returned an encrypted or malformed JWT."),
    translatable("{endpoint} sent an invalid OAuth 2.0 response."),
    translatable("{endpoint} returned no bearer token."),
    translatable("Too many requests are waiting for {url}."),
    translatable("{url} failed several times recently."),
    translatable("{url} is being fetched."),
    translatable("The provider's response couldn't be used. {reason}"),
    translatable("The user info was sent as a JWT that isn't valid. {reason}"),
    translatable("The token has no {claim}, which is the provider's subject claim."),
    translatable("The token's {claim} isn't a time."),
    translatable("A fault of ours kept the payload from being made. Request id: {id}"),
    translatable("A fault of ours kept the delivery from being made. Request id: {id}"),
    translatable("The app no longer has {permission}."),
    translatable("There is no payload: {given_up}"),
    translatable("The app couldn't be given its token: {reason}"),
    translatable("The app rejected its token: HTTP {status}."),
    translatable("The app rejected its token: HTTP {status}. It answered: {answer}"),
    translatable("manifestUrl: {reason}"),
    translatable("To access this path, you need one of the following permissions: {permissions}"),
)
"""Those with values: a value of a URL or a number has no spaces, the others can be sentences."""

WHOLE_REASONS = (
    translatable("This is no address."),
    translatable("A header of the request isn't valid."),
    translatable("Use a full URL: https://id.example.com"),
    translatable("The response is compressed, which isn't supported."),
    translatable("The key set has no key that can verify a signature."),
    translatable("No identity provider issues this kind of token."),
    translatable("The provider doesn't accept this token."),
    translatable("Access tokens aren't accepted without a user info URL."),
    translatable("The key set"),
    translatable("The user-info endpoint"),
    translatable("The token endpoint"),
    translatable("The provider's configuration"),
    translatable("The address of the manifest"),
    translatable("The app"),
    translatable("The installation was interrupted several times. Try again."),
    translatable("The webhook is disabled."),
    translatable("The app is inactive."),
    translatable("The webhook's secret was encrypted with another SECRET_KEY. Set a new secret."),
    translatable(
        "The webhook's secret or headers were encrypted with another SECRET_KEY. Set them again."
    ),
    translatable(
        "The payload was encrypted with another SECRET_KEY. The link must be requested again."
    ),
    translatable("The event was sealed under another SECRET_KEY."),
    translatable(
        "Not sent: this link gives access to an account with permissions that the app, or the "
        "person who saved the webhook, doesn't have."
    ),
    translatable("The endpoint returned 410 Gone."),
    translatable("The endpoint failed for 5 days without a successful delivery."),
    translatable("The identity provider ended the session."),
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
