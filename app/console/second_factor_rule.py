"""The page that leads staff to a second factor where the shop requires one.

During the grace period it comes once after each sign-in; afterwards, sessions without a second
factor see no other page of staff.
"""

from http import HTTPStatus
from math import ceil

from flask import Blueprint, redirect, request, session, url_for
from werkzeug.wrappers import Response as BaseResponse

from app.console.formatting import day, html_text
from app.console.page_layout import form_path, go, own_path, page, wants_part
from app.console.session import actor, caller, is_signed_in, now, ports
from app.domain.second_factors.methods import used_second_factor
from app.services.console.console_sessions import SessionAccess
from app.services.console.own_second_factors import show_own_second_factors
from app.web.converters import one_of
from app.web.translation import text

OPEN_WITHOUT = (
    "console.account.",
    "console.creations.",
    "console.passkeys.",
    "console.passwords.",
    "console.preferences.",
    "console.second_factor_rule.",
    "console.second_factors.",
    "console.sign_in.",
)
"""The pages of staff whose session lacks the second factor that the shop requires."""

FACTORS = {"passkey": "passkeys", "app": "app"}
"""What can be added, and its card on the page "Sign-in and security"."""

_REMINDED = "reminded"
_DAY = 24 * 3600

blueprint = Blueprint("second_factor_rule", __name__)


@blueprint.get("/second-factor")
def show() -> BaseResponse:
    """Ask staff to add a second factor, or for the one they have."""
    next_path = own_path(request.args.get("next"))
    begins = caller().second_factor_from
    if begins is None or used_second_factor(actor().amr):
        return redirect(next_path, HTTPStatus.SEE_OTHER)
    is_in_force = begins <= now()
    session[_REMINDED] = True
    if show_own_second_factors(ports(), actor()).counts.is_active:
        return _ask_for_factor(next_path) if is_in_force else redirect(next_path, 303)
    days = ceil((begins - now()).total_seconds() / _DAY)
    return page(
        "second_factor_required.html",
        sentence=_sentence(is_in_force=is_in_force),
        next_path=next_path,
        later=""
        if is_in_force
        else text(
            "Remind me later ({count} day left)", "Remind me later ({count} days left)", count=days
        ),
    )


@blueprint.post("/second-factor")
def choose() -> BaseResponse:
    """Lead to the chosen factor's card on the page "Sign-in and security"."""
    factor = request.form.get("factor", "passkey", type=one_of(tuple(FACTORS)))
    return go("console.second_factors.index", _anchor=FACTORS[str(factor)])


def lead_to_second_factor(endpoint: str) -> BaseResponse | None:
    """Return the way to the page above where it comes before the requested page."""
    if not is_signed_in() or endpoint.startswith(OPEN_WITHOUT):
        return None
    is_barred = caller().access is SessionAccess.NO_SECOND_FACTOR
    if not (is_barred or _is_reminder_due()):
        return None
    is_page = request.method == "GET"
    next_path = own_path(request.full_path.rstrip("?")) if is_page else form_path()
    return redirect(url_for("console.second_factor_rule.show", next=next_path), 303)


def _is_reminder_due() -> bool:
    """Whether this is the first page after a sign-in without a second factor."""
    if caller().second_factor_from is None or _REMINDED in session:
        return False
    is_page = request.method == "GET" and not wants_part()
    return is_page and not used_second_factor(actor().amr)


def _ask_for_factor(next_path: str) -> BaseResponse:
    return redirect(
        url_for("console.sign_in.prove", next=next_path, act="second_factor_rule.show"), 303
    )


def _sentence(*, is_in_force: bool) -> str:
    shop = caller().shop.name
    if is_in_force:
        return html_text(
            "{shop} requires one for staff. Without it, you have customer-level access.", shop=shop
        )
    return html_text(
        "{shop} requires one for staff from {date}. "
        "Without it, you'll have customer-level access.",
        shop=shop,
        date=day(caller().second_factor_from or now()),
    )
