"""Forgotten passwords, and setting one by an emailed link, an invitation's included."""

from flask import Blueprint, request, session, url_for
from werkzeug.wrappers import Response as BaseResponse
from wtforms import EmailField, PasswordField
from wtforms.validators import InputRequired

from app.console.account.sign_in_code import hold_sign_in
from app.console.frame.forms import ConsoleForm
from app.console.frame.page_layout import (
    form_page,
    page,
    redirect_to,
    redirect_with_success,
    set_password_url,
)
from app.console.frame.session import open_console_session, ports
from app.domain.values.errors import Refused
from app.services.accounts.password_resets import request_password_reset
from app.services.console.console_sessions import set_password_at_console, show_sign_in_options
from app.services.second_factors.challenges import SecondFactorRequired
from app.web.sessions import WAITING, anonymous_actor
from app.web.translation import lazy_text, text

_LINK = f"{WAITING}password_link"

blueprint = Blueprint("passwords", __name__)


class ForgottenForm(ConsoleForm):
    names = {"redirectUrl": ""}  # noqa: RUF012
    email = EmailField(
        lazy_text("Email"), validators=[InputRequired(lazy_text("Enter your email."))]
    )


class NewPasswordForm(ConsoleForm):
    """The new password, asked for once, because it is a password manager's field."""

    password = PasswordField(
        lazy_text("New password"), validators=[InputRequired(lazy_text("Enter a password."))]
    )


def keep_link(email: str, token: str) -> None:
    session[_LINK] = {"email": email, "token": token}


@blueprint.route("/forgotten", methods=["GET", "POST"])
def forgotten() -> BaseResponse:
    """Ask for a link; the answer is the same for every address."""
    form = ForgottenForm()
    values: dict[str, object] = {"sign_in_options": _sign_in_options(), "email": ""}
    if form.validate_on_submit():
        with form.catching_refusals():
            request_password_reset(
                ports(), anonymous_actor(), email=form.email.data, redirect_url=set_password_url()
            )
            values |= {"email": form.email.data, "is_sent": ports().configuration.sends_mail}
            return page("passwords/forgotten.html", form=form, **values)
    return form_page("passwords/forgotten.html", form, **values)


@blueprint.get("/set-password")
def follow() -> BaseResponse:
    """Where the mail leads: the link's secret leaves the address before anything is shown."""
    keep_link(request.args.get("email", "")[:254], request.args.get("token", "")[:128])
    return redirect_to("console.passwords.choose")


@blueprint.route("/new-password", methods=["GET", "POST"])
def choose() -> BaseResponse:
    """Choose the password; staff are signed in then."""
    link = session.get(_LINK) or {"email": "", "token": ""}
    form = NewPasswordForm()
    if form.validate_on_submit():
        try:
            opened = set_password_at_console(
                ports(),
                anonymous_actor(),
                email=link["email"],
                password=form.password.data,
                token=link["token"],
            )
        except SecondFactorRequired as required:
            return hold_sign_in(required, url_for("console.home.index"))
        except Refused as refused:
            form.refuse(refused)
        else:
            session.pop(_LINK, None)
            if opened is None:
                return page("passwords/set.html", sign_in_options=_sign_in_options())
            open_console_session(opened)
            return redirect_with_success(
                text("Your password is set, and you are signed in."), "console.home.index"
            )
    return form_page(
        "passwords/choose.html", form, sign_in_options=_sign_in_options(), email=link["email"]
    )


def _sign_in_options() -> object:
    return show_sign_in_options(ports(), anonymous_actor())
