"""Previews of emails: the frame of the HTML, the envelope, and the customer as whom one is shown.

The frame can do nothing. A preview as a customer has their email and name, and the dates of their
country if the template is in their language. People who can't see customers get no such preview.
"""

import re
from base64 import b64encode
from collections.abc import Iterable
from dataclasses import dataclass, replace

from flask import make_response
from werkzeug.datastructures import MultiDict
from werkzeug.wrappers import Response as BaseResponse

from app.console.frame.page_layout import HEADERS, mail_pill
from app.console.frame.parts import Pill
from app.console.frame.session import actor, ports
from app.domain.accounts.languages import ENGLISH, SHIPPED_LANGUAGES, shipped_tag
from app.domain.accounts.search import UserFilter
from app.domain.accounts.users import User
from app.domain.mails.design import CONTENT_ID, Logo
from app.domain.mails.mail import MailKind, RenderedMail
from app.domain.mails.mail_log import MailEntry
from app.domain.mails.own_templates import VALUES
from app.domain.values.errors import Problem, Refused
from app.domain.values.pages import PageRequest
from app.domain.values.text import translatable
from app.services.authorization.register import can_call
from app.services.mails.mail_templates import SampleReader, TemplateEntry, template_for
from app.services.people.directory import list_customers
from app.web.translation import enumeration, problem_text, text

_FRAMING = "; ".join((dict(HEADERS)["Content-Security-Policy"], "frame-src 'self'"))
_FRAMED = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'self'"
)
_DARK_RULE = re.compile(r"@media\s*\(\s*prefers-color-scheme\s*:\s*dark\s*\)")
_SCHEMES = re.compile(r"(color-scheme(?:\"\s+content=\"|\s*:\s*))light dark")


def with_appearance(html: str, *, is_dark: bool) -> str:
    """Return the HTML as a mail program with that appearance shows it, whatever the browser's."""
    rule = "@media all" if is_dark else "@media not all"
    scheme = "dark" if is_dark else "light"
    return _SCHEMES.sub(rf"\g<1>{scheme}", _DARK_RULE.sub(rule, html))


def with_frame(response: BaseResponse) -> BaseResponse:
    response.headers["Content-Security-Policy"] = _FRAMING
    return response


def framed_email(html: str, logo: Logo | None) -> BaseResponse:
    """Return the frame's content: the HTML of an email, with the logo that it has attached."""
    if logo is not None:
        picture = b64encode(logo.data).decode()
        html = html.replace(f"cid:{CONTENT_ID}", f"data:image/png;base64,{picture}")
    response = make_response(html)
    response.headers["Content-Security-Policy"] = _FRAMED
    response.headers["X-Frame-Options"] = "SAMEORIGIN"
    return response


