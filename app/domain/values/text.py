"""Sentences for people, whole, with the places of their values.

These are English: the API and the command line speak no other language. Pages look up a
sentence by its English text (``app.web.translation``). So a sentence is never pasted from
pieces; a number chooses between whole sentences.
"""


def text(singular: str, plural: str = "", /, **values: object) -> str:
    """Return a sentence with its values.

    ``text("{count} app", "{count} apps", count=3)`` chooses the plural form by ``count``. A text
    without values is returned as it is, with its braces. ``Markup`` stays markup and escapes
    the values.
    """
    sentence = singular if not plural or values["count"] == 1 else plural
    return sentence.format_map(values) if values else sentence


def translatable(sentence: str) -> str:
    """Return ``sentence`` as it is: it is translated where it is shown."""
    return sentence
