"""The languages that pages and emails are written in, by their tags: ``de``, ``ar``."""

from collections.abc import Collection

ENGLISH = "en"

CONSOLE_TAGS = (ENGLISH, "de", "fr", "es", "pl")
"""The languages of the console."""

SIGNED_OUT_TAGS = (*CONSOLE_TAGS, "ar")
"""The languages of the pages without a session, and of emails."""


def shipped_tag(code: str, shipped: Collection[str] = SIGNED_OUT_TAGS) -> str:
    """Return the shipped language of a ``LanguageCodeEnum``; empty if there is none.

    A language of a country is written in the language itself: ``DE_AT`` in ``de``.
    """
    tag = code.lower().replace("-", "_").partition("_")[0]
    return tag if tag in shipped else ""