@dataclass(frozen=True, slots=True)
class MailReader:
    """The customer as whom an email is shown, ``None`` if none matches ``typed``.

    ``others`` match too. ``note`` says which email they get in their language, if another.
    """

    typed: str
    customer: User | None
    others: tuple[User, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class MailPreview:
    """An email with sample values: what its envelope says, its text, and the frame of its HTML.

    ``problems`` say why it isn't what was entered; then there is no email.
    """

    sender: str = ""
    reply_to: str = ""
    recipient: str = ""
    subject: str = ""
    text: str = ""
    language: str = ""
    frame: str = ""
    problems: tuple[str, ...] = ()
    reader: MailReader | None = None


def make_mail_preview(mail: RenderedMail, frame: str) -> MailPreview:
    """Return the preview of ``mail``; its HTML is at the address ``frame``."""
    sender = mail.sender_name
    if mail.sender_address:
        sender = text("{name} <{email}>", name=sender, email=mail.sender_address)
    return MailPreview(
        sender, mail.reply_to, mail.recipient, mail.subject, mail.text, mail.language, frame
    )


def refused_preview(refused: Refused) -> MailPreview:
    """Return what stands for the preview of an email that couldn't be saved so."""
    return MailPreview(problems=tuple(problem_text(problem) for problem in refused.problems))


_READERS_SHOWN = 5
_TO_STAFF = {MailKind.STAFF_INVITATION, *(kind for kind in MailKind if "webhook" in VALUES[kind])}


def can_preview_as(kind: MailKind) -> bool:
    """Return whether the caller can see the email of ``kind`` as a customer gets it."""
    return kind not in _TO_STAFF and can_call(actor(), list_customers)


def typed_customer(entered: MultiDict[str, str]) -> str:
    """Return the customer that was chosen in the preview, or else what was searched for."""
    return (entered.get("chosen_customer") or entered.get("customer", "")).strip()


def search_reader(kind: MailKind, typed: str) -> MailReader | None:
    """Return the customer whose email is ``typed``, or the first who matches it, with others.

    ``None`` if nothing is typed, or the caller can't see customers.
    """
    if not typed or not can_preview_as(kind):
        return None
    request_ = PageRequest(_READERS_SHOWN)
    found = list_customers(ports(), actor(), request_, UserFilter(search=typed)).items
    exact = [user for user in found if user.email.lower() == typed.lower()]
    customers = exact or found
    if not customers:
        return MailReader(typed, None, ())
    return MailReader(typed, customers[0], tuple(customers[1:]))


def sample_reader(reader: MailReader | None) -> SampleReader | None:
    if reader is None or reader.customer is None:
        return None
    return SampleReader(reader.customer.email, reader.customer.language_code)


def for_reader(
    preview: MailPreview,
    reader: MailReader | None,
    kind: MailKind,
    language: str,
    entries: Iterable[TemplateEntry],
    default_language: str,
) -> MailPreview:
    """Return ``preview`` of the template for ``language`` with the name of its reader."""
    if reader is None or reader.customer is None:
        return replace(preview, reader=reader)
    user = reader.customer
    name = text("{first} {last}", first=user.first_name, last=user.last_name).strip()
    recipient = text("{name} <{email}>", name=name, email=user.email) if name else user.email
    code = (shipped_tag(user.language_code) or ENGLISH).upper()
    note = "" if code == language else readers_sentence(kind, code, entries, default_language)
    return replace(preview, recipient=recipient, reader=replace(reader, note=note))


def readers_sentence(
    kind: MailKind, language: str, entries: Iterable[TemplateEntry], default_language: str
) -> str:
    """Return which email readers of ``language`` get, "" for all of them."""
    listed = tuple(entries)
    tag = shipped_tag(default_language) or ENGLISH
    names = {"default": SHIPPED_LANGUAGES[tag.upper()]}
    if language:
        used = template_for(listed, kind, language)
        sentence = _READERS[None if used is None else used.language_code != ""]
        return text(sentence, language=SHIPPED_LANGUAGES[language], **names)
    used_for = {code: template_for(listed, kind, code) for code in SHIPPED_LANGUAGES}
    of_all = [entry for entry in listed if entry.kind is kind and not entry.language_code]
    if any(entry.fault for entry in of_all):
        return ""
    wanted = "" if of_all else None
    readers = [
        SHIPPED_LANGUAGES[code]
        for code, used in used_for.items()
        if (None if used is None else used.language_code) == wanted
    ]
    return text(_READERS_OF_ALL[bool(of_all)], languages=enumeration(readers), **names)


_READERS = {
    None: translatable("Readers of {language} get the default email in their language."),
    True: translatable("Readers of {language} get this template."),
    False: translatable("Readers of {language} get the template for all languages, in {default}."),
}
"""By whether the template that they get is for their language; ``None`` for the default."""

_READERS_OF_ALL = {
    True: translatable(
        "Readers of {languages} get this template. Dates and other values in it are in {default}, "
        "the shop's default language: write it in that language."
    ),
    False: translatable(
        "No template for all languages. If you save one, readers of {languages} get it instead of "
        "an email in their language: write it in {default}, the shop's default language."
    ),
}
"""By whether there is a template for all languages."""


def with_lines(problem: Problem) -> Problem:
    """Return ``problem`` with its line in front, for a source of many lines that isn't empty."""
    if not problem.lines or problem.field == "subject" or problem.code == "REQUIRED":
        return problem
    return replace(problem, place=text("Line {line}", line=problem.lines[0]))


def invalid_lines(problems: Iterable[Problem]) -> dict[str, set[int]]:
    """Return the lines at fault by the source's field."""
    found: dict[str, set[int]] = {}
    for problem in problems:
        found.setdefault(problem.field or "", set()).update(problem.lines)
    return found


def unsent_pill(mail: MailEntry | None) -> Pill | None:
    """Return the result of an email that wasn't sent, as in the mail log."""
    if mail is None or mail.sent_at is not None:
        return None
    return mail_pill(mail)


def sent_test_message(email: str, *, is_sent: bool) -> str:
    """Say where a test went."""
    if is_sent:
        return text("Test sent to {email}.", email=email)
    return text("Test to {email} written to a file on the server.", email=email)
