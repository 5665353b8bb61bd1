"""The page that asks staff again who they are, before a use case that is declared so.

A form that was sent too long after the last proof is kept in this page, and sent again with the
answer.
"""

from datetime import timedelta
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs, urlsplit

from flask import Response, redirect, request, url_for
from werkzeug.wrappers import Response as BaseResponse
from wtforms import HiddenField, PasswordField, StringField

from app.console.frame.forms import ConsoleForm
from app.console.frame.page_layout import form_path, own_path, page
from app.console.frame.session import PROOF_LASTS, actor, caller, ports, prove_now, signed_in_by
from app.domain.authorization.actor import SessionOrigin
from app.domain.second_factors import SecondFactorType
from app.domain.values.errors import Problem, Refused
from app.domain.values.text import translatable
from app.services.console.console_sessions import (
    OwnFactors,
    confirm_code_again,
    confirm_passkey_again,
    confirm_password_again,
    show_own_factors,
    show_sign_in_options,
)
from app.web.translation import lazy_text, text

ANSWER = "proof_password"
"""The field of the password that comes with a form that is sent again."""

ACTS = {
    "account_actions.reset_factors": translatable(
        "You're about to reset someone's second factors."
    ),
    "access.set_mode": translatable("You're about to turn off password login."),
    "access.set_storefront": translatable("You're about to close the storefront."),
    "app_clients.link": translatable("You're about to let a client act as an app."),
    "app_installation.agree": translatable("You're about to install an app."),
    "app_installation.retry": translatable("You're about to install an app."),
    "app_tokens.make": translatable("You're about to create a token that doesn't expire."),
    "app_tokens.rotate": translatable("You're about to create a token that doesn't expire."),
    "apps.connect": translatable("You're about to create an app with permissions."),
    "apps.save_permissions": translatable("You're about to give an app more permissions."),
    "deliveries.redeliver": translatable(
        "You're about to enable a webhook that receives account links."
    ),
    "keys.rotate": translatable("You're about to rotate the signing key."),
    "mail_templates.save": translatable("You're about to change an email that people receive."),
    "passkeys.add": translatable("You're about to add a passkey."),
    "passkeys.begin": translatable("You're about to add a passkey."),
    "passkeys.delete": translatable("You're about to delete a passkey."),
    "provider_editing.discover": translatable(
        "You're about to look up an identity provider's settings."
    ),
    "provider_editing.edit": translatable("You're about to change an identity provider."),
    "provider_editing.new": translatable("You're about to add an identity provider."),
    "shop_settings.set_second_factor": translatable(
        "You're about to change the rule about second factors."
    ),
    "second_factors.confirm": translatable("You're about to turn on an authenticator app."),
    "second_factors.new_codes": translatable("You're about to generate new recovery codes."),
    "second_factors.start": translatable("You're about to set up an authenticator app."),
    "second_factors.turn_off": translatable("You're about to turn off your authenticator app."),
    "single_sign_on.confirm": translatable(
        "You're about to confirm an identity provider's settings."
    ),
    "single_sign_on.switch": translatable(
        "You're about to enable or disable an identity provider."
    ),
    "staff.groups.add_member": translatable("You're about to add a member to a group."),
    "staff.groups.new": translatable(
        "You're about to create a group with permissions or members."
    ),
    "staff.groups.save": translatable("You're about to give a group more permissions."),
    "staff.invitations.index": translatable("You're about to invite a staff member."),
    "staff.invitations.make_link": translatable("You're about to copy an invitation link."),
    "staff.save_groups": translatable("You're about to change a staff member's groups."),
    "webhook_editing.edit": translatable(
        "You're about to save a webhook that receives account links."
    ),
    "webhook_editing.new": translatable(
        "You're about to create a webhook that receives account links."
    ),
    "webhooks.grant": translatable("You're about to give an app more permissions."),
    "webhooks.resume": translatable(
        "You're about to enable a webhook that receives account links."
    ),
}
"""What each form that needs a proof does, by its page's endpoint."""

_LEADING_HERE = {
    "second_factor_rule.show": translatable("Your shop requires a second factor for staff access.")
}
"""Pages that lead here without a form."""

_ANY_ACT = translatable("This change needs a recent confirmation.")
_ANSWERS = (ANSWER, "proof_code", "proof_credential")
_NEVER_KEPT = (*_ANSWERS, "proof_challenge", "csrf_token")
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


def is_proved_by(form: ProofForm) -> bool:
    """Whether the answer in ``form`` is the caller's; notes the proof, or puts what is wrong."""
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
        confirm_passkey_again(
            ports(), actor(), challenge=str(challenge), credential=str(credential)
        )
        return True
    if show_own_factors(ports(), actor()).types:
        if not form.proof_code.data:
            raise Refused(Problem("REQUIRED", "Enter a code.", "code"))
        confirm_code_again(ports(), actor(), code=str(form.proof_code.data))
        return True
    if signed_in_by().origin is not SessionOrigin.PASSWORD:
        raise Refused(Problem("INVALID", "Confirm it with your identity provider."))
    if not form.proof_password.data:
        raise Refused(Problem("REQUIRED", "Enter your password.", "password"))
    confirm_password_again(ports(), actor(), password=form.proof_password.data)
    return False


def answer_proof() -> BaseResponse | None:
    """Return the page again for a wrong answer; ``None`` without one or for the right one.

    Called before each view, so that the proof holds for the view itself.
    """
    if request.method != "POST" or request.endpoint == _OPTIONS:
        return None
    if not any(name in request.form for name in _ANSWERS):
        return None
    form = ProofForm()
    return None if is_proved_by(form) else ask_for_form(form, HTTPStatus.UNPROCESSABLE_ENTITY)


def ask_for_form(
    form: ProofForm | None = None, status: HTTPStatus = HTTPStatus.FORBIDDEN
) -> Response:
    """Ask for the proof that a form needs, with what was sent in it."""
    kept = [field for field in request.form.items(multi=True) if field[0] not in _NEVER_KEPT]
    next_argument = request.args.get("next")
    next_path = own_path(next_argument) if next_argument else form_path()
    act = request.args.get("act") or (request.endpoint or "").removeprefix("console.")
    action = request.full_path.rstrip("?")
    return ask(status, form, act=act, action=action, kept=kept, next_path=next_path)


def ask_first(act: str, next_path: str) -> BaseResponse:
    """Ask before a dialog, which is at ``next_path`` and asks about one of ``ACTS``."""
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
    """Ask for the proof that ``act``, one of ``ACTS``, needs; afterwards lead to ``next_path``."""
    by = signed_in_by()
    factors = show_own_factors(ports(), actor())
    by_password = by.origin is SessionOrigin.PASSWORD and not factors.types
    sign_in_options = show_sign_in_options(ports(), actor())
    return page(
        "reauthenticate.html",
        status,
        title=text("Confirm your password") if by_password else text("Confirm it's you"),
        factors=factors,
        code_hint=_code_hint(factors),
        form=form or ProofForm(formdata=None),
        act=text((ACTS | _LEADING_HERE).get(act, _ANY_ACT)),
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


def _code_hint(factors: OwnFactors) -> str:
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
