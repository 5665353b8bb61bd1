"""Emails out of Jinja templates: one file for the subject and text, one for the HTML.

Values are written in the reader's language by the locale data (CLDR). The editor of own templates
begins with Latchkey's emails, with their values by name.
"""

import gettext
import re
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from pathlib import Path
from typing import Literal
from zoneinfo import ZoneInfo

from babel import Locale
from babel.core import UnknownLocaleError
from babel.dates import format_date, format_time, format_timedelta, get_timezone_name
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

from app.adapters.mail.own_templates import render_template
from app.domain.mails.design import (
    CONTENT_ID,
    DEFAULT_ACCENT,
    Logo,
    color_problem,
    readable_color,
    text_color_on,
)
from app.domain.mails.mail import Mail, MailKind, RenderedMail
from app.domain.mails.own_templates import (
    MAX_OUTPUT,
    VALUES,
    OwnTemplate,
    ValueType,
    is_whole_page,
)
from app.domain.mails.values import FactorType
from app.domain.shop.settings import ShopSettings
from app.domain.sign_in.devices import UNKNOWN
from app.domain.values.errors import Problem
from app.domain.values.text import Sentence
from app.domain.values.times import in_zone
from app.ports.mail import OwnTemplateBroken

_BLOCK = re.compile(r"\s*(</?(p|br|table|tr|td)\b[^>]*>)\s*")
_BLANK_LINES = re.compile(r"\n\s*\n")

Written = Callable[[Mapping[str, str]], OwnTemplate]
"""Writes one of Latchkey's emails with the given values."""


def make_starter(kind: MailKind, write: Written) -> OwnTemplate:
    """Return a template that shows what Latchkey's email shows, conditions included.

    Our email is written with "{{ name }}" for each value, and again without each value that can
    be empty: the lines that differ become a condition.
    """
    values = {
        name: f"{{{{ {name} }}}}"
        for name, value in VALUES[kind].items()
        if value.type is not ValueType.LIST
    }
    full = write(values)
    without = {
        name: write({**values, name: ""})
        for name, value in VALUES[kind].items()
        if value.can_be_empty
    }
    return OwnTemplate(
        full.subject,
        _with_conditions(full.html, {name: one.html for name, one in without.items()}),
        _with_conditions(full.text, {name: one.text for name, one in without.items()}),
    )


def _with_conditions(full: str, without: Mapping[str, str]) -> str:
    lines = _lines(full)
    blocks = []
    for name, text in without.items():
        other = _lines(text)
        # From the end: a break before a line belongs to it, so that blocks don't overlap.
        end = _shared(lines[::-1], other[::-1])
        start = min(_shared(lines, other), min(len(lines), len(other)) - end)
        start, end = _balanced(lines, other, start, end)
        if start < len(lines) - end:
            blocks.append((start, len(lines) - end, name, other[start : len(other) - end]))
    for start, end, name, instead in sorted(blocks, reverse=True):
        otherwise = ["{% else %}", *instead] if "".join(instead).strip() else []
        lines[start:end] = [f"{{% if {name} %}}", *lines[start:end], *otherwise, "{% endif %}"]
    return "\n".join(lines) + "\n"


def _lines(text: str) -> list[str]:
    """Return the lines, with each tag of a block on a separate line."""
    parted = _BLOCK.sub(r"\n\1\n", text)
    if parted != text:
        parted = _BLANK_LINES.sub("\n", parted)
    return [line.strip() for line in parted.strip().splitlines()]


def _balanced(lines: list[str], other: list[str], start: int, end: int) -> tuple[int, int]:
    """Return the least shared beginning and end with whole blocks between them, in both texts."""
    for less in range(start + end + 1):
        for before in range(min(less, start) + 1):
            first, last = start - before, end - (less - before)
            if last >= 0 and all(
                _is_whole(text[first : len(text) - last]) for text in (lines, other)
            ):
                return first, last
    return 0, 0


def _is_whole(lines: list[str]) -> bool:
    """Whether every block that begins in ``lines`` ends there, and the other way round."""
    depth = 0
    for tag in _BLOCK.finditer("\n".join(lines)):
        depth += 0 if tag[2] == "br" else -1 if tag[1].startswith("</") else 1
        if depth < 0:
            return False
    return not depth


