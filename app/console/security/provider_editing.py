"""Adding and editing a provider: settings discovered from its issuer, or typed.

A secret is never shown: it is kept unless another one is typed, and can be removed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from urllib.parse import quote

from flask import Blueprint, Response, request, url_for
from markupsafe import Markup
from typing_extensions import override
from werkzeug.wrappers import Response as BaseResponse
from wtforms import BooleanField, SelectField, StringField, URLField
from wtforms.fields.core import UnboundField
from wtforms.validators import InputRequired, Length

from app.console.frame import page_layout
from app.console.frame.formatting import capitalize_first, html_text, tally
from app.console.frame.forms import ConsoleForm, EditedThing, EditForm
from app.console.frame.navigation import Entry, PageGroup
from app.console.frame.parts import Fact
from app.console.frame.session import actor, ports, require
from app.console.frame.submissions import SecretField
from app.console.security.providers_page import Trial, make_preview_card
from app.console.security.single_sign_on import provider_page
from app.domain.authorization.permissions import Permission
from app.domain.single_sign_on.group_mapping import (
    GroupOfClaim,
    read_group_mapping,
    write_group_mapping,
)
from app.domain.single_sign_on.provider_settings import SETTINGS, Setting, SettingType
from app.domain.values.errors import Refused
from app.domain.values.pages import MAX_PAGE_SIZE, PageRequest
from app.domain.values.text import Sentence, translatable
from app.domain.values.text_rules import MAX_NAME_LENGTH
from app.services.shop.impact import BoundedCount
from app.services.single_sign_on.provider_checks import (
    add_provider,
    check_provider,
    discover_provider,
    preview_mapping,
)
from app.services.single_sign_on.provider_coverage import show_provider_coverage
from app.services.single_sign_on.provider_settings import (
    Plugin,
    ProviderUpdate,
    list_mappable_groups,
    list_plugins,
    save_provider,
    show_provider,
)
from app.web.converters import one_of
from app.web.translation import lazy_text, problem_text, reasons_text, text

_SECRET = "client_secret"  # noqa: S105 - the name of a setting
_HINT_IF_SET = translatable("A secret is stored. Leave this empty to keep it, or enter a new one.")
_HINT_IF_EMPTY = translatable(
    "Not set. It is sent to the token URL (client_secret_basic) and never shown again."
)
blueprint = PageGroup(
    "provider_editing",
    __name__,
    Entry(
        "Add identity provider",
        "plus-lg",
        "sso oidc identity new",
        view="new",
        needs=save_provider,
    ),
    url_prefix="/single-sign-on",
)


class AddingForm(ConsoleForm):
    """The settings that adding a provider asks for: all that most providers need."""

    provider = StringField(
        lazy_text("Short name"), validators=[InputRequired(lazy_text("Enter a short name."))]
    )
    name = StringField(
        lazy_text("Name"),
        validators=[InputRequired(lazy_text("Enter a name.")), Length(max=MAX_NAME_LENGTH)],
    )
    issuer = URLField(lazy_text("Issuer"))
    client_id = StringField(lazy_text("Client ID"))
    client_secret = SecretField(lazy_text("Client secret"))


@dataclass(frozen=True, slots=True)
class PresetPart:
    """What people enter of an issuer; an address keeps its scheme and path, a name has neither."""

    name: str
    label: Sentence
    hint: Sentence
    placeholder: str
    is_address: bool = False

    @property
    def field(self) -> str:
        return f"{_PART}{self.name}"

    def value_in(self, entered: str) -> str:
        """Return what stands for it in the issuer."""
        if self.is_address:
            return entered.strip().rstrip("/")
        bare = entered.strip().removeprefix("https://").strip("/")
        return quote(bare, safe="")


_CALLBACK = translatable("Enter it where the provider asks for redirect URIs.")
_CLIENT_ID = translatable("From the provider, where this shop is registered.")
_CLIENT_SECRET = translatable("Never shown again. Leave it empty for a public client.")


@dataclass(frozen=True, slots=True)
class Preset:
    """What is known of a provider, and where the rest is found there.

    ``issuer`` has the names of ``parts`` in braces; without parts it is whole, and empty if it is
    to be entered. ``settings`` are filled in too.
    """

    name: str
    issuer: str = ""
    parts: tuple[PresetPart, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    callback: Sentence = _CALLBACK
    client_id: Sentence = _CLIENT_ID
    client_secret: Sentence = _CLIENT_SECRET
    steps: tuple[Sentence, ...] = ()
    trust: Sentence = ""


PRESETS = {
    "keycloak": Preset(
        "Keycloak",
        "{address}/realms/{realm}",
        (
            PresetPart(
                "address",
                translatable("Keycloak URL"),
                translatable("With the path, if Keycloak has one."),
                "https://login.example.com",
                is_address=True,
            ),
            PresetPart(
                "realm",
                translatable("Realm"),
                translatable("At the top left of the admin console."),
                "northlight",
            ),
        ),
        callback=translatable("Clients > your client > Settings > Valid redirect URIs"),
        client_id=translatable("Clients > Client ID"),
        client_secret=translatable("Clients > your client > Credentials"),
        steps=(
            translatable("In the realm's admin console, choose Clients, then Create client."),
            translatable("Choose the client type OpenID Connect."),
            translatable("Turn on Client authentication and Standard flow, nothing else."),
            translatable("Enter the callback URL under Valid redirect URIs."),
            translatable("Copy the client secret from the tab Credentials."),
        ),
    ),
    "auth0": Preset(
        "Auth0",
        "https://{domain}/",
        (
            PresetPart(
                "domain",
                translatable("Domain"),
                translatable("Applications > your application > Settings > Domain"),
                "northlight.eu.auth0.com",
            ),
        ),
        {"second_factor_amr": "mfa"},
        callback=translatable(
            "Applications > your application > Settings > Allowed Callback URLs"
        ),
        client_id=translatable("Applications > your application > Settings > Client ID"),
        client_secret=translatable("Applications > your application > Settings > Client Secret"),
        steps=(
            translatable("Choose Applications, then Create Application."),
            translatable("Choose Regular Web Applications."),
            translatable("On the tab Credentials, choose Client Secret (Basic)."),
            translatable("Enter the callback URL under Allowed Callback URLs, then save."),
            translatable("Copy domain, client ID and client secret from the tab Settings."),
        ),
    ),
    "okta": Preset(
        "Okta",
        "https://{domain}/oauth2/{server}",
        (
            PresetPart(
                "domain",
                translatable("Okta domain"),
                translatable("Shown in the menu of your account, at the top right."),
                "northlight.okta.com",
            ),
            PresetPart(
                "server",
                translatable("Authorization server"),
                translatable("Security > API > Authorization Servers. Usually default."),
                "default",
            ),
        ),
        {"subject_claim": "uid", "second_factor_amr": "mfa"},
        callback=translatable("Applications > your app > General > Sign-in redirect URIs"),
        client_id=translatable("Applications > your app > General > Client ID"),
        client_secret=translatable("Applications > your app > General > Client Secrets"),
        steps=(
            translatable("Choose Applications, then Create App Integration."),
            translatable("Choose OIDC - OpenID Connect, then Web Application."),
            translatable("Keep the grant type Authorization Code."),
            translatable("Enter the callback URL under Sign-in redirect URIs."),
            translatable("Assign the people or groups who can sign in."),
        ),
    ),
    "entra": Preset(
        "Microsoft Entra ID",
        "https://login.microsoftonline.com/{tenant}/v2.0",
        (
            PresetPart(
                "tenant",
                translatable("Directory (tenant) ID"),
                translatable("App registrations > your application > Overview"),
                "8f1b2c3d-0000-4000-8000-9a8b7c6d5e4f",
            ),
        ),
        callback=translatable("App registrations > your application > Authentication > Web"),
        client_id=translatable(
            "App registrations > your application > Overview > Application (client) ID"
        ),
        client_secret=translatable(
            "Certificates & secrets > New client secret > Value. It expires: note when."
        ),
        steps=(
            translatable("Choose App registrations, then New registration."),
            translatable("Choose accounts in this organizational directory only."),
            translatable("Choose the platform Web and enter the callback URL."),
            translatable("Under Certificates & secrets, create a client secret."),
            translatable("Under Token configuration, add the optional claim email to ID tokens."),
        ),
        trust=translatable(
            "Entra ID doesn't say whether an email is verified. Turn this on only for a single "
            "tenant whose administrators set the emails."
        ),
    ),
    "google": Preset(
        "Google",
        "https://accounts.google.com",
        callback=translatable("Google Auth Platform > Clients > Authorized redirect URIs"),
        client_id=translatable("Google Auth Platform > Clients > your client"),
        client_secret=translatable("Shown when the client is created, and under Client secrets."),
        steps=(
            translatable("In the Google Cloud console, open Google Auth Platform, then Clients."),
            translatable("Choose Create client, then Web application."),
            translatable("Enter the callback URL under Authorized redirect URIs."),
            translatable("Copy client ID and client secret."),
        ),
    ),
    "other": Preset("OpenID Connect"),
}
"""The providers that can be chosen, by the value in the URL; the last one is known by nothing."""

_OTHER = "other"
_PART = "part_"
_TRIES = 9
_BLANK_ROWS = 3
"""Rows of a table that are shown empty, to be filled in."""


def adding_form(preset: Preset) -> type[AddingForm]:
    """Return the form that asks for what ``preset`` doesn't know."""
    if not preset.issuer:
        return AddingForm
    parts = {
        f"{_PART}{part.name}": StringField(
            lazy_text(part.label), validators=[InputRequired(lazy_text("This is required."))]
        )
        for part in preset.parts
    }
    trust = BooleanField(lazy_text("Trust emails from this provider")) if preset.trust else None
    names = {"issuer": next(iter(parts), "client_id")}
    fields = {**parts, "issuer": None, "trust_emails": trust, "names": names}
    return type("PresetForm", (AddingForm,), fields)


