"""The second step of a sign-in: a code or passkey of an account with a second factor."""

from collections.abc import Callable
from http import HTTPStatus

from flask import Blueprint, flash, jsonify, redirect, request, session, url_for
from markupsafe import Markup
from werkzeug.wrappers import Response as BaseResponse
from wtforms import HiddenField, StringField
from wtforms.validators import InputRequired

from app.console.frame.formatting import html_text
from app.console.frame.forms import ConsoleForm
from app.console.frame.page_layout import form_page, own_path, redirect_to
from app.console.frame.session import is_signed_in, open_console_session, ports, sign_out_because
from app.domain.values.errors import Problem, Refused
from app.domain.values.text import translatable
from app.services.console import console_sessions
from app.services.second_factors.challenges import SecondFactorRequired
from app.web.sessions import anonymous_actor
from app.web.translation import FACTOR_TITLES, FACTOR_WAYS, lazy_text, sign_in_refusal, text

_HELD = "second_factor"
_LEAKED = translatable("Your password is on a list of leaked passwords. {link}")
_ENDED = translatable("Your sign-in expired or had too many incorrect codes. Sign in again.")

blueprint = Blueprint("sign_in_code", __name__, url_prefix="/sign-in/code")


class CodeForm(ConsoleForm):
    code = StringField(
        lazy_text("6-digit code"), validators=[InputRequired(lazy_text("Enter the 6-digit code."))]
    )


class RecoveryForm(ConsoleForm):
    code = StringField(
        lazy_text("Recovery code"), validators=[InputRequired(lazy_text("Enter a recovery code."))]
    )


class PasskeyForm(ConsoleForm):
    """What the browser's passkey answered; the challenge is in the cookie."""

    challenge = HiddenField(default="", render_kw={"id": False})
    credential = HiddenField(default="", render_kw={"id": False})


def hold_sign_in(
    required: SecondFactorRequired, next_path: str, *, is_leaked: bool = False
) -> BaseResponse:
    """Keep a sign-in whose password was right in the cookie, and lead to its second step."""
    session.clear()
    session[_HELD] = {
        "challenge": required.challenge.token,
        "next": next_path,
        "is_leaked": is_leaked,
    }
    return redirect_to("console.sign_in_code.index")


def hint_at_leaked_password() -> None:
    """Tell the person who has just signed in; nothing is stored and nothing else happens."""
    url = url_for("console.account.index", _anchor="pw")
    link = Markup('<a href="{}">{}</a>').format(url, text("Change it."))
    flash(html_text(_LEAKED, link=link), "warn")


@blueprint.route("", methods=["GET", "POST"])
def index() -> BaseResponse:
    """Ask for the code, and finish the sign-in."""
    form = RecoveryForm() if request.args.get("with") == "recovery" else CodeForm()
    return _answer(
        form,
        lambda challenge: console_sessions.verify_code_at_console(
            ports(), anonymous_actor(), challenge=challenge, code=str(form.code.data)
        ),
    )


@blueprint.route("/passkey", methods=["GET", "POST"])
def use_passkey() -> BaseResponse:
    if request.method == "GET":
        return redirect_to("console.sign_in_code.index")
    form = PasskeyForm()
    return _answer(
        form,
        lambda challenge: console_sessions.sign_in_to_console_with_passkey(
            ports(), anonymous_actor(), challenge=challenge, credential=str(form.credential.data)
        ),
    )


@blueprint.post("/passkey-options")
def passkey_options() -> BaseResponse:
    """Return what the browser asks a passkey with, for ``passkeys.js``."""
    try:
        made = console_sessions.challenge_passkey_at_console(
            ports(), anonymous_actor(), challenge=_challenge()
        )
    except Refused as refused:
        return jsonify(error=sign_in_refusal(refused.problems[0]))
    return jsonify(challenge=made.token, options=made.options)


def _answer(
    form: ConsoleForm, finish: Callable[[str], console_sessions.ConsoleSession]
) -> BaseResponse:
    """Show the form, or finish the sign-in with what was entered."""
    held = session.get(_HELD) or {}
    next_path = own_path(held.get("next"))
    if is_signed_in():
        return redirect(next_path, HTTPStatus.SEE_OTHER)
    if not held:
        return redirect_to("console.sign_in.index")
    if form.validate_on_submit():
        try:
            opened = finish(_challenge())
        except Refused as refused:
            if _ends(refused.problems[0]):
                return _give_up(refused)
            _refuse(form, refused)
        else:
            open_console_session(opened)
            if held.get("is_leaked"):
                hint_at_leaked_password()
            return redirect(next_path, HTTPStatus.SEE_OTHER)
    try:
        waiting = console_sessions.show_waiting_sign_in(
            ports(), anonymous_actor(), challenge=_challenge()
        )
    except Refused:
        return _give_up()
    return _page(form, waiting)


def _page(form: ConsoleForm, waiting: console_sessions.WaitingSignIn) -> BaseResponse:
    ways = [way for kind, way in FACTOR_WAYS.items() if kind in waiting.types]
    asked = "passkey" if isinstance(form, PasskeyForm) else request.args.get("with", "")
    way = asked if asked in ways else next(iter(ways), "")
    kind = RecoveryForm if way == "recovery" else CodeForm
    return form_page(
        "sign_in_code.html",
        form,
        code_form=form if isinstance(form, kind) else kind(formdata=None),
        title=text(FACTOR_TITLES[way]) if way else text("Use your second factor"),
        kind=way,
        is_passkey=way == "passkey",
        kinds=ways,
        email=waiting.email,
        sign_in_options=console_sessions.show_sign_in_options(ports(), anonymous_actor()),
        passkey_form=form if isinstance(form, PasskeyForm) else PasskeyForm(formdata=None),
    )


def _challenge() -> str:
    held = session.get(_HELD) or {}
    return str(held.get("challenge", ""))


def _refuse(form: ConsoleForm, refused: Refused) -> None:
    """Put what is wrong where the person reads it: at the code, or above the form."""
    for problem in refused.problems:
        if problem.field == "code":
            form.refuse(Refused(problem))
        else:
            form.form_errors.append(sign_in_refusal(problem))


def _ends(problem: Problem) -> bool:
    """Whether no further answer can finish this sign-in: its challenge or its account is out."""
    return problem.field in ("challenge", "email") or problem.code.startswith("DISABLED")


def _give_up(refused: Refused | None = None) -> BaseResponse:
    """Lead back to the first step, and say why there."""
    problem = refused.problems[0] if refused else None
    is_over = problem is None or problem.field == "challenge"
    session.clear()
    sign_out_because(text(_ENDED) if is_over or problem is None else sign_in_refusal(problem))
    return redirect_to("console.sign_in.index")
