"""The page "Sign-in and security" of the caller's account: its second factors."""

from flask import request
from werkzeug.wrappers import Response as BaseResponse
from wtforms import StringField
from wtforms.validators import InputRequired

from app.console.creations import Created, CreatingForm, create_once, shown_once
from app.console.navigation import Entry, PageGroup
from app.console.page_layout import done, go, not_done, page, refused_page
from app.console.people.passkeys_page import make_passkeys_card
from app.console.people.second_factors_page import (
    QUESTIONS,
    make_security_page,
    make_shown_codes,
)
from app.console.session import actor, caller, now, ports, prove_now
from app.domain.values.errors import Refused
from app.services.accounts.authenticator_apps import (
    AddedFactor,
    cancel_app_setup,
    confirm_app_setup,
    show_app_setup,
    start_app_setup,
    turn_off_app,
)
from app.services.accounts.passkeys import list_passkeys
from app.services.accounts.recovery_codes import replace_own_recovery_codes
from app.services.authorization.register import needs_proof
from app.services.console.own_second_factors import show_own_second_factors
from app.services.console.sign_in_methods import show_own_sign_in_methods
from app.services.second_factors.passkey_checks import party_of
from app.web.converters import one_of
from app.web.translation import lazy_text, text

_INDEX = "console.second_factors.index"

blueprint = PageGroup(
    "second_factors",
    __name__,
    Entry(
        "Sign-in and security",
        "shield-lock",
        "own second factor two-factor 2fa mfa passkey passkeys authenticator app totp one-time "
        "code recovery codes backup codes",
    ),
    url_prefix="/account/security",
)


class SetupForm(CreatingForm):
    """The first code of an authenticator app."""

    code = StringField(
        lazy_text("6-digit code"),
        validators=[InputRequired(lazy_text("Enter the 6-digit code from the app."))],
    )


@blueprint.get("/")
def index() -> BaseResponse:
    """Show the factors; ``ask`` is the change to confirm."""
    return page("account/security.html", **_values())


@blueprint.post("/app")
def start() -> BaseResponse:
    """Begin to set up an authenticator app, or to move it to a new phone."""
    start_app_setup(ports(), actor())
    return go(_INDEX, _anchor="app")


@blueprint.post("/app/cancel")
def cancel() -> BaseResponse:
    """Forget a setup that wasn't finished."""
    cancel_app_setup(ports(), actor())
    return go(_INDEX)


@blueprint.post("/app/confirm")
def confirm() -> BaseResponse:
    """Turn on the app with its first code; show recovery codes once if they are new."""
    form = SetupForm()
    if form.validate():
        try:
            return create_once(form, lambda: _confirm(form))
        except Refused as refused:
            form.refuse(refused)
    return refused_page("account/security.html", **_values(form))


@blueprint.post("/app/turn-off")
def turn_off() -> BaseResponse:
    """Turn off the authenticator app."""
    try:
        turn_off_app(ports(), actor())
    except Refused as refused:
        return not_done(refused, _INDEX)
    return done(text("Authenticator app turned off."), _INDEX)


@blueprint.post("/codes")
def new_codes() -> BaseResponse:
    """Replace the recovery codes, and show the new ones once."""
    try:
        return create_once(CreatingForm(), _replace_codes)
    except Refused as refused:
        return not_done(refused, _INDEX)


def _confirm(form: SetupForm) -> Created:
    added = confirm_app_setup(ports(), actor(), code=form.code.data)
    prove_now(by_factor=True)
    return Created(_confirmed(added), _INDEX, secret=" ".join(added.recovery_codes))


def _confirmed(added: AddedFactor) -> str:
    if added.is_moved:
        return text("Authenticator app moved to the new phone.")
    if not added.other_sessions:
        return text("Authenticator app turned on.")
    return text(
        "Authenticator app turned on. {count} other session stays signed in.",
        "Authenticator app turned on. {count} other sessions stay signed in.",
        count=added.other_sessions,
    )


def _replace_codes() -> Created:
    codes = replace_own_recovery_codes(ports(), actor())
    return Created(text("Recovery codes replaced."), _INDEX, secret=" ".join(codes))


def _values(form: SetupForm | None = None) -> dict[str, object]:
    user = caller().user
    secret = shown_once()
    empty = SetupForm(formdata=None)
    factors = show_own_second_factors(ports(), actor())
    # A page that was opened a while ago asks again before it shows a secret.
    can_show = factors.app.is_pending and not needs_proof(ports(), actor(), show_app_setup)
    return {
        "security": make_security_page(
            user,
            factors,
            show_own_sign_in_methods(ports(), actor()),
            now(),
            setup=show_app_setup(ports(), actor()) if can_show else None,
            question=request.args.get("ask", type=one_of(QUESTIONS)),
            submission=empty.submission.data,
        ),
        "passkeys": make_passkeys_card(
            list_passkeys(ports(), actor()),
            actor(),
            are_possible=party_of(ports(), actor()) is not None,
            in_development=ports().configuration.development,
            can_delete=not factors.is_last_kept,
        ),
        "shown": make_shown_codes(secret, user, caller().shop.name, now()) if secret else None,
        "are_codes_gone": secret == "",
        "form": form or empty,
    }