def issuer_of(preset: Preset, form: AddingForm) -> str:
    """Return the issuer that was entered, or that follows from the parts that were."""
    if not preset.issuer:
        return (form.issuer.data or "").strip()
    entered = {part.name: part.value_in(form[f"{_PART}{part.name}"].data) for part in preset.parts}
    return preset.issuer.format(**entered)


class GroupTableField(StringField):  # type: ignore[misc]
    """A table of claim values and groups, whose data is the setting's text.

    Its inputs have one name: they are sent in turn, a value and a group in each row. The page of
    conflicts sends the whole text instead.
    """

    rows: tuple[GroupOfClaim, ...] = ()

    @property
    def shown_rows(self) -> tuple[GroupOfClaim, ...]:
        """Return the rows, with empty ones to be filled in."""
        return (*self.rows, *[GroupOfClaim("", "")] * _BLANK_ROWS)

    @override
    def process_data(self, value: object) -> None:
        self.data = str(value or "")
        self.rows = read_group_mapping(self.data)

    @override
    def process_formdata(self, valuelist: list[str]) -> None:
        if len(valuelist) == 1:
            self.process_data(valuelist[0])
        elif valuelist:
            cells = [cell.strip() for cell in valuelist]
            pairs = zip(cells[::2], cells[1::2], strict=False)
            self.rows = tuple(GroupOfClaim(*pair) for pair in pairs if any(pair))
            self.data = write_group_mapping(self.rows)

    @override
    def _value(self) -> str:
        return str(self.data or "")


