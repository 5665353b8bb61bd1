"""Registering and forgotten passwords; and one's own account, passkeys, sessions and language."""

from collections.abc import Callable, Mapping
from functools import wraps
from http import HTTPStatus
from typing import Any

from flask import Blueprint, flash, redirect, request, session, url_for
from werkzeug.exceptions import NotFound
from werkzeug.wrappers import Response as BaseResponse

from app.domain.accounts.languages import shipped_tag
from app.domain.authorization.actor import Actor
from app.domain.second_factors import write_recovery_code
from app.domain.values.errors import ProofRequired, Refused, TokenRejected
from app.domain.values.ids import to_global_id
from app.domain.values.inputs import ABSENT
from app.hosted.sign_in import hold_sign_in, send_code
from app.services.accounts.account_details import Details, update_account
from app.services.accounts.email_changes import (
    confirm_account,
    confirm_email_change,
    find_email_change,
    request_email_change,
)
from app.services.accounts.passkeys import (
    add_passkey,
    begin_passkey,
    delete_passkey,
    list_passkeys,
)
from app.services.accounts.password_changes import change_password
from app.services.accounts.password_resets import request_password_reset
from app.services.accounts.registration import NewAccount, register_account
from app.services.hosted import HostedPerson, set_hosted_password
from app.services.oauth.consents import disconnect_program, list_connected_programs
from app.services.second_factors.challenges import SecondFactorRequired
from app.services.second_factors.factor_checks import party_of
from app.services.sign_in.email_codes import AccountByCode
from app.services.sign_in.sessions import SESSION, end_other_sessions, end_session, list_sessions
from app.web import hosted_pages
from app.web.sessions import WAITING, anonymous_actor
from app.web.translation import ASKED_LANGUAGE, page_language, problem_text, reasons_text, text

_MAX_SESSIONS = 50
_LINK = f"{WAITING}email_link"
_EMAIL = "email"
_ACCOUNT_LINK = f"{WAITING}link"
_REGISTERED = {"email": "email", "password": "password", "firstName": "name", "lastName": "name"}

passwords_blueprint = Blueprint("passwords", __name__)
blueprint = Blueprint("account", __name__)


@passwords_blueprint.route("/register", methods=["GET", "POST"])
def register() -> BaseResponse:
    """Create an account; the answer is the same for every email.

    Without a password, where codes by email are offered, a code makes the account.
    """
    if (
        not hosted_pages.hosted_shop().offers_passwords
        and not hosted_pages.hosted_shop().offers_codes
    ):
        raise NotFound
    if request.method == "GET":
        return hosted_pages.page(
            "register.html", values={"email": session.get(_EMAIL, "")}, errors={}
        )
    values = {name: request.form.get(name, "").strip() for name in ("name", "email")}
    entered = request.form.get("password", "")
    first, _, last = values["name"].partition(" ")
    language = page_language().upper()
    if hosted_pages.hosted_shop().offers_codes and not (
        entered and hosted_pages.hosted_shop().offers_passwords
    ):
        return _register_by_code(values, AccountByCode(first, last.strip(), language))
    new = NewAccount(
        email=values["email"],
        password=entered,
        first_name=first,
        last_name=last.strip(),
        redirect_url=hosted_pages.full_url("passwords.confirm"),
        language_code=language or ABSENT,
    )
    try:
        registered = register_account(hosted_pages.ports(), anonymous_actor(), new)
    except Refused as refused:
        return hosted_pages.refused_page(
            "register.html", values=values, errors=_errors(refused, _REGISTERED)
        )
    session[_EMAIL] = values["email"]
    return hosted_pages.page(
        "sent.html",
        kind="register",
        is_registered=not registered.needs_confirmation,
        email=values["email"],
    )


@passwords_blueprint.route("/confirm", methods=["GET", "POST"])
def confirm() -> BaseResponse:
    """Confirm the account of a mailed link, by a button: programs that read mail open links."""
    if request.args.get("token"):
        return _keep_link("passwords.confirm")
    if request.method == "GET":
        return hosted_pages.page("confirm.html", email=_account_link()["email"])
    try:
        confirm_account(hosted_pages.ports(), anonymous_actor(), **_account_link())
    except Refused as refused:
        return hosted_pages.refused_page(
            "confirm.html", email=_account_link()["email"], error=reasons_text(refused)
        )
    session[_EMAIL] = session.pop(_ACCOUNT_LINK)["email"]
    return hosted_pages.page("confirm.html", email=session[_EMAIL], is_done=True)


