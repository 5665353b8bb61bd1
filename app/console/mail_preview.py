"""Email preview: each email as it is sent, with sample values; the logo; a test to oneself."""

from flask import request
from werkzeug.datastructures import MultiDict
from werkzeug.wrappers import Response as BaseResponse

from app.console.forms import uploaded_image
from app.console.framed_emails import framed_email, with_appearance, with_frame
from app.console.mail_preview_page import make_preview_page, sent_test_message
from app.console.navigation import Entry, PageGroup
from app.console.page_layout import done, not_done, page, refused_page
from app.console.session import actor, ports
from app.domain.mails.languages import SHIPPED_LANGUAGES
from app.domain.mails.logo import MAX_FILE_SIZE
from app.domain.mails.mail import MailKind
from app.domain.values.errors import Refused
from app.services.console.setup import sends_mail
from app.services.shop.logo import delete_logo, update_logo
from app.services.shop.mail_preview import preview_mail, send_test_mail
from app.services.shop.settings import show_settings
from app.web.converters import one_of
from app.web.translation import problem_text, text

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
        return not_done(refused, "console.mail_preview.index", **place)
    message = sent_test_message(email, is_sent=sends_mail(ports(), actor()))
    return done(message, "console.mail_preview.index", **place)


@blueprint.post("/logo")
def save_logo() -> BaseResponse:
    """Show another logo in emails; what is no image, or too large, is refused with the reason."""
    try:
        update_logo(ports(), actor(), uploaded_image(MAX_FILE_SIZE))
    except Refused as refused:
        return _page(" ".join(problem_text(one) for one in refused.problems))
    return done(text("Logo saved. New emails show it."), "console.mail_preview.index")


@blueprint.post("/logo/remove")
def remove_logo() -> BaseResponse:
    """Show the shop's name instead of a logo."""
    delete_logo(ports(), actor())
    message = text("Logo removed. New emails show the shop's name.")
    return done(message, "console.mail_preview.index")


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
