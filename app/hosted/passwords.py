"""Registering, confirming an account, and setting a forgotten password."""

from flask import Blueprint, redirect, request, session, url_for
from werkzeug.exceptions import NotFound
from werkzeug.wrappers import Response as BaseResponse

from app.domain.values.errors import Refused
from app.domain.values.inputs import ABSENT
from app.hosted.sign_in import hold_sign_in, send_code
from app.services.accounts.email_changes import confirm_account
from app.services.accounts.password_resets import request_password_reset
from app.services.accounts.registration import NewAccount, register_account
from app.services.hosted import set_hosted_password
from app.services.second_factors.challenges import SecondFactorRequired
from app.services.sign_in.email_codes import AccountByCode
from app.web.hosted_pages import (
    HOME,
    begin_hosted,
    full_url,
    hosted_shop,
    page,
    ports,
    refused_page,
)
from app.web.sessions import WAITING, anonymous_actor
from app.web.translation import page_language, problem_text, text

_LINK, _EMAIL = f"{WAITING}link", "email"
_FIELDS = {"email": "email", "password": "password", "firstName": "name", "lastName": "name"}

blueprint = Blueprint("passwords", __name__)


@blueprint.route("/register", methods=["GET", "POST"])
def register() -> BaseResponse:
    """Create an account; the answer is the same for every email.

    Without a password, where codes by email are offered, a code makes the account.
    """
    if not hosted_shop().offers_passwords and not hosted_shop().offers_codes:
        raise NotFound
    if request.method == "GET":
        return page("register.html", values={"email": session.get(_EMAIL, "")}, errors={})
    values = {name: request.form.get(name, "").strip() for name in ("name", "email")}
    entered = request.form.get("password", "")
    first, _, last = values["name"].partition(" ")
    language = page_language().upper()
    if hosted_shop().offers_codes and not (entered and hosted_shop().offers_passwords):
        return _register_by_code(values, AccountByCode(first, last.strip(), language))
    new = NewAccount(
        email=values["email"],
        password=entered,
        first_name=first,
        last_name=last.strip(),
        redirect_url=full_url("passwords.confirm"),
        language_code=language or ABSENT,
    )
    try:
        registered = register_account(ports(), anonymous_actor(), new)
    except Refused as refused:
        return refused_page("register.html", values=values, errors=_errors(refused))
    session[_EMAIL] = values["email"]
    return page(
        "sent.html",
        kind="register",
        is_registered=not registered.needs_confirmation,
        email=values["email"],
    )


@blueprint.route("/confirm", methods=["GET", "POST"])
def confirm() -> BaseResponse:
    """Confirm the account of a mailed link, by a button: programs that read mail open links."""
    if request.args.get("token"):
        return _keep_link("passwords.confirm")
    if request.method == "GET":
        return page("confirm.html", email=_link()["email"])
    try:
        confirm_account(ports(), anonymous_actor(), **_link())
    except Refused as refused:
        return refused_page("confirm.html", email=_link()["email"], error=_text(refused))
    session[_EMAIL] = session.pop(_LINK)["email"]
    return page("confirm.html", email=session[_EMAIL], is_done=True)


@blueprint.route("/forgotten", methods=["GET", "POST"])
def forgotten() -> BaseResponse:
    """Ask for a link; the answer is the same for every email."""
    _require_passwords()
    email = request.form.get("email", str(session.get(_EMAIL, ""))).strip()
    if request.method == "GET":
        return page("forgotten.html", email=email)
    if not email:
        return refused_page("forgotten.html", email="", error=text("Enter your email."))
    target = full_url("passwords.choose")
    try:
        request_password_reset(ports(), anonymous_actor(), email=email, redirect_url=target)
    except Refused as refused:
        return refused_page("forgotten.html", email=email, error=_text(refused))
    return page("sent.html", kind="forgotten", email=email)


@blueprint.route("/new-password", methods=["GET", "POST"])
def choose() -> BaseResponse:
    """Choose a password by a mailed link, and sign in."""
    if request.args.get("token"):
        return _keep_link("passwords.choose")
    _require_passwords()
    link = _link()
    if request.method == "GET":
        return page("new_password.html", email=link["email"])
    entered = request.form.get("password", "")
    try:
        opened = set_hosted_password(ports(), anonymous_actor(), password=entered, **link)
    except SecondFactorRequired as required:
        session.pop(_LINK, None)
        return hold_sign_in(required)
    except Refused as refused:
        return refused_page("new_password.html", email=link["email"], error=_text(refused))
    return begin_hosted(opened, HOME)


def _keep_link(endpoint: str) -> BaseResponse:
    """Take the link's secret out of the address before anything is shown."""
    session[_LINK] = {
        "email": request.args.get("email", "")[:254],
        "token": request.args.get("token", "")[:128],
    }
    return redirect(url_for(f"hosted.{endpoint}"))


def _link() -> dict[str, str]:
    kept: dict[str, str] = session.get(_LINK) or {"email": "", "token": ""}
    return kept


def _register_by_code(values: dict[str, str], account: AccountByCode) -> BaseResponse:
    """Register without a password: the code that is mailed makes the account, and signs in."""
    try:
        return send_code(values["email"], account)
    except Refused as refused:
        return refused_page("register.html", values=values, errors=_errors(refused))


def _require_passwords() -> None:
    """Raise 404 where hosted pages don't offer passwords."""
    if not hosted_shop().offers_passwords:
        raise NotFound


def _errors(refused: Refused) -> dict[str, str]:
    """Return the refusals by the field of the form, those of no field by ""."""
    found: dict[str, str] = {}
    for problem in refused.problems:
        name = _FIELDS.get(problem.field or "", "")
        found[name] = f"{found.get(name, '')} {problem_text(problem)}".strip()
    return found


def _text(refused: Refused) -> str:
    return " ".join(map(problem_text, refused.problems))
