"""Mails out of Jinja templates: one file for the subject and text, one for the HTML."""

import re
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path

from css_inline import CSSInliner
from jinja2 import (
    ChoiceLoader,
    DictLoader,
    Environment,
    FileSystemLoader,
    StrictUndefined,
    select_autoescape,
)
from markupsafe import Markup

from app.adapters.mail_values import MailLanguage, load_language, shown_values
from app.adapters.own_templates import render_template
from app.adapters.template_starters import make_starter
from app.domain.mails.design import (
    CONTENT_ID,
    DEFAULT_ACCENT,
    Logo,
    color_problem,
    readable_color,
    text_color_on,
)
from app.domain.mails.mail import Mail, MailKind, RenderedMail
from app.domain.mails.own_templates import MAX_OUTPUT, OwnTemplate, is_whole_page
from app.domain.shop.settings import ShopSettings
from app.domain.values.errors import Problem
from app.ports.mail import OwnTemplateBroken

_APP = Path(__file__).parent.parent
_CATALOGS = _APP / "translations"
_CARD, _DARK_CARD, _DARK_GROUND = "#ffffff", "#1b2529", "#121a1d"

_BODY = {"mail/layout.html": "{% block body %}{% endblock %}"}
_WITHOUT_LAYOUT = ChoiceLoader([DictLoader(_BODY), FileSystemLoader(_APP / "templates")])
_EMPTY_LINES = re.compile(r"\n{3,}")

_language: ContextVar[MailLanguage] = ContextVar("mail_language")
"""The language that a template is rendered in: macros don't see what is given to their caller."""


@dataclass(frozen=True, slots=True)
class _Colors:
    """The accent color as each part of the layout uses it, readable in light and dark."""

    button: str
    button_text: str
    link: str
    dark_link: str
    dark_link_text: str
    dark_card: str = _DARK_CARD
    dark_ground: str = _DARK_GROUND


