"""Settings: the shop's name, mail, links and customer accounts, each saved on its own.

The second factor for staff asks before a change.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from flask import flash, request, url_for
from markupsafe import Markup
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
from app.console.frame.forms import DaysField, EditedThing, EditForm
from app.console.frame.navigation import Entry, Heading, PageGroup
from app.console.frame.page_layout import page, redirect_with_success, refused_page, server_url
from app.console.frame.parts import Consequence, Fact, Question
from app.console.frame.reauthentication import ask_before_dialog
from app.console.frame.session import actor, now, ports
from app.domain.accounts.languages import SHIPPED_LANGUAGES
from app.domain.mails.mail import (
    LINK_EVENTS,
    MailKind,
    MailSender,
    kinds_without_app,
    sender_setting,
)
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
from app.domain.values.errors import Refused
from app.domain.values.inputs import Seen
from app.domain.values.installation import VERSION
from app.domain.values.text import translatable
from app.services.authorization.register import needs_proof
from app.services.console.home import sends_mail
from app.services.shop.impact import SecondFactorCounts, count_second_factors
from app.services.shop.settings import show_settings, update_shop
from app.services.webhooks.subscribers import list_link_apps
from app.web.translation import enumeration, language_name, lazy_text, text

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
    warnings = tuple(_without(counts)) if counts.without else ()
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
    shop: ShopSettings,
    update: ShopUpdate,
    counts: SecondFactorCounts,
    now: datetime,
    loaded: str,
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
    """Return what applies now."""
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
        yield Consequence("warn", Markup(" ").join(_without(counts)))
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


def _without(counts: SecondFactorCounts) -> Iterator[Markup]:
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
    SettingKind.LANGUAGE: SelectField,
    SettingKind.MAIL_SENDER: SelectField,
}
"""The widget of each kind of setting; the two switches of the Access page have none here."""


@dataclass(frozen=True, slots=True)
class _Heading:
    title: str
    help: str
    action: str


_HEADINGS = {
    SettingGroup.SHOP: _Heading(translatable("Shop"), "", translatable("Save shop")),
    SettingGroup.MAIL: _Heading(
        translatable("Mail"),
        translatable("Who emails of your shop come from."),
        translatable("Save mail"),
    ),
    SettingGroup.MAIL_DESIGN: _Heading(
        translatable("Mail design"),
        translatable("How emails of your shop look."),
        translatable("Save mail design"),
    ),
    SettingGroup.MAIL_SENDERS: _Heading(
        translatable("Who sends emails with a link"),
        translatable(
            "An app can send these emails instead of this shop. This shop sends its own email if "
            "no active app can get the link, if the app fails, and 30 minutes after the request "
            "at the latest. Staff with more permissions than the app, and people who request a "
            "link again within a day, get this shop's email at once."
        ),
        translatable("Save senders"),
    ),
    SettingGroup.LINKS: _Heading(
        translatable("Links in mail"),
        translatable("Pages of your storefront that customers open from an email."),
        translatable("Save links"),
    ),
    SettingGroup.ACCOUNTS: _Heading(
        translatable("Customer accounts"),
        translatable("How new customers confirm their email."),
        translatable("Save customer accounts"),
    ),
    SettingGroup.HOSTED_PAGES: _Heading(
        translatable("Hosted pages"),
        translatable("Pages of this server where customers sign in and manage their account."),
        translatable("Save hosted pages"),
    ),
}
GROUPS = tuple(_HEADINGS)
"""The groups of settings on the page, in its order."""


_SENDERS = {
    MailSender.OURS: translatable("This shop"),
    MailSender.APP: translatable("An app"),
    MailSender.BOTH: translatable("Both"),
}
_SAVED = {
    SettingGroup.SHOP: translatable("Shop settings saved."),
    SettingGroup.MAIL_DESIGN: translatable(
        "Mail design saved. It applies to emails that are sent from now on."
    ),
    SettingGroup.MAIL_SENDERS: translatable(
        "Senders saved. Waiting emails are sent now if this shop sends them again."
    ),
    SettingGroup.LINKS: translatable(
        "Links saved. Emails that were sent before keep their links."
    ),
    SettingGroup.ACCOUNTS: translatable("Customer account settings saved."),
    SettingGroup.HOSTED_PAGES: translatable("Hosted pages saved."),
}
_NOT_SENT = translatable(
    "Mail isn't sent: it's written to a file on the server until a server administrator connects "
    "a mail server (MAIL_URL)."
)
_KINDS = {sender_setting(kind): kind for kind in LINK_EVENTS}


LinkApps = Mapping[MailKind, tuple[str, ...]]
"""The names of the apps that can send each kind of email."""


@dataclass(frozen=True, slots=True)
class Input:
    """A field of a form, with its widget."""

    field: Field
    hint: str
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
    form: EditForm
    inputs: tuple[Input, ...]


@dataclass(frozen=True, slots=True)
class ShopSettingsPage:
    """The page; ``installation`` are facts that no setting changes."""

    sections: tuple[Section, ...]
    installation: tuple[Fact, ...]


def make_shop_settings_page(
    forms: Mapping[SettingGroup, EditForm], api_url: str, apps: LinkApps, *, sends_mail: bool
) -> ShopSettingsPage:
    """Return the page with ``forms``, one for each of ``GROUPS``.

    ``apps`` are those that can send emails with a link.
    """
    notices = {
        SettingGroup.MAIL: "" if sends_mail else text(_NOT_SENT),
        SettingGroup.MAIL_SENDERS: _without_app(forms[SettingGroup.MAIL_SENDERS], apps),
    }
    return ShopSettingsPage(
        sections=tuple(
            _section(group, forms[group], notices.get(group, ""), apps) for group in GROUPS
        ),
        installation=(
            Fact(text("API URL"), api_url, is_copied=True),
            Fact(text("Version"), VERSION),
        ),
    )


def make_form(group: SettingGroup, shop: ShopSettings) -> EditForm:
    """Return the form of ``group`` with the settings of ``shop``."""
    return _form_of(group, shop).showing(_stored(group, shop))


def take_form(group: SettingGroup, shop: ShopSettings) -> EditForm:
    """Return the form of ``group`` that was sent, for the settings of ``shop``."""
    return _form_of(group, shop).taken(_stored(group, shop), _thing(group))


def _thing(group: SettingGroup) -> EditedThing:
    address = url_for("console.shop_settings.index", _anchor=group.value)
    return EditedThing(text("the settings"), address, "Shop", SHOP_ID)


def _form_of(group: SettingGroup, shop: ShopSettings) -> type[EditForm]:
    fields = {setting.name: _field_of(setting, shop) for setting in settings_in(group)}
    return type("SettingsForm", (EditForm,), fields)


def _field_of(setting: Setting, shop: ShopSettings) -> Field:
    kind, label = _FIELDS[setting.kind], text(setting.label)
    if kind is not SelectField:
        return kind(label)
    offered = _SENDERS.items() if setting.name in _KINDS else _languages(shop)
    return kind(label, choices=[SelectChoice(value, text(words)) for value, words in offered])


def _stored(group: SettingGroup, shop: ShopSettings) -> dict[str, object]:
    return {setting.name: setting.read(shop) for setting in settings_in(group)}


def _languages(shop: ShopSettings) -> list[tuple[str, str]]:
    """Return the shipped languages, and the present one if the API set another."""
    chosen = shop.default_language
    names = {chosen: language_name(chosen), **SHIPPED_LANGUAGES}
    return [(code, names[code]) for code in dict.fromkeys((*SHIPPED_LANGUAGES, chosen))]


def saved_message(group: SettingGroup, shop: ShopSettings) -> str:
    if group is SettingGroup.MAIL:
        sender = shop.default_mail_sender_name or shop.name
        return text("Mail settings saved. New emails come from {sender}.", sender=sender)
    return text(_SAVED[group])


def _section(group: SettingGroup, form: EditForm, notice: str, apps: LinkApps) -> Section:
    heading = _HEADINGS[group]
    inputs = tuple(
        Input(
            form[setting.name],
            _hint(setting, apps),
            setting.kind.is_switch,
            _attributes(setting),
        )
        for setting in settings_in(group)
    )
    title, action = text(heading.title), text(heading.action)
    return Section(group, title, text(heading.help), notice, action, form, inputs)


def _hint(setting: Setting, apps: LinkApps) -> str:
    """Return the help of a setting; for who sends an email, which apps can."""
    if setting.name not in _KINDS:
        return text(setting.help)
    names = apps[_KINDS[setting.name]]
    if not names:
        return text("No active app gets these links.")
    return text("Gets these links: {apps}.", apps=enumeration(names))


def _without_app(form: EditForm, apps: LinkApps) -> str:
    """Return a warning about emails that an app is to send, and none can."""
    senders = {kind: str(form[name].data) for name, kind in _KINDS.items()}
    labels = [form[sender_setting(kind)].label.text for kind in kinds_without_app(senders, apps)]
    if not labels:
        return ""
    return text(
        "This shop sends these emails, because no active app gets their links: {emails}.",
        emails=enumeration(labels),
    )


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
        "shop name description sender mail email from links confirmation preferences mfa 2fa",
        Heading.SHOP,
        needs=update_shop,
    ),
    url_prefix="/settings",
)


@blueprint.get("/")
def index() -> BaseResponse:
    """Show the settings, each group in a separate form; ``ask`` confirms a change of the rule."""
    shop = show_settings(ports(), actor())
    if request.args.get("ask") != SettingGroup.SECOND_FACTOR.value:
        return page("settings/index.html", **_values(shop))
    form = SecondFactorForm(request.args, meta={"csrf": False})
    if not form.validate():
        return refused_page("settings/index.html", **_values(shop, factor_form=form))
    update = form.update()
    act = needs_proof(ports(), actor(), update_shop, update)
    if act:
        return ask_before_dialog(act, request.full_path)
    counts = count_second_factors(ports(), actor())
    loaded = form.loaded.data or SecondFactorForm.showing(_stored_rule(shop)).loaded.data
    question = make_question(shop, update, counts, now(), str(loaded))
    if question is None:
        flash(text("There is no change to review."), "info")
    return page("settings/index.html", **_values(shop, factor_form=form), question=question)


@blueprint.post("/second-factor")
def set_second_factor() -> BaseResponse:
    """Set whether staff need a second factor, and the grace period."""
    shop = show_settings(ports(), actor())
    form = SecondFactorForm.taken(_stored_rule(shop), _thing(SettingGroup.SECOND_FACTOR))
    try:
        if not form.validate():
            return refused_page("settings/index.html", **_values(shop, factor_form=form))
        saved = update_shop(ports(), actor(), form.update(seen=shop_facts(shop)))
    except Refused as refused:
        form.refuse(refused)
        return refused_page("settings/index.html", **_values(shop, factor_form=form))
    message = saved_second_factor(saved, now())
    return redirect_with_success(
        message, "console.shop_settings.index", _anchor=SettingGroup.SECOND_FACTOR.value
    )


@blueprint.post("/<slug:name>")
def save(name: str) -> BaseResponse:
    """Save the settings of the group ``name``, and leave the others alone."""
    shop = show_settings(ports(), actor())
    if name not in GROUPS:
        raise NotFound
    group = SettingGroup(name)
    form = take_form(group, shop)
    values = {setting.name: form[setting.name].data for setting in settings_in(group)}
    try:
        if form.is_continued:
            return refused_page("settings/index.html", **_values(shop, {group: form}))
        update = ShopUpdate(**values, seen=shop_facts(shop))
        saved = update_shop(ports(), actor(), update)
    except Refused as refused:
        form.refuse(refused)
        return refused_page("settings/index.html", **_values(shop, {group: form}))
    return redirect_with_success(
        saved_message(group, saved), "console.shop_settings.index", _anchor=name
    )


def _values(
    shop: ShopSettings,
    sent: dict[SettingGroup, EditForm] | None = None,
    factor_form: SecondFactorForm | None = None,
) -> dict[str, object]:
    forms = {group: make_form(group, shop) for group in GROUPS} | (sent or {})
    is_sent = sends_mail(ports(), actor())
    counts = count_second_factors(ports(), actor())
    return {
        "settings": make_shop_settings_page(
            forms,
            f"{server_url()}/graphql/",
            list_link_apps(ports(), actor()),
            sends_mail=is_sent,
        ),
        "second_factor": make_second_factor_card(shop, counts, factor_form, now()),
    }
