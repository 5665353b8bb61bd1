"""Emails: their look with a preview of each, the logo, a test to oneself, and who sends them.

The preview shows what was entered, saved or not: the form is sent to ``preview``, by a button or
by script as it is filled in.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from flask import flash, request, url_for
from werkzeug.datastructures import MultiDict
from werkzeug.exceptions import NotFound
from werkzeug.wrappers import Response as BaseResponse

from app.console.frame.forms import EditForm, uploaded_image
from app.console.frame.navigation import EMAILS, Entry, PageGroup, can_open
from app.console.frame.page_layout import page, redirect_to, redirect_with_success, refused_page
from app.console.frame.session import actor, ports
from app.console.frame.submissions import entered_before, entered_fields, redirect_with_entered
from app.console.shop import mail_previews
from app.console.shop.shop_settings import (
    GroupHeading,
    bound_form,
    changes_of,
    make_form,
    make_section,
    take_form,
)
from app.domain.accounts.languages import SHIPPED_LANGUAGES
from app.domain.mails.design import MAX_HEIGHT, MAX_LOGO_SIZE, MAX_WIDTH, logo_path
from app.domain.mails.mail import (
    KIND_LABELS,
    LINK_EVENTS,
    MailKind,
    kinds_without_app,
    sender_setting,
)
from app.domain.mails.own_templates import VALUES
from app.domain.shop.setting_table import SettingGroup
from app.domain.shop.settings import ShopSettings, ShopUpdate
from app.domain.values.errors import Refused
from app.domain.values.text import translatable
from app.services.console.home import sends_mail
from app.services.mails.mail_templates import preview_mail, send_test_mail
from app.services.shop.settings import delete_logo, show_settings, update_logo, update_shop
from app.services.webhooks.subscribers import list_link_apps
from app.web.converters import one_of
from app.web.translation import enumeration, reasons_text, text, texts

_MEBIBYTE = 1024 * 1024
_DARK, _LIGHT = "dark", "light"

_LOOK = GroupHeading(
    translatable("Design"),
    translatable("How your shop's emails look."),
    translatable("Save design"),
    translatable("Design saved. It applies to emails that are sent from now on."),
)
SENDING = {
    SettingGroup.MAIL: GroupHeading(
        translatable("Sender"),
        translatable("Who your shop's emails come from."),
        translatable("Save sender"),
        translatable("Sender saved. New emails come from {sender}."),
    ),
    SettingGroup.LINKS: GroupHeading(
        translatable("Links in emails"),
        translatable("Pages of your storefront that customers open from an email."),
        translatable("Save links"),
        translatable("Links saved. Emails that were sent before keep their links."),
    ),
    SettingGroup.MAIL_SENDERS: GroupHeading(
        translatable("Who sends emails with a link"),
        translatable(
            "An app can send these emails instead of this shop. This shop sends its own email if "
            "no active app can get the link, if the app fails, and 30 minutes after the request "
            "at the latest. Staff with more permissions than the app, and people who request a "
            "link again within a day, get this shop's email immediately."
        ),
        translatable("Save senders"),
        translatable("Senders saved. Waiting emails are sent now if this shop sends them again."),
    ),
}
"""The groups of settings on the page about sending, in its order."""

_NOT_SENT = translatable(
    "Mail isn't sent: it's written to a file on the server until a server administrator connects "
    "a mail server (MAIL_URL)."
)
_KINDS = {sender_setting(kind): kind for kind in LINK_EVENTS}
LinkApps = Mapping[MailKind, tuple[str, ...]]
"""The names of the apps that can send each kind of email."""


SUBJECTS = {
    "account": translatable("Accounts"),
    "notice": translatable("Security notices"),
    "webhook": translatable("Apps"),
}
"""What emails are about; the key is what ``subject_of`` returns."""


def subject_of(kind: MailKind) -> str:
    names = VALUES[kind]
    return "webhook" if "webhook" in names else "notice" if "when" in names else "account"


blueprint = PageGroup(
    "emails",
    __name__,
    Entry(
        "Look of emails",
        "envelope",
        "logo design color footer preview test email dark",
        view="look",
        needs=preview_mail,
        area=EMAILS,
    ),
    Entry(
        "Sending of emails",
        "envelope",
        "sender mail email from reply links default language app",
        view="sending",
        needs=preview_mail,
        area=EMAILS,
    ),
    url_prefix="/emails",
)


@blueprint.get("/")
def index() -> BaseResponse:
    """Lead to the first page about emails that the person can open."""
    opens = can_open(actor(), "console.mail_templates.index")
    return redirect_to("console.mail_templates.index" if opens else "console.mails.index")


@blueprint.get("/look")
def look() -> BaseResponse:
    """Show an email in the shop's look, or in the one that was entered before."""
    shop = show_settings(ports(), actor())
    entered = entered_before()
    if entered is None:
        return _look_page(make_form(SettingGroup.MAIL_DESIGN, shop), _chosen(request.args))
    form = _entered_form(shop, entered)
    return _look_page(form, _chosen(entered), key=request.args["entered"])


