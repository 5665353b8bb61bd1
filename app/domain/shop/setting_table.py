"""Each setting of the shop, declared once: how it is checked, typed, named and shown."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum, StrEnum, auto
from typing import Any, TypeAlias

from app.domain.accounts.emails import email_problem
from app.domain.accounts.languages import LANGUAGE_NAMES
from app.domain.mails.design import color_problem
from app.domain.mails.mail import MailKind, MailSender, sender_setting
from app.domain.shop.settings import (
    MAX_GRACE_DAYS,
    PasswordLoginMode,
    ShopSettings,
    ShopUpdate,
    StaffSecondFactor,
)
from app.domain.values.errors import Problem
from app.domain.values.inputs import ABSENT
from app.domain.values.pages import in_utc
from app.domain.values.text import Sentence
from app.domain.values.text_rules import line_problem, prose_problem
from app.domain.values.times import moment_problem

SettingValue: TypeAlias = str | bool | int | datetime | None


class SettingKind(Enum):
    """The kind of a setting, which decides how it is checked, typed and shown."""

    LINE = auto()
    PROSE = auto()
    EMAIL = auto()
    REDIRECT_URL = auto()
    SWITCH = auto()
    LOGIN_MODE = auto()
    MOMENT = auto()
    SECOND_FACTOR = auto()
    DAYS = auto()
    NUMBER = auto()
    COLOR = auto()
    LANGUAGE = auto()
    MAIL_SENDER = auto()

    @property
    def is_text(self) -> bool:
        return self in _TEXTS

    @property
    def is_switch(self) -> bool:
        return self is SettingKind.SWITCH

    @property
    def choices(self) -> type[StrEnum] | None:
        """What a setting of this kind is chosen among; ``None`` for what is entered."""
        return _CHOICES.get(self)


_TEXTS = (
    SettingKind.LINE,
    SettingKind.PROSE,
    SettingKind.EMAIL,
    SettingKind.REDIRECT_URL,
    SettingKind.COLOR,
    SettingKind.LANGUAGE,
)


_CHOICES: Mapping[SettingKind, type[StrEnum]] = {
    SettingKind.LOGIN_MODE: PasswordLoginMode,
    SettingKind.SECOND_FACTOR: StaffSecondFactor,
    SettingKind.MAIL_SENDER: MailSender,
}


class SettingGroup(StrEnum):
    """The settings that are changed together in the console; the value is part of its URLs."""

    SHOP = "shop"
    MAIL = "mail"
    MAIL_DESIGN = "mail-design"
    MAIL_SENDERS = "mail-senders"
    LINKS = "links"
    ACCOUNTS = "accounts"
    HOSTED_PAGES = "hosted-pages"
    ACCESS = "access"
    SECOND_FACTOR = "second-factor"
    WEBHOOK_ALERTS = "webhook-alerts"


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting as the service, the API, the command line, the console and the docs know it.

    ``name`` is its attribute in ``ShopSettings`` and the record; ``label`` and
    ``help`` are English; pages of the console translate them. ``max_length`` counts characters of
    a text, ``most`` is the highest number, from 1 on. ``PublicShop`` decides whether anyone can
    read it.
    """

    name: str
    label: Sentence
    kind: SettingKind
    group: SettingGroup
    help: Sentence
    max_length: int = 0
    is_required: bool = False
    most: int = 0

    @property
    def api_name(self) -> str:
        """The field's name in GraphQL and in JSON output, in camel case."""
        first, *rest = self.name.split("_")
        return first + "".join(word.capitalize() for word in rest)

    @property
    def option(self) -> str:
        """The setting's name on the command line."""
        return self.name.replace("_", "-")

    def read(self, shop: ShopSettings) -> SettingValue:
        """Return the setting's value in ``shop``."""
        value: SettingValue = getattr(shop, self.name)
        return value

    def typed(self, stored: SettingValue) -> SettingValue:
        """Return a value that is ``stored``: a choice as what it is chosen among."""
        choices = self.kind.choices
        return stored if choices is None else choices(str(stored))

    def read_text(self, shop: ShopSettings) -> str | bool | int:
        """Return the setting's value in ``shop`` as JSON and the audit log have it."""
        value = self.read(shop)
        if value is None or isinstance(value, datetime):
            return value.isoformat() if value else ""
        return value

    def update(self, value: object) -> ShopUpdate:
        """Return the update that changes this setting alone."""
        values: dict[str, Any] = {self.name: value}
        return ShopUpdate(**values)

    def problem(self, value: object) -> Problem | None:
        """Return why ``value`` is refused, or ``None``; texts must not be null."""
        if self.kind.is_text:
            return self._text_problem(str(value))
        if value is not None:
            return self._value_problem(value)
        if self.kind is SettingKind.MOMENT:
            return None
        if self.is_required:
            return Problem("REQUIRED", "This is required.", self.api_name)
        return Problem("INVALID", "Say true or false.", self.api_name)

    def _value_problem(self, value: object) -> Problem | None:
        if isinstance(value, int) and self.kind is SettingKind.DAYS:
            return self._days_problem(value)
        if isinstance(value, int) and self.kind is SettingKind.NUMBER:
            return self._number_problem(value)
        if isinstance(value, datetime):
            return moment_problem(value, self.api_name)
        choices = self.kind.choices
        if choices is not None and value not in {*choices}:
            values = {"choices": ", ".join(choices)}
            return Problem("INVALID", "Choose {choices}.", self.api_name, values=values)
        return None

    def _days_problem(self, days: int) -> Problem | None:
        if 0 <= days <= MAX_GRACE_DAYS:
            return None
        message = "Enter a number of days from 0 to {most}."
        return Problem("INVALID", message, self.api_name, values={"most": MAX_GRACE_DAYS})

    def _number_problem(self, number: int) -> Problem | None:
        if 1 <= number <= self.most:
            return None
        message = "Enter a number from 1 to {most}."
        return Problem("INVALID", message, self.api_name, values={"most": self.most})

    def _language_problem(self, code: str) -> Problem | None:
        if code in LANGUAGE_NAMES:
            return None
        message = "Unknown language. Enter a code such as EN or PT_BR."
        return Problem("INVALID", message, self.api_name)

    def _text_problem(self, text: str) -> Problem | None:
        if self.is_required and not text.strip():
            return Problem("REQUIRED", "This is required.", self.api_name)
        if self.kind is SettingKind.COLOR:
            return color_problem(text, self.api_name)
        if self.kind is SettingKind.LANGUAGE:
            return self._language_problem(text)
        check = prose_problem if self.kind is SettingKind.PROSE else line_problem
        problem = check(text, self.api_name, max_length=self.max_length)
        if problem is None and self.kind is SettingKind.EMAIL and text:
            problem = email_problem(text, self.api_name)
        return problem


