"""Signing in: the email first, then a password, a code, a passkey or an identity provider."""

from collections.abc import Callable
from dataclasses import asdict
from datetime import timedelta
from http import HTTPStatus
from math import ceil
from typing import Any

from flask import Blueprint, jsonify, make_response, redirect, request, session
from werkzeug.wrappers import Response as BaseResponse

from app.domain.single_sign_on.providers import read_provider_error
from app.domain.values.errors import Problem, Refused
from app.domain.values.text import translatable
from app.services import hosted
from app.services.second_factors.challenges import SecondFactorRequired
from app.services.second_factors.factor_checks import party_of
from app.services.sign_in.email_codes import AccountByCode
from app.web import hosted_pages
from app.web.sessions import WAITING, anonymous_actor
from app.web.translation import FACTOR_TITLES, FACTOR_WAYS, sign_in_refusal, text

_EMAIL, _CODE, _FACTOR, _REASON = "email", "email_code", "factor", "reason"
_BEGUN = f"{WAITING}provider"
_SENT = "email_code_sent"
_MAX_EMAIL = 254
_RESEND_AFTER = timedelta(seconds=30)
_FOREIGN = Problem(
    "INVALID", "This sign-in started in another browser or was already used. Sign in again."
)
_RECOVERY, _DIGITS = translatable("Recovery code"), translatable("6-digit code")
_NO_WAY = translatable("Use your second factor")

blueprint = Blueprint("sign_in", __name__, url_prefix="/sign-in")


@blueprint.route("", methods=["GET", "POST"])
def index() -> BaseResponse:
    """Ask for the email and the way to sign in."""
    if hosted_pages.hosted_person() is not None and not request.args.get("again"):
        return redirect(hosted_pages.next_path(), HTTPStatus.SEE_OTHER)
    if request.method == "GET":
        return _options(problem=str(session.pop(_REASON, "")))
    email = request.form.get("email", "").strip()[:_MAX_EMAIL]
    if not email:
        return _options(error=text("Enter your email."))
    session[_EMAIL] = email
    is_code = request.form.get("method") == "code" and hosted_pages.hosted_shop().offers_codes
    if not is_code:
        return hosted_pages.to_step("sign_in.password")
    try:
        return send_code(email)
    except Refused as refused:
        return _options(problem=_reasons(refused))


@blueprint.route("/password", methods=["GET", "POST"])
def password() -> BaseResponse:
    email = str(session.get(_EMAIL, ""))
    if not email or not hosted_pages.hosted_shop().offers_passwords:
        return hosted_pages.to_step("sign_in.index")
    if request.method == "GET":
        return hosted_pages.page("password.html", email=email)
    try:
        opened = hosted.sign_in_hosted_with_password(
            hosted_pages.ports(),
            anonymous_actor(),
            email=email,
            password=request.form.get("password", ""),
        )
    except SecondFactorRequired as required:
        return hold_sign_in(required)
    except Refused as refused:
        return hosted_pages.refused_page("password.html", email=email, error=_reasons(refused))
    return hosted_pages.begin_hosted(opened, hosted_pages.next_path())


@blueprint.route("/code", methods=["GET", "POST"])
def code() -> BaseResponse:
    """Sign in with the code that was sent by email; the same page for every email."""
    email, challenge = str(session.get(_EMAIL, "")), str(session.get(_CODE, ""))
    if not email or not challenge or not hosted_pages.hosted_shop().offers_codes:
        # A second click on the form of a right code finds the sign-in at its next step.
        return hosted_pages.to_step("sign_in.factor" if _challenge() else "sign_in.index")
    values = {"email": email, "wait": _wait(email), "registers": "new" in _sent_to(email)}
    if request.method == "GET":
        return hosted_pages.page("code.html", **values)
    try:
        return _verify_code(email, challenge)
    except SecondFactorRequired as required:
        return hold_sign_in(required)
    except Refused as refused:
        if refused.problems[0].field == "challenge":
            session.pop(_CODE, None)
            return _back(_reasons(refused))
        return hosted_pages.refused_page("code.html", **values, error=_reasons(refused))


