"""Email preview: each email as it is sent, with sample values; the logo; a test to oneself."""

import re
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass

from flask import make_response, request
from werkzeug.datastructures import MultiDict
from werkzeug.wrappers import Response as BaseResponse

from app.console.frame.forms import uploaded_image
from app.console.frame.navigation import Entry, PageGroup
from app.console.frame.page_layout import (
    HEADERS,
    page,
    redirect_with_error,
    redirect_with_success,
    refused_page,
)
from app.console.frame.session import actor, ports
from app.domain.accounts.languages import SHIPPED_LANGUAGES
from app.domain.mails.design import (
    CONTENT_ID,
    MAX_HEIGHT,
    MAX_LOGO_SIZE,
    MAX_WIDTH,
    Logo,
    logo_path,
)
from app.domain.mails.mail import KIND_LABELS, MailKind, RenderedMail
from app.domain.shop.settings import ShopSettings
from app.domain.values.errors import Refused
from app.services.console.home import sends_mail
from app.services.mails.mail_templates import preview_mail, send_test_mail
from app.services.shop.settings import delete_logo, show_settings, update_logo
from app.web.converters import one_of
from app.web.translation import problem_text, text, texts

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
    """Let a page show the frame."""
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


_MEBIBYTE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class PreviewPage:
    """``place`` is what the URL says of the email that is shown; the rest are its texts."""

    place: Mapping[str, str]
    kinds: Mapping[str, str]
    languages: Mapping[str, str]
    appearances: Mapping[str, str]
    sender: str
    reply_to: str
    recipient: str
    subject: str
    text: str
    logo: str
    logo_hint: str


def sent_test_message(email: str, *, is_sent: bool) -> str:
    """Say where a test went."""
    if is_sent:
        return text("Test sent to {email}.", email=email)
    return text("Test to {email} written to a file on the server.", email=email)


def make_preview_page(
    mail: RenderedMail, shop: ShopSettings, kind: MailKind, language: str, appearance: str
) -> PreviewPage:
    """Return the page for ``mail``, of that kind and language."""
    sender = mail.sender_name
    if mail.sender_address:
        sender = text("{name} <{email}>", name=sender, email=mail.sender_address)
    return PreviewPage(
        place={"kind": kind.value, "language": language, "appearance": appearance},
        kinds=texts(KIND_LABELS),
        languages=SHIPPED_LANGUAGES,
        appearances={"light": text("Light"), "dark": text("Dark")},
        sender=sender,
        reply_to=mail.reply_to,
        recipient=mail.recipient,
        subject=mail.subject,
        text=mail.text,
        logo=logo_path(shop.logo) if shop.logo else "",
        logo_hint=text(
            "PNG, JPEG, WebP or GIF, up to {megabytes} MiB. Shown at most {width} by {height} "
            "pixels large.",
            megabytes=MAX_LOGO_SIZE // _MEBIBYTE,
            width=MAX_WIDTH // 2,
            height=MAX_HEIGHT // 2,
        ),
    )


blueprint = PageGroup(
    "mail_preview",
    __name__,
    Entry(
        "Email preview",
        "envelope",
        "logo design look color footer test email dark",
        needs=preview_mail,
    ),
    url_prefix="/settings/email-preview",
)

_DARK, _LIGHT = "dark", "light"


@blueprint.get("/")
def index() -> BaseResponse:
    """Show an email; kind, language and appearance are in the URL."""
    return _page()


@blueprint.get("/html")
def framed() -> BaseResponse:
    """Show the email's HTML, for the frame."""
    kind, language, appearance = _chosen(request.args)
    mail = preview_mail(ports(), actor(), kind, language)
    return framed_email(with_appearance(mail.html, is_dark=appearance == _DARK), mail.logo)


@blueprint.post("/test")
def send_test() -> BaseResponse:
    """Send the email to the caller."""
    kind, language, appearance = _chosen(request.form)
    place = {"kind": kind.value, "language": language, "appearance": appearance}
    try:
        email = send_test_mail(ports(), actor(), kind, language)
    except Refused as refused:
        return redirect_with_error(refused, "console.mail_preview.index", **place)
    message = sent_test_message(email, is_sent=sends_mail(ports(), actor()))
    return redirect_with_success(message, "console.mail_preview.index", **place)


@blueprint.post("/logo")
def save_logo() -> BaseResponse:
    """Show another logo in emails; what is no image, or too large, is refused with the reason."""
    try:
        update_logo(ports(), actor(), uploaded_image(MAX_LOGO_SIZE))
    except Refused as refused:
        return _page(" ".join(problem_text(one) for one in refused.problems))
    return redirect_with_success(
        text("Logo saved. New emails show it."), "console.mail_preview.index"
    )


@blueprint.post("/logo/remove")
def remove_logo() -> BaseResponse:
    """Show the shop's name instead of a logo."""
    delete_logo(ports(), actor())
    message = text("Logo removed. New emails show the shop's name.")
    return redirect_with_success(message, "console.mail_preview.index")


def _page(logo_error: str = "") -> BaseResponse:
    kind, language, appearance = _chosen(request.args)
    mail = preview_mail(ports(), actor(), kind, language)
    shop = show_settings(ports(), actor())
    show = refused_page if logo_error else page
    return with_frame(
        show(
            "mail_preview/index.html",
            preview=make_preview_page(mail, shop, kind, language, appearance),
            is_sent=sends_mail(ports(), actor()),
            logo_error=logo_error,
        )
    )


def _chosen(given: MultiDict[str, str]) -> tuple[MailKind, str, str]:
    """Return kind, language and appearance; for unknown ones the first, and the shop's."""
    kind = given.get("kind", MailKind.PASSWORD_RESET, type=MailKind)
    language = given.get("language", "", type=one_of(tuple(SHIPPED_LANGUAGES)))
    if not language:
        usual = show_settings(ports(), actor()).default_language.partition("_")[0]
        language = usual if usual in SHIPPED_LANGUAGES else next(iter(SHIPPED_LANGUAGES))
    appearance = _DARK if given.get("appearance") == _DARK else _LIGHT
    return kind, language, appearance
