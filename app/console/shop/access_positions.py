"""The positions of both switches in words, each with its consequences; and the own session."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from flask import url_for
from markupsafe import Markup

from app.console.frame.formatting import clock_element, html_text, tally, time_element
from app.console.frame.parts import Consequence
from app.console.frame.session import SignedInBy
from app.domain.authorization.actor import SessionOrigin
from app.domain.shop.lockouts import Lockout
from app.domain.shop.settings import PasswordLoginMode
from app.domain.values.text import forms, translatable
from app.services.shop.impact import Impact, LoginModeImpact, SignInCounts, StorefrontImpact
from app.services.shop.settings import Closing
from app.services.single_sign_on.own_identities import OwnProvider
from app.web.translation import text


@dataclass(frozen=True, slots=True)
class Position:
    """A position of a switch; ``obstacle`` tells why it can't be chosen."""

    value: str
    label: str
    sentence: str
    state: str
    is_chosen: bool
    is_current: bool
    consequences: tuple[Consequence, ...]
    obstacle: str = ""


@dataclass(frozen=True, slots=True)
class ModeWords:
    """What the page says about a password login mode."""

    label: str
    sentence: str
    question: str
    action: str
    already: str


MODES = {
    PasswordLoginMode.ENABLED: ModeWords(
        translatable("Everyone"),
        translatable("Customers and staff sign in with a password or passkey, or with SSO."),
        translatable("Let everyone sign in with a password?"),
        translatable("Let everyone sign in"),
        translatable(
            "Password login is set to Everyone. Choose another option to see what it changes."
        ),
    ),
    PasswordLoginMode.CUSTOMERS_ONLY: ModeWords(
        translatable("Customers only"),
        translatable(
            "Staff must use SSO. Staff who sign in with a password or passkey get customer-level "
            "access only."
        ),
        translatable("Limit password login to customers?"),
        translatable("Limit to customers"),
        translatable(
            "Password login is limited to customers. Choose another option to see what it changes."
        ),
    ),
    PasswordLoginMode.DISABLED: ModeWords(
        translatable("Off"),
        translatable(
            "Signing in with a password or passkey, refreshing, and changing or resetting a "
            "password are disabled. SSO and apps keep working."
        ),
        translatable("Turn off password login?"),
        translatable("Turn off password login"),
        translatable("Password login is off. Choose another option to see what it changes."),
    ),
}


def mode_position(
    impact: LoginModeImpact, numbers: SignInCounts, chosen: PasswordLoginMode
) -> Position:
    words = MODES[impact.mode]
    return Position(
        value=impact.mode.value,
        label=text(words.label),
        sentence=text(words.sentence),
        state="ok",
        is_chosen=impact.mode is chosen,
        is_current=impact.is_current,
        consequences=mode_consequences(impact, numbers),
        obstacle="" if impact.is_current else _obstacle(impact),
    )


def _obstacle(impact: LoginModeImpact) -> str:
    if impact.refusal:
        return text("Only someone who signed in with SSO can choose this.")
    return lockout_text(impact.lockout)


def lockout_text(lockout: Lockout) -> str:
    """Return why a change would lock everyone out; empty if it wouldn't."""
    return text(lockout.reason.value) if lockout.reason else ""


def mode_consequences(impact: LoginModeImpact, numbers: SignInCounts) -> tuple[Consequence, ...]:
    """Return what a password login mode takes from people and sessions, or has taken."""
    if impact.mode is PasswordLoginMode.ENABLED:
        return ()
    if impact.mode is PasswordLoginMode.DISABLED:
        return tuple(_consequences_of_disabling(impact, numbers))
    return tuple(_consequences_of_limiting(impact, numbers))


def _consequences_of_limiting(
    impact: LoginModeImpact, numbers: SignInCounts
) -> Iterable[Consequence]:
    if impact.staff_losing_rights:
        sentence = _STAFF_LIMITED if impact.is_current else _STAFF_WILL_BE_LIMITED
        staff = html_text(*sentence, count=impact.staff_losing_rights, all=numbers.staff_active)
        yield Consequence("warn", staff)
    else:
        yield Consequence("ok", text("All active staff can sign in with SSO."))
    if impact.staff_sessions:
        sentence = _SESSIONS_LIMITED if impact.is_current else _SESSIONS_WILL_BE_LIMITED
        yield Consequence("warn", html_text(*sentence, count=impact.staff_sessions))