def _verify_code(email: str, challenge: str) -> BaseResponse:
    if request.form.get("resend"):
        names = _sent_to(email).get("new")
        return send_code(email, AccountByCode(**names) if names else None)
    entered = request.form.get("code", "")
    opened = hosted.verify_hosted_code(
        hosted_pages.ports(), anonymous_actor(), challenge=challenge, code=entered
    )
    return hosted_pages.begin_hosted(opened, hosted_pages.next_path())


def send_code(email: str, account: AccountByCode | None = None) -> BaseResponse:
    """Send a code and ask for it; while one that was just sent is on its way, only ask for it.

    A second code would make the first worthless. What limits the mails of an email is elsewhere:
    this is for the person, and kept in their cookie. With ``account`` the code registers.
    """
    new = None if account is None else asdict(account)
    is_another = new is not None and new != _sent_to(email).get("new")
    if is_another or not _wait(email):
        asked = hosted.ask_for_hosted_code(
            hosted_pages.ports(), anonymous_actor(), email=email, account=account
        )
        session[_CODE], session[_EMAIL] = asked.token, email
        session[_SENT] = {"email": email, "at": hosted_pages.ports().clock.now().timestamp()}
        if new is not None:
            session[_SENT]["new"] = new
    return hosted_pages.to_step("sign_in.code")


def _sent_to(email: str) -> dict[str, Any]:
    """Return what is known of the last code of this browser, if it was sent to ``email``."""
    sent = session.get(_SENT) or {}
    return sent if session.get(_CODE) and sent.get("email") == email else {}


def _wait(email: str) -> int:
    """Return the seconds until this browser can send another code to ``email``."""
    sent = _sent_to(email)
    if not sent:
        return 0
    passed = hosted_pages.ports().clock.now().timestamp() - float(sent["at"])
    left = ceil(_RESEND_AFTER.total_seconds() - passed)
    return max(left, 0) if passed >= 0 else 0


@blueprint.post("/passkey/options")
def passkey_options() -> BaseResponse:
    """Give script a challenge for the browser's passkeys."""
    try:
        asked = hosted.ask_for_hosted_passkey(hosted_pages.ports(), anonymous_actor())
    except Refused as refused:
        return _error(refused)
    return jsonify(challenge=asked.token, options=asked.options)


@blueprint.post("/passkey")
def with_passkey() -> BaseResponse:
    try:
        opened = _verify_passkey(request.form.get("challenge", ""))
    except Refused as refused:
        return _options(problem=_reasons(refused))
    return hosted_pages.begin_hosted(opened, hosted_pages.next_path())


@blueprint.get("/with/<slug:plugin_id>")
def begin(plugin_id: str) -> BaseResponse:
    """Lead to the provider's own login."""
    try:
        begun = hosted.begin_hosted_sign_in(
            hosted_pages.ports(),
            anonymous_actor(),
            plugin_id=plugin_id,
            redirect_uri=hosted_pages.full_url("sign_in.finish", plugin_id=plugin_id),
            again=bool(request.args.get("again")),
        )
    except Refused as refused:
        return _back(_reasons(refused))
    session[_BEGUN] = {"state": begun.state, "next": hosted_pages.next_path()}
    return redirect(begun.url, HTTPStatus.SEE_OTHER)


@blueprint.get("/with/<slug:plugin_id>/callback")
def finish(plugin_id: str) -> BaseResponse:
    """Where the provider sends people back to, in the browser in which they left."""
    begun = session.pop(_BEGUN, None) or {}
    state = request.args.get("state")
    if not state or begun.get("state") != state:
        return _back(sign_in_refusal(_FOREIGN), begun.get("next"))
    try:
        opened = hosted.finish_hosted_sign_in(
            hosted_pages.ports(),
            anonymous_actor(),
            plugin_id=plugin_id,
            code=request.args.get("code"),
            state=state,
            error=read_provider_error(
                request.args.get("error"), request.args.get("error_description")
            ),
        )
    except Refused as refused:
        return _back(_reasons(refused), begun.get("next"))
    return hosted_pages.begin_hosted(opened, str(begun.get("next", "")))


@blueprint.route("/factor", methods=["GET", "POST"])
def factor() -> BaseResponse:
    """Ask for a code of the account's second factor, and finish the sign-in."""
    return _answer(
        lambda challenge: hosted.verify_hosted_factor(
            hosted_pages.ports(),
            anonymous_actor(),
            challenge=challenge,
            code=request.form.get("code", ""),
        )
    )