def _mail_sender(kind: MailKind, label: Sentence) -> Setting:
    return Setting(
        sender_setting(kind),
        label,
        SettingKind.MAIL_SENDER,
        SettingGroup.MAIL_SENDERS,
        f"Who sends {label[0].lower()}{label[1:]}: the shop (OURS), an app (APP) or both (BOTH). "
        "The shop sends them too if no app can.",
        is_required=True,
    )


SETTINGS = (
    Setting(
        "name",
        "Shop name",
        SettingKind.LINE,
        SettingGroup.SHOP,
        "Shown in emails and on sign-in pages.",
        max_length=256,
        is_required=True,
    ),
    Setting(
        "description",
        "Description",
        SettingKind.PROSE,
        SettingGroup.SHOP,
        "What the shop sells.",
        max_length=10_000,
    ),
    Setting(
        "password_login_mode",
        "Password login",
        SettingKind.LOGIN_MODE,
        SettingGroup.ACCESS,
        "Who can sign in with a password.",
        is_required=True,
    ),
    Setting(
        "allow_storefront_traffic",
        "Storefront traffic",
        SettingKind.SWITCH,
        SettingGroup.ACCESS,
        "Whether customers and anonymous callers can use the API.",
    ),
    Setting(
        "storefront_note",
        "Reason for closing",
        SettingKind.LINE,
        SettingGroup.ACCESS,
        "Why the storefront is closed, for staff; empty while it is open.",
        max_length=256,
    ),
    Setting(
        "storefront_opens_at",
        "Storefront opens at",
        SettingKind.MOMENT,
        SettingGroup.ACCESS,
        "When a closed storefront opens automatically. Without a time, it stays closed "
        "until someone opens it.",
    ),
    Setting(
        "default_mail_sender_name",
        "Sender name",
        SettingKind.LINE,
        SettingGroup.MAIL,
        "The name that emails come from; without one, the shop's name.",
        max_length=256,
    ),
    Setting(
        "default_mail_sender_address",
        "Sender email",
        SettingKind.EMAIL,
        SettingGroup.MAIL,
        "The address that emails come from; without one, noreply at the shop's host.",
        max_length=254,
    ),
    Setting(
        "mail_reply_to",
        "Reply-to email",
        SettingKind.EMAIL,
        SettingGroup.MAIL,
        "The address that replies go to; without one, the sender email.",
        max_length=254,
    ),
    Setting(
        "accent_color",
        "Accent color",
        SettingKind.COLOR,
        SettingGroup.MAIL_DESIGN,
        "The color of buttons and links in emails.",
        max_length=7,
        is_required=True,
    ),
    Setting(
        "mail_footer",
        "Footer",
        SettingKind.PROSE,
        SettingGroup.MAIL_DESIGN,
        "A text below every email, such as opening hours or how to contact you.",
        max_length=1000,
    ),
    Setting(
        "mail_legal_line",
        "Legal line",
        SettingKind.LINE,
        SettingGroup.MAIL_DESIGN,
        "The last line of every email, such as company name, address and registration.",
        max_length=512,
    ),
    Setting(
        "default_language",
        "Default language",
        SettingKind.LANGUAGE,
        SettingGroup.MAIL,
        "The language of emails to people whose language isn't available.",
        max_length=35,
        is_required=True,
    ),
    _mail_sender(MailKind.PASSWORD_RESET, "Password reset emails"),
    _mail_sender(MailKind.ACCOUNT_CONFIRMATION, "Account confirmation emails"),
    _mail_sender(MailKind.EMAIL_CHANGE_REQUEST, "Email change requests"),
    _mail_sender(MailKind.CUSTOMER_INVITATION, "Customer invitations"),
    _mail_sender(MailKind.STAFF_INVITATION, "Staff invitations"),
    Setting(
        "customer_set_password_url",
        "Set-password page",
        SettingKind.REDIRECT_URL,
        SettingGroup.LINKS,
        "The page of the storefront where invited customers set their password.",
        max_length=1024,
    ),
    Setting(
        "enable_account_confirmation_by_email",
        "Confirm email of new customers",
        SettingKind.SWITCH,
        SettingGroup.ACCOUNTS,
        "Whether new customers confirm their email.",
    ),
    Setting(
        "allow_login_without_confirmation",
        "Sign in before confirmation",
        SettingKind.SWITCH,
        SettingGroup.ACCOUNTS,
        "Whether customers can sign in before they confirm their email.",
    ),
    Setting(
        "hosted_pages",
        "Hosted pages",
        SettingKind.SWITCH,
        SettingGroup.HOSTED_PAGES,
        "Whether customers can sign in and manage their account at /account/.",
    ),
    Setting(
        "hosted_password_login",
        "Offer passwords",
        SettingKind.SWITCH,
        SettingGroup.HOSTED_PAGES,
        "Whether hosted pages offer to sign in and register with a password.",
    ),
    Setting(
        "hosted_passkey_login",
        "Offer passkeys",
        SettingKind.SWITCH,
        SettingGroup.HOSTED_PAGES,
        "Whether hosted pages offer to sign in with a passkey and to add passkeys.",
    ),
    Setting(
        "hosted_provider_login",
        "Offer identity providers",
        SettingKind.SWITCH,
        SettingGroup.HOSTED_PAGES,
        "Whether hosted pages offer to sign in with each active identity provider.",
    ),
    Setting(
        "email_code_login",
        "Codes by email",
        SettingKind.SWITCH,
        SettingGroup.HOSTED_PAGES,
        "Whether people can sign in with a code sent by email, on hosted pages and through the "
        "API.",
    ),
    Setting(
        "staff_second_factor",
        "Second factor for staff",
        SettingKind.SECOND_FACTOR,
        SettingGroup.SECOND_FACTOR,
        "Whether staff need a second factor for their staff permissions.",
        is_required=True,
    ),
    Setting(
        "second_factor_grace_days",
        "Grace period in days",
        SettingKind.DAYS,
        SettingGroup.SECOND_FACTOR,
        "For how many days staff without a second factor keep their permissions after it became "
        "required.",
        is_required=True,
    ),
    Setting(
        "webhook_alerts",
        "Webhook alerts",
        SettingKind.SWITCH,
        SettingGroup.WEBHOOK_ALERTS,
        "Whether an email is sent when a webhook starts failing, and when it works again.",
    ),
    Setting(
        "webhook_alert_failures",
        "Failures in a row",
        SettingKind.NUMBER,
        SettingGroup.WEBHOOK_ALERTS,
        "How many attempts in a row must fail for an alert.",
        is_required=True,
        most=100,
    ),
    Setting(
        "webhook_alert_percent",
        "Failures in percent",
        SettingKind.NUMBER,
        SettingGroup.WEBHOOK_ALERTS,
        "Which share of the attempts of 15 minutes must fail for an alert.",
        is_required=True,
        most=100,
    ),
    Setting(
        "webhook_alert_attempts",
        "Attempts at least",
        SettingKind.NUMBER,
        SettingGroup.WEBHOOK_ALERTS,
        "How many attempts there must be in 15 minutes for the share to count.",
        is_required=True,
        most=1000,
    ),
)
"""Every setting of the shop, in the order in which they are shown."""


def settings_in(group: SettingGroup) -> tuple[Setting, ...]:
    """Return the settings of ``group``, in the order in which they are shown."""
    return tuple(setting for setting in SETTINGS if setting.group is group)


def shop_facts(shop: ShopSettings) -> dict[str, object]:
    """Return the value of each setting, as the audit log has it."""
    return {setting.name: setting.read_text(shop) for setting in SETTINGS}


def read_back(setting: Setting, value: object) -> SettingValue:
    """Return the value of a setting from what ``shop_facts`` says of it."""
    if setting.kind is SettingKind.MOMENT:
        return datetime.fromisoformat(str(value)) if value else None
    return value if isinstance(value, bool | int) else setting.typed(str(value))


def given_values(update: ShopUpdate) -> Iterator[tuple[Setting, object]]:
    """Yield each setting that ``update`` names with its new value; a null text is empty."""
    for setting in SETTINGS:
        value = getattr(update, setting.name, ABSENT)
        if isinstance(value, datetime):
            yield setting, in_utc(value)
        elif value is not ABSENT:
            yield setting, "" if value is None and setting.kind.is_text else value
