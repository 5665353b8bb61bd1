"""The page "Sign-in and security": the caller's second factors, and the shop's rule about them."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from http import HTTPStatus
from math import ceil

from flask import Blueprint, redirect, request, session, url_for
from werkzeug.wrappers import Response as BaseResponse
from wtforms import StringField
from wtforms.validators import InputRequired

from app.console.account.passkeys import consequences_of_removal, passkey_values
from app.console.account.sign_in import callback_url, redirect_to_provider_link
from app.console.frame import page_layout
from app.console.frame.formatting import day, exact, html_text
from app.console.frame.navigation import Entry, PageGroup
from app.console.frame.parts import Consequence, Pill, Question
from app.console.frame.reauthentication import RULE_OF_SHOP, ask_before_dialog
from app.console.frame.session import actor, caller, is_signed_in, now, ports, prove_now
from app.console.frame.submissions import Created, CreatingForm, create_once, shown_once
from app.domain.second_factors import RECOVERY_CODES, used_second_factor, write_recovery_code
from app.domain.values.errors import Refused
from app.domain.values.text import translatable
from app.services.accounts import authenticator_apps
from app.services.authorization.register import can_call, needs_proof
from app.services.console.console_sessions import SessionAccess
from app.services.console.sign_in_methods import (
    OwnSecondFactors,
    SignInMethods,
    show_own_second_factors,
    show_own_sign_in_methods,
)
from app.services.single_sign_on.own_identities import (
    begin_own_link,
    list_own_providers,
    unlink_own_identity,
)
from app.web.converters import one_of
from app.web.translation import lazy_text, text

_FEW = 3
"""Recovery codes left from which on the page warns."""

_START_LABELS = {
    (False, False): translatable("Set up authenticator app"),
    (False, True): translatable("Continue setup"),
    (True, False): translatable("Move to a new phone"),
    (True, True): translatable("Continue moving to a new phone"),
}
"""The label of the button that begins a setup, by whether an app is on and one being set up."""


@dataclass(frozen=True, slots=True)
class ShownCodes:
    """Recovery codes, shown once, and the file that they can be saved in."""

    codes: tuple[str, ...] = field(repr=False)
    lines: str = field(repr=False)
    file: str = field(repr=False)
    file_name: str = "recovery-codes.txt"


@dataclass(frozen=True, slots=True)
class Method:
    """A way to sign in; ``link_label`` is that of a link to the password."""

    label: str
    is_set_up: bool = True
    link_label: str = ""


def _shown_codes(secret: str) -> ShownCodes:
    """Return the codes in ``secret``, which are separated by blanks."""
    codes = tuple(write_recovery_code(code) for code in secret.split())
    lines = "\n".join(codes)
    head = text(
        "Recovery codes for {email} at {shop}\nCreated {when}. Each code works once.",
        email=caller().user.email,
        shop=caller().shop.name,
        when=exact(now()),
    )
    return ShownCodes(codes, lines, f"{head}\n\n{lines}\n")


def _methods(factors: OwnSecondFactors, methods: SignInMethods) -> Iterator[Method]:
    counts = factors.counts
    for provider in methods.providers:
        yield Method(text("{provider} (SSO)", provider=provider))
    if counts.passkeys:
        yield Method(text("{count} passkey", "{count} passkeys", count=counts.passkeys))
    else:
        yield Method(text("Passkeys"), is_set_up=False)
    yield Method(text("Authenticator app"), is_set_up=counts.has_authenticator_app)
    change = text("Change password") if methods.has_password else text("Set a password")
    yield Method(text("Password"), is_set_up=methods.has_password, link_label=change)


def _policy(factors: OwnSecondFactors) -> str:
    begins = factors.required_from
    if begins is None:
        return ""
    has_factor = factors.counts.is_active
    then = text("You have one.") if has_factor else text("Add a passkey or an authenticator app.")
    if begins <= now():
        return text("Staff need a second factor. {then}", then=then)
    return text("Staff need a second factor from {date}. {then}", date=day(begins), then=then)


def _app_pill(factors: OwnSecondFactors) -> Pill | None:
    if factors.counts.has_authenticator_app:
        is_reported = factors.app.is_reported
        return Pill("bad", text("Reported")) if is_reported else Pill("ok", text("On"))
    return Pill("warn", text("Setup not finished")) if factors.app.is_pending else None


def _codes_pill(factors: OwnSecondFactors) -> Pill:
    left, total = factors.counts.recovery_codes, factors.codes.total or RECOVERY_CODES
    state = "ok" if left > _FEW else "warn" if left else "bad"
    return Pill(state, text("{left} of {total} left", left=left, total=total))


def _dialog(factors: OwnSecondFactors, question: str | None, submission: str) -> Question | None:
    """Return what is asked before the app is turned off or new recovery codes are created.

    ``submission`` is the key of the form for those.
    """
    if question == "off" and factors.counts.has_authenticator_app and not factors.is_last_kept:
        return _turn_off(factors)
    if question == "codes" and factors.counts.is_active:
        return Question(
            title=text("Generate new recovery codes?"),
            endpoint="console.second_factors.new_codes",
            consequences=(Consequence("warn", text("Your current recovery codes stop working.")),),
            action=text("Generate new codes"),
            hidden=(("submission", submission),),
        )
    return None


def _turn_off(factors: OwnSecondFactors) -> Question:
    return Question(
        title=text("Turn off your authenticator app?"),
        endpoint="console.second_factors.turn_off",
        consequences=consequences_of_removal(
            text("Codes from your app stop working."), is_last=not factors.counts.passkeys
        ),
        action=text("Turn off authenticator app"),
    )


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
    return page_layout.page("account/security.html", **_values())


@blueprint.post("/app")
def start() -> BaseResponse:
    """Begin to set up an authenticator app, or to move it to a new phone."""
    authenticator_apps.start_app_setup(ports(), actor())
    return page_layout.redirect_to(_INDEX, _anchor="app")


@blueprint.post("/app/cancel")
def cancel() -> BaseResponse:
    """Forget a setup that wasn't finished."""
    authenticator_apps.cancel_app_setup(ports(), actor())
    return page_layout.redirect_to(_INDEX)


