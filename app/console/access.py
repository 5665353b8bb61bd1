"""Access: password login and storefront traffic, each with its consequences."""

from collections.abc import Sequence
from typing import Self

from flask import flash, request, url_for
from werkzeug.wrappers import Response as BaseResponse
from wtforms import StringField

from app.console.access_page import AccessPage, Viewer, make_access_page
from app.console.access_positions import lockout_text
from app.console.forms import ConsoleForm, MomentField
from app.console.navigation import Entry, Heading, PageGroup
from app.console.page_layout import done, go, page, refused_page
from app.console.reauthentication import ask_first
from app.console.session import actor, caller, ports, signed_in_by
from app.console.time_zone import time_zone_name
from app.domain.authorization.actor import SessionOrigin
from app.domain.authorization.permissions import Permission
from app.domain.shop.lockouts import AccessChange
from app.domain.shop.settings import PasswordLoginMode, ShopUpdate
from app.domain.values.errors import Problem, Refused
from app.domain.values.text import translatable
from app.services.authorization.register import needs_proof
from app.services.shop.impact import Impact, show_impact
from app.services.shop.lockout_guard import lockout
from app.services.shop.settings import show_settings, update_shop
from app.web.translation import lazy_text, problem_text, text

PHRASE = "NOBODY"
"""What must be typed to turn off password login."""

_DONE_MODE = {
    PasswordLoginMode.ENABLED: translatable("Everyone can sign in with a password."),
    PasswordLoginMode.CUSTOMERS_ONLY: translatable("Password login is limited to customers."),
    PasswordLoginMode.DISABLED: translatable("Password login is off."),
}
_DONE_OPEN = {
    True: translatable("Storefront opened."),
    False: translatable("Storefront closed."),
}
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
    if (
        proposal is not None
        and not proposal.refusal(found)
        and needs_proof(ports(), actor(), update_shop, proposal.update)
    ):
        act = "access.set_mode" if proposal.is_mode else "access.set_storefront"
        return ask_first(act, proposal.address())
    return _show(found, proposal)


@blueprint.post("/mode")
def set_mode() -> BaseResponse:
    """Set the password login mode; refused if no administrator could undo it."""
    proposal = _proposal("mode", request.form.get("mode"), None)
    if proposal is None:
        return go("console.access.index")
    mode, phrase = proposal.mode, request.form.get("phrase", "").strip().upper()
    if mode is PasswordLoginMode.DISABLED and phrase != PHRASE:
        return _refuse(
            proposal, [text("Type {phrase} to confirm. Nothing was changed.", phrase=PHRASE)]
        )
    return _change(proposal)


@blueprint.post("/storefront")
def set_storefront() -> BaseResponse:
    """Open the storefront, or close it with a note and a time to open."""
    proposal = _proposal("storefront", None, request.form.get("open"))
    if proposal is None:
        return go("console.access.index")
    return _change(proposal) if proposal.opens_storefront else _close(proposal)


class ClosingForm(ConsoleForm):
    """Why the storefront is closed, and when it opens by itself; both are optional."""

    names = {"storefrontNote": "note", "storefrontOpensAt": "opens_at"}  # noqa: RUF012
    note = StringField(lazy_text("Note for staff (optional)"))
    opens_at = MomentField(lazy_text("Opens automatically (optional)"))

    @classmethod
    def of(cls, found: Impact) -> Self:
        """Return the form with the present closing."""
        closing = found.closing
        if closing is None:
            return cls(formdata=None)
        return cls(formdata=None, note=closing.note, opens_at=closing.opens_at)

    def update(self) -> ShopUpdate:
        """Return the closing as it was filled in."""
        return ShopUpdate(
            allow_storefront_traffic=False,
            storefront_note=self.note.data or "",
            storefront_opens_at=self.opens_at.data,
        )


