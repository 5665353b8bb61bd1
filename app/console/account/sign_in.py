"""Sign-in by password or provider, sign-out, and reauthentication."""

from http import HTTPStatus

from flask import (
    Blueprint,
    current_app,
    flash,
    jsonify,
    make_response,
    redirect,
    request,
    session,
    url_for,
)
from werkzeug.wrappers import Response as BaseResponse
from wtforms import EmailField, PasswordField
from wtforms.validators import InputRequired

from app.console.account.sign_in_code import hint_at_leaked_password, hold_sign_in
from app.console.frame import page_layout
from app.console.frame.forms import ConsoleForm
from app.console.frame.navigation import all_places
from app.console.frame.reauthentication import ask
from app.console.frame.session import (
    actor,
    close_console_session,
    is_proved,
    is_signed_in,
    open_console_session,
    ports,
    why_signed_out,
)
from app.domain.authorization.actor import Actor
from app.domain.single_sign_on.providers import ProviderError, read_provider_error
from app.domain.urls.web_urls import parse_web_url
from app.domain.values.errors import Problem, Refused
from app.services.console import console_sessions
from app.services.second_factors.challenges import SecondFactorRequired
from app.services.second_factors.factor_checks import party_of
from app.services.single_sign_on.own_identities import finish_own_link
from app.services.single_sign_on.sign_in import StartedLogin
from app.web.sessions import WAITING, anonymous_actor
from app.web.translation import lazy_text, sign_in_refusal, text

_BEGUN = f"{WAITING}sign_in"
_SECURITY = "console.second_factors.index"
_FOREIGN = Problem(
    "INVALID", "This sign-in started in another browser or was already used. Sign in again."
)
_NO_CODE = Problem(
    "INVALID", "The identity provider sent neither a code nor an error. Sign in again."
)

blueprint = Blueprint("sign_in", __name__)


class PasswordForm(ConsoleForm):
    """Email and password; the password is not trimmed."""

    email = EmailField(
        lazy_text("Email"), validators=[InputRequired(lazy_text("Enter your email."))]
    )
    password = PasswordField(
        lazy_text("Password"), validators=[InputRequired(lazy_text("Enter your password."))]
    )


@blueprint.route("/sign-in", methods=["GET", "POST"])
def index() -> BaseResponse:
    """Sign in, and return to the page that was requested."""
    next_path = page_layout.own_path(request.args.get("next"))
    if is_signed_in():
        return redirect(next_path, HTTPStatus.SEE_OTHER)
    form = PasswordForm()
    if not form.is_submitted():
        return _sign_in_options(form, next_path)
    if form.validate():
        try:
            opened = console_sessions.sign_in_to_console(
                ports(), anonymous_actor(), email=form.email.data, password=form.password.data
            )
        except SecondFactorRequired as required:
            return hold_sign_in(required, next_path, is_leaked=_is_leaked(form))
        except Refused as refused:
            form.form_errors += [sign_in_refusal(problem) for problem in refused.problems]
        else:
            open_console_session(opened)
            if _is_leaked(form):
                hint_at_leaked_password()
            return redirect(next_path, HTTPStatus.SEE_OTHER)
    return _sign_in_options(form, next_path)


@blueprint.post("/sign-in/passkey/options")
def passkey_options() -> BaseResponse:
    """Give script a challenge for the browser's passkeys."""
    try:
        asked = console_sessions.ask_for_passkey_at_console(ports(), anonymous_actor())
    except Refused as refused:
        reasons = " ".join(sign_in_refusal(problem) for problem in refused.problems)
        return make_response(jsonify(error=reasons), HTTPStatus.UNPROCESSABLE_ENTITY)
    return jsonify(challenge=asked.token, options=asked.options)


@blueprint.post("/sign-in/passkey")
def with_passkey() -> BaseResponse:
    """Sign in with a passkey alone, and return to the page that was requested."""
    next_path = page_layout.own_path(request.args.get("next"))
    if is_signed_in():
        return redirect(next_path, HTTPStatus.SEE_OTHER)
    try:
        opened = console_sessions.sign_in_to_console_with_passkey(
            ports(),
            anonymous_actor(),
            challenge=request.form.get("challenge", ""),
            credential=request.form.get("credential", ""),
        )
    except Refused as refused:
        form = PasswordForm(formdata=None)
        form.form_errors += [sign_in_refusal(problem) for problem in refused.problems]
        return _sign_in_options(form, next_path)
    open_console_session(opened)
    return redirect(next_path, HTTPStatus.SEE_OTHER)


@blueprint.get("/sign-in/with/<slug:plugin_id>")
def begin(plugin_id: str) -> BaseResponse:
    """Lead to the provider's own login."""
    again = is_signed_in()
    begun = console_sessions.begin_console_sign_in(
        ports(),
        anonymous_actor(),
        plugin_id=plugin_id,
        redirect_uri=callback_url(plugin_id),
        again=again,
    )
    session[_BEGUN] = {
        "state": begun.state,
        "next": page_layout.own_path(request.args.get("next")),
    }
    return redirect(begun.url, HTTPStatus.SEE_OTHER)


