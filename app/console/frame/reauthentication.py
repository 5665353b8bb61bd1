"""The page that asks staff again who they are, before a use case that is declared so.

A form that was sent too long after the last proof is kept in this page, and sent again with the
answer.
"""

from collections.abc import Callable
from datetime import timedelta
from functools import wraps
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs, urlsplit

from flask import Response, redirect, request, url_for
from werkzeug.wrappers import Response as BaseResponse
from wtforms import HiddenField, PasswordField, StringField

from app.console.frame.forms import ConsoleForm
from app.console.frame.page_layout import form_path, own_path, page
from app.console.frame.session import actor, caller, is_signed_in, ports, prove_now, signed_in_by
from app.console.frame.submissions import PROOF_ANSWERS, without_secrets
from app.domain.authorization.actor import PROOF_LASTS, SessionOrigin
from app.domain.second_factors import SecondFactorType
from app.domain.values.errors import Problem, Refused
from app.domain.values.text import translatable
from app.services.authorization.register import act_sentence
from app.services.console import console_sessions
from app.web.translation import lazy_text, text

ANSWER = "proof_password"
"""The field of the password that comes with a form that is sent again."""

RULE_OF_SHOP = "rule"
_RULE_OF_SHOP = translatable("Your shop requires a second factor for staff access.")
"""Why the page of this rule leads here, without an act."""

_ANY_ACT = translatable("This change needs a recent confirmation.")
_ACT = "proof_act"
_OPTIONS = "console.sign_in.proof_options"


class ProofForm(ConsoleForm):
    """The current password once more, or a code or passkey of an account with a second factor."""

    names = {  # noqa: RUF012
        "password": ANSWER,
        "code": "proof_code",
        "challenge": "",
        "credential": "",
    }
    proof_password = PasswordField(lazy_text("Password"))
    proof_code = StringField(lazy_text("Code"))
    proof_challenge = HiddenField(default="", render_kw={"id": False})
    proof_credential = HiddenField(default="", render_kw={"id": False})


def accept_proof(form: ProofForm) -> bool:
    """Check the answer in ``form``; record the proof, or add the form's errors."""
    if not form.validate():
        return False
    try:
        by_factor = _confirm(form)
    except Refused as refused:
        form.refuse(refused)
        return False
    prove_now(by_factor=by_factor)
    return True


def _confirm(form: ProofForm) -> bool:
    """Refuse unless the answer is right; return whether it was a second factor.

    An account with a factor is never asked for less.
    """
    if form.proof_credential.data:
        challenge, credential = form.proof_challenge.data, form.proof_credential.data
        console_sessions.confirm_passkey_again(
            ports(), actor(), challenge=str(challenge), credential=str(credential)
        )
        return True
    if console_sessions.show_own_factors(ports(), actor()).types:
        if not form.proof_code.data:
            raise Refused(Problem("REQUIRED", "Enter a code.", "code"))
        console_sessions.confirm_code_again(ports(), actor(), code=str(form.proof_code.data))
        return True
    if signed_in_by().origin is not SessionOrigin.PASSWORD:
        raise Refused(Problem("INVALID", "Confirm it with your identity provider."))
    if not form.proof_password.data:
        raise Refused(Problem("REQUIRED", "Enter your password.", "password"))
    console_sessions.confirm_password_again(ports(), actor(), password=form.proof_password.data)
    return False


def proved_first(view: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``view``, which asks again if a wrong answer comes with the form that it takes.

    A right one holds for the view itself. Wrap a view before its rate limit does.
    """

    @wraps(view)
    def proven(**arguments: Any) -> Any:
        return _answer_proof() or view(**arguments)

    return proven


def _answer_proof() -> BaseResponse | None:
    """Return the page again for a wrong answer; ``None`` without one or for the right one."""
    if request.method != "POST" or request.endpoint == _OPTIONS or not is_signed_in():
        return None
    if not any(name in request.form for name in PROOF_ANSWERS):
        return None
    form = ProofForm()
    if accept_proof(form):
        return None
    act = request.form.get(_ACT) or request.args.get("act", "")
    return ask_for_form(act, form, HTTPStatus.UNPROCESSABLE_ENTITY)


def ask_for_form(
    act: str, form: ProofForm | None = None, status: HTTPStatus = HTTPStatus.FORBIDDEN
) -> Response:
    """Ask for the proof that ``act`` of ``ProofRequired`` needs, with the form that was sent."""
    next_argument = request.args.get("next")
    next_path = own_path(next_argument) if next_argument else form_path()
    action = request.full_path.rstrip("?")
    return ask(
        status,
        form,
        act=act,
        action=action,
        kept=[*without_secrets(), (_ACT, act)],
        next_path=next_path,
    )


def ask_before_dialog(act: str, next_path: str) -> BaseResponse:
    """Ask before a dialog, which is at ``next_path`` and asks about an act of ``needs_proof``."""
    return redirect(
        url_for("console.sign_in.prove", next=next_path, act=act), HTTPStatus.SEE_OTHER
    )


def ask(
    status: HTTPStatus,
    form: ProofForm | None = None,
    *,
    next_path: str,
    act: str = "",
    action: str = "",
    kept: list[tuple[str, Any]] | None = None,
) -> Response:
    """Ask for the proof that ``act`` needs; afterwards lead to ``next_path``."""
    by = signed_in_by()
    factors = console_sessions.show_own_factors(ports(), actor())
    by_password = by.origin is SessionOrigin.PASSWORD and not factors.types
    sign_in_options = console_sessions.show_sign_in_options(ports(), actor())
    return page(
        "reauthenticate.html",
        status,
        title=text("Confirm your password") if by_password else text("Confirm it's you"),
        factors=factors,
        code_hint=_code_hint(factors),
        form=form or ProofForm(formdata=None),
        act=text(_RULE_OF_SHOP if act == RULE_OF_SHOP else act_sentence(act) or _ANY_ACT),
        lasts=text(
            "We won't ask again for {count} minute.",
            "We won't ask again for {count} minutes.",
            count=PROOF_LASTS // timedelta(minutes=1),
        ),
        action=action or url_for("console.sign_in.prove", next=next_path, act=act or None),
        kept=kept or [],
        next_path=next_path,
        cancel=_without_question(next_path),
        provider=next(
            (provider for provider in sign_in_options.providers if provider.name == by.provider),
            None,
        ),
        user=caller().user,
    )


def _code_hint(factors: console_sessions.OwnFactors) -> str:
    """Return where codes come from; empty if the account has none."""
    has_app = SecondFactorType.AUTHENTICATOR_APP in factors.types
    has_codes = SecondFactorType.RECOVERY_CODES in factors.types
    if has_app:
        with_codes = text("From your authenticator app, or a recovery code.")
        return with_codes if has_codes else text("From your authenticator app.")
    return text("One of your recovery codes.") if has_codes else ""


def _without_question(next_path: str) -> str:
    """Return the page of ``next_path`` without its dialog, which needs the proof."""
    parts = urlsplit(next_path)
    return parts.path if "ask" in parse_qs(parts.query) else next_path