class DiscoverForm(EditForm):
    issuer = URLField(lazy_text("Issuer"))


class SettingsForm(EditForm):
    """Every setting of a provider; those of ``SETTINGS`` are added below."""

    name = StringField(lazy_text("Name"), validators=[InputRequired(lazy_text("Enter a name."))])
    drops_secret = BooleanField(lazy_text("Remove the secret (public client)"))
    creates_group = BooleanField(lazy_text("Create this group if it doesn't exist"))
    removes_members = BooleanField(lazy_text("Remove people from groups whose rows are removed"))


_FIELDS = {
    SettingType.BOOLEAN: BooleanField,
    SettingType.MULTILINE: GroupTableField,
    SettingType.SECRET: partial(SecretField, unless="drops_secret"),
}


def _field(setting: Setting) -> UnboundField:
    label = lazy_text(setting.label)
    if setting.choices:
        return SelectField(label, choices=setting.choices, description=setting.help)
    return _FIELDS.get(setting.type, StringField)(label, description=setting.help)


for _setting in SETTINGS:
    setattr(SettingsForm, _setting.name, _field(_setting))


@blueprint.route("/new", methods=["GET", "POST"])
def new() -> BaseResponse:
    """Add a provider; its issuer, if given, fills the rest."""
    require(Permission.MANAGE_PLUGINS)
    key = request.values.get("preset", _OTHER, type=one_of(PRESETS))
    preset = PRESETS[key]
    known = None if key == _OTHER else {"name": preset.name, "provider": _free_slug(key)}
    form = adding_form(preset)(data=known)
    if form.validate_on_submit():
        with form.catching_refusals():
            slug = _add(preset, form)
            message = text(
                "{name} was added. Enable it to let people sign in.", name=form.name.data
            )
            return page_layout.redirect_with_success(
                message, "console.single_sign_on.show", slug=slug
            )
    return page_layout.form_page(
        "single_sign_on/new.html",
        form,
        preset=preset,
        preset_key=key,
        presets={name: one.name for name, one in PRESETS.items()}
        | {_OTHER: text("Other provider")},
        callback=_callback(str(form.provider.data or _SLUG)),
        callback_pattern=_callback(_SLUG),
        issuer_pattern=preset.issuer.replace("{", f"{{{_PART}"),
        filled=[
            Fact(text(setting.label), preset.settings[setting.name])
            for setting in SETTINGS
            if setting.name in preset.settings
        ],
    )


