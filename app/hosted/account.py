"""One's own account: who is signed in, passkeys, password, sessions and language."""

from collections.abc import Callable
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
from app.services.accounts.account_details import Details, update_account
from app.services.accounts.email_changes import (
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
from app.services.oauth.consents import disconnect_program, list_connected_programs
from app.services.second_factors.factor_checks import party_of
from app.services.sign_in.sessions import (
    SESSION,
    end_other_sessions,
    end_session,
    list_sessions,
)
from app.web.hosted_pages import (
    HOME,
    end_hosted,
    full_url,
    hosted_person,
    hosted_shop,
    page,
    ports,
    redirect_with,
    refused_page,
    sign_in_url,
)
from app.web.sessions import WAITING
from app.web.translation import problem_text, text

_LANGUAGE = "ui_locales"
_MAX_SESSIONS = 50
_CODES = "recovery_codes"
_LINK = f"{WAITING}email_link"

blueprint = Blueprint("account", __name__)


def signed_in(view: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``view`` for people who are signed in; others sign in first.

    So do those whose sign-in is too old for what they are about to do.
    """

    @wraps(view)
    def guarded(**arguments: Any) -> Any:
        here = request.path if request.method == "GET" else HOME
        if hosted_person() is None:
            return redirect(sign_in_url(here), HTTPStatus.SEE_OTHER)
        try:
            return view(**arguments)
        except ProofRequired:
            return redirect(sign_in_url(here, again=True), HTTPStatus.SEE_OTHER)
        except TokenRejected:
            return redirect(sign_in_url(here), HTTPStatus.SEE_OTHER)

    return guarded


@blueprint.get("/")
@signed_in
def index() -> BaseResponse:
    return page("account.html", **_values())


@blueprint.post("/sign-out")
def sign_out() -> BaseResponse:
    """End the session, for every copy of its cookie."""
    answer = end_hosted(url_for("hosted.sign_in.index"))
    flash(text("You are signed out."))
    return answer


@blueprint.route("/name", methods=["GET", "POST"])
@signed_in
def name() -> BaseResponse:
    user = _person_user()
    if request.method == "GET":
        values = {"first_name": user.first_name, "last_name": user.last_name}
        return page("name.html", values=values, errors={})
    values = {key: request.form.get(key, "").strip() for key in ("first_name", "last_name")}
    try:
        update_account(ports(), _actor(), Details(**values))
    except Refused as refused:
        fields = {"firstName": "first_name", "lastName": "last_name"}
        errors = {
            fields.get(problem.field or "", ""): problem_text(problem)
            for problem in refused.problems
        }
        return refused_page("name.html", values=values, errors=errors)
    return redirect_with(text("Name saved."), "account.index")


@blueprint.route("/password", methods=["GET", "POST"])
@signed_in
def password() -> BaseResponse:
    """Change one's own password; every other session ends."""
    if not hosted_shop().offers_passwords:
        raise NotFound
    if request.method == "GET":
        return page("password_change.html", errors={})
    try:
        change_password(
            ports(),
            _actor(),
            old_password=request.form.get("old_password", ""),
            new_password=request.form.get("new_password", ""),
        )
    except Refused as refused:
        names = {"oldPassword": "old_password", "newPassword": "new_password"}
        errors = {
            names.get(problem.field or "", ""): problem_text(problem)
            for problem in refused.problems
        }
        return refused_page("password_change.html", errors=errors)
    return redirect_with(text("Password changed. Other devices are signed out."), "account.index")


@blueprint.route("/email", methods=["GET", "POST"])
@signed_in
def email() -> BaseResponse:
    """Ask for a change of one's own email: a link goes to the new one, nothing changes yet."""
    if not hosted_shop().offers_passwords:
        raise NotFound  # the change is proved by the password
    if request.method == "GET":
        return page("email.html", email="", errors={})
    entered = request.form.get("email", "").strip()
    try:
        request_email_change(
            ports(),
            _actor(),
            new_email=entered,
            password=request.form.get("password", ""),
            redirect_url=full_url("account.keep_email_link"),
        )
    except Refused as refused:
        names = {"newEmail": "email", "password": "password"}
        errors = {
            names.get(problem.field or "", ""): problem_text(problem)
            for problem in refused.problems
        }
        return refused_page("email.html", email=entered, errors=errors)
    message = text(
        "Open the link we sent to {email}. Until then your email doesn't change.", email=entered
    )
    return redirect_with(message, "account.index")


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
            new_email = find_email_change(ports(), _actor(), token=token) if token else ""
            return page("email_confirm.html", new_email=new_email)
        user = confirm_email_change(ports(), _actor(), token=token)
    except Refused as refused:
        session.pop(_LINK, None)
        show = page if request.method == "GET" else refused_page
        return show("email_confirm.html", new_email="", error=_text(refused))
    session.pop(_LINK, None)
    return redirect_with(text("Email changed to {email}.", email=user.email), "account.index")


@blueprint.post("/sessions/<key:key>/end")
@signed_in
def end(key: int) -> BaseResponse:
    try:
        end_session(ports(), _actor(), to_global_id(SESSION, key))
    except Refused as refused:
        return redirect_with(_text(refused), "account.index")
    return redirect_with(text("Session ended."), "account.index")


@blueprint.post("/sessions/end-others")
@signed_in
def end_others() -> BaseResponse:
    end_other_sessions(ports(), _actor())
    return redirect_with(text("All other sessions ended."), "account.index")


@blueprint.post("/programs/<slug:client_id>/disconnect")
@signed_in
def disconnect(client_id: str) -> BaseResponse:
    """Take back what a program was allowed, and end its sessions."""
    try:
        disconnect_program(ports(), _actor(), client_id)
    except Refused as refused:
        return redirect_with(_text(refused), "account.index")
    return redirect_with(text("Program disconnected."), "account.index")


@blueprint.post("/language")
@signed_in
def language() -> BaseResponse:
    """Save the language of these pages and of emails."""
    tag = shipped_tag(request.form.get("language", ""))
    if tag:
        update_account(ports(), _actor(), Details(language_code=tag.upper()))
        session[_LANGUAGE] = tag
    return redirect(url_for("hosted.account.index"), HTTPStatus.SEE_OTHER)


@blueprint.route("/passkeys/new", methods=["GET", "POST"])
@signed_in
def new_passkey() -> BaseResponse:
    """Let the browser make a passkey, and add it; recovery codes are shown once."""
    if not hosted_shop().offers_passkeys:
        raise NotFound
    error = ""
    if request.method == "POST":
        try:
            added = add_passkey(
                ports(),
                _actor(),
                challenge=request.form.get("challenge", ""),
                credential=request.form.get("credential", ""),
                name=request.form.get("name", ""),
            )
        except Refused as refused:
            error = _text(refused)
        else:
            if added.recovery_codes:
                return page(
                    "recovery_codes.html", codes=[*map(write_recovery_code, added.recovery_codes)]
                )
            return redirect_with(text("Passkey added."), "account.index")
    try:
        begun = begin_passkey(ports(), _actor())
    except Refused as refused:
        return redirect_with(_text(refused), "account.index")
    show = refused_page if error else page
    return show("passkey_new.html", begun=begun, error=error)


@blueprint.route("/passkeys/<key:key>/delete", methods=["GET", "POST"])
@signed_in
def remove_passkey(key: int) -> BaseResponse:
    """Delete one of one's own passkeys, after a question."""
    known = next((each for each in list_passkeys(ports(), _actor()) if each.id == key), None)
    if known is None:
        raise NotFound
    if request.method == "GET":
        if _actor().proof_is_old:
            return redirect(sign_in_url(request.path, again=True), HTTPStatus.SEE_OTHER)
        return page("passkey_delete.html", passkey=known)
    try:
        delete_passkey(ports(), _actor(), passkey_id=key)
    except Refused as refused:
        return redirect_with(_text(refused), "account.index")
    return redirect_with(text("Passkey deleted."), "account.index")


def _actor() -> Actor:
    person = hosted_person()
    if person is None:
        raise NotFound
    return person.actor


def _person_user() -> Any:
    person = hosted_person()
    if person is None:
        raise NotFound
    return person.user


def _values() -> dict[str, object]:
    shop = hosted_shop()
    can_add = shop.offers_passkeys and party_of(ports(), _actor()) is not None
    return {
        "user": _person_user(),
        "full_name": f"{_person_user().first_name} {_person_user().last_name}".strip(),
        "passkeys": list_passkeys(ports(), _actor()),
        "can_add_passkey": can_add,
        "programs": list_connected_programs(ports(), _actor()),
        "sessions": list_sessions(ports(), _actor(), limit=_MAX_SESSIONS),
    }


def _text(refused: Refused) -> str:
    return " ".join(map(problem_text, refused.problems))
