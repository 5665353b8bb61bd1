"""The view model of the shop's settings: a form for each group, and what was saved."""

from collections.abc import Mapping
from dataclasses import dataclass

from wtforms import (
    BooleanField,
    ColorField,
    EmailField,
    Field,
    SelectField,
    StringField,
    TextAreaField,
    URLField,
)

from app.console.forms import ConsoleForm
from app.console.parts import Fact
from app.domain.accounts.languages import LANGUAGE_NAMES
from app.domain.mails.languages import SHIPPED_LANGUAGES
from app.domain.shop.setting_table import Setting, SettingGroup, SettingKind, settings_in
from app.domain.shop.settings import ShopSettings
from app.domain.values.text import text
from app.domain.values.version import VERSION

_FIELDS: Mapping[SettingKind, type[Field]] = {
    SettingKind.LINE: StringField,
    SettingKind.PROSE: TextAreaField,
    SettingKind.EMAIL: EmailField,
    SettingKind.REDIRECT_URL: URLField,
    SettingKind.SWITCH: BooleanField,
    SettingKind.COLOR: ColorField,
    SettingKind.LANGUAGE: SelectField,
}
"""The widget of each kind of setting; the two switches of the Access page have none here."""


@dataclass(frozen=True, slots=True)
class _Heading:
    title: str
    help: str
    action: str


_HEADINGS = {
    SettingGroup.SHOP: _Heading("Shop", "", "Save shop"),
    SettingGroup.MAIL: _Heading("Mail", "Who emails of your shop come from.", "Save mail"),
    SettingGroup.MAIL_DESIGN: _Heading(
        "Mail design", "How emails of your shop look.", "Save mail design"
    ),
    SettingGroup.LINKS: _Heading(
        "Links in mail",
        "Pages of your storefront that customers open from an email.",
        "Save links",
    ),
    SettingGroup.ACCOUNTS: _Heading(
        "Customer accounts", "How new customers confirm their email.", "Save customer accounts"
    ),
}
GROUPS = tuple(_HEADINGS)
"""The groups of settings on the page, in its order."""


_NOT_SENT = (
    "Mail isn't sent: it's written to a file on the server until a server administrator connects "
    "a mail server (MAIL_URL)."
)


@dataclass(frozen=True, slots=True)
class Input:
    """A field of a form, with its widget."""

    field: Field
    is_switch: bool
    attributes: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Section:
    """A group of settings, saved together."""

    id: SettingGroup
    title: str
    help: str
    notice: str
    action: str
    form: ConsoleForm
    inputs: tuple[Input, ...]


@dataclass(frozen=True, slots=True)
class ShopSettingsPage:
    """The page; ``installation`` are facts that no setting changes."""

    sections: tuple[Section, ...]
    installation: tuple[Fact, ...]


def make_shop_settings_page(
    forms: Mapping[SettingGroup, ConsoleForm], api_url: str, *, sends_mail: bool
) -> ShopSettingsPage:
    """Return the page with ``forms``, one for each of ``GROUPS``."""
    return ShopSettingsPage(
        sections=tuple(_section(group, forms[group], sends_mail=sends_mail) for group in GROUPS),
        installation=(Fact("API URL", api_url, is_copied=True), Fact("Version", VERSION)),
    )


def make_form(group: SettingGroup, shop: ShopSettings, *, is_sent: bool = False) -> ConsoleForm:
    """Return the form of ``group``: as it was sent, else with the settings of ``shop``."""
    fields = {
        setting.name: _FIELDS[setting.kind](setting.label, description=setting.help)
        for setting in settings_in(group)
    }
    form: ConsoleForm = type("SettingsForm", (ConsoleForm,), fields)(
        **({} if is_sent else {"formdata": None, "obj": shop})
    )
    for field in form:
        if isinstance(field, SelectField):
            field.choices = _languages(shop)
    return form


def _languages(shop: ShopSettings) -> list[tuple[str, str]]:
    """Return the shipped languages, and the present one if the API set another."""
    chosen = shop.default_language
    names = {chosen: LANGUAGE_NAMES[chosen], **SHIPPED_LANGUAGES}
    return [(code, names[code]) for code in dict.fromkeys((*SHIPPED_LANGUAGES, chosen))]


def values_of(group: SettingGroup, form: ConsoleForm) -> dict[str, object]:
    """Return the values that were sent, by the name of the setting."""
    return {setting.name: form[setting.name].data for setting in settings_in(group)}


def saved_message(group: SettingGroup, shop: ShopSettings) -> str:
    """Return what changed with the settings of ``group``, in words."""
    if group is SettingGroup.MAIL:
        sender = shop.default_mail_sender_name or shop.name
        return text("Mail settings saved. New emails come from {sender}.", sender=sender)
    if group is SettingGroup.MAIL_DESIGN:
        return "Mail design saved. It applies to emails that are sent from now on."
    if group is SettingGroup.LINKS:
        return "Links saved. Emails that were sent before keep their links."
    if group is SettingGroup.ACCOUNTS:
        return "Customer account settings saved."
    return "Shop settings saved."


def _section(group: SettingGroup, form: ConsoleForm, *, sends_mail: bool) -> Section:
    heading = _HEADINGS[group]
    notice = _NOT_SENT if group is SettingGroup.MAIL and not sends_mail else ""
    inputs = tuple(
        Input(form[setting.name], setting.kind.is_switch, _attributes(setting))
        for setting in settings_in(group)
    )
    return Section(group, heading.title, heading.help, notice, heading.action, form, inputs)


def _attributes(setting: Setting) -> dict[str, object]:
    attributes: dict[str, object] = {}
    if setting.max_length:
        attributes["maxlength"] = setting.max_length
    if setting.kind is SettingKind.PROSE:
        attributes["rows"] = 4
    if setting.kind is SettingKind.COLOR:
        attributes["class"] = "form-control form-control-color"
    if setting.kind is SettingKind.LANGUAGE:
        return {"class": "form-select"}
    return attributes