class JinjaEmailTemplates:
    """``mail/KIND.txt`` begins with the subject's line; ``mail/KIND.html`` is the other body.

    ``catalogs`` is the folder of translations. Templates see only shown texts, in the language of
    the mail.
    """

    def __init__(self, catalogs: Path = _CATALOGS) -> None:
        self._catalogs = catalogs
        self._templates = Environment(
            loader=FileSystemLoader(_APP / "templates"),
            extensions=["jinja2.ext.i18n"],
            autoescape=select_autoescape(["html"]),
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        install = self._templates.install_gettext_callables  # type: ignore[attr-defined]
        install(_gettext, _ngettext, newstyle=True)
        # Nothing is loaded: a stylesheet could be a file of this machine.
        self._inliner = CSSInliner(keep_at_rules=True, load_remote_stylesheets=False)

    def render(
        self,
        mail: Mail,
        shop: ShopSettings,
        logo: Logo | None = None,
        own: OwnTemplate | None = None,
    ) -> RenderedMail:
        language = load_language(mail.language_code, self._catalogs)
        shown = shown_values(mail.values, language)
        if own is not None:
            return self._render_own(mail, shown, shop, logo, own)
        values = {"shop": shop, "shop_name": shop.name, "recipient": mail.recipient, **shown}
        token = _language.set(language)
        try:
            written = self._templates.get_template(f"mail/{mail.kind}.txt").render(values)
            subject, _, text = written.partition("\n")
            subject = " ".join(subject.split())
            values |= _layout_values(subject, shop, logo, language)
            html = self._templates.get_template(f"mail/{mail.kind}.html").render(values)
        finally:
            _language.reset(token)
        parts = OwnTemplate(subject, self._inliner.inline(html), _with_footer(text, shop))
        return _addressed(mail, shop, logo, parts)

    def starter(self, kind: MailKind, language_code: str) -> OwnTemplate:
        language = load_language(language_code, self._catalogs)
        bodies = self._templates.overlay(loader=_WITHOUT_LAYOUT)

        def write(values: Mapping[str, str]) -> OwnTemplate:
            shown = {**values, "shop_name": values["shop.name"]}
            token = _language.set(language)
            try:
                written = self._templates.get_template(f"mail/{kind}.txt").render(shown)
                html = bodies.get_template(f"mail/{kind}.html").render(shown)
            finally:
                _language.reset(token)
            subject, _, text = written.partition("\n")
            return OwnTemplate(" ".join(subject.split()), html, text)

        return make_starter(kind, write)

    def _render_own(
        self,
        mail: Mail,
        shown: Mapping[str, str],
        shop: ShopSettings,
        logo: Logo | None,
        own: OwnTemplate,
    ) -> RenderedMail:
        texts = {**shown, "recipient": mail.recipient}
        parts = render_template(mail.kind, own, texts, shop_name=shop.name)
        if not is_whole_page(own.html):
            language = load_language(mail.language_code, self._catalogs)
            values = {
                "shop_name": shop.name,
                "body": Markup(parts.html),  # noqa: S704 - checked, and its values escaped
                **_layout_values(parts.subject, shop, logo, language),
            }
            html = self._templates.get_template("mail/layout.html").render(values)
            parts = OwnTemplate(parts.subject, html, _with_footer(parts.text, shop))
        parts = replace(parts, html=self._inliner.inline(parts.html))
        if len(parts.html.encode()) > MAX_OUTPUT:
            message = "The email is larger than {limit} kB."
            values = {"limit": MAX_OUTPUT // 1024}
            raise OwnTemplateBroken(Problem("INVALID", message, "html", lines=(1,), values=values))
        return _addressed(mail, shop, logo, parts)


def _addressed(
    mail: Mail, shop: ShopSettings, logo: Logo | None, parts: OwnTemplate
) -> RenderedMail:
    return RenderedMail(
        sender_name=shop.default_mail_sender_name or shop.name,
        sender_address=shop.default_mail_sender_address,
        recipient=mail.recipient,
        subject=parts.subject,
        text=parts.text,
        html=parts.html,
        reply_to=shop.mail_reply_to,
        logo=logo,
    )


def _layout_values(
    subject: str, shop: ShopSettings, logo: Logo | None, language: MailLanguage
) -> Mapping[str, object]:
    """Return what ``mail/layout.html`` shows around the body."""
    image = None
    if logo is not None:
        width, height = logo.shown_size
        image = {"source": f"cid:{CONTENT_ID}", "width": width, "height": height}
    is_right_to_left = language.is_right_to_left
    return {
        "subject": subject,
        "language": language.tag,
        "direction": "rtl" if is_right_to_left else "ltr",
        "start": "right" if is_right_to_left else "left",
        "colors": _colors(shop.accent_color),
        "logo": image,
        "footer": [block.splitlines() for block in _paragraphs(shop.mail_footer)],
        "legal_line": shop.mail_legal_line,
    }


def _colors(accent: str) -> _Colors:
    button = DEFAULT_ACCENT if color_problem(accent, "") else accent.lower()
    dark_link = readable_color(button, _DARK_CARD)
    return _Colors(
        button=button,
        button_text=text_color_on(button),
        link=readable_color(button, _CARD),
        dark_link=dark_link,
        dark_link_text=text_color_on(dark_link),
    )


def _with_footer(text: str, shop: ShopSettings) -> str:
    footer = [*_paragraphs(shop.mail_footer), *filter(None, [shop.mail_legal_line])]
    signature = ["-- \n" + "\n\n".join(footer)] if footer else []
    body = _EMPTY_LINES.sub("\n\n", text.strip())
    return "\n\n".join([body, *signature]) + "\n"


def _paragraphs(text: str) -> list[str]:
    """Return the blocks of ``text`` that empty lines separate."""
    lines = [line.strip() for line in text.splitlines()]
    return [block.strip() for block in "\n".join(lines).split("\n\n") if block.strip()]


def _gettext(message: str) -> str:
    return _language.get().catalog.gettext(message)


def _ngettext(singular: str, plural: str, count: int) -> str:
    return _language.get().catalog.ngettext(singular, plural, count)
