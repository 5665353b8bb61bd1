"""The view models of identity providers: their list, and one provider's page."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from markupsafe import Markup

from app.console.frame.formatting import (
    breakable,
    html_text,
    permission_label,
    tally,
    time_element,
)
from app.console.frame.parts import Fact, Pill, lines, link, muted, pill
from app.console.lists.list_page import Column
from app.domain.single_sign_on.group_mapping import describe_group_mapping, read_group_mapping
from app.domain.single_sign_on.provider_settings import (
    FOR_SIGN_IN,
    FOR_TOKENS,
    SETTINGS,
    SettingType,
    SettingValue,
)
from app.domain.single_sign_on.provider_users import ExternalPerson, MappedTo, MappingPreview
from app.domain.single_sign_on.providers import DEFAULT_SLUG
from app.domain.single_sign_on.waiting_changes import ANY_CLIENT, WaitingChange
from app.domain.values.installation import CheckResult, CheckState
from app.domain.values.text import translatable
from app.services.single_sign_on.provider_coverage import ProviderCoverage
from app.services.single_sign_on.provider_settings import Plugin
from app.web.translation import reason_text, text

VIEWS = {
    "overview": translatable("Overview"),
    "test": translatable("Test"),
    "settings": translatable("Settings"),
}
"""The tabs of a provider's page."""


@dataclass(frozen=True, slots=True)
class PreviewCard:
    """A preview: ``state`` is ok, warn or bad."""

    state: str
    title: str
    detail: str
    facts: tuple[Fact, ...]


def make_preview_card(found: MappingPreview) -> PreviewCard:
    state, title, detail = _result(found)
    return PreviewCard(state, title, detail, tuple(_facts(found)))


def _result(found: MappingPreview) -> tuple[str, str, str]:
    if found.outcome is MappedTo.NOBODY:
        return "bad", text("Sign-in would be refused."), reason_text(found.reason)
    account = found.email
    if found.name:
        account = text("{email} ({name})", email=found.email, name=found.name)
    if found.outcome is MappedTo.KNOWN:
        return "ok", text("Matches {account}.", account=account), text("This account is linked.")
    if found.outcome is MappedTo.LINKED:
        title = text("Matches {account}.", account=account)
        return (
            "warn",
            title,
            text("The account would be linked: its email is verified on both sides."),
        )
    title = text("Creates a new account for {account}.", account=account)
    if found.person is not None and not found.person.is_verified:
        return "ok", title, text("It has no password. The provider hasn't verified the email.")
    return "ok", title, text("It has no password.")


def _facts(found: MappingPreview) -> Iterator[Fact]:
    yield Fact(text("Token type"), text(found.kind.value))
    if found.person is not None:
        subject = html_text(Markup("<code>{subject}</code>"), subject=found.person.subject)
        yield Fact(text("Subject (sub)"), subject)
        yield Fact(text("Email at the provider"), _email(found.person))
    if found.outcome is MappedTo.NOBODY:
        return
    yield Fact(text("Account type"), _account_type(found))
    yield Fact(text("Groups"), _groups(found))
    yield Fact(text("Permissions"), _permissions(found))


def _email(person: ExternalPerson) -> str:
    if not person.email:
        return text("None")
    return _with_note(
        person.email, text("verified") if person.is_verified else text("not verified")
    )


def _account_type(found: MappingPreview) -> str:
    if found.becomes_staff:
        return _with_note(text("Staff"), text("assigned by the provider's settings"))
    return text("Staff") if found.is_staff else text("Customer")


def _groups(found: MappingPreview) -> str:
    groups = ", ".join(found.groups) or (
        text("Not shown") if found.rights_hidden else text("None")
    )
    changes = []
    if found.joins:
        changes.append(text("{group} would be assigned", group=", ".join(found.joins)))
    if found.leaves:
        changes.append(text("{group} would be removed", group=", ".join(found.leaves)))
    return _with_note(groups, " · ".join(changes)) if changes else groups


def _permissions(found: MappingPreview) -> str:
    if found.rights_hidden and not found.provider_rules:
        needed = "MANAGE_STAFF" if found.is_staff else "MANAGE_USERS"
        return html_text(
            Markup("To see them, you need <b>{label}</b> (<code>{needed}</code>)."),
            label=permission_label(needed),
            needed=needed,
        )
    if found.permissions is None:
        return text("Not in this token: the provider grants permissions in access tokens.")
    names = ", ".join(permission_label(permission) for permission in found.permissions) or text(
        "None"
    )
    return _with_note(
        names, text("set at the provider") if found.provider_rules else text("set here")
    )


