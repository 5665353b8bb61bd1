"""The shop's own email templates: what they can show, and their limits."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from app.domain.mails.mail import MailKind
from app.domain.values.errors import Problem
from app.domain.values.text import Sentence

MAX_SUBJECT = 500
MAX_SOURCE = 64 * 1024
"""Characters of a template's HTML, and of its text."""

MAX_OUTPUT = 256 * 1024
"""Characters of each part of an email that a template makes."""

MAX_NODES = 2_000
MAX_TOKENS = 10 * MAX_NODES
MAX_DEPTH = 12
"""How many values and conditions a template can have, and how deep they can be nested."""

KEPT_VERSIONS = 50

FILTERS: Mapping[str, Sentence] = {
    "upper": "In capitals.",
    "lower": "In lowercase.",
    "capitalize": "With a capital at the beginning.",
    "title": "With a capital at the beginning of each word.",
    "trim": "Without spaces at both ends.",
    "default": 'Another text where the value is empty: {{ device|default("unknown") }}.',
    "truncate": "At most that many characters: {{ device|truncate(40) }}.",
    "join": 'The items of a list with a text between them: {{ details|join(", ") }}.',
    "length": "How many items a list has.",
}
"""The filters that a template can use, each with what it does."""

CONDITION = "{% if recipient %}…{% else %}…{% endif %}"
"""A condition as the editor explains it."""

UrlRule = Callable[[str], Problem | None]
"""Says why a template can't have a URL; its problem's field is replaced."""


class TemplatePart(StrEnum):
    """The three sources of a template; the value is the field's name in every interface."""

    SUBJECT = "subject"
    HTML = "html"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class OwnTemplate:
    """The sources of an email that replaces Latchkey's.

    ``html`` is put into the shop's layout, unless it begins with ``<!doctype`` or ``<html``.
    """

    subject: str
    html: str
    text: str

    @classmethod
    def entered(cls, *sources: str) -> Self:
        """Return what was entered by its parts, with the line ends that are stored."""
        return cls(*(source.replace("\r\n", "\n") for source in sources))

    def source(self, part: TemplatePart) -> str:
        source: str = getattr(self, part.value)
        return source


@dataclass(frozen=True, slots=True)
class FolderFault:
    """A file of the folder that can't be used; ``kind`` is ``None`` for one without a meaning."""

    path: str
    kind: MailKind | None
    language_code: str
    problem: Problem


def is_whole_page(html: str) -> bool:
    """Whether ``html`` stays outside the shop's layout."""
    return html.lstrip()[:9].lower().startswith(("<!doctype", "<html"))


class ValueType(StrEnum):
    TEXT = "text"
    LINK = "link"
    LIST = "list"


@dataclass(frozen=True, slots=True)
class TemplateValue:
    """A value that a template can show.

    A link with its token is a secret of the recipient: it is shown, and nothing else is done
    with it. ``can_be_empty`` says that some emails of that kind lack it.
    """

    name: str
    meaning: Sentence
    type: ValueType = ValueType.TEXT
    can_be_empty: bool = False

    @property
    def code(self) -> str:
        """How a template shows it."""
        if self.type is ValueType.LIST:
            return f"{{% for line in {self.name} %}}"
        return f"{{{{ {self.name} }}}}"