_STAFF_WILL_BE_LIMITED = forms(
    Markup("<b>{count:,} of {all:,} staff</b> has no SSO identity and will lose staff access."),
    Markup("<b>{count:,} of {all:,} staff</b> have no SSO identity and will lose staff access."),
)
_STAFF_LIMITED = forms(
    Markup("<b>{count:,} of {all:,} staff</b> has no SSO identity and no staff access."),
    Markup("<b>{count:,} of {all:,} staff</b> have no SSO identity and no staff access."),
)
_SESSIONS_WILL_BE_LIMITED = forms(
    Markup(
        "<b>{count:,} staff session</b> started with a password or passkey and will lose "
        "staff access."
    ),
    Markup(
        "<b>{count:,} staff sessions</b> started with a password or passkey and will lose "
        "staff access."
    ),
)
_SESSIONS_LIMITED = forms(
    Markup(
        "<b>{count:,} staff session</b> started with a password or passkey and has no staff "
        "access."
    ),
    Markup(
        "<b>{count:,} staff sessions</b> started with a password or passkey and have no staff "
        "access."
    ),
)


def _consequences_of_disabling(
    impact: LoginModeImpact, numbers: SignInCounts
) -> Iterable[Consequence]:
    customers, sessions = impact.customers_losing_access, impact.sessions_rejected
    if customers.number:
        sentence = _CUSTOMERS_REJECTED if impact.is_current else _CUSTOMERS_WILL_BE_REJECTED
        values = {"some": tally(customers), "all": tally(numbers.customers)}
        yield Consequence("bad", html_text(*sentence, count=customers.number, **values))
    if impact.staff_losing_rights:
        sentence = _STAFF_REJECTED if impact.is_current else _STAFF_WILL_BE_REJECTED
        staff = html_text(*sentence, count=impact.staff_losing_rights, all=numbers.staff_active)
        yield Consequence("bad", staff)
    if sessions.number:
        sentence = _SESSIONS_REJECTED if impact.is_current else _SESSIONS_WILL_BE_REJECTED
        yield Consequence(
            "bad", html_text(*sentence, count=sessions.number, tally=tally(sessions))
        )
    if impact.sessions_without_refresh.number:
        ending = impact.sessions_without_refresh
        counted = html_text(*_NOT_REFRESHED, count=ending.number, tally=tally(ending))
        yield Consequence("warn", counted)
    if not (customers.number or impact.staff_losing_rights or sessions.number):
        all_linked = text("All accounts with a password also have an SSO identity.")
        yield Consequence("ok", all_linked)


_CUSTOMERS_WILL_BE_REJECTED = forms(
    Markup("<b>{some} of {all} customers</b> has no other way to sign in."),
    Markup("<b>{some} of {all} customers</b> have no other way to sign in."),
)
_CUSTOMERS_REJECTED = forms(
    Markup("<b>{some} of {all} customers</b> can't sign in: they have no SSO identity."),
    Markup("<b>{some} of {all} customers</b> can't sign in: they have no SSO identity."),
)
_STAFF_WILL_BE_REJECTED = forms(
    Markup("<b>{count:,} of {all:,} staff</b> has no other way to sign in."),
    Markup("<b>{count:,} of {all:,} staff</b> have no other way to sign in."),
)
_STAFF_REJECTED = forms(
    Markup("<b>{count:,} of {all:,} staff</b> can't sign in: they have no SSO identity."),
    Markup("<b>{count:,} of {all:,} staff</b> can't sign in: they have no SSO identity."),
)
_SESSIONS_WILL_BE_REJECTED = forms(
    Markup("<b>{tally} session</b> will stop working until you turn passwords back on."),
    Markup("<b>{tally} sessions</b> will stop working until you turn passwords back on."),
)
_SESSIONS_REJECTED = forms(
    Markup("<b>{tally} session</b> doesn't work until you turn passwords back on."),
    Markup("<b>{tally} sessions</b> don't work until you turn passwords back on."),
)
_NOT_REFRESHED = forms(
    Markup(
        "<b>{tally} SSO session</b> can't be refreshed by its identity provider: the person has "
        "to sign in again when the access token expires."
    ),
    Markup(
        "<b>{tally} SSO sessions</b> can't be refreshed by their identity provider: people have "
        "to sign in again when the access token expires."
    ),
)


def storefront_position(impact: StorefrontImpact, found: Impact, *, is_open: bool) -> Position:
    allow = impact.allow_storefront_traffic
    return Position(
        value="true" if allow else "false",
        label=text("Open") if allow else text("Closed"),
        sentence=text("Anyone can reach the API: visitors, customers, staff and apps.")
        if allow
        else text(
            "Only staff and apps with a valid token can reach the API. Others get a 401 error."
        ),
        state="ok" if allow else "warn",
        is_chosen=allow is is_open,
        is_current=impact.is_current,
        consequences=() if allow else tuple(_consequences_of_closing(impact, found)),
    )