_SLUG = "SHORT-NAME"
"""What stands for the short name in a callback URL as long as there is none."""


def _callback(slug: str) -> str:
    """Return the callback URL of a provider with that short name."""
    plugin_id = f"{slug.strip().lower() if slug != _SLUG else slug}.authentication.openidconnect"
    return page_layout.full_url("console.sign_in.finish", plugin_id=plugin_id)


def _free_slug(key: str) -> str:
    """Return a short name that no provider has yet."""
    plugins = list_plugins(ports(), actor(), PageRequest(MAX_PAGE_SIZE)).items
    taken = {plugin.slug for plugin in plugins}
    tried = (key, *(f"{key}-{number}" for number in range(2, _TRIES)))
    return next((slug for slug in tried if slug not in taken), "")


@blueprint.post("/<slug:slug>/discover")
def discover(slug: str) -> BaseResponse:
    """Set the URLs from the provider's discovery document."""
    plugin = show_provider(ports(), actor(), slug)
    stored = _stored(plugin)
    form = DiscoverForm.from_request({"issuer": stored["issuer"]}, _edited_thing(plugin))
    issuer = str(form.issuer.data or "").strip()
    if form.is_continued:
        return _page(plugin, SettingsForm.showing(stored), issuer=issuer)
    try:
        discover_provider(ports(), actor(), slug, issuer, seen=plugin.facts)
    except Refused as refused:
        return _page(plugin, SettingsForm.showing(stored), refused=refused, issuer=issuer)
    message = text("The URLs of {name} were discovered and saved.", name=plugin.name)
    return page_layout.redirect_with_success(message, "console.single_sign_on.show", slug=slug)


@blueprint.route("/<slug:slug>/edit", methods=["GET", "POST"])
def edit(slug: str) -> BaseResponse:
    plugin = show_provider(ports(), actor(), slug)
    if request.method != "POST":
        return _page(plugin, SettingsForm.showing(_stored(plugin)))
    form = SettingsForm.from_request(_stored(plugin), _edited_thing(plugin))
    if form.validate():
        try:
            changes = ProviderUpdate(
                _typed(form),
                name=form.name.data,
                asks_first=True,
                needs_group=not form.creates_group.data,
                removes_members=form.removes_members.data,
                seen=plugin.facts,
            )
            save_provider(ports(), actor(), slug, changes)
        except Refused as refused:
            return _page(plugin, form, refused=refused)
        message = text("The settings of {name} were saved.", name=form.name.data)
        return page_layout.redirect_with_success(message, "console.single_sign_on.show", slug=slug)
    return _page(plugin, form)


def _add(preset: Preset, form: AddingForm) -> str:
    """Add the provider; returns its slug."""
    slug = str(form.provider.data).strip().lower()
    entered = {
        field.name: field.data for field in (form.client_id, form.client_secret) if field.data
    }
    if preset.trust and form["trust_emails"].data:
        entered["trust_emails"] = "true"
    issuer, settings = issuer_of(preset, form), {**preset.settings, **entered}
    add_provider(ports(), actor(), slug, str(form.name.data), issuer, settings)
    return slug