class Proposal:
    """A change of one of the switches that is to be confirmed."""

    def __init__(self, switch: str, value: str) -> None:
        self.switch = switch
        self.value = value

    @property
    def is_mode(self) -> bool:
        return self.switch == "mode"

    @property
    def mode(self) -> PasswordLoginMode:
        return PasswordLoginMode(self.value)

    @property
    def change(self) -> AccessChange:
        """The change, as the lockout rule judges it."""
        if self.is_mode:
            return AccessChange(password_login_mode=self.mode)
        return AccessChange(allow_storefront_traffic=_OPEN[self.value])

    @property
    def update(self) -> ShopUpdate:
        """The change that it is about."""
        if self.is_mode:
            return ShopUpdate(password_login_mode=self.mode)
        return ShopUpdate(allow_storefront_traffic=_OPEN[self.value])

    @property
    def opens_storefront(self) -> bool:
        return not self.is_mode and _OPEN[self.value]

    def address(self) -> str:
        """The page with the question."""
        if self.is_mode:
            return url_for("console.access.index", ask="mode", mode=self.value)
        return url_for("console.access.index", ask="storefront", open=self.value)

    def refusal(self, found: Impact) -> str:
        """Why it cannot be, in words; empty when it can."""
        if self.is_mode:
            mode = found.login_mode(self.mode)
            return problem_text(mode.refusal) if mode.refusal else lockout_text(mode.lockout)
        return lockout_text(found.storefront_traffic(allow=_OPEN[self.value]).lockout)


def _proposal(switch: str | None, mode: str | None, open_: str | None) -> Proposal | None:
    if switch == "mode" and mode is not None and mode in PasswordLoginMode.__members__:
        return Proposal(switch, mode)
    if switch == "storefront" and open_ is not None and open_ in _OPEN:
        return Proposal(switch, open_)
    return None


def _change(proposal: Proposal) -> BaseResponse:
    try:
        _guard(proposal.change)
        update_shop(ports(), actor(), proposal.update)
    except Refused as refused:
        return _refuse(None, [problem_text(problem) for problem in refused.problems])
    if proposal.is_mode:
        return done(text(_DONE_MODE[proposal.mode]), "console.access.index")
    return done(text(_DONE_OPEN[_OPEN[proposal.value]]), "console.access.index")


def _close(proposal: Proposal) -> BaseResponse:
    form = ClosingForm()
    was_closed = show_settings(ports(), actor()).allow_storefront_traffic is False
    try:
        if not form.validate():
            return _refuse(proposal, [], form)
        _guard(proposal.change)
        update_shop(ports(), actor(), form.update())
    except Refused as refused:
        form.refuse(refused)
        return _refuse(proposal, [], form)
    if was_closed:
        return done(text("Note and opening time saved."), "console.access.index")
    return done(text(_DONE_OPEN[False]), "console.access.index")


def _guard(change: AccessChange) -> None:
    """Refuse a change that no administrator could undo; only the console has this rule."""
    if not actor().holds(Permission.MANAGE_SETTINGS):
        return
    judged = lockout(ports(), actor(), change)
    if judged.reason is not None:
        raise Refused(Problem("LOCKOUT", judged.reason.message))


def _refuse(
    proposal: Proposal | None, messages: list[str], closing: ClosingForm | None = None
) -> BaseResponse:
    found = show_impact(ports(), actor())
    return refused_page(
        "access/index.html",
        access=_page_of(found, proposal, messages),
        closing=closing or ClosingForm.of(found),
        time_hint=_time_hint(),
    )


def _show(found: Impact, proposal: Proposal | None) -> BaseResponse:
    if proposal is not None:
        reason = proposal.refusal(found)
        if reason:
            flash(reason, "bad")
            proposal = None
    return page(
        "access/index.html",
        access=_page_of(found, proposal),
        closing=ClosingForm.of(found),
        time_hint=_time_hint(),
    )


def _time_hint() -> str:
    return text(
        "24-hour time in {zone}. Leave it empty to open the storefront yourself.",
        zone=time_zone_name(),
    )


def _page_of(found: Impact, proposal: Proposal | None, wrong: Sequence[str] = ()) -> AccessPage:
    by_sign_on = signed_in_by().origin is SessionOrigin.OIDC
    viewer = Viewer(caller().user.id, by_sign_on=by_sign_on)
    return make_access_page(found, viewer, proposal.change if proposal else None, wrong)
