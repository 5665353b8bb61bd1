"""Mails out of Jinja templates: one file for the subject and text, one for the HTML."""

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

from app.domain.mails.mail import Mail, RenderedMail
from app.domain.shop.settings import ShopSettings

_TEMPLATES = Path(__file__).parent.parent / "templates"


class JinjaEmailTemplates:
    """``mail/KIND.txt`` begins with the subject's line; ``mail/KIND.html`` is the other body."""

    def __init__(self) -> None:
        self._templates = Environment(
            loader=FileSystemLoader(_TEMPLATES),
            autoescape=select_autoescape(["html"]),
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )

    def render(self, mail: Mail, shop: ShopSettings) -> RenderedMail:
        values = {"shop": shop, "recipient": mail.recipient, **mail.values}
        written = self._templates.get_template(f"mail/{mail.kind}.txt").render(values)
        subject, _, text = written.partition("\n")
        html = self._templates.get_template(f"mail/{mail.kind}.html").render(
            values, subject=subject
        )
        return RenderedMail(
            sender_name=shop.default_mail_sender_name or shop.name,
            sender_address=shop.default_mail_sender_address,
            recipient=mail.recipient,
            subject=" ".join(subject.split()),
            text=text.strip() + "\n",
            html=html,
        )