@blueprint.get("/look/html")
def framed() -> BaseResponse:
    """Show the email's HTML, for the frame."""
    entered = entered_before()
    place = _chosen(request.args if entered is None else entered)
    design = None
    if entered is not None:
        form = _entered_form(show_settings(ports(), actor()), entered)
        design = changes_of(SettingGroup.MAIL_DESIGN, form)
    mail = preview_mail(ports(), actor(), place.kind, place.language, design)
    return mail_previews.framed_email(
        mail_previews.with_appearance(mail.html, is_dark=place.is_dark), mail.logo
    )


@blueprint.post("/look/preview")
def preview() -> BaseResponse:
    """Show the email in the look that was entered; nothing is saved."""
    form, place = _taken_look()
    try:
        preview_mail(ports(), actor(), place.kind, place.language, _design(form))
    except Refused as refused:
        return _refused_look(form, place, refused)
    return redirect_with_entered(entered_fields(), "console.emails.look")


@blueprint.post("/look/test")
def send_test() -> BaseResponse:
    """Send the email to the caller, in the look that was entered."""
    form, place = _taken_look()
    try:
        email = send_test_mail(ports(), actor(), place.kind, place.language, _design(form))
    except Refused as refused:
        return _refused_look(form, place, refused)
    flash(mail_previews.sent_test_message(email, is_sent=sends_mail(ports(), actor())), "ok")
    return redirect_with_entered(entered_fields(), "console.emails.look")


@blueprint.post("/look")
def save_look() -> BaseResponse:
    """Save the look, which emails have from now on."""
    shop = show_settings(ports(), actor())
    place = _chosen(request.form)
    address = url_for("console.emails.look", **place.parameters)
    form = take_form(SettingGroup.MAIL_DESIGN, shop, address)
    if form.is_continued:
        return _look_page(form, place, show=refused_page)
    try:
        update_shop(ports(), actor(), changes_of(SettingGroup.MAIL_DESIGN, form, shop))
    except Refused as refused:
        return _refused_look(form, place, refused)
    return redirect_with_success(text(_LOOK.saved), "console.emails.look", **place.parameters)


@blueprint.post("/look/logo")
def save_logo() -> BaseResponse:
    """Show another logo in emails; what is no image, or too large, is refused with the reason."""
    try:
        update_logo(ports(), actor(), uploaded_image(MAX_LOGO_SIZE))
    except Refused as refused:
        form = make_form(SettingGroup.MAIL_DESIGN, show_settings(ports(), actor()))
        place, error = _chosen(request.args), reasons_text(refused)
        return _look_page(form, place, show=refused_page, logo_error=error)
    return redirect_with_success(text("Logo saved. New emails show it."), "console.emails.look")


@blueprint.post("/look/logo/remove")
def remove_logo() -> BaseResponse:
    """Show the shop's name instead of a logo."""
    delete_logo(ports(), actor())
    message = text("Logo removed. New emails show the shop's name.")
    return redirect_with_success(message, "console.emails.look")


@blueprint.get("/sending")
def sending() -> BaseResponse:
    """Show who emails come from, where their links lead, and which of them apps send."""
    return _sending_page(show_settings(ports(), actor()))


@blueprint.post("/sending/<slug:name>")
def save_sending(name: str) -> BaseResponse:
    """Save the settings of the group ``name``, and leave the others alone."""
    shop = show_settings(ports(), actor())
    if name not in SENDING:
        raise NotFound
    group = SettingGroup(name)
    form = take_form(group, shop, url_for("console.emails.sending", _anchor=name))
    if not form.is_continued:
        with form.catching_refusals():
            saved = update_shop(ports(), actor(), changes_of(group, form, shop))
            sender = saved.default_mail_sender_name or saved.name
            message = text(SENDING[group].saved, sender=sender)
            return redirect_with_success(message, "console.emails.sending", _anchor=name)
    return _sending_page(shop, {group: form}, refused_page)