@blueprint.post("/app/confirm")
def confirm() -> BaseResponse:
    """Turn on the app with its first code; show recovery codes once if they are new."""
    form = SetupForm()
    if form.validate():
        with form.catching_refusals():
            return create_once(form, lambda: _confirm(form))
    return page_layout.refused_page("account/security.html", **_values(form))


@blueprint.post("/app/turn-off")
def turn_off() -> BaseResponse:
    try:
        authenticator_apps.turn_off_app(ports(), actor())
    except Refused as refused:
        return page_layout.redirect_with_error(refused, _INDEX)
    return page_layout.redirect_with_success(text("Authenticator app turned off."), _INDEX)


@blueprint.post("/codes")
def new_codes() -> BaseResponse:
    """Replace the recovery codes, and show the new ones once."""
    try:
        return create_once(CreatingForm(), _replace_codes)
    except Refused as refused:
        return page_layout.redirect_with_error(refused, _INDEX)


@blueprint.post("/sso/<slug:plugin_id>/link")
def link(plugin_id: str) -> BaseResponse:
    """Leave for the provider, to link the identity with which the caller comes back."""
    redirect_uri = callback_url(plugin_id)
    try:
        begun = begin_own_link(ports(), actor(), plugin_id=plugin_id, redirect_uri=redirect_uri)
    except Refused as refused:
        return page_layout.redirect_with_error(refused, _INDEX, _anchor="sso")
    return redirect_to_provider_link(begun)


@blueprint.post("/sso/<key:key>/unlink")
def unlink(key: int) -> BaseResponse:
    try:
        unlink_own_identity(ports(), actor(), identity_id=key)
    except Refused as refused:
        return page_layout.redirect_with_error(refused, _INDEX, _anchor="sso")
    return page_layout.redirect_with_success(text("SSO identity unlinked."), _INDEX, _anchor="sso")


def _confirm(form: SetupForm) -> Created:
    added = authenticator_apps.confirm_app_setup(ports(), actor(), code=form.code.data)
    prove_now(by_factor=True)
    return Created(_confirmed(added), _INDEX, secret=" ".join(added.recovery_codes))


def _confirmed(added: authenticator_apps.AddedFactor) -> str:
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
    codes = authenticator_apps.replace_own_recovery_codes(ports(), actor())
    return Created(text("Recovery codes replaced."), _INDEX, secret=" ".join(codes))


