"""The view model of the page "Sign-in and security" of the caller's own account."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from app.console.formatting import day, exact
from app.console.parts import Consequence, Pill, Question
from app.domain.accounts.users import User
from app.domain.second_factors.recovery_codes import NUMBER, write_recovery_code
from app.domain.values.text import translatable
from app.services.accounts.authenticator_apps import AppSetup
from app.services.console.own_second_factors import OwnSecondFactors
from app.services.console.sign_in_methods import SignInMethods
from app.web.translation import text

QUESTIONS = ("off", "codes")
"""The changes that a dialog asks about: to turn off the app, to create new recovery codes."""

_FEW = 3
"""Recovery codes left from which on the page warns."""

_FILE = "recovery-codes.txt"

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
    file_name: str = _FILE


@dataclass(frozen=True, slots=True)
class Method:
    """A way to sign in: ``state`` is ok for what is set up, else muted.

    ``link_label`` is that of a link to the password.
    """

    state: str
    icon: str
    label: str
    detail: str = ""
    link_label: str = ""


@dataclass(frozen=True, slots=True)
class SecurityPage:
    """The page: cards of the factors, a summary beside them, a dialog.

    The app is on since ``app_since``; ``is_pending`` while another one is being set up.
    """

    setup: AppSetup | None
    app_pill: Pill | None
    app_since: datetime | None
    app_last_used: datetime | None
    is_pending: bool
    start_label: str
    confirm_label: str
    codes_pill: Pill | None
    codes_created: datetime | None
    codes_last_used: datetime | None
    has_factor: bool
    can_turn_off: bool
    methods: tuple[Method, ...]
    policy: str
    dialog: Question | None


def make_security_page(
    user: User,
    factors: OwnSecondFactors,
    methods: SignInMethods,
    now: datetime,
    *,
    setup: AppSetup | None = None,
    question: str | None = None,
    submission: str = "",
) -> SecurityPage:
    """Return the page with the dialog of ``question``, one of ``QUESTIONS``.

    ``submission`` is the key of the form for new recovery codes.
    """
    counts, app = factors.counts, factors.app
    is_on = counts.has_authenticator_app
    return SecurityPage(
        setup=setup,
        app_pill=_app_pill(factors),
        app_since=app.confirmed_at,
        app_last_used=app.last_used_at,
        is_pending=app.is_pending,
        start_label=text(_START_LABELS[is_on, app.is_pending]),
        confirm_label=text("Move to this phone") if is_on else text("Turn on authenticator app"),
        codes_pill=_codes_pill(factors) if counts.is_active else None,
        codes_created=factors.codes.created_at,
        codes_last_used=factors.codes.last_used_at,
        has_factor=counts.is_active,
        can_turn_off=not factors.is_last_kept,
        methods=tuple(_methods(user, factors, methods)),
        policy=_policy(factors, now),
        dialog=_dialog(factors, question, submission),
    )


def make_shown_codes(secret: str, user: User, shop_name: str, now: datetime) -> ShownCodes:
    """Return the codes in ``secret``, which are separated by blanks."""
    codes = tuple(write_recovery_code(code) for code in secret.split())
    lines = "\n".join(codes)
    head = text(
        "Recovery codes for {email} at {shop}\nCreated {when}. Each code works once.",
        email=user.email,
        shop=shop_name,
        when=exact(now),
    )
    return ShownCodes(codes, lines, f"{head}\n\n{lines}\n")


def _methods(user: User, factors: OwnSecondFactors, methods: SignInMethods) -> Iterator[Method]:
    counts = factors.counts
    for provider in methods.providers:
        label = text("{provider} (SSO)", provider=provider)
        yield Method("ok", "check-circle-fill", label, user.email)
    if counts.passkeys:
        label = text("{count} passkey", "{count} passkeys", count=counts.passkeys)
        yield Method("ok", "check-circle-fill", label)
    else:
        yield Method("muted", "dash-circle", text("Passkeys"), text("Not set up"))
    if counts.has_authenticator_app:
        yield Method("ok", "check-circle-fill", text("Authenticator app"))
    else:
        yield Method("muted", "dash-circle", text("Authenticator app"), text("Not set up"))
    if methods.has_password:
        link_label = text("Change password")
        yield Method("ok", "check-circle-fill", text("Password"), link_label=link_label)
    else:
        link_label = text("Set a password")
        yield Method("muted", "dash-circle", text("Password"), link_label=link_label)


def _policy(factors: OwnSecondFactors, now: datetime) -> str:
    begins = factors.required_from
    if begins is None:
        return ""
    has_factor = factors.counts.is_active
    then = text("You have one.") if has_factor else text("Add a passkey or an authenticator app.")
    if begins <= now:
        return text("Staff need a second factor. {then}", then=then)
    return text("Staff need a second factor from {date}. {then}", date=day(begins), then=then)


def _app_pill(factors: OwnSecondFactors) -> Pill | None:
    if factors.counts.has_authenticator_app:
        is_reported = factors.app.is_reported
        return Pill("bad", text("Reported")) if is_reported else Pill("ok", text("On"))
    return Pill("warn", text("Setup not finished")) if factors.app.is_pending else None


def _codes_pill(factors: OwnSecondFactors) -> Pill:
    left, total = factors.counts.recovery_codes, factors.codes.total or NUMBER
    state = "ok" if left > _FEW else "warn" if left else "bad"
    return Pill(state, text("{left} of {total} left", left=left, total=total))


def _dialog(factors: OwnSecondFactors, question: str | None, submission: str) -> Question | None:
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
    consequences = [Consequence("warn", text("Codes from your app stop working."))]
    if not factors.counts.passkeys:
        consequences = [
            Consequence("bad", text("You sign in without a second factor from then on.")),
            *consequences,
            Consequence("warn", text("Your recovery codes stop working.")),
        ]
    return Question(
        title=text("Turn off your authenticator app?"),
        endpoint="console.second_factors.turn_off",
        consequences=consequences,
        action=text("Turn off authenticator app"),
    )