@dataclass(frozen=True, slots=True)
class _Place:
    """Which email is shown, and how."""

    kind: MailKind
    language: str
    is_dark: bool

    @property
    def parameters(self) -> dict[str, Any]:
        appearance = _DARK if self.is_dark else _LIGHT
        return {"kind": self.kind.value, "language": self.language, "appearance": appearance}


def _chosen(given: MultiDict[str, str]) -> _Place:
    """Return what is shown; for unknown values the first email, in the shop's language."""
    kind = given.get("kind", MailKind.PASSWORD_RESET, type=MailKind)
    language = given.get("language", "", type=one_of(tuple(SHIPPED_LANGUAGES)))
    if not language:
        usual = show_settings(ports(), actor()).default_language.partition("_")[0]
        language = usual if usual in SHIPPED_LANGUAGES else next(iter(SHIPPED_LANGUAGES))
    return _Place(kind, language, given.get("appearance") == _DARK)


def _taken_look() -> tuple[EditForm, _Place]:
    """Return the form that was sent, without what others saved: it isn't saved now."""
    shop = show_settings(ports(), actor())
    return _entered_form(shop, request.form), _chosen(request.form)


def _entered_form(shop: ShopSettings, entered: MultiDict[str, str]) -> EditForm:
    return bound_form(SettingGroup.MAIL_DESIGN, shop, entered)


def _design(form: EditForm) -> ShopUpdate:
    return changes_of(SettingGroup.MAIL_DESIGN, form)


def _refused_look(form: EditForm, place: _Place, refused: Refused) -> BaseResponse:
    form.refuse(refused)
    return _look_page(form, place, mail_previews.refused_preview(refused), show=refused_page)


def _look_page(
    form: EditForm,
    place: _Place,
    preview: mail_previews.MailPreview | None = None,
    *,
    key: str = "",
    show: Callable[..., BaseResponse] = page,
    logo_error: str = "",
) -> BaseResponse:
    shop = show_settings(ports(), actor())
    if preview is None:
        design = _design(form) if key else None
        mail = preview_mail(ports(), actor(), place.kind, place.language, design)
        parameters = {"entered": key} if key else place.parameters
        frame = url_for("console.emails.framed", **parameters)
        preview = mail_previews.make_mail_preview(mail, frame)
    return mail_previews.with_frame(
        show(
            "emails/look.html",
            section=make_section(SettingGroup.MAIL_DESIGN, _LOOK, form),
            preview=preview,
            place=place.parameters,
            kinds=texts(KIND_LABELS),
            languages=SHIPPED_LANGUAGES,
            appearances={_LIGHT: text("Light"), _DARK: text("Dark")},
            logo=logo_path(shop.logo) if shop.logo else "",
            logo_hint=text(
                "PNG, JPEG, WebP or GIF, up to {megabytes} MiB. Shown at most {width} by {height} "
                "pixels large.",
                megabytes=MAX_LOGO_SIZE // _MEBIBYTE,
                width=MAX_WIDTH // 2,
                height=MAX_HEIGHT // 2,
            ),
            logo_error=logo_error,
            is_sent=sends_mail(ports(), actor()),
        )
    )


_NO_FORMS: Mapping[SettingGroup, EditForm] = {}


def _sending_page(
    shop: ShopSettings,
    sent: Mapping[SettingGroup, EditForm] = _NO_FORMS,
    show: Callable[..., BaseResponse] = page,
) -> BaseResponse:
    forms = {**{group: make_form(group, shop) for group in SENDING}, **sent}
    apps = list_link_apps(ports(), actor())
    notices = {
        SettingGroup.MAIL: "" if sends_mail(ports(), actor()) else text(_NOT_SENT),
        SettingGroup.MAIL_SENDERS: _without_app(forms[SettingGroup.MAIL_SENDERS], apps),
    }
    hints = {name: _apps_hint(apps[kind]) for name, kind in _KINDS.items()}
    sections = [
        make_section(group, heading, forms[group], notices.get(group, ""), hints)
        for group, heading in SENDING.items()
    ]
    return show("emails/sending.html", sections=sections)


def _apps_hint(names: tuple[str, ...]) -> str:
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