def _values(form: SetupForm | None = None) -> dict[str, object]:
    secret = shown_once()
    empty = SetupForm(formdata=None)
    factors = show_own_second_factors(ports(), actor())
    methods = show_own_sign_in_methods(ports(), actor())
    is_on, is_pending = factors.counts.has_authenticator_app, factors.app.is_pending
    # A page that was opened a while ago asks again before it shows a secret.
    can_show = is_pending and not needs_proof(ports(), actor(), authenticator_apps.show_app_setup)
    return {
        "factors": factors,
        "setup": authenticator_apps.show_app_setup(ports(), actor()) if can_show else None,
        "app_pill": _app_pill(factors),
        "start_label": text(_START_LABELS[is_on, is_pending]),
        "confirm_label": text("Move to this phone")
        if is_on
        else text("Turn on authenticator app"),
        "codes_pill": _codes_pill(factors) if factors.counts.is_active else None,
        "methods": list(_methods(factors, methods)),
        "policy": _policy(factors),
        "question": _dialog(factors, request.args.get("ask"), empty.submission.data),
        **passkey_values(can_delete=not factors.is_last_kept),
        "own_providers": list_own_providers(ports(), actor())
        if can_call(actor(), list_own_providers)
        else (),
        "shown": _shown_codes(secret) if secret else None,
        "are_codes_gone": secret == "",
        "form": form or empty,
    }


OPEN_WITHOUT = (
    "console.account.",
    "console.creations.",
    "console.passkeys.",
    "console.passwords.",
    "console.preferences.",
    "console.second_factor_rule.",
    "console.second_factors.",
    "console.sign_in.",
)
"""The pages of staff whose session lacks the second factor that the shop requires."""

FACTORS = {"passkey": "passkeys", "app": "app"}
"""What can be added, and its card on the page "Sign-in and security"."""

_REMINDED = "reminded"
_DAY = 24 * 3600

rule_blueprint = Blueprint("second_factor_rule", __name__)


@rule_blueprint.get("/second-factor")
def show() -> BaseResponse:
    """Ask staff to add a second factor, or for the one they have."""
    next_path = page_layout.own_path(request.args.get("next"))
    begins = caller().second_factor_from
    if begins is None or used_second_factor(actor().amr):
        return redirect(next_path, HTTPStatus.SEE_OTHER)
    is_in_force = begins <= now()
    session[_REMINDED] = True
    if show_own_second_factors(ports(), actor()).counts.is_active:
        if is_in_force:
            return ask_before_dialog(RULE_OF_SHOP, next_path)
        return redirect(next_path, HTTPStatus.SEE_OTHER)
    days = ceil((begins - now()).total_seconds() / _DAY)
    return page_layout.page(
        "second_factor_required.html",
        sentence=_sentence(is_in_force=is_in_force),
        next_path=next_path,
        later=""
        if is_in_force
        else text(
            "Remind me later ({count} day left)", "Remind me later ({count} days left)", count=days
        ),
    )


@rule_blueprint.post("/second-factor")
def choose() -> BaseResponse:
    """Lead to the chosen factor's card on the page "Sign-in and security"."""
    factor = request.form.get("factor", "passkey", type=one_of(tuple(FACTORS)))
    return page_layout.redirect_to("console.second_factors.index", _anchor=FACTORS[str(factor)])


def redirect_to_second_factor(endpoint: str) -> BaseResponse | None:
    """Return the way to the page above where it comes before the requested page."""
    if not is_signed_in() or endpoint.startswith(OPEN_WITHOUT):
        return None
    is_barred = caller().access is SessionAccess.NO_SECOND_FACTOR
    if not (is_barred or _is_reminder_due()):
        return None
    is_page = request.method == "GET"
    next_path = (
        page_layout.own_path(request.full_path.rstrip("?")) if is_page else page_layout.form_path()
    )
    return redirect(url_for("console.second_factor_rule.show", next=next_path), 303)


def _is_reminder_due() -> bool:
    """Whether this is the first page after a sign-in without a second factor."""
    if caller().second_factor_from is None or _REMINDED in session:
        return False
    is_page = request.method == "GET" and not page_layout.wants_part()
    return is_page and not used_second_factor(actor().amr)


def _sentence(*, is_in_force: bool) -> str:
    shop = caller().shop.name
    if is_in_force:
        return html_text(
            "{shop} requires one for staff. Without it, you have customer-level access.", shop=shop
        )
    return html_text(
        "{shop} requires one for staff from {date}. "
        "Without it, you'll have customer-level access.",
        shop=shop,
        date=day(caller().second_factor_from or now()),
    )