@passwords_blueprint.route("/forgotten", methods=["GET", "POST"])
def forgotten() -> BaseResponse:
    """Ask for a link; the answer is the same for every email."""
    _require_passwords()
    email = request.form.get("email", str(session.get(_EMAIL, ""))).strip()
    if request.method == "GET":
        return hosted_pages.page("forgotten.html", email=email)
    if not email:
        return hosted_pages.refused_page(
            "forgotten.html", email="", error=text("Enter your email.")
        )
    target = hosted_pages.full_url("passwords.choose")
    try:
        request_password_reset(
            hosted_pages.ports(), anonymous_actor(), email=email, redirect_url=target
        )
    except Refused as refused:
        return hosted_pages.refused_page(
            "forgotten.html", email=email, error=reasons_text(refused)
        )
    return hosted_pages.page("sent.html", kind="forgotten", email=email)


@passwords_blueprint.route("/new-password", methods=["GET", "POST"])
def choose() -> BaseResponse:
    """Choose a password by a mailed link, and sign in."""
    if request.args.get("token"):
        return _keep_link("passwords.choose")
    _require_passwords()
    link = _account_link()
    if request.method == "GET":
        return hosted_pages.page("new_password.html", email=link["email"])
    entered = request.form.get("password", "")
    try:
        opened = set_hosted_password(
            hosted_pages.ports(), anonymous_actor(), password=entered, **link
        )
    except SecondFactorRequired as required:
        session.pop(_ACCOUNT_LINK, None)
        return hold_sign_in(required)
    except Refused as refused:
        return hosted_pages.refused_page(
            "new_password.html", email=link["email"], error=reasons_text(refused)
        )
    return hosted_pages.begin_hosted(opened, hosted_pages.HOME)


def _keep_link(endpoint: str) -> BaseResponse:
    """Take the link's secret out of the address before anything is shown."""
    session[_ACCOUNT_LINK] = {
        "email": request.args.get("email", "")[:254],
        "token": request.args.get("token", "")[:128],
    }
    return redirect(url_for(f"hosted.{endpoint}"))


def _account_link() -> dict[str, str]:
    kept: dict[str, str] = session.get(_ACCOUNT_LINK) or {"email": "", "token": ""}
    return kept


def _register_by_code(values: dict[str, str], account: AccountByCode) -> BaseResponse:
    """Register without a password: the code that is mailed makes the account, and signs in."""
    try:
        return send_code(values["email"], account)
    except Refused as refused:
        return hosted_pages.refused_page(
            "register.html", values=values, errors=_errors(refused, _REGISTERED)
        )


def _require_passwords() -> None:
    """Raise 404 where hosted pages don't offer passwords."""
    if not hosted_pages.hosted_shop().offers_passwords:
        raise NotFound


