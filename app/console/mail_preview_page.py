"""The view model of the email preview."""

from collections.abc import Mapping
from dataclasses import dataclass

from app.domain.mails.languages import SHIPPED_LANGUAGES
from app.domain.mails.logo import MAX_FILE_SIZE, MAX_HEIGHT, MAX_WIDTH, logo_path
from app.domain.mails.mail import KIND_LABELS, MailKind, RenderedMail
from app.domain.shop.settings import ShopSettings
from app.web.translation import text, texts

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
            megabytes=MAX_FILE_SIZE // _MEBIBYTE,
            width=MAX_WIDTH // 2,
            height=MAX_HEIGHT // 2,
        ),
    )