def _with_note(value: str, note: str) -> Markup:
    return html_text(
        Markup('{value} <span class="lk-muted">{note}</span>'), value=value, note=note
    )


@dataclass(frozen=True, slots=True)
class Missing:
    """The labels of the settings that each sign-in method still needs."""

    sign_in: tuple[str, ...]
    tokens: tuple[str, ...]

    @property
    def is_set_up(self) -> bool:
        """Whether one of the methods is available."""
        return not self.sign_in or not self.tokens


@dataclass(frozen=True, slots=True)
class Method:
    """A sign-in method: ``state`` is ok or warn, ``missing`` what it still needs."""

    state: str
    sentence: str
    missing: str


@dataclass(frozen=True, slots=True)
class CheckLine:
    """A result of the connection test; ``command`` is a remedy for the command line."""

    state: str
    outcome: str
    name: str
    message: str
    remedy: str
    command: str


@dataclass(frozen=True, slots=True)
class Trial:
    """What was tried: the connection test's results, or a token's preview or its problem."""

    findings: Sequence[CheckResult] | None = None
    preview: PreviewCard | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class WaitingCard:
    """The changes that wait for confirmation, of the settings at ``version``."""

    changes: tuple[Fact, ...]
    can_confirm: bool
    version: int
    command: str


@dataclass(frozen=True, slots=True)
class ProviderPage:
    """A provider; ``switch`` is on, off or empty: how its state can be changed."""

    status: Pill
    sentence: str
    switch: str
    methods: tuple[Method, ...]
    is_complete: bool
    test_label: str
    checks: tuple[CheckLine, ...] | None
    settings: tuple[Fact, ...]
    command: str
    people: str
    sessions: str
    is_default: bool
    warning: str


def provider_columns(coverage: Mapping[str, ProviderCoverage]) -> tuple[Column[Plugin], ...]:
    """Return the columns of the list; ``coverage`` are people and sessions by provider."""
    return (
        Column("Provider", _title, ("is-cut",), is_title=True),
        Column(
            "Status", lambda plugin: pill(_status(plugin, missing_settings(plugin))), ("is-state",)
        ),
        Column(
            "Sign-in methods",
            lambda plugin: _available(missing_settings(plugin)),
            ("is-cut", "is-some"),
        ),
        Column(
            "Linked accounts", lambda one: tally(coverage[one.slug].people), ("is-num", "is-wide")
        ),
        Column(
            "Active sessions",
            lambda one: tally(coverage[one.slug].sessions),
            ("is-num", "is-wide"),
        ),
        Column("Issuer", _issuer, ("is-extra", "is-name", "is-wide")),
    )


def _title(plugin: Plugin) -> Markup:
    note = text("Default") if plugin.slug == DEFAULT_SLUG else plugin.slug
    return lines(link(plugin.name, "console.single_sign_on.show", slug=plugin.slug), note)


def _issuer(plugin: Plugin) -> Markup:
    issuer = plugin.values["issuer"]
    return (
        Markup("<code>{}</code>").format(breakable(issuer)) if issuer else muted(text("Not set"))
    )


def make_provider_page(
    plugin: Plugin, coverage: ProviderCoverage, trial: Trial = Trial()
) -> ProviderPage:
    """Return the page of one provider, with what was tried."""
    missing = missing_settings(plugin)
    checks = None if trial.findings is None else tuple(_checks(plugin, trial.findings))
    return ProviderPage(
        status=_status(plugin, missing),
        sentence=_sentence(plugin),
        switch=_switch(plugin, missing),
        methods=tuple(_methods(missing)),
        is_complete=not missing.sign_in and not missing.tokens,
        test_label=text("Test connection") if checks is None else text("Test again"),
        checks=checks,
        settings=tuple(
            Fact(text(value.setting.label), _value(value)) for value in plugin.settings
        ),
        command=command_line("flask oidc show", plugin.slug),
        people=tally(coverage.people),
        sessions=tally(coverage.sessions),
        is_default=plugin.slug == DEFAULT_SLUG,
        warning=text(ANY_CLIENT) if plugin.serves_staff_of_any_client else "",
    )


def make_waiting_card(plugin: Plugin, now: datetime, *, can_confirm: bool) -> WaitingCard | None:
    """Return the card of what waits for confirmation; ``None`` if nothing does."""
    if not plugin.waiting:
        return None
    values = plugin.values
    return WaitingCard(
        tuple(
            Fact(_label(change.setting), _change(change, values.get(change.setting, ""), now))
            for change in plugin.waiting
        ),
        can_confirm,
        plugin.version,
        command_line("flask oidc confirm", plugin.slug),
    )


