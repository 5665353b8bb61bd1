"""The access page's view model: both switches, who is affected, and the question asked."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from app.console.access_positions import (
    MODES,
    Position,
    mode_consequences,
    mode_position,
    storefront_position,
)
from app.console.formatting import exact, html_text, tally, time_element
from app.console.parts import Consequence
from app.domain.shop.lockouts import AccessChange
from app.domain.shop.settings import PasswordLoginMode
from app.domain.values.text import translatable
from app.services.shop.impact import (
    Impact,
    LastChange,
    LoginModeImpact,
    PasswordStaff,
    StorefrontImpact,
)
from app.services.shop.sign_in_counts import SignInCounts
from app.web.translation import text


@dataclass(frozen=True, slots=True)
class Question:
    """The confirmation of a change; without an ``action`` there is nothing to change."""

    title: str
    detail: str
    endpoint: str = ""
    name: str = ""
    value: str = ""
    consequences: tuple[Consequence, ...] = ()
    action: str = ""
    is_harmless: bool = False
    needs_phrase: bool = False
    asks_closing: bool = False


@dataclass(frozen=True, slots=True)
class StaffMember:
    """A staff member who signs in with a password only."""

    name: str
    sessions: str


@dataclass(frozen=True, slots=True)
class AccessPage:
    """Both switches; ``more`` counts the staff without single sign-on that aren't named."""

    modes: tuple[Position, ...]
    mode_changed: str
    storefront: tuple[Position, ...]
    storefront_changed: str
    staff: tuple[StaffMember, ...]
    more: str
    question: Question | None
    wrong: Sequence[str]


@dataclass(frozen=True, slots=True)
class Viewer:
    """Who looks at the page, and whether by single sign-on."""

    user_id: int
    by_sign_on: bool


_TIME = Markup('<time datetime="{}">{}</time>')


def make_access_page(
    found: Impact,
    viewer: Viewer,
    proposed: AccessChange | None = None,
    wrong: Sequence[str] = (),
) -> AccessPage:
    """Return the page that shows ``found``, and asks about a change if one is ``proposed``."""
    switches = found.switches
    mode, is_open = switches.password_login_mode, switches.allow_storefront_traffic
    if proposed is not None and proposed.password_login_mode is not None:
        mode = proposed.password_login_mode
    if proposed is not None and proposed.allow_storefront_traffic is not None:
        is_open = proposed.allow_storefront_traffic
    more = found.numbers.staff_without_sign_on - len(found.staff_by_password)
    return AccessPage(
        modes=tuple(mode_position(position, found.numbers, mode) for position in found.modes),
        mode_changed=_changed(found.mode_changed, found, viewer),
        storefront=tuple(
            storefront_position(position, found, is_open=is_open) for position in found.storefront
        ),
        storefront_changed=_changed(found.storefront_changed, found, viewer),
        staff=tuple(_staff_member(person) for person in found.staff_by_password),
        more=text("{count:,} more", "{count:,} more", count=more) if more > 0 else "",
        question=None
        if proposed is None
        else _question(found, viewer, proposed, is_new=not wrong),
        wrong=wrong,
    )


def _changed(change: LastChange | None, found: Impact, viewer: Viewer) -> str:
    if change is None:
        return ""
    moment = time_element(change.at, found.counted_at)
    if change.user_id == viewer.user_id:
        return html_text("Changed by you, {moment}", moment=moment)
    if change.actor_kind == "operator":
        return html_text("Changed by a server administrator, {moment}", moment=moment)
    return html_text("Changed by {name}, {moment}", name=change.actor_name, moment=moment)


def _staff_member(person: PasswordStaff) -> StaffMember:
    full_name = text("{first} {last}", first=person.first_name, last=person.last_name)
    name = full_name.strip() or person.email
    if not person.sessions:
        return StaffMember(name, text("No active sessions"))
    return StaffMember(
        name, text("{count:,} active session", "{count:,} active sessions", count=person.sessions)
    )


def _question(found: Impact, viewer: Viewer, proposed: AccessChange, *, is_new: bool) -> Question:
    """Return the question; a new one about the current position has nothing to change."""
    moment = _TIME.format(found.counted_at.isoformat(), exact(found.counted_at))
    if proposed.password_login_mode is not None:
        mode = found.login_mode(proposed.password_login_mode)
        if mode.is_current and is_new:
            return _without_change(MODES[mode.mode].already)
        return _mode_question(mode, found.numbers, viewer, moment)
    allow = bool(proposed.allow_storefront_traffic)
    storefront = found.storefront_traffic(allow=allow)
    if allow and storefront.is_current and is_new:
        return _without_change(_IS_OPEN)
    if not allow and storefront.is_current:
        return _changed_closing()
    detail = _effect(moment)
    return _opening(detail) if allow else _closing(storefront, detail)