@blueprint.get("/sign-in/with/<slug:plugin_id>/callback")
def finish(plugin_id: str) -> BaseResponse:
    """Where the provider sends people back to, in the browser in which they left."""
    begun = session.pop(_BEGUN, None) or {}
    state = request.args.get("state")
    next_path = page_layout.own_path(begun.get("next"))
    if not state or begun.get("state") != state:
        return _sign_in_refused(Refused(_FOREIGN), next_path)
    code = request.args.get("code")
    error = read_provider_error(request.args.get("error"), request.args.get("error_description"))
    if not code and error is None:
        return _sign_in_refused(Refused(_NO_CODE), next_path)
    if begun.get("links"):
        return _finish_link(plugin_id, code, state, error)
    try:
        opened = console_sessions.finish_console_sign_in(
            ports(),
            actor() if is_signed_in() else anonymous_actor(),
            plugin_id=plugin_id,
            code=code,
            state=state,
            error=error,
        )
    except Refused as refused:
        return _sign_in_refused(refused, next_path)
    again = is_signed_in()
    if again:
        console_sessions.sign_out_of_console(ports(), actor())
    open_console_session(opened)
    if again and not is_proved():
        message = text(
            "{provider} didn't ask you to sign in again, so your identity isn't confirmed.",
            provider=opened.provider,
        )
        flash(message, "bad")
    return redirect(next_path, HTTPStatus.SEE_OTHER)


def redirect_to_provider_link(begun: StartedLogin) -> BaseResponse:
    """Lead staff to the provider's own login, to link the identity with which they come back.

    Browsers let no form lead to another host, so a page of the console does.
    """
    session[_BEGUN] = {"state": begun.state, "next": None, "links": True}
    left = page_layout.page(
        "account/leave_to_provider.html", provider=begun.provider, url=begun.url
    )
    left.headers["Refresh"] = f"0; url={begun.url}"
    return left


def _finish_link(
    plugin_id: str, code: str | None, state: str, error: ProviderError | None
) -> BaseResponse:
    if not is_signed_in():
        return _sign_in_refused(Refused(_FOREIGN), page_layout.own_path(None))
    try:
        name = finish_own_link(
            ports(), actor(), plugin_id=plugin_id, code=code, state=state, error=error
        )
    except Refused as refused:
        return page_layout.redirect_with_error(refused, _SECURITY, _anchor="sso")
    message = text("Linked. You can sign in with {provider} now.", provider=name)
    return page_layout.redirect_with_success(message, _SECURITY, _anchor="sso")


@blueprint.post("/sign-out")
def leave() -> BaseResponse:
    """End the session, for every copy of its cookie.

    A user who is to sign in another way returns to the requested page.
    """
    close_console_session()
    next_argument = request.args.get("next")
    return page_layout.redirect_to(
        "console.sign_in.index",
        next=None if next_argument is None else page_layout.own_path(next_argument),
    )


@blueprint.route("/prove", methods=["GET", "POST"])
def prove() -> BaseResponse:
    """Ask again who it is, and lead on; a password that came with it was looked at before."""
    next_path = page_layout.own_path(request.args.get("next"))
    if request.method == "POST" and is_proved():
        return redirect(next_path, HTTPStatus.SEE_OTHER)
    return ask(HTTPStatus.OK, next_path=next_path, act=request.args.get("act", ""))


@blueprint.post("/prove/passkey-options")
def proof_options() -> BaseResponse:
    """Return what the browser asks a passkey with, for ``passkeys.js``."""
    try:
        made = console_sessions.challenge_own_passkey(ports(), actor())
    except Refused as refused:
        return jsonify(error=sign_in_refusal(refused.problems[0]))
    return jsonify(challenge=made.token, options=made.options)


def _sign_in_options(form: PasswordForm, next_path: str) -> BaseResponse:
    """Return the sign-in page; in development it says where it could offer passkeys."""
    are_possible = party_of(ports(), anonymous_actor()) is not None
    passkey_hint = ""
    if ports().configuration.development and not are_possible:
        passkey_hint = why_impossible(anonymous_actor(), in_development=True)
    show = page_layout.refused_page if form.is_submitted() or form.errors else page_layout.page
    return show(
        "sign_in.html",
        form=form,
        next_path=next_path,
        sign_in_options=console_sessions.show_sign_in_options(ports(), anonymous_actor()),
        wanted_place=_place(next_path),
        signed_out=why_signed_out(),
        offers_passkeys=are_possible,
        passkey_hint=passkey_hint,
    )


def why_impossible(actor: Actor, *, in_development: bool) -> str:
    """Return what to do on an IP address, for which browsers don't make passkeys."""
    if not in_development:
        return text("Passkeys don't work on an IP address. Open the console by its host name.")
    # In development, its host is what the browser sent, or anything else.
    here = parse_web_url(actor.issuer)
    port = "" if here is None else here.host_and_port.removeprefix(here.host)
    url = f"http://localhost{port}"
    return text("Open the console at {url} to use passkeys.", url=url)


def _sign_in_refused(refused: Refused, next_path: str) -> BaseResponse:
    if is_signed_in():
        raise refused
    form = PasswordForm(formdata=None)
    form.refuse(refused)
    return _sign_in_options(form, next_path)


def _is_leaked(form: PasswordForm) -> bool:
    return ports().password_strength.is_leaked(str(form.password.data))


def _place(next_path: str) -> str:
    """Return the title of the requested page, unless it is the start page."""
    for place in all_places()[1:]:
        if place.endpoint in current_app.view_functions and next_path.startswith(
            url_for(place.endpoint)
        ):
            return text(place.label)
    return ""


def callback_url(plugin_id: str) -> str:
    return page_layout.full_url("console.sign_in.finish", plugin_id=plugin_id)