_LINK = TemplateValue("link", "The link that the recipient opens. It works once.", ValueType.LINK)
_LIFETIME = TemplateValue("lifetime", "How long the link works.")
_OLD_EMAIL = TemplateValue("old_email", "The account's email before.")
_NEW_EMAIL = TemplateValue("new_email", "The account's new email.")
_INVITER = TemplateValue("inviter", "Who invited the recipient.", can_be_empty=True)
_WHEN = TemplateValue("when", "The time of the change.")
_FACTOR = TemplateValue("factor", "The second factor.")
_NOTICE = (
    _WHEN,
    TemplateValue("device", "The browser and system.", can_be_empty=True),
    TemplateValue("address", "The IP address.", can_be_empty=True),
    TemplateValue(
        "details",
        "A list of the time, the device and the IP address, as far as they are known.",
        ValueType.LIST,
    ),
)
_NOT_ME = TemplateValue(
    "not_me",
    "The link \u201cThis wasn't me\u201d, which secures the account. Empty if someone else made "
    "the change.",
    ValueType.LINK,
    can_be_empty=True,
)
_SECURITY = (*_NOTICE, _NOT_ME)
_WEBHOOK = (
    TemplateValue("webhook", "The webhook's name."),
    TemplateValue("app", "The app's name."),
    TemplateValue("target", "The endpoint URL."),
)
_EVERYWHERE = (
    TemplateValue("shop.name", "The shop's name."),
    TemplateValue("recipient", "The email that this is sent to."),
)
_SPECIAL: Mapping[MailKind, tuple[TemplateValue, ...]] = {
    MailKind.PASSWORD_RESET: (_LINK, _LIFETIME),
    MailKind.ACCOUNT_CONFIRMATION: (_LINK, _LIFETIME),
    MailKind.ACCOUNT_EXISTS: (),
    MailKind.SIGN_IN_CODE: (
        TemplateValue("code", "The six digits to sign in with."),
        TemplateValue("lifetime", "How long the code works."),
    ),
    MailKind.EMAIL_CHANGE_REQUEST: (_LINK, _LIFETIME, _OLD_EMAIL, _NEW_EMAIL),
    MailKind.ACCOUNT_DELETION_REQUEST: (_LINK, _LIFETIME),
    MailKind.STAFF_INVITATION: (_LINK, _LIFETIME, _INVITER),
    MailKind.CUSTOMER_INVITATION: (_LINK, _LIFETIME),
    MailKind.PASSWORD_CHANGED: _SECURITY,
    MailKind.EMAIL_CHANGED: (_OLD_EMAIL, _NEW_EMAIL, *_SECURITY),
    MailKind.SECOND_FACTOR_ADDED: (_FACTOR, *_SECURITY),
    MailKind.SECOND_FACTOR_REMOVED: (_FACTOR, *_SECURITY),
    MailKind.IDENTITY_LINKED: (
        TemplateValue("provider", "The identity provider's name."),
        *_SECURITY,
    ),
    MailKind.SECOND_FACTORS_RESET: _SECURITY,
    MailKind.RECOVERY_CODES_REPLACED: _SECURITY,
    MailKind.RECOVERY_CODE_USED: (
        TemplateValue("left", "How many recovery codes are left."),
        *_SECURITY,
    ),
    MailKind.PASSKEY_COPIED: (_FACTOR, *_SECURITY),
    MailKind.INCORRECT_CODES: _SECURITY,
    MailKind.NEW_DEVICE: _SECURITY,
    MailKind.ACCOUNT_SECURED: _NOTICE,
    MailKind.WEBHOOK_DISABLED: (
        *_WEBHOOK,
        TemplateValue("reason", "Why it was disabled."),
        _WHEN,
        TemplateValue("since", "The first of the failures.", can_be_empty=True),
    ),
    MailKind.WEBHOOK_FAILING: (
        *_WEBHOOK,
        TemplateValue("reason", "The last failure."),
        _WHEN,
        TemplateValue("since", "The first of the failures.", can_be_empty=True),
    ),
    MailKind.WEBHOOK_RECOVERED: (
        *_WEBHOOK,
        _WHEN,
        TemplateValue("since", "When the failures were reported.", can_be_empty=True),
    ),
}
VALUES: Mapping[MailKind, Mapping[str, TemplateValue]] = {
    kind: {value.name: value for value in (*_EVERYWHERE, *special)}
    for kind, special in _SPECIAL.items()
}
"""What the template of each kind can show, by name."""


def links_of(kind: MailKind) -> tuple[str, ...]:
    """Return the links that an email of ``kind`` must have."""
    return tuple(value.name for value in VALUES[kind].values() if value.type is ValueType.LINK)


def shown_values(kind: MailKind, texts: Mapping[str, str]) -> dict[str, object]:
    """Return what a template of ``kind`` shows: every documented value, missing ones empty."""
    shown: dict[str, object] = {
        name: texts.get(name, "")
        for name, value in VALUES[kind].items()
        if value.type is not ValueType.LIST and "." not in name
    }
    if "details" in VALUES[kind]:
        listed = (texts.get(name, "") for name in ("when", "device", "address"))
        shown["details"] = [text for text in listed if text]
    return shown