_IS_OPEN = translatable("The storefront is open.")


def _without_change(detail: str) -> Question:
    return Question(text("No change to review"), text(detail))


def _effect(moment: Markup) -> str:
    return html_text("Applies immediately. Numbers as of {moment}.", moment=moment)


def _mode_question(
    impact: LoginModeImpact, numbers: SignInCounts, viewer: Viewer, moment: Markup
) -> Question:
    words = MODES[impact.mode]
    is_enabled = impact.mode is PasswordLoginMode.ENABLED
    last = _passwords_work() if is_enabled else _kept(numbers, viewer)
    return Question(
        title=text(words.question),
        detail=_effect(moment),
        endpoint="console.access.set_mode",
        name="mode",
        value=impact.mode.value,
        consequences=(*mode_consequences(impact, numbers), last),
        action=text(words.action),
        is_harmless=is_enabled,
        needs_phrase=impact.mode is PasswordLoginMode.DISABLED,
    )


def _passwords_work() -> Consequence:
    again = text(
        "Everyone can sign in with a password again. Sessions that lost access get it back."
    )
    return Consequence("ok", again)


def _kept(numbers: SignInCounts, viewer: Viewer) -> Consequence:
    count, apps, staff = numbers.apps.number, tally(numbers.apps), numbers.staff_with_sign_on
    if not viewer.by_sign_on:
        sentence = html_text(
            Markup(
                "<b>{staff:,} staff</b> with an SSO identity and <b>{apps} app</b> keep access."
            ),
            Markup(
                "<b>{staff:,} staff</b> with an SSO identity and <b>{apps} apps</b> keep access."
            ),
            count=count,
            apps=apps,
            staff=staff,
        )
        return Consequence("ok", sentence)
    sentence = html_text(
        Markup(
            "<b>{staff:,} staff</b> with an SSO identity, including you, and <b>{apps} app</b> "
            "keep access."
        ),
        Markup(
            "<b>{staff:,} staff</b> with an SSO identity, including you, and <b>{apps} apps</b> "
            "keep access."
        ),
        count=count,
        apps=apps,
        staff=staff,
    )
    return Consequence("ok", sentence)


def _opening(detail: str) -> Question:
    back = Consequence("ok", text("Visitors and customers can reach the API again."))
    return Question(
        title=text("Open the storefront?"),
        detail=detail,
        endpoint="console.access.set_storefront",
        name="open",
        value="true",
        consequences=(back,),
        action=text("Open storefront"),
        is_harmless=True,
    )


def _closing(impact: StorefrontImpact, detail: str) -> Question:
    return Question(
        title=text("Close the storefront?"),
        detail=detail,
        endpoint="console.access.set_storefront",
        name="open",
        value="false",
        consequences=tuple(_consequences_of_closing(impact)),
        action=text("Close storefront"),
        asks_closing=True,
    )


def _changed_closing() -> Question:
    return Question(
        title=text("Change the note and opening time?"),
        detail=text("The storefront stays closed."),
        endpoint="console.access.set_storefront",
        name="open",
        value="false",
        action=text("Save"),
        is_harmless=True,
        asks_closing=True,
    )


def _consequences_of_closing(impact: StorefrontImpact) -> Iterable[Consequence]:
    yield Consequence("bad", _visitors_rejected(impact))
    staff = text("Staff can't sign in over the API. They can still sign in to this console.")
    yield Consequence("bad", staff)
    passed = html_text(
        Markup(
            "Staff and apps with a valid token keep access: <b>{count:,} request</b> in the last "
            "hour."
        ),
        Markup(
            "Staff and apps with a valid token keep access: <b>{count:,} requests</b> in the last "
            "hour."
        ),
        count=impact.lets_through,
    )
    yield Consequence("ok", passed)


def _visitors_rejected(impact: StorefrontImpact) -> str:
    if not impact.would_refuse:
        return text("Customers and visitors get a 401 error, also when they sign in.")
    return html_text(
        Markup(
            "Customers and visitors get a 401 error, also when they sign in. They sent "
            "<b>{count:,} request</b> in the last hour."
        ),
        Markup(
            "Customers and visitors get a 401 error, also when they sign in. They sent "
            "<b>{count:,} requests</b> in the last hour."
        ),
        count=impact.would_refuse,
    )