def _stored(plugin: Plugin) -> dict[str, object]:
    """Return what the form edits: the provider's settings without its secret."""
    stored: dict[str, object] = {"name": plugin.name}
    for setting in SETTINGS:
        value = plugin.values[setting.name]
        if setting.type is not SettingType.SECRET:
            is_flag = setting.type is SettingType.BOOLEAN
            stored[setting.name] = value == "true" if is_flag else value
    return stored


def _edited_thing(plugin: Plugin) -> EditedThing:
    address = url_for("console.single_sign_on.show", slug=plugin.slug)
    return EditedThing(plugin.name, address, "IdentityProvider", plugin.key)


def _warning(plugin: Plugin) -> str:
    """Return who would lose their linked account under another issuer."""
    if not plugin.active:
        return ""
    people = show_provider_coverage(ports(), actor(), [plugin.slug])[plugin.slug].people
    return linked_accounts_warning(people)


def linked_accounts_warning(people: BoundedCount) -> str:
    """Return what another issuer does to the people with linked accounts, if there are any."""
    if not people.number:
        return ""
    return html_text(
        Markup(
            "<b>{people} person</b> has a linked account. Changing the issuer unlinks it, and "
            "another client ID can too. A change that would lock out all administrators is "
            "refused."
        ),
        Markup(
            "<b>{people} people</b> have linked accounts. Changing the issuer unlinks them, and "
            "another client ID can too. A change that would lock out all administrators is "
            "refused."
        ),
        count=people.number,
        people=capitalize_first(tally(people)),
    )


def _typed(form: SettingsForm) -> dict[str, str | None]:
    """Return the settings as typed; a secret only if it was typed or is to be removed."""
    typed: dict[str, str | None] = {}
    for setting in SETTINGS:
        value = form[setting.name].data
        if setting.type is SettingType.BOOLEAN:
            typed[setting.name] = "true" if value else "false"
        elif setting.type is not SettingType.SECRET or value:
            typed[setting.name] = value
    if form.drops_secret.data:
        typed[_SECRET] = None
    return typed


def _page(
    plugin: Plugin,
    form: SettingsForm,
    *,
    refused: Refused | None = None,
    issuer: str | None = None,
) -> Response:
    discovering = issuer is not None
    if refused is not None and not discovering:
        form.refuse(refused)
    show = page_layout.refused_page if form.is_submitted() else page_layout.page
    has_secret = bool(plugin.values[_SECRET])
    return show(
        "single_sign_on/edit.html",
        plugin=plugin,
        form=form,
        discover_form=DiscoverForm.showing({"issuer": plugin.values["issuer"]}),
        issuer=issuer if discovering else plugin.values["issuer"],
        wrong=[problem_text(problem) for problem in refused.problems]
        if refused and discovering
        else [],
        has_secret=has_secret,
        secret_hint=text(_HINT_IF_SET if has_secret else _HINT_IF_EMPTY),
        warning=_warning(plugin),
        groups=list_mappable_groups(ports(), actor()),
    )


checks_blueprint = Blueprint("provider_checks", __name__, url_prefix="/single-sign-on")


@checks_blueprint.route("/<slug:slug>/test", methods=["GET", "POST"])
def test(slug: str) -> BaseResponse:
    """Check everything the provider is needed for; no session is created."""
    if request.method == "GET":
        return page_layout.redirect_to("console.single_sign_on.show", slug=slug)
    findings = check_provider(ports(), actor(), slug)
    return provider_page(slug, trial=Trial(findings=findings))


@checks_blueprint.route("/<slug:slug>/preview", methods=["GET", "POST"])
def preview(slug: str) -> BaseResponse:
    """Preview the account for a pasted token; nothing is created or changed."""
    if request.method == "GET":
        return page_layout.redirect_to("console.single_sign_on.show", slug=slug)
    try:
        found = preview_mapping(ports(), actor(), slug, request.form.get("token", ""))
    except Refused as refused:
        if any(problem.field == "provider" for problem in refused.problems):
            raise
        return provider_page(slug, trial=Trial(problem=reasons_text(refused)))
    return provider_page(slug, trial=Trial(preview=make_preview_card(found)))
