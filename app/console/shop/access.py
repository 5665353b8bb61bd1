"""Access: password login and storefront traffic, each with its consequences."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from flask import flash, request, url_for
from markupsafe import Markup
from werkzeug.wrappers import Response as BaseResponse
from wtforms import SelectField, StringField
from wtforms.fields.choices import SelectChoice

from app.console.frame.formatting import exact, html_text, tally, time_element, time_zone_name
from app.console.frame.forms import EditedThing, EditForm, MomentField
from app.console.frame.navigation import Entry, Heading, PageGroup, can_open
from app.console.frame.page_layout import page, redirect_to, redirect_with_success, refused_page
from app.console.frame.parts import Consequence
from app.console.frame.reauthentication import ask_before_dialog
from app.console.frame.session import actor, caller, is_by_passkey, ports, signed_in_by
from app.console.shop import access_positions
from app.domain.audit import AuditEntry
from app.domain.authorization.actor import SessionOrigin
from app.domain.shop.lockouts import AccessChange
from app.domain.shop.setting_table import shop_facts
from app.domain.shop.settings import SHOP_ID, PasswordLoginMode, ShopSettings, ShopUpdate
from app.domain.values.errors import Refused
from app.domain.values.inputs import Seen
from app.domain.values.text import forms, translatable
from app.services.authorization.register import needs_proof
from app.services.shop.impact import (
    Impact,
    LoginModeImpact,
    PasswordStaff,
    SignInCounts,
    StorefrontImpact,
    show_impact,
)
from app.services.shop.lockout_guard import prevent_access_lockout
from app.services.shop.settings import show_settings, update_shop
from app.services.single_sign_on.own_identities import list_own_providers
from app.web.translation import lazy_text, problem_text, text


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

    modes: tuple[access_positions.Position, ...]
    mode_changed: str
    storefront: tuple[access_positions.Position, ...]
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
    found: Impact, viewer: Viewer, proposed: AccessChange | None = None, wrong: Sequence[str] = ()
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
        modes=tuple(
            access_positions.mode_position(position, found.numbers, mode)
            for position in found.modes
        ),
        mode_changed=_changed(found.mode_changed, found, viewer),
        storefront=tuple(
            access_positions.storefront_position(position, found, is_open=is_open)
            for position in found.storefront
        ),
        storefront_changed=_changed(found.storefront_changed, found, viewer),
        staff=tuple(_staff_member(person) for person in found.staff_by_password),
        more=text("{count:,} more", "{count:,} more", count=more) if more > 0 else "",
        question=None
        if proposed is None
        else _question(found, viewer, proposed, is_new=not wrong),
        wrong=wrong,
    )


def _changed(change: AuditEntry | None, found: Impact, viewer: Viewer) -> str:
    if change is None:
        return ""
    moment = time_element(change.at, found.counted_at)
    if change.actor_user_id == viewer.user_id:
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
            return _without_change(access_positions.MODES[mode.mode].already)
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
    words = access_positions.MODES[impact.mode]
    is_enabled = impact.mode is PasswordLoginMode.ENABLED
    back = text(
        "Everyone can sign in with a password again. Sessions that lost access get it back."
    )
    last = Consequence("ok", back) if is_enabled else _kept_access(numbers, viewer)
    return Question(
        title=text(words.question),
        detail=_effect(moment),
        endpoint="console.access.set_mode",
        name="mode",
        value=impact.mode.value,
        consequences=(*access_positions.mode_consequences(impact, numbers), last),
        action=text(words.action),
        is_harmless=is_enabled,
        needs_phrase=impact.mode is PasswordLoginMode.DISABLED,
    )


def _kept_access(numbers: SignInCounts, viewer: Viewer) -> Consequence:
    sentence = html_text(
        *(_KEPT_WITH_VIEWER if viewer.by_sign_on else _KEPT),
        count=numbers.apps.number,
        apps=tally(numbers.apps),
        staff=numbers.staff_with_sign_on,
    )
    return Consequence("ok", sentence)


_KEPT = forms(
    Markup("<b>{staff:,} staff</b> with an SSO identity and <b>{apps} app</b> keep access."),
    Markup("<b>{staff:,} staff</b> with an SSO identity and <b>{apps} apps</b> keep access."),
)
_KEPT_WITH_VIEWER = forms(
    Markup(
        "<b>{staff:,} staff</b> with an SSO identity, including you, and <b>{apps} app</b> keep "
        "access."
    ),
    Markup(
        "<b>{staff:,} staff</b> with an SSO identity, including you, and <b>{apps} apps</b> keep "
        "access."
    ),
)


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


PHRASE = "NOBODY"
"""What must be typed to turn off password login."""

_DONE_MODE = {
    PasswordLoginMode.ENABLED: translatable("Everyone can sign in with a password."),
    PasswordLoginMode.CUSTOMERS_ONLY: translatable("Password login is limited to customers."),
    PasswordLoginMode.DISABLED: translatable("Password login is off."),
}
_DONE_OPEN = {True: translatable("Storefront opened."), False: translatable("Storefront closed.")}
_OPEN = {"true": True, "false": False}

blueprint = PageGroup(
    "access",
    __name__,
    Entry(
        "Access",
        "door-open",
        "password login mode storefront traffic switches close open",
        Heading.TOP,
        needs=show_impact,
    ),
    url_prefix="/access",
)


@blueprint.get("/")
def index() -> BaseResponse:
    """Show both switches; ``ask`` opens the confirmation of a change."""
    proposal = _proposal(
        request.args.get("ask"), request.args.get("mode"), request.args.get("open")
    )
    found = show_impact(ports(), actor())
    if proposal is not None and not _refusal(proposal, found):
        act = needs_proof(ports(), actor(), update_shop, _update_of(proposal, {}))
        if act:
            return ask_before_dialog(act, request.full_path)
    return _show(found, proposal)


@blueprint.post("/mode")
def set_mode() -> BaseResponse:
    """Set the password login mode; refused if no administrator could undo it."""
    stored = show_settings(ports(), actor())
    form = ModeForm.from_request({"mode": stored.password_login_mode.value}, _edited_thing())
    proposal = _proposal("mode", form.mode.data, None)
    if proposal is None:
        return redirect_to("console.access.index")
    phrase = request.form.get("phrase", "").strip().upper()
    if proposal.password_login_mode is PasswordLoginMode.DISABLED and phrase != PHRASE:
        return _refuse(
            proposal, [text("Type {phrase} to confirm. Nothing was changed.", phrase=PHRASE)]
        )
    seen = {"password_login_mode": stored.password_login_mode.value}
    return _change(proposal, seen)


@blueprint.post("/storefront")
def set_storefront() -> BaseResponse:
    """Open the storefront, or close it with a note and a time to open."""
    stored = show_settings(ports(), actor())
    form = ClosingForm.from_request(_closing_of(stored), _edited_thing())
    proposal = _proposal("storefront", None, form.open.data)
    if proposal is None:
        return redirect_to("console.access.index")
    names = ("allow_storefront_traffic", "storefront_note", "storefront_opens_at")
    seen = {name: shop_facts(stored)[name] for name in names}
    if proposal.allow_storefront_traffic:
        return _change(proposal, seen)
    return _close(proposal, form, seen)


def _edited_thing() -> EditedThing:
    address = url_for("console.access.index")
    return EditedThing(text("access"), address, "Shop", SHOP_ID, is_dialog=True)


def _closing_of(shop: ShopSettings) -> dict[str, object]:
    is_open = next(name for name, value in _OPEN.items() if value is shop.allow_storefront_traffic)
    return {"open": is_open, "note": shop.storefront_note, "opens_at": shop.storefront_opens_at}


class ModeForm(EditForm):
    mode = SelectField(
        lazy_text("Password login"),
        choices=[
            SelectChoice(mode.value, words.label) for mode, words in access_positions.MODES.items()
        ],
        validate_choice=False,
    )


class ClosingForm(EditForm):
    """Why the storefront is closed, and when it opens by itself; both are optional."""

    names = {"storefrontNote": "note", "storefrontOpensAt": "opens_at"}  # noqa: RUF012
    open = SelectField(
        lazy_text("Storefront traffic"),
        choices=[
            SelectChoice("true", translatable("Open")),
            SelectChoice("false", translatable("Closed")),
        ],
        validate_choice=False,
    )
    note = StringField(lazy_text("Note for staff (optional)"))
    opens_at = MomentField(lazy_text("Opens automatically (optional)"))

    @classmethod
    def from_impact(cls, found: Impact) -> Self:
        """Return the form with the present closing."""
        closing = found.closing
        if closing is None:
            return cls.showing({"open": "true", "note": "", "opens_at": None})
        stored = {"open": "false", "note": closing.note, "opens_at": closing.opens_at}
        return cls.showing(stored)

    def update(self, seen: Seen) -> ShopUpdate:
        """Return the closing as it was filled in."""
        return ShopUpdate(
            seen=seen,
            allow_storefront_traffic=False,
            storefront_note=self.note.data or "",
            storefront_opens_at=self.opens_at.data,
        )


def _proposal(switch: str | None, mode: str | None, open_: str | None) -> AccessChange | None:
    """Return the change of a switch that is to be confirmed."""
    if switch == "mode" and mode is not None and mode in PasswordLoginMode.__members__:
        return AccessChange(password_login_mode=PasswordLoginMode(mode))
    if switch == "storefront" and open_ is not None and open_ in _OPEN:
        return AccessChange(allow_storefront_traffic=_OPEN[open_])
    return None


def _update_of(proposal: AccessChange, seen: Seen) -> ShopUpdate:
    if proposal.password_login_mode is not None:
        return ShopUpdate(password_login_mode=proposal.password_login_mode, seen=seen)
    return ShopUpdate(allow_storefront_traffic=proposal.allow_storefront_traffic, seen=seen)


def _refusal(proposal: AccessChange, found: Impact) -> str:
    """Return why a change can't be made, in words; empty if it can."""
    if proposal.password_login_mode is None:
        allow = bool(proposal.allow_storefront_traffic)
        return access_positions.lockout_text(found.storefront_traffic(allow=allow).lockout)
    mode = found.login_mode(proposal.password_login_mode)
    if mode.refusal:
        return problem_text(mode.refusal)
    return access_positions.lockout_text(mode.lockout)