def _shared(lines: list[str], other: list[str]) -> int:
    """Return how many lines both begin with."""
    return next(
        (
            number
            for number, (one, two) in enumerate(zip(lines, other, strict=False))
            if one != two
        ),
        min(len(lines), len(other)),
    )


_ENGLISH = "en"
_ENGLISH_FORMATS = "en_150"
"""English without a country: dates as in "1 March 2026", 24 hours."""

_DAY = 24 * 60 * 60
_LARGEST = 10**9
"""A number that no duration reaches, so that each is written in the unit that is asked for."""


def N_(message: Sentence) -> Sentence:  # noqa: N802 - the name that tools which extract messages look for
    """Mark a message that is translated where it is shown."""
    return message


REASONS = (
    N_("The endpoint returned 410 Gone."),
    N_("The endpoint failed for 5 days without a successful delivery."),
)
"""Why webhooks are disabled."""


@dataclass(frozen=True, slots=True)
class MailLanguage:
    """A language that an email is written in: its catalog, and how it writes dates.

    ``tag`` is the language in HTML.
    """

    tag: str
    locale: Locale
    catalog: gettext.NullTranslations

    @property
    def is_right_to_left(self) -> bool:
        return self.locale.text_direction == "rtl"


@lru_cache(maxsize=64)
def load_language(code: str, catalogs: Path) -> MailLanguage:
    """Return the language ``code``, such as "PT_BR"; English for one without a catalog."""
    base = code.partition("_")[0].lower()
    if base in ("", _ENGLISH) or not gettext.find("messages", catalogs, [base]):
        formats = code if code.startswith("EN_") else _ENGLISH_FORMATS
        catalog = gettext.NullTranslations()
        return MailLanguage(_ENGLISH, _locale(formats, _ENGLISH_FORMATS), catalog)
    catalog = gettext.translation("messages", catalogs, [base])
    return MailLanguage(base, _locale(code, base), catalog)


def shown_values(values: Mapping[str, str], language: MailLanguage) -> dict[str, str]:
    """Return ``values`` as they are shown.

    Those that differ by language are made from the values that come with them; where these are
    missing (an email that the last release queued), the English text stays.
    """
    catalog = language.catalog
    shown = dict(values)
    zone = ZoneInfo(values.get("time_zone") or "UTC")
    if values.get("lifetime_seconds"):
        shown["lifetime"] = _duration(int(values["lifetime_seconds"]), language)
    for name, source in (("when", "at"), ("since", "since_at")):
        if values.get(source):
            shown[name] = _moment(datetime.fromisoformat(values[source]), zone, language)
    if values.get("factor_type"):
        shown["factor"] = _factor(values, language)
    if values.get("browser") and values.get("system"):
        shown["device"] = catalog.gettext("%(browser)s on %(system)s") % values
    elif values.get("device") == UNKNOWN:
        shown["device"] = catalog.gettext("Unknown device")
    if values.get("reason"):
        shown["reason"] = catalog.gettext(values["reason"])
    return shown


def _duration(seconds: int, language: MailLanguage) -> str:
    unit: Literal["day", "hour"] = "day" if seconds % _DAY == 0 else "hour"
    length = timedelta(seconds=seconds)
    return format_timedelta(length, unit, threshold=_LARGEST, locale=language.locale)


def _moment(moment: datetime, zone: ZoneInfo, language: MailLanguage) -> str:
    here = in_zone(moment, zone) if moment.tzinfo else moment.astimezone(UTC)
    return language.catalog.gettext("%(date)s, %(time)s %(zone)s") % {
        "date": format_date(here, "long", locale=language.locale),
        "time": format_time(here, "short", tzinfo=zone, locale=language.locale),
        "zone": get_timezone_name(here, "short", locale=language.locale),
    }


def _factor(values: Mapping[str, str], language: MailLanguage) -> str:
    if values["factor_type"] == FactorType.PASSKEY:
        return language.catalog.gettext('Passkey "%(name)s"') % {"name": values["factor_name"]}
    return language.catalog.gettext("Authenticator app")


