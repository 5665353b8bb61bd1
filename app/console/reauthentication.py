"""The page that asks staff again who they are, before a use case that is declared so.

A form that was sent too long after the last proof is kept in this page, and sent again with the
answer.
"""

from http import HTTPStatus
from typing import Any

from flask import Response, request, url_for
from werkzeug.wrappers import Response as BaseResponse
from wtforms import PasswordField
from wtforms.validators import InputRequired

from app.console.forms import ConsoleForm
from app.console.page_layout import form_path, own_path, page
from app.console.session import actor, caller, ports, prove_now, signed_in_by
from app.domain.authorization.actor import SessionOrigin
from app.domain.values.errors import Refused
from app.services.console.console_sessions import confirm_password_again, show_sign_in_options

ANSWER = "proof_password"
"""The field of the password that comes with a form that is sent again."""

_NEVER_KEPT = (ANSWER, "csrf_token")


class ProofForm(ConsoleForm):
    """The current password, once more."""

    names = {"password": ANSWER}  # noqa: RUF012
    proof_password = PasswordField("Password", validators=[InputRequired("Enter your password.")])


def is_proved_by(form: ProofForm) -> bool:
    """Whether the password in ``form`` is the caller's; notes the proof, or puts what is wrong."""
    if signed_in_by().origin is not SessionOrigin.PASSWORD or not form.validate():
        return False
    try:
        confirm_password_again(ports(), actor(), password=form.proof_password.data)
    except Refused as refused:
        form.refuse(refused)
        return False
    prove_now()
    return True


def answer_proof() -> BaseResponse | None:
    """Return the page again for a wrong password; ``None`` without one or for the right one.

    Called before each view, so that the proof holds for the view itself.
    """
    if request.method != "POST" or ANSWER not in request.form:
        return None
    form = ProofForm()
    return None if is_proved_by(form) else ask_for_form(form, HTTPStatus.UNPROCESSABLE_ENTITY)


def ask_for_form(
    form: ProofForm | None = None, status: HTTPStatus = HTTPStatus.FORBIDDEN
) -> Response:
    """Ask for the proof that a form needs, with what was sent in it."""
    kept = [one for one in request.form.items(multi=True) if one[0] not in _NEVER_KEPT]
    asked = request.args.get("next")
    wanted = own_path(asked) if asked else form_path()
    return ask(status, form, action=request.full_path.rstrip("?"), kept=kept, wanted=wanted)


def ask(
    status: HTTPStatus,
    form: ProofForm | None = None,
    *,
    wanted: str,
    action: str = "",
    kept: list[tuple[str, Any]] | None = None,
) -> Response:
    """The page; a provider, and Cancel, lead to ``wanted`` afterwards."""
    by = signed_in_by()
    sign_in_options = show_sign_in_options(ports(), actor())
    return page(
        "reauthenticate.html",
        status,
        form=form or ProofForm(formdata=None),
        action=action or url_for("console.sign_in.prove", next=wanted),
        kept=kept or [],
        wanted=wanted,
        provider=next((one for one in sign_in_options.providers if one.name == by.provider), None),
        user=caller().user,
    )