def _consequences_of_closing(impact: StorefrontImpact, found: Impact) -> Iterable[Consequence]:
    """Yield what the present closing says and rejected, or what a closing would reject."""
    if found.closing is None:
        yield _would_be_rejected(impact)
        return
    about = closing_text(found.closing, found.counted_at)
    if about:
        yield Consequence("warn", about)
    yield Consequence("warn" if found.rejected else "ok", rejected_requests(found.rejected))


def _would_be_rejected(impact: StorefrontImpact) -> Consequence:
    sentence = html_text(
        *_WOULD_BE_REJECTED, count=impact.would_refuse, passed=impact.lets_through
    )
    return Consequence("warn" if impact.would_refuse else "ok", sentence)


_WOULD_BE_REJECTED = forms(
    Markup(
        "In the last hour, <b>{count:,} request</b> from customers and visitors would have been "
        "rejected, and {passed:,} from staff and apps accepted."
    ),
    Markup(
        "In the last hour, <b>{count:,} requests</b> from customers and visitors would have been "
        "rejected, and {passed:,} from staff and apps accepted."
    ),
)


def closing_text(closing: Closing, now: datetime) -> Markup:
    """Return why the storefront is closed, since when, and until when; empty if unknown."""
    values = {
        "note": closing.note,
        "since": closing.closed_at and time_element(closing.closed_at, now),
        "opens": closing.opens_at and clock_element(closing.opens_at, now),
    }
    sentences = (
        html_text("Closed {since}.", **values) if closing.closed_at else "",
        html_text("Note: “{note}”.", **values) if closing.note else "",
        html_text("Opens {opens}.", **values) if closing.opens_at else "",
    )
    return Markup(" ").join(filter(None, sentences))


def rejected_requests(rejected: int) -> Markup:
    """Return how many requests the closed storefront has rejected."""
    if not rejected:
        return html_text("No requests have been rejected yet.")
    return html_text(
        Markup("<b>{count:,} request</b> from customers and visitors rejected since it closed."),
        Markup("<b>{count:,} requests</b> from customers and visitors rejected since it closed."),
        count=rejected,
    )


@dataclass(frozen=True, slots=True)
class OwnLink:
    """A page from which the viewer gets a session that can restrict password login."""

    label: str
    endpoint: str
    arguments: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class OwnSession:
    """What the viewer's session can do to password login, and links to one that can do more."""

    sentence: str
    rule: str
    links: tuple[OwnLink, ...] = ()


_BY = {
    False: translatable(Markup("You signed in with a <b>password</b>.")),
    True: translatable(Markup("You signed in with a <b>passkey</b>.")),
}
_NOT_BY_SSO = translatable("Only a session that began with SSO can restrict password login.")
_BY_SSO = {
    True: translatable("Staff who sign in with a password or passkey can't restrict it."),
    False: translatable("Until it's set back to Everyone, staff need SSO to open this page."),
}


def own_session(
    by: SignedInBy,
    mode: PasswordLoginMode,
    providers: Sequence[OwnProvider],
    *,
    by_passkey: bool,
    sets_up: bool,
) -> OwnSession:
    """Return what is true for the viewer; ``sets_up``: they can add identity providers."""
    if by.origin is SessionOrigin.OIDC:
        sentence = html_text(
            Markup(
                "You signed in with <b>{provider}</b> (SSO), so you can restrict password login."
            ),
            provider=by.provider,
        )
        return OwnSession(sentence, text(_BY_SSO[mode is PasswordLoginMode.ENABLED]))
    sentence = Markup(" ").join((html_text(_BY[by_passkey]), html_text(_NOT_BY_SSO)))
    linked = [provider for provider in providers if provider.identities]
    if linked:
        return OwnSession(
            sentence, text("You come back to this page."), tuple(map(_sign_in, linked))
        )
    if providers:
        link = OwnLink(
            text("Link an SSO identity"), "console.second_factors.index", {"_anchor": "sso"}
        )
        return OwnSession(sentence, text("Your account has no SSO identity."), (link,))
    if sets_up:
        set_up = OwnLink(text("Set up SSO"), "console.single_sign_on.index", {})
        return OwnSession(sentence, text("No identity provider is set up."), (set_up,))
    missing = text("No identity provider is set up. Ask someone who can manage plugins.")
    return OwnSession(sentence, missing)


def _sign_in(provider: OwnProvider) -> OwnLink:
    return OwnLink(
        text("Sign in with {provider}", provider=provider.name),
        "console.sign_in.begin",
        {"plugin_id": provider.plugin_id, "next": url_for("console.access.index")},
    )