def _change(proposal: AccessChange, seen: Seen) -> BaseResponse:
    try:
        prevent_access_lockout(ports(), actor(), proposal)
        update_shop(ports(), actor(), _update_of(proposal, seen))
    except Refused as refused:
        return _refuse(None, [problem_text(problem) for problem in refused.problems])
    done = _DONE_OPEN[bool(proposal.allow_storefront_traffic)]
    if proposal.password_login_mode is not None:
        done = _DONE_MODE[proposal.password_login_mode]
    return redirect_with_success(text(done), "console.access.index")


def _close(proposal: AccessChange, form: ClosingForm, seen: Seen) -> BaseResponse:
    if form.validate():
        with form.catching_refusals():
            prevent_access_lockout(ports(), actor(), proposal)
            update_shop(ports(), actor(), form.update(seen))
            message = text(_DONE_OPEN[False])
            if seen["allow_storefront_traffic"] is False:
                message = text("Note and opening time saved.")
            return redirect_with_success(message, "console.access.index")
    return _refuse(proposal, [], form)


def _refuse(
    proposal: AccessChange | None, messages: list[str], closing: ClosingForm | None = None
) -> BaseResponse:
    values = _values(show_impact(ports(), actor()), proposal, messages)
    return refused_page("access/index.html", **values | ({"closing": closing} if closing else {}))


def _show(found: Impact, proposal: AccessChange | None) -> BaseResponse:
    if proposal is not None:
        reason = _refusal(proposal, found)
        if reason:
            flash(reason, "bad")
            proposal = None
    return page("access/index.html", **_values(found, proposal))


def _values(
    found: Impact, proposal: AccessChange | None, wrong: Sequence[str] = ()
) -> dict[str, object]:
    viewer = Viewer(caller().user.id, by_sign_on=signed_in_by().origin is SessionOrigin.OIDC)
    current = next(mode for mode in access_positions.MODES if found.login_mode(mode).is_current)
    return {
        "access": make_access_page(found, viewer, proposal, wrong),
        "own_session": access_positions.own_session(
            signed_in_by(),
            found.switches.password_login_mode,
            list_own_providers(ports(), actor()),
            by_passkey=is_by_passkey(),
            sets_up=can_open(actor(), "console.single_sign_on.index"),
        ),
        "closing": ClosingForm.from_impact(found),
        "mode_form": ModeForm.showing({"mode": current.value}),
        "time_hint": text(
            "24-hour time in {zone}. Leave it empty to open the storefront yourself.",
            zone=time_zone_name(),
        ),
    }
