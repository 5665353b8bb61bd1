"""Email addresses: one spelling each, and a check of their form without a lookup."""

import re
import unicodedata

import idna

from app.domain.urls.web_urls import ascii_host
from app.domain.values.errors import Problem

MAX_EMAIL_LENGTH = 254
"""Characters that fit the path of a mail (RFC 5321, 4.5.3.1.3, with erratum 1690)."""

_MAX_INPUT_LENGTH = 4 * MAX_EMAIL_LENGTH
_MAX_LOCAL_LENGTH = 64
_MAX_LABEL_LENGTH = 63
_PUNYCODE = "xn--"
# The unquoted form (RFC 5322, 3.2.3), with letters of every script (RFC 6531, 3.3).
_ATOM = r"[\w!#$%&'*+/=?^`{|}~-]+"
_LOCAL = re.compile(rf"{_ATOM}(?:\.{_ATOM})*")
_LABEL = re.compile(r"[^\W_](?:[^\W_]|-)*(?<!-)")


def normalize_email(text: str) -> str:
    """The one spelling that is stored and looked up: composed, in lower case, no blanks around.

    Wide letters and other variants in the domain are mapped as browsers do (UTS 46), and Punycode,
    which browsers' email fields send, is decoded: ``xn--bcher-kva.example`` is
    ``bücher.example``. What is far too long for an email stays as it is: it is refused, or found
    nowhere. Of two accounts that have both spellings, ``email_spellings`` finds the right one.
    """
    email = _as_typed(text)
    if _PUNYCODE not in email:
        return email
    local, at, domain = email.rpartition("@")
    return f"{local}{at}{'.'.join(map(_decoded, domain.split('.')))}"


def email_spellings(text: str) -> tuple[str, ...]:
    """Return the spellings under which the account of an email can be stored.

    As it was typed comes first, then ``normalize_email``, then with the domain in ASCII. There is
    one, unless the domain has letters beyond ASCII.
    """
    typed, normalized = _as_typed(text), normalize_email(text)
    local, at, domain = normalized.rpartition("@")
    if domain.isascii():
        return (typed,) if typed == normalized else (typed, normalized)
    in_ascii = f"{local}{at}{ascii_host(domain) or domain}"
    return tuple(dict.fromkeys((typed, normalized, in_ascii)))


def email_problem(text: str, field: str = "email") -> Problem | None:
    """Return why ``text`` is no email address, or ``None``: REQUIRED if empty, else INVALID.

    Checks the form only. Quoted local parts and bracketed IP addresses are refused: they are rare,
    and many programs misread them.
    """
    if not text:
        return Problem("REQUIRED", "This is required.", field)
    if len(text) > MAX_EMAIL_LENGTH:
        return Problem(
            "INVALID",
            "Use at most {max_email_length} characters.",
            field,
            values={"max_email_length": MAX_EMAIL_LENGTH},
        )
    local, at, domain = text.rpartition("@")
    if not at or len(local) > _MAX_LOCAL_LENGTH or not _LOCAL.fullmatch(local):
        return Problem("INVALID", "Enter a valid email address.", field)
    if not _is_domain(domain):
        return Problem("INVALID", "Enter a valid email address: check what follows @.", field)
    return None


def _as_typed(text: str) -> str:
    if len(text) > _MAX_INPUT_LENGTH:
        return text
    email = unicodedata.normalize("NFC", text).strip().lower()
    local, at, domain = email.rpartition("@")
    return email if domain.isascii() else f"{local}{at}{_mapped(domain)}"


def _decoded(label: str) -> str:
    """Return a label of a domain in Unicode; what isn't the Punycode of that stays as it is."""
    if not label.startswith(_PUNYCODE) or len(label) > _MAX_LABEL_LENGTH:
        return label
    try:
        decoded = idna.decode(label)
        return decoded if ascii_host(decoded) == label else label
    except UnicodeError:
        return label


def _mapped(domain: str) -> str:
    try:
        return idna.uts46_remap(domain, std3_rules=False, transitional=False)
    except idna.IDNAError:
        return domain  # which email_problem refuses


def _is_domain(domain: str) -> bool:
    # Letters of many scripts have marks, which IDNA checks; in ASCII there are none.
    host = ascii_host(domain)
    if host is None or domain.endswith("."):
        return False
    labels = host.split(".")
    if domain != "localhost" and (len(labels) == 1 or labels[-1].isdigit()):
        return False
    return all(len(label) <= _MAX_LABEL_LENGTH and _LABEL.fullmatch(label) for label in labels)