def _locale(code: str, otherwise: str) -> Locale:
    """Return the locale data of ``code``; not all languages of the API have some."""
    language, _, rest = code.partition("_")
    try:
        return Locale.parse(f"{language.lower()}_{rest}" if rest else language.lower())
    except (UnknownLocaleError, ValueError):
        return Locale.parse(otherwise)


_APP = Path(__file__).parents[2]
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


@cache
def _templates() -> Environment:
    """Return what compiles each template once for a process."""
    templates = Environment(
        loader=FileSystemLoader(_APP / "templates"),
        extensions=["jinja2.ext.i18n"],
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    install = templates.install_gettext_callables  # type: ignore[attr-defined]
    install(_gettext, _ngettext, newstyle=True)
    return templates


@cache
def _bodies() -> Environment:
    """Return the same templates without their layout."""
    return _templates().overlay(loader=_WITHOUT_LAYOUT)


class JinjaEmailTemplates:
    """``mail/KIND.txt`` begins with the subject's line; ``mail/KIND.html`` is the other body.

    ``catalogs`` is the folder of translations. Templates see only shown texts, in the language of
    the mail.
    """

    def __init__(self, catalogs: Path = _CATALOGS) -> None:
        self._catalogs = catalogs
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
        if own is not None:
            return self._render_own(mail, language, shop, logo, own)
        shown = shown_values(mail.values, language)
        values = {"shop": shop, "shop_name": shop.name, "recipient": mail.recipient, **shown}
        token = _language.set(language)
        try:
            written = _templates().get_template(f"mail/{mail.kind}.txt").render(values)
            subject, _, text = written.partition("\n")
            subject = " ".join(subject.split())
            values |= _layout_values(subject, shop, logo, language)
            html = _templates().get_template(f"mail/{mail.kind}.html").render(values)
        finally:
            _language.reset(token)
        parts = OwnTemplate(subject, self._inliner.inline(html), _with_footer(text, shop))
        return _addressed(mail, shop, logo, parts, language)

    def starter(self, kind: MailKind, language_code: str) -> OwnTemplate:
        language = load_language(language_code, self._catalogs)

        def write(values: Mapping[str, str]) -> OwnTemplate:
            shown = {**values, "shop_name": values["shop.name"]}
            token = _language.set(language)
            try:
                written = _templates().get_template(f"mail/{kind}.txt").render(shown)
                html = _bodies().get_template(f"mail/{kind}.html").render(shown)
            finally:
                _language.reset(token)
            subject, _, text = written.partition("\n")
            return OwnTemplate(" ".join(subject.split()), html, text)

        return make_starter(kind, write)

    def _render_own(
        self,
        mail: Mail,
        language: MailLanguage,
        shop: ShopSettings,
        logo: Logo | None,
        own: OwnTemplate,
    ) -> RenderedMail:
        texts = {**shown_values(mail.values, language), "recipient": mail.recipient}
        parts = render_template(mail.kind, own, texts, shop_name=shop.name)
        if not is_whole_page(own.html):
            values = {
                "shop_name": shop.name,
                "body": Markup(parts.html),  # noqa: S704 - checked, and its values escaped
                **_layout_values(parts.subject, shop, logo, language),
            }
            html = _templates().get_template("mail/layout.html").render(values)
            parts = OwnTemplate(parts.subject, html, _with_footer(parts.text, shop))
        parts = replace(parts, html=self._inliner.inline(parts.html))
        if len(parts.html.encode()) > MAX_OUTPUT:
            message = "The email is larger than {limit} kB."
            values = {"limit": MAX_OUTPUT // 1024}
            raise OwnTemplateBroken(Problem("INVALID", message, "html", lines=(1,), values=values))
        return _addressed(mail, shop, logo, parts, language)


def _addressed(
    mail: Mail, shop: ShopSettings, logo: Logo | None, parts: OwnTemplate, language: MailLanguage
) -> RenderedMail:
    return RenderedMail(
        sender_name=shop.default_mail_sender_name or shop.name,
        sender_address=shop.default_mail_sender_address,
        recipient=mail.recipient,
        subject=parts.subject,
        text=parts.text,
        html=parts.html,
        reply_to=shop.mail_reply_to,
        language=language.tag,
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
        "legal_line": shop.shown_legal_line,
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
    footer = [*_paragraphs(shop.mail_footer), *filter(None, [shop.shown_legal_line])]
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
