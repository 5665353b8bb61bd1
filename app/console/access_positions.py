"""The positions of both switches in words, each with its consequences."""

from dataclasses import dataclass

from markupsafe import Markup

from app.console.formatting import html_text, tally
from app.console.parts import Consequence
from app.domain.shop.lockouts import Lockout
from app.domain.shop.settings import PasswordLoginMode
from app.services.shop.impact import LoginModeImpact, StorefrontImpact
from app.services.shop.sign_in_counts import SignInCounts


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
        "Everyone",
        "Customers and staff sign in by email and password, or by single sign-on.",
        "Let everybody sign in by password?",
        "Allow passwords for everyone",
        "Password login is set to everyone. Choose another position to see what it would do.",
    ),
    PasswordLoginMode.CUSTOMERS_ONLY: ModeWords(
        "Customers only",
        "Staff must use single sign-on. With a password they get in, but with no more rights than "
        "a customer.",
        "Keep password login for customers only?",
        "Keep passwords for customers",
        "Password login is set to customers only. Choose another position to see what it would "
        "do.",
    ),
    PasswordLoginMode.DISABLED: ModeWords(
        "Nobody",
        "Password login, refresh, change and reset are all refused. Single sign-on and apps go "
        "on.",
        "Turn off password login for everybody?",
        "Turn off password login",
        "Password login is set to nobody. Choose another position to see what it would do.",
    ),
}


def mode_position(
    impact: LoginModeImpact, numbers: SignInCounts, chosen: PasswordLoginMode
) -> Position:
    """Return the position of a password login mode."""
    words = MODES[impact.mode]
    return Position(
        value=impact.mode.value,
        label=words.label,
        sentence=words.sentence,
        state="ok",
        is_chosen=impact.mode is chosen,
        is_current=impact.is_current,
        consequences=mode_consequences(impact, numbers),
        obstacle="" if impact.is_current else _obstacle(impact),
    )


def _obstacle(impact: LoginModeImpact) -> str:
    if impact.refusal:
        return "Someone who signed in by password cannot choose this."
    return _reason(impact.lockout)


def _reason(lockout: Lockout) -> str:
    return lockout.reason.message if lockout.reason else ""


def mode_consequences(impact: LoginModeImpact, numbers: SignInCounts) -> tuple[Consequence, ...]:
    """Return what a password login mode takes from people and sessions."""
    if impact.mode is PasswordLoginMode.ENABLED:
        return ()
    if impact.mode is PasswordLoginMode.DISABLED:
        return _consequences_of_disabling(impact, numbers)
    return (
        Consequence(
            "warn" if impact.staff_losing_rights else "ok",
            html_text(
                Markup(
                    "<b>{count:,} of {all:,} staff</b> has no single sign-on identity and would "
                    "lose their rights."
                ),
                Markup(
                    "<b>{count:,} of {all:,} staff</b> have no single sign-on identity and would "
                    "lose their rights."
                ),
                count=impact.staff_losing_rights,
                all=numbers.staff_active,
            ),
        ),
        Consequence(
            "warn" if impact.staff_sessions else "ok",
            html_text(
                Markup(
                    "<b>{count:,} open session</b> of staff began with a password and would lose "
                    "its rights."
                ),
                Markup(
                    "<b>{count:,} open sessions</b> of staff began with a password and would lose "
                    "their rights."
                ),
                count=impact.staff_sessions,
            ),
        ),
    )


def _consequences_of_disabling(
    impact: LoginModeImpact, numbers: SignInCounts
) -> tuple[Consequence, ...]:
    customers, sessions = impact.customers_losing_access, impact.sessions_rejected
    return (
        Consequence(
            "bad" if customers.number else "ok",
            html_text(
                Markup(
                    "<b>{some} of {all} customers</b> know only a password and could not sign in."
                ),
                some=tally(customers),
                all=tally(numbers.customers),
            ),
        ),
        Consequence(
            "bad" if impact.staff_losing_rights else "ok",
            html_text(
                Markup("<b>{some:,} of {all:,} staff</b> could not sign in."),
                some=impact.staff_losing_rights,
                all=numbers.staff_active,
            ),
        ),
        Consequence(
            "bad" if sessions.number else "ok",
            html_text(
                Markup("<b>{tally} open session</b> would be worth nothing while it lasts."),
                Markup("<b>{tally} open sessions</b> would be worth nothing while it lasts."),
                count=sessions.number,
                tally=tally(sessions),
            ),
        ),
    )


def storefront_position(impact: StorefrontImpact, *, is_open: bool) -> Position:
    """Return the open or the closed position of the storefront."""
    allow = impact.allow_storefront_traffic
    return Position(
        value="true" if allow else "false",
        label="Open" if allow else "Closed",
        sentence="Everybody reaches the API: visitors, customers, staff and apps."
        if allow
        else "Only staff and apps with a valid token pass; everyone else is answered 401.",
        state="ok" if allow else "warn",
        is_chosen=allow is is_open,
        is_current=impact.is_current,
        consequences=() if allow else (_refused_requests(impact),),
    )


def _refused_requests(impact: StorefrontImpact) -> Consequence:
    one, many = _REFUSED_NOW if impact.is_current else _WOULD_BE_REFUSED
    sentence = html_text(one, many, count=impact.would_refuse, passed=impact.lets_through)
    return Consequence("warn" if impact.would_refuse else "ok", sentence)


_WOULD_BE_REFUSED = (
    Markup(
        "In the last hour <b>{count:,} request</b> of customers and visitors would have been "
        "refused, {passed:,} of staff and apps let through."
    ),
    Markup(
        "In the last hour <b>{count:,} requests</b> of customers and visitors would have been "
        "refused, {passed:,} of staff and apps let through."
    ),
)
_REFUSED_NOW = (
    Markup(
        "In the last hour <b>{count:,} request</b> of customers and visitors was refused or would "
        "have been refused, {passed:,} of staff and apps let through."
    ),
    Markup(
        "In the last hour <b>{count:,} requests</b> of customers and visitors were refused or "
        "would have been refused, {passed:,} of staff and apps let through."
    ),
)
