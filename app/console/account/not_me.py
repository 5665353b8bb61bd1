"""The page of the link "This wasn't me" in security notices; it works without a session.

Opening it changes nothing, because mail scanners open links: only the form's button does.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from http import HTTPStatus

from flask import Blueprint, request, session
from werkzeug.wrappers import Response as BaseResponse

from app.console.account.passwords import keep_link
from app.console.frame.formatting import device_words, exact
from app.console.frame.page_layout import page, redirect_to
from app.console.frame.session import ports
from app.domain.mails.mail import MailKind
from app.domain.values.errors import Refused
from app.domain.values.text import translatable
from app.services.accounts.account_securing import (
    ReportedNotice,
    SecuredAccount,
    secure_account,
    show_reported_notice,
)
from app.services.console.console_sessions import show_sign_in_options
from app.web.sessions import WAITING, anonymous_actor
from app.web.translation import text

_LINK = f"{WAITING}not_me_link"
_SECURED = f"{WAITING}secured_account"
_MAX_TOKEN_LENGTH = 128
_PASSKEY = re.compile(r'\APasskey\s"(.*)"\Z', re.DOTALL)

_HAPPENED: Mapping[MailKind, str] = {
    MailKind.PASSWORD_CHANGED: translatable("The password was changed."),
    MailKind.EMAIL_CHANGED: translatable("The email was changed from {old_email} to {new_email}."),
    MailKind.SECOND_FACTOR_ADDED: translatable("{factor} was added."),
    MailKind.SECOND_FACTOR_REMOVED: translatable("{factor} was removed."),
    MailKind.IDENTITY_LINKED: translatable("An SSO identity was linked: {provider}."),
    MailKind.RECOVERY_CODES_REPLACED: translatable("The recovery codes were replaced."),
    MailKind.RECOVERY_CODE_USED: translatable("A recovery code was used."),
    MailKind.PASSKEY_COPIED: translatable("A copied passkey was used: {factor}."),
    MailKind.INCORRECT_CODES: translatable("The password was entered, then 5 incorrect codes."),
    MailKind.NEW_DEVICE: translatable("Someone signed in from a new device or network."),
}

_FACTORS = (translatable("Authenticator app"), translatable("Recovery codes"))
"""Second factors that people give no name."""

blueprint = Blueprint("not_me", __name__, url_prefix="/not-me")


@blueprint.get("", strict_slashes=False)
def follow() -> BaseResponse:
    """Where the mail leads: the link's secret leaves the address before anything is shown."""
    session[_LINK] = request.args.get("token", "")[:_MAX_TOKEN_LENGTH]
    session.pop(_SECURED, None)
    return redirect_to("console.not_me.confirm")


@blueprint.route("/account", methods=["GET", "POST"])
def confirm() -> BaseResponse:
    """Show what the mail was about; the form ends all sessions and removes the password."""
    token = str(session.get(_LINK, ""))
    try:
        if request.method == "POST":
            return _show_secured(secure_account(ports(), anonymous_actor(), token=token))
        notice = show_reported_notice(ports(), anonymous_actor(), token=token)
    except Refused:
        options = show_sign_in_options(ports(), anonymous_actor())
        return page("not_me/worthless.html", HTTPStatus.NOT_FOUND, sign_in_options=options)
    return page(
        "not_me/confirm.html",
        notice=notice,
        happened=_change_sentence(notice),
        circumstances=_time_and_place(notice.values),
        stops=_names(notice.stops),
        sign_in_options=show_sign_in_options(ports(), anonymous_actor()),
    )


@blueprint.get("/done")
def done() -> BaseResponse:
    """Say what was done, and lead to a new password."""
    secured = session.get(_SECURED)
    if not isinstance(secured, dict):
        return redirect_to("console.sign_in.index")
    options = show_sign_in_options(ports(), anonymous_actor())
    return page("not_me/done.html", secured=secured, sign_in_options=options)


def _show_secured(account: SecuredAccount) -> BaseResponse:
    session.pop(_LINK, None)
    session[_SECURED] = {
        "email": account.email,
        "restored": account.restored,
        "taken": account.taken,
        "stopped": _names(account.stopped),
        "sets_password": bool(account.password_token),
    }
    if account.password_token:
        keep_link(account.email, account.password_token)
    return redirect_to("console.not_me.done")


def _names(factors: Sequence[str]) -> list[str]:
    """Return second factors in the reader's language; those that they named have their names."""
    return [text(name) if name in _FACTORS else name for name in factors]


def _change_sentence(notice: ReportedNotice) -> str:
    known = _HAPPENED.get(notice.kind)
    if not known:
        return text("The account was changed.")
    values = dict(notice.values)
    if "factor" in values:
        values["factor"] = _factor(values["factor"])
    return text(known, **values)


def _time_and_place(values: Mapping[str, str]) -> list[str]:
    """Return when, on which device and from which IP address it happened, as far as known."""
    when = values.get("when", "")
    if values.get("at"):
        when = exact(datetime.fromisoformat(values["at"]))
    shown = (when, device_words(values.get("device", "")), values.get("address", ""))
    return [part for part in shown if part]


def _factor(name: str) -> str:
    """Return a second factor that the services named in English, in the page's language."""
    named = _PASSKEY.match(name)
    if named:
        return text('Passkey "{name}"', name=named[1])
    return text(name) if name in _FACTORS else name
