"""Settings, a page for each group of them, saved on its own; and the forms of such groups.

The second factor for staff asks before a change.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any

from flask import flash, request, url_for
from markupsafe import Markup
from werkzeug.datastructures import MultiDict
from werkzeug.exceptions import NotFound
from werkzeug.wrappers import Response as BaseResponse
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
from wtforms.fields.choices import SelectChoice
from wtforms.validators import AnyOf, InputRequired

from app.console.frame.formatting import exact, html_text
from app.console.frame.forms import DaysField, EditedThing, EditForm, NumberField
from app.console.frame.navigation import Entry, Heading, PageGroup
from app.console.frame.page_layout import page, redirect_with_success, refused_page, server_url
from app.console.frame.parts import Consequence, Fact, Question, Tab
from app.console.frame.reauthentication import ask_before_dialog
from app.console.frame.session import actor, now, ports
from app.domain.accounts.languages import SHIPPED_LANGUAGES
from app.domain.mails.mail import MailSender
from app.domain.shop.setting_table import (
    Setting,
    SettingGroup,
    SettingKind,
    given_values,
    settings_in,
    shop_facts,
)
from app.domain.shop.settings import (
    MAX_GRACE_DAYS,
    SHOP_ID,
    ShopSettings,
    ShopUpdate,
    StaffSecondFactor,
    with_second_factor,
)
from app.domain.values.inputs import Seen
from app.domain.values.installation import VERSION
from app.domain.values.text import translatable
from app.services.authorization.register import needs_proof
from app.services.shop.impact import SecondFactorCounts, count_second_factors
from app.services.shop.settings import show_settings, update_shop
from app.web.translation import language_name, lazy_text, text

_LABELS = {
    StaffSecondFactor.OPTIONAL: translatable("Optional"),
    StaffSecondFactor.REQUIRED: translatable("Required"),
}
_SENTENCES = {
    StaffSecondFactor.OPTIONAL: translatable("Staff can add a passkey or an authenticator app."),
    StaffSecondFactor.REQUIRED: translatable(
        "Staff without one get customer-level access after the grace period."
    ),
}


class SecondFactorForm(EditForm):
    """Whether staff need a second factor, and the grace period."""

    names = {"staffSecondFactor": "factor", "secondFactorGraceDays": "grace"}  # noqa: RUF012
    factor = SelectField(
        lazy_text("Second factor for staff"),
        choices=[SelectChoice(rule.value, label) for rule, label in _LABELS.items()],
        validate_choice=False,
        validators=[AnyOf(tuple(_LABELS), lazy_text("Choose one of the options."))],
    )
    grace = DaysField(
        MAX_GRACE_DAYS,
        lazy_text("Grace period in days"),
        validators=[InputRequired(lazy_text("Enter a number of days."))],
    )

    def update(self, seen: Seen | None = None) -> ShopUpdate:
        """Return the change as it was filled in, by someone who has ``seen`` the settings so."""
        return ShopUpdate(
            staff_second_factor=StaffSecondFactor(self.factor.data),
            second_factor_grace_days=self.grace.data,
            seen=seen,
        )


def _stored_rule(shop: ShopSettings) -> dict[str, object]:
    return {"factor": shop.staff_second_factor.value, "grace": shop.second_factor_grace_days}


@dataclass(frozen=True, slots=True)
class RuleChoice:
    """One of the two rules; ``warnings`` say who would be affected by the other one."""

    value: str
    label: str
    sentence: str
    is_current: bool
    is_chosen: bool
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SecondFactorCard:
    """The card; ``since`` says from when the rule applies."""

    choices: tuple[RuleChoice, ...]
    since: str
    form: SecondFactorForm


def make_second_factor_card(
    shop: ShopSettings, counts: SecondFactorCounts, form: SecondFactorForm | None, now: datetime
) -> SecondFactorCard:
    """Return the card; ``form`` was refused, ``None`` shows the current settings."""
    rule = shop.staff_second_factor
    shown = form or SecondFactorForm.showing(_stored_rule(shop))
    warnings = tuple(_without_factor(counts)) if counts.without else ()
    choices = tuple(
        RuleChoice(
            value=choice.value,
            label=text(label),
            sentence=text(_SENTENCES[choice]),
            is_current=choice is rule,
            is_chosen=choice.value == shown.factor.data,
            warnings=warnings if choice is StaffSecondFactor.REQUIRED else (),
        )
        for choice, label in _LABELS.items()
    )
    return SecondFactorCard(choices, _since(shop, now), shown)


def make_question(
    shop: ShopSettings, update: ShopUpdate, counts: SecondFactorCounts, now: datetime, loaded: str
) -> Question | None:
    """Return the question before ``update``; ``None`` if it changes nothing.

    ``loaded`` is what the form showed before.
    """
    after = _after(shop, update, now)
    if after == shop:
        return None
    is_required = after.staff_second_factor is StaffSecondFactor.REQUIRED
    was_required = shop.staff_second_factor is StaffSecondFactor.REQUIRED
    title, action = _OF_RULE.get((was_required, is_required), _OF_GRACE)
    consequences = _of_optional() if was_required else (Consequence("ok", text(_LATER)),)
    if is_required:
        consequences = tuple(_of_requiring(after, counts, now))
    return Question(
        title=text(title),
        action=text(action),
        endpoint="console.shop_settings.set_second_factor",
        consequences=consequences,
        hidden=(
            ("factor", after.staff_second_factor.value),
            ("grace", str(after.second_factor_grace_days)),
            ("loaded", loaded),
        ),
        is_harmless=not is_required and not was_required,
    )


def saved_second_factor(shop: ShopSettings, now: datetime) -> str:
    if shop.second_factor_from is None:
        return text("A second factor is optional for staff.")
    if shop.second_factor_from <= now:
        return text("Staff need a second factor now.")
    return text("Staff need a second factor from {moment}.", moment=exact(shop.second_factor_from))


_OF_RULE = {
    (False, True): (
        translatable("Require a second factor for staff?"),
        translatable("Require second factor"),
    ),
    (True, False): (
        translatable("Make the second factor optional?"),
        translatable("Make optional"),
    ),
}
"""The question and its button, by whether a factor was required and will be."""

_LATER = translatable("Applies when you require a second factor. Access doesn't change now.")
_OF_GRACE = translatable("Change the grace period?"), translatable("Change grace period")


def _of_optional() -> tuple[Consequence, ...]:
    back = text("Staff without a second factor get their permissions back at once.")
    return (
        Consequence("bad", back),
        Consequence("ok", text("Staff who have a second factor still sign in with it.")),
    )


def _after(shop: ShopSettings, update: ShopUpdate, now: datetime) -> ShopSettings:
    values: dict[str, Any] = {setting.name: value for setting, value in given_values(update)}
    after = replace(shop, **values)
    return shop if after == shop else with_second_factor(shop, after, now)


def _of_requiring(
    after: ShopSettings, counts: SecondFactorCounts, now: datetime
) -> Iterator[Consequence]:
    begins = after.second_factor_from
    if counts.without:
        yield Consequence("warn", Markup(" ").join(_without_factor(counts)))
        if begins is not None and begins > now:
            yield Consequence(
                "bad",
                html_text("They get customer-level access on {moment}.", moment=exact(begins)),
            )
        else:
            yield Consequence("bad", text("They get customer-level access at once."))
    else:
        yield Consequence("ok", text("All active staff have a second factor."))
    if counts.caller_without:
        first = text("You're one of them. Add a second factor under Sign-in and security first.")
        yield Consequence("warn", first)
    always = text("Staff can always add one when they sign in to this console.")
    yield Consequence("ok", always)
    yield Consequence("ok", text("Customers and apps aren't affected."))


def _without_factor(counts: SecondFactorCounts) -> Iterator[Markup]:
    yield html_text(
        Markup("<b>{count:,} of {all:,} staff</b> has no second factor."),
        Markup("<b>{count:,} of {all:,} staff</b> have no second factor."),
        count=counts.without,
        all=counts.staff,
    )
    if counts.without_by_password:
        yield html_text(
            "{count:,} of them signs in with a password only.",
            "{count:,} of them sign in with a password only.",
            count=counts.without_by_password,
        )


def _since(shop: ShopSettings, now: datetime) -> str:
    begins = shop.second_factor_from
    if begins is None:
        return ""
    if begins <= now:
        return text("Required since {moment}", moment=exact(begins))
    return text("Required from {moment}", moment=exact(begins))


_FIELDS: Mapping[SettingKind, type[Field]] = {
    SettingKind.LINE: StringField,
    SettingKind.PROSE: TextAreaField,
    SettingKind.EMAIL: EmailField,
    SettingKind.REDIRECT_URL: URLField,
    SettingKind.SWITCH: BooleanField,
    SettingKind.COLOR: ColorField,
    SettingKind.NUMBER: NumberField,
    SettingKind.LANGUAGE: SelectField,
    SettingKind.MAIL_SENDER: SelectField,
}
"""The widget of each kind of setting; the two switches of the Access page have none here."""


@dataclass(frozen=True, slots=True)
class GroupHeading:
    """The words of a group of settings; ``saved`` is what saving it says."""

    title: str
    help: str
    action: str
    saved: str


HEADINGS = {
    SettingGroup.SHOP: GroupHeading(
        translatable("Shop"), "", translatable("Save shop"), translatable("Shop settings saved.")
    ),
    SettingGroup.ACCOUNTS: GroupHeading(
        translatable("Customer accounts"),
        translatable("How new customers confirm their email."),
        translatable("Save customer accounts"),
        translatable("Customer account settings saved."),
    ),
    SettingGroup.HOSTED_PAGES: GroupHeading(
        translatable("Hosted pages"),
        translatable("Pages of this server where customers sign in and manage their account."),
        translatable("Save hosted pages"),
        translatable("Hosted pages saved."),
    ),
    SettingGroup.WEBHOOK_ALERTS: GroupHeading(
        translatable("Webhook alerts"),
        translatable(
            "When a webhook starts failing, and when it works again, the app's contact gets an "
            "email; without a contact, staff who manage apps. Home and the audit log show it too."
        ),
        translatable("Save webhook alerts"),
        translatable("Webhook alerts saved."),
    ),
}
"""The groups of settings that are pages of Settings, in their order; others are under Emails."""

_SENDERS = {
    MailSender.OURS: translatable("This shop"),
    MailSender.APP: translatable("An app"),
    MailSender.BOTH: translatable("Both"),
}


@dataclass(frozen=True, slots=True)
class Input:
    field: Field
    hint: str
    is_switch: bool
    attributes: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Section:
    """A group of settings, saved together; ``notice`` is a warning above its fields."""

    id: SettingGroup
    title: str
    help: str
    notice: str
    action: str
    form: EditForm
    inputs: tuple[Input, ...]


def make_form(group: SettingGroup, shop: ShopSettings) -> EditForm:
    return _form_of(group, shop).showing(_stored(group, shop))


def take_form(group: SettingGroup, shop: ShopSettings, address: str) -> EditForm:
    """Return the form of ``group`` that was sent, from the page ``address``."""
    return _form_of(group, shop).from_request(_stored(group, shop), _edited_thing(address))


def bound_form(group: SettingGroup, shop: ShopSettings, entered: MultiDict[str, str]) -> EditForm:
    """Return the form of ``group`` as it was filled in, to be shown or tried but not saved."""
    return _form_of(group, shop)(formdata=entered, meta={"csrf": False})


def changes_of(
    group: SettingGroup, form: EditForm, shop: ShopSettings | None = None
) -> ShopUpdate:
    """Return the change that ``form`` makes, by someone who saw the settings of ``shop``."""
    values = {setting.name: form[setting.name].data for setting in settings_in(group)}
    return ShopUpdate(**values, seen=shop_facts(shop) if shop else None)


def make_section(
    group: SettingGroup,
    heading: GroupHeading,
    form: EditForm,
    notice: str = "",
    hints: Mapping[str, str] = MappingProxyType({}),
) -> Section:
    """Return ``group`` with its form; ``hints`` stand for the help of the settings they name."""
    inputs = tuple(
        Input(
            form[setting.name],
            hints.get(setting.name) or text(setting.help),
            setting.kind.is_switch,
            _attributes(setting),
        )
        for setting in settings_in(group)
    )
    title, action = text(heading.title), text(heading.action)
    return Section(group, title, text(heading.help), notice, action, form, inputs)


def _edited_thing(address: str) -> EditedThing:
    return EditedThing(text("the settings"), address, "Shop", SHOP_ID)


def _form_of(group: SettingGroup, shop: ShopSettings) -> type[EditForm]:
    fields = {setting.name: _field_of(setting, shop) for setting in settings_in(group)}
    return type("SettingsForm", (EditForm,), fields)


def _field_of(setting: Setting, shop: ShopSettings) -> Field:
    kind, label = _FIELDS[setting.kind], text(setting.label)
    if kind is NumberField:
        return kind(setting.most, label)
    if kind is not SelectField:
        return kind(label)
    is_sender = setting.kind is SettingKind.MAIL_SENDER
    offered = _SENDERS.items() if is_sender else _languages(shop)
    return kind(label, choices=[SelectChoice(value, text(words)) for value, words in offered])


def _stored(group: SettingGroup, shop: ShopSettings) -> dict[str, object]:
    return {setting.name: setting.read(shop) for setting in settings_in(group)}


def _languages(shop: ShopSettings) -> list[tuple[str, str]]:
    """Return the shipped languages, and the present one if the API set another."""
    chosen = shop.default_language
    names = {chosen: language_name(chosen), **SHIPPED_LANGUAGES}
    return [(code, names[code]) for code in dict.fromkeys((*SHIPPED_LANGUAGES, chosen))]


def _attributes(setting: Setting) -> dict[str, object]:
    attributes: dict[str, object] = {}
    if setting.max_length:
        attributes["maxlength"] = setting.max_length
    if setting.kind is SettingKind.PROSE:
        attributes["rows"] = 4
    if setting.kind is SettingKind.COLOR:
        attributes["class"] = "form-control form-control-color"
    if setting.kind in (SettingKind.LANGUAGE, SettingKind.MAIL_SENDER):
        return {"class": "form-select"}
    return attributes


blueprint = PageGroup(
    "shop_settings",
    __name__,
    Entry(
        "Settings",
        "gear",
        "shop name description customer accounts confirmation preferences mfa 2fa second factor",
        Heading.SHOP,
        needs=update_shop,
    ),
    url_prefix="/settings",
)


@blueprint.get("/")
def index() -> BaseResponse:
    """Show the first group of settings."""
    return show(SettingGroup.SHOP)


@blueprint.get("/<slug:name>")
def show(name: str) -> BaseResponse:
    """Show a group of settings, which is saved on its own."""
    shop = show_settings(ports(), actor())
    group = _group(name)
    return _page(group, make_form(group, shop))


@blueprint.post("/<slug:name>")
def save(name: str) -> BaseResponse:
    """Save the settings of the group ``name``, and leave the others alone."""
    shop = show_settings(ports(), actor())
    group = _group(name)
    form = take_form(group, shop, url_for("console.shop_settings.show", name=name))
    if not form.is_continued:
        with form.catching_refusals():
            update_shop(ports(), actor(), changes_of(group, form, shop))
            message = text(HEADINGS[group].saved)
            return redirect_with_success(message, "console.shop_settings.show", name=name)
    return _page(group, form, refused_page)


@blueprint.get("/second-factor")
def second_factor() -> BaseResponse:
    """Show whether staff need a second factor; ``ask`` confirms a change of the rule."""
    shop = show_settings(ports(), actor())
    if request.args.get("ask") != SettingGroup.SECOND_FACTOR.value:
        return _second_factor_page(shop)
    form = SecondFactorForm(request.args, meta={"csrf": False})
    if not form.validate():
        return _second_factor_page(shop, form, refused_page)
    update = form.update()
    act = needs_proof(ports(), actor(), update_shop, update)
    if act:
        return ask_before_dialog(act, request.full_path)
    counts = count_second_factors(ports(), actor())
    loaded = form.loaded.data or SecondFactorForm.showing(_stored_rule(shop)).loaded.data
    question = make_question(shop, update, counts, now(), str(loaded))
    if question is None:
        flash(text("There is no change to review."), "info")
    return _second_factor_page(shop, form, question=question)


@blueprint.post("/second-factor")
def set_second_factor() -> BaseResponse:
    """Set whether staff need a second factor, and the grace period."""
    shop = show_settings(ports(), actor())
    address = url_for("console.shop_settings.second_factor")
    form = SecondFactorForm.from_request(_stored_rule(shop), _edited_thing(address))
    if form.validate():
        with form.catching_refusals():
            saved = update_shop(ports(), actor(), form.update(seen=shop_facts(shop)))
            message = saved_second_factor(saved, now())
            return redirect_with_success(message, "console.shop_settings.second_factor")
    return _second_factor_page(shop, form, refused_page)


def _group(name: str) -> SettingGroup:
    if name not in HEADINGS:
        raise NotFound
    return SettingGroup(name)


def _page(
    group: SettingGroup, form: EditForm, show_it: Callable[..., BaseResponse] = page
) -> BaseResponse:
    section = make_section(group, HEADINGS[group], form)
    return show_it("settings/index.html", section=section, **_frame(group))


def _second_factor_page(
    shop: ShopSettings,
    form: SecondFactorForm | None = None,
    show_it: Callable[..., BaseResponse] = page,
    question: Question | None = None,
) -> BaseResponse:
    counts = count_second_factors(ports(), actor())
    return show_it(
        "settings/second_factor.html",
        second_factor=make_second_factor_card(shop, counts, form, now()),
        question=question,
        **_frame(SettingGroup.SECOND_FACTOR),
    )


def _frame(current: SettingGroup) -> dict[str, object]:
    """Return what each page of Settings has: its index, and facts that no setting changes."""
    pages = [
        (group, heading.title, url_for("console.shop_settings.show", name=group.value))
        for group, heading in HEADINGS.items()
    ]
    rule = _RULE_TITLE, url_for("console.shop_settings.second_factor")
    pages.append((SettingGroup.SECOND_FACTOR, *rule))
    return {
        "settings_index": [Tab(text(title), url, at is current) for at, title, url in pages],
        "installation": (
            Fact(text("API URL"), f"{server_url()}/graphql/", is_copied=True),
            Fact(text("Version"), VERSION),
        ),
    }


_RULE_TITLE = translatable("Second factor for staff")