def signed_in(view: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``view`` for people who are signed in; others sign in first.

    So do those whose sign-in is too old for what they are about to do.
    """

    @wraps(view)
    def guarded(**arguments: Any) -> Any:
        here = request.path if request.method == "GET" else hosted_pages.HOME
        if hosted_pages.hosted_person() is None:
            return redirect(hosted_pages.sign_in_url(here), HTTPStatus.SEE_OTHER)
        try:
            return view(**arguments)
        except ProofRequired:
            return redirect(hosted_pages.sign_in_url(here, again=True), HTTPStatus.SEE_OTHER)
        except TokenRejected:
            return redirect(hosted_pages.sign_in_url(here), HTTPStatus.SEE_OTHER)

    return guarded


@blueprint.get("/")
@signed_in
def index() -> BaseResponse:
    return hosted_pages.page("account.html", **_values())


@blueprint.post("/sign-out")
def sign_out() -> BaseResponse:
    """End the session, for every copy of its cookie."""
    answer = hosted_pages.end_hosted(url_for("hosted.sign_in.index"))
    flash(text("You are signed out."))
    return answer


@blueprint.route("/name", methods=["GET", "POST"])
@signed_in
def name() -> BaseResponse:
    user = _person().user
    if request.method == "GET":
        values = {"first_name": user.first_name, "last_name": user.last_name}
        return hosted_pages.page("name.html", values=values, errors={})
    values = {key: request.form.get(key, "").strip() for key in ("first_name", "last_name")}
    try:
        update_account(
            hosted_pages.ports(), _actor(), Details(values["first_name"], values["last_name"])
        )
    except Refused as refused:
        errors = _errors(refused, {"firstName": "first_name", "lastName": "last_name"})
        return hosted_pages.refused_page("name.html", values=values, errors=errors)
    return hosted_pages.redirect_to_account(text("Name saved."))


@blueprint.route("/password", methods=["GET", "POST"])
@signed_in
def password() -> BaseResponse:
    """Change one's own password; every other session ends."""
    if not hosted_pages.hosted_shop().offers_passwords:
        raise NotFound
    if request.method == "GET":
        return hosted_pages.page("password_change.html", errors={})
    try:
        change_password(
            hosted_pages.ports(),
            _actor(),
            old_password=request.form.get("old_password", ""),
            new_password=request.form.get("new_password", ""),
        )
    except Refused as refused:
        fields = {"oldPassword": "old_password", "newPassword": "new_password"}
        errors = _errors(refused, fields)
        return hosted_pages.refused_page("password_change.html", errors=errors)
    return hosted_pages.redirect_to_account(
        text("Password changed. Other devices are signed out.")
    )


@blueprint.route("/email", methods=["GET", "POST"])
@signed_in
def email() -> BaseResponse:
    """Ask for a change of one's own email: a link goes to the new one, nothing changes yet."""
    if not hosted_pages.hosted_shop().offers_passwords:
        raise NotFound  # the change is proved by the password
    if request.method == "GET":
        return hosted_pages.page("email.html", email="", errors={})
    entered = request.form.get("email", "").strip()
    try:
        request_email_change(
            hosted_pages.ports(),
            _actor(),
            new_email=entered,
            password=request.form.get("password", ""),
            redirect_url=hosted_pages.full_url("account.keep_email_link"),
        )
    except Refused as refused:
        errors = _errors(refused, {"newEmail": "email", "password": "password"})
        return hosted_pages.refused_page("email.html", email=entered, errors=errors)
    message = text(
        "Open the link we sent to {email}. Until then your email doesn't change.", email=entered
    )
    return hosted_pages.redirect_to_account(message)


@blueprint.get("/email/link")
def keep_email_link() -> BaseResponse:
    """Open a mailed link: its secret leaves the URL before anything is shown.

    It works without a session, so that no sign-in URL has the secret.
    """
    session[_LINK] = request.args.get("token", "")[:128]
    return redirect(url_for("hosted.account.confirm_email"), HTTPStatus.SEE_OTHER)


@blueprint.route("/email/confirm", methods=["GET", "POST"])
@signed_in
def confirm_email() -> BaseResponse:
    """Move the account, by a button; signing in again has forgotten the link."""
    token = str(session.get(_LINK, ""))
    try:
        if request.method == "GET":
            new_email = (
                find_email_change(hosted_pages.ports(), _actor(), token=token) if token else ""
            )
            return hosted_pages.page("email_confirm.html", new_email=new_email)
        user = confirm_email_change(hosted_pages.ports(), _actor(), token=token)
    except Refused as refused:
        session.pop(_LINK, None)
        show = hosted_pages.page if request.method == "GET" else hosted_pages.refused_page
        return show("email_confirm.html", new_email="", error=reasons_text(refused))
    session.pop(_LINK, None)
    return hosted_pages.redirect_to_account(text("Email changed to {email}.", email=user.email))


@blueprint.post("/sessions/<key:key>/end")
@signed_in
def end(key: int) -> BaseResponse:
    try:
        end_session(hosted_pages.ports(), _actor(), to_global_id(SESSION, key))
    except Refused as refused:
        return hosted_pages.redirect_to_account(reasons_text(refused))
    return hosted_pages.redirect_to_account(text("Session ended."))


@blueprint.post("/sessions/end-others")
@signed_in
def end_others() -> BaseResponse:
    end_other_sessions(hosted_pages.ports(), _actor())
    return hosted_pages.redirect_to_account(text("All other sessions ended."))


@blueprint.post("/programs/<slug:client_id>/disconnect")
@signed_in
def disconnect(client_id: str) -> BaseResponse:
    """Take back what a program was allowed, and end its sessions."""
    try:
        disconnect_program(hosted_pages.ports(), _actor(), client_id)
    except Refused as refused:
        return hosted_pages.redirect_to_account(reasons_text(refused))
    return hosted_pages.redirect_to_account(text("Program disconnected."))


@blueprint.post("/language")
@signed_in
def language() -> BaseResponse:
    """Save the language of these pages and of emails."""
    tag = shipped_tag(request.form.get("language", ""))
    if tag:
        update_account(hosted_pages.ports(), _actor(), Details(language_code=tag.upper()))
        session[ASKED_LANGUAGE] = tag
    return redirect(url_for("hosted.account.index"), HTTPStatus.SEE_OTHER)


@blueprint.route("/passkeys/new", methods=["GET", "POST"])
@signed_in
def new_passkey() -> BaseResponse:
    """Let the browser make a passkey, and add it; recovery codes are shown once."""
    if not hosted_pages.hosted_shop().offers_passkeys:
        raise NotFound
    error = ""
    if request.method == "POST":
        try:
            added = add_passkey(
                hosted_pages.ports(),
                _actor(),
                challenge=request.form.get("challenge", ""),
                credential=request.form.get("credential", ""),
                name=request.form.get("name", ""),
            )
        except Refused as refused:
            error = reasons_text(refused)
        else:
            if added.recovery_codes:
                return hosted_pages.page(
                    "recovery_codes.html", codes=[*map(write_recovery_code, added.recovery_codes)]
                )
            return hosted_pages.redirect_to_account(text("Passkey added."))
    try:
        begun = begin_passkey(hosted_pages.ports(), _actor())
    except Refused as refused:
        return hosted_pages.redirect_to_account(reasons_text(refused))
    show = hosted_pages.refused_page if error else hosted_pages.page
    return show("passkey_new.html", begun=begun, error=error)


@blueprint.route("/passkeys/<key:key>/delete", methods=["GET", "POST"])
@signed_in
def remove_passkey(key: int) -> BaseResponse:
    """Delete one of one's own passkeys, after a question."""
    known = next(
        (each for each in list_passkeys(hosted_pages.ports(), _actor()) if each.id == key), None
    )
    if known is None:
        raise NotFound
    if request.method == "GET":
        if _actor().proof_is_old:
            return redirect(
                hosted_pages.sign_in_url(request.path, again=True), HTTPStatus.SEE_OTHER
            )
        return hosted_pages.page("passkey_delete.html", passkey=known)
    try:
        delete_passkey(hosted_pages.ports(), _actor(), passkey_id=key)
    except Refused as refused:
        return hosted_pages.redirect_to_account(reasons_text(refused))
    return hosted_pages.redirect_to_account(text("Passkey deleted."))


def _actor() -> Actor:
    return _person().actor


def _person() -> HostedPerson:
    person = hosted_pages.hosted_person()
    if person is None:
        raise NotFound
    return person


def _values() -> dict[str, object]:
    user = _person().user
    can_add = (
        hosted_pages.hosted_shop().offers_passkeys
        and party_of(hosted_pages.ports(), _actor()) is not None
    )
    return {
        "user": user,
        "full_name": f"{user.first_name} {user.last_name}".strip(),
        "passkeys": list_passkeys(hosted_pages.ports(), _actor()),
        "can_add_passkey": can_add,
        "programs": list_connected_programs(hosted_pages.ports(), _actor()),
        "sessions": list_sessions(hosted_pages.ports(), _actor(), limit=_MAX_SESSIONS),
    }


def _errors(refused: Refused, fields: Mapping[str, str]) -> dict[str, str]:
    """Return the refusals by the field of the form, those of no field by ""."""
    found: dict[str, str] = {}
    for problem in refused.problems:
        name = fields.get(problem.field or "", "")
        found[name] = f"{found.get(name, '')} {problem_text(problem)}".strip()
    return found