def _label(name: str) -> str:
    return text("Enabled") if name == "active" else text(_SUBJECTS.get(name, name))


def _change(change: WaitingChange, value: str, now: datetime) -> str:
    """Return a change as what it was, what it is, who made it and when."""
    moment = datetime.fromtimestamp(change.at, UTC)
    unset = text("Not set")
    if change.setting == "client_secret":
        value = text("Set, hidden")
    was = change.was
    if change.setting == "group_mapping":
        was, value = describe_group_mapping(was), describe_group_mapping(value)
    return html_text(
        Markup("<code>{was}</code> → <code>{value}</code>, by {name}, {moment}"),
        was=breakable(was or unset),
        value=breakable(value or unset),
        name=change.changer.name or text("unknown"),
        moment=time_element(moment, now),
    )


def missing_settings(plugin: Plugin) -> Missing:
    """Return what each sign-in method still needs."""
    lacks = {
        value.setting.name: text(value.setting.label)
        for value in plugin.settings
        if not value.value
    }
    return Missing(
        sign_in=tuple(lacks[name] for name in FOR_SIGN_IN if name in lacks),
        tokens=tuple(lacks[name] for name in FOR_TOKENS if name in lacks),
    )


def command_line(command: str, slug: str) -> str:
    return command if slug == DEFAULT_SLUG else f"{command} --provider {slug}"


def _available(missing: Missing) -> str:
    return text(_METHODS[not missing.sign_in, not missing.tokens])


_METHODS = {
    (True, True): translatable("Sign-in page, access tokens"),
    (True, False): translatable("Sign-in page"),
    (False, True): translatable("Access tokens"),
    (False, False): translatable("None"),
}
"""The methods by whether the sign-in page and access tokens are available."""


def _status(plugin: Plugin, missing: Missing) -> Pill:
    if plugin.active:
        return Pill("ok", text("Enabled"))
    return Pill("off", text("Disabled")) if missing.is_set_up else Pill("", text("Not set up"))


def _sentence(plugin: Plugin) -> str:
    if plugin.active:
        return text("People can sign in with this identity provider.")
    return text("People can't sign in with this identity provider.")


def _switch(plugin: Plugin, missing: Missing) -> str:
    if plugin.active:
        return "off"
    return "on" if missing.is_set_up else ""


def _methods(missing: Missing) -> Iterator[Method]:
    yield Method(
        "warn" if missing.sign_in else "ok",
        text(
            "Sign-in page: staff sign in to this console with it, and storefronts can use it for "
            "customers."
        ),
        _missing(missing.sign_in),
    )
    yield Method(
        "warn" if missing.tokens else "ok",
        html_text(Markup("Access tokens: API clients send them as <code>Bearer</code> tokens.")),
        _missing(missing.tokens),
    )


def _missing(labels: Sequence[str]) -> str:
    if not labels:
        return ""
    return text("Not available yet. Missing: {labels}.", labels=", ".join(labels))


_STATES = {
    CheckState.FINE: ("ok", translatable("Passed")),
    CheckState.WARNING: ("warn", translatable("Warning")),
    CheckState.FAILED: ("bad", translatable("Failed")),
}
_SUBJECTS = {setting.name: setting.label for setting in SETTINGS} | {
    "active": translatable("Sign-in methods")
}


def _checks(plugin: Plugin, findings: Sequence[CheckResult]) -> Iterator[CheckLine]:
    for finding in findings:
        state, outcome = _STATES[finding.state]
        message, remedy = finding.templates
        is_command = finding.remedy.startswith("flask ")
        yield CheckLine(
            state=state,
            outcome=text(outcome),
            name=text(_SUBJECTS.get(finding.subject, finding.subject)),
            message=text(message or finding.message, **finding.values),
            remedy="" if is_command else text(remedy or finding.remedy, **finding.values),
            command=command_line(finding.remedy, plugin.slug) if is_command else "",
        )


def _value(value: SettingValue) -> str:
    if not value.value:
        return muted(text("Not set"))
    if value.setting.type is SettingType.MULTILINE:
        rows = read_group_mapping(value.value)
        return Markup("<br>").join(
            Markup("<code>{}</code> → {}").format(breakable(row.value), row.group) for row in rows
        )
    if value.setting.type is SettingType.SECRET:
        return muted(text("Set, hidden"))
    if value.setting.type is SettingType.BOOLEAN:
        return text("Yes") if value.value == "true" else text("No")
    return html_text(Markup("<code>{value}</code>"), value=breakable(value.value))