@blueprint.post("/factor/passkey")
def factor_passkey() -> BaseResponse:
    """Finish the sign-in with a passkey as second factor."""
    return _answer(_verify_passkey)


@blueprint.post("/factor/passkey-options")
def factor_options() -> BaseResponse:
    """Return what the browser asks a passkey with."""
    try:
        asked = hosted.ask_for_hosted_factor(
            hosted_pages.ports(), anonymous_actor(), challenge=_challenge()
        )
    except Refused as refused:
        return _error(refused)
    return jsonify(challenge=asked.token, options=asked.options)


def hold_sign_in(required: SecondFactorRequired) -> BaseResponse:
    """Keep a sign-in whose first factor was right in the cookie, and lead to its second step."""
    session[_FACTOR] = required.challenge.token
    session.pop(_CODE, None)
    return hosted_pages.to_step("sign_in.factor")


def _answer(finish: Callable[[str], hosted.HostedSession]) -> BaseResponse:
    error = ""
    try:
        hosted.show_waiting_hosted_sign_in(
            hosted_pages.ports(), anonymous_actor(), challenge=_challenge()
        )
        if request.method == "POST":
            return hosted_pages.begin_hosted(finish(_challenge()), hosted_pages.next_path())
    except Refused as refused:
        if refused.problems[0].field not in ("code", "credential", None):
            session.pop(_FACTOR, None)
            return _back(_reasons(refused))
        error = _reasons(refused)
    try:
        usable = hosted.show_waiting_hosted_sign_in(
            hosted_pages.ports(), anonymous_actor(), challenge=_challenge()
        )
    except Refused as refused:
        session.pop(_FACTOR, None)
        return _back(error or _reasons(refused))
    ways = [way for kind, way in FACTOR_WAYS.items() if kind in usable]
    asked = request.args.get("with", "")
    way = asked if asked in ways else next(iter(ways), "")
    others = [
        {"way": each, "label": text(FACTOR_TITLES[each]), "is_passkey": each == "passkey"}
        for each in ways
        if each != way
    ]
    is_long = way == "recovery"
    values = {"label": text(_RECOVERY if is_long else _DIGITS), "is_long": is_long}
    show = hosted_pages.refused_page if error else hosted_pages.page
    title = text(FACTOR_TITLES.get(way, _NO_WAY))
    return show("factor.html", title=title, way=way, others=others, error=error, **values)


def _verify_passkey(challenge: str) -> hosted.HostedSession:
    return hosted.sign_in_hosted_with_passkey(
        hosted_pages.ports(),
        anonymous_actor(),
        challenge=challenge,
        credential=request.form.get("credential", ""),
    )


def _challenge() -> str:
    return str(session.get(_FACTOR, ""))


def _options(*, problem: str = "", error: str = "") -> BaseResponse:
    shop = hosted_pages.hosted_shop()
    providers = (
        hosted.list_hosted_providers(hosted_pages.ports(), anonymous_actor())
        if shop.offers_providers
        else ()
    )
    can_use_passkeys = (
        shop.offers_passkeys and party_of(hosted_pages.ports(), anonymous_actor()) is not None
    )
    show = hosted_pages.refused_page if problem or error else hosted_pages.page
    return show(
        "sign_in.html",
        email=session.get(_EMAIL, ""),
        providers=providers,
        offers_passkeys=can_use_passkeys,
        problem=problem,
        error=error,
    )


def _back(reason: str, target: str | None = None) -> BaseResponse:
    """Lead back to the first step, and say why there."""
    session[_REASON] = reason
    if target is not None:
        return redirect(
            hosted_pages.step("sign_in.index", next=hosted_pages.own_target(target)),
            HTTPStatus.SEE_OTHER,
        )
    return hosted_pages.to_step("sign_in.index")


def _reasons(refused: Refused) -> str:
    return " ".join(sign_in_refusal(problem) for problem in refused.problems)


def _error(refused: Refused) -> BaseResponse:
    return make_response(jsonify(error=_reasons(refused)), HTTPStatus.UNPROCESSABLE_ENTITY)
