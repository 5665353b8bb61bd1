"""The HTML and CSS that an own template can have: nothing that loads, runs or sends anything."""

import re
from collections.abc import Mapping

from app.domain.mails.own_templates import UrlRule
from app.domain.values.errors import Problem

VALUE = "\ue000"
"""Takes the place of a value while a template is checked; templates can't contain it."""


def _words(*texts: str) -> frozenset[str]:
    return frozenset(" ".join(texts).split())


_EVERYWHERE = _words(
    "style class id dir lang title role align valign width height bgcolor border aria-label",
    "aria-hidden",
)
_TABLE = _words("cellpadding cellspacing colspan rowspan scope")
_PLAIN = _words(
    "title body div span p br hr h1 h2 h3 h4 h5 h6 b strong i em u s small sub sup code pre",
    "blockquote ul ol li dl dt dd caption thead tbody tfoot tr center abbr address section header",
    "footer main head article",
)
TAGS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(_PLAIN, frozenset[str]()),
    **dict.fromkeys(("table", "td", "th"), _TABLE),
    "a": frozenset(("href", "target", "rel")),
    "img": frozenset(("src", "alt")),
    "html": frozenset(("xmlns",)),
    "meta": frozenset(("charset", "name", "content")),
    "style": frozenset(("type", "media")),
}
"""The tags, each with the attributes that it can have besides those of every tag."""

PAGE_TAGS = frozenset(("html", "head", "body", "title", "meta"))
"""Tags of a whole page, which the shop's layout has already."""

VOID = _words("br hr img meta")
"""Tags without an end."""

MAX_OPEN = 40
MAX_TAGS = 1_500
MAX_SELECTORS = 200
"""Elements open at once, tags in all, and selectors: the time that styles take to be written into
the tags grows with their product, and programs that read HTML recurse into open elements.
"""

BLOCKS = _words(
    "html head body title div p br hr h1 h2 h3 h4 h5 h6 pre blockquote ul ol li dl dt dd table",
    "caption thead tbody tfoot tr td th center address section header footer main article",
)
"""Tags that separate texts, as a line break does."""

_CSS_FUNCTIONS = _words(
    "rgb rgba hsl hsla calc min max clamp var light-dark not is where nth-child nth-of-type",
    "linear-gradient",
)
_CSS_CALL = re.compile(r"(?<![\w-])([\w-]++)\(")
_CSS_RULE = re.compile(r"@([\w-]++)")
_OWN_IMAGE = re.compile(r"cid:[a-z0-9.@_-]{1,100}", re.IGNORECASE)
_CONTACT = re.compile(r"(?:mailto|tel):[^\s<>]{1,300}", re.IGNORECASE)
_META_NAMES = ("viewport", "color-scheme", "supported-color-schemes", "format-detection")


def attribute_problem(tag: str, name: str, value: str, url_rule: UrlRule) -> Problem | None:
    """Return why ``tag`` can't have this attribute, or ``None``; ``value`` is unescaped."""
    if name not in _EVERYWHERE and name not in TAGS.get(tag, ()):
        return _refused("Remove the attribute {attribute} of <{tag}>.", attribute=name, tag=tag)
    if name == "style":
        return style_problem(value)
    if name == "src" and not _OWN_IMAGE.fullmatch(value):
        return _refused(
            "Images can't be loaded from elsewhere, because that reports who opens the email. "
            'Only attached images work: src="cid:logo@mail".'
        )
    if name == "href" and not value.startswith("#") and not _CONTACT.fullmatch(value):
        return url_rule(value)
    if (tag, name) == ("meta", "name") and value.lower() not in _META_NAMES:
        return _refused("Remove this <meta>: emails can't contain it.")
    return None


def style_problem(css: str) -> Problem | None:
    """Return why a style can't be used, or ``None``: it could load something."""
    if "\\" in css or "<" in css or VALUE in css:
        return _refused("Styles can't contain \\, < or values.")
    for call in _CSS_CALL.finditer(css):
        if call[1].lower() not in _CSS_FUNCTIONS:
            return _refused("Remove {name}() from the style.", name=call[1])
    for rule in _CSS_RULE.finditer(css):
        if rule[1].lower() != "media":
            return _refused(
                "Remove @{name} from the style: only @media is possible.", name=rule[1]
            )
    return None


def _refused(message: str, **values: object) -> Problem:
    return Problem("INVALID", message, values=values)
