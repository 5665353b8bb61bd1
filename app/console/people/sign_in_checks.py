"""Sign-in attempts in words, and "Can this customer sign in?" with its checks and answer."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from app.console.frame.formatting import amount, device_words
from app.console.frame.parts import Pill
from app.domain.accounts.users import User
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.passwords.imported_hashes import ImportedPasswordState
from app.domain.second_factors import SecondFactorType
from app.domain.shop.settings import PasswordLoginMode
from app.domain.sign_in.sign_in_log import (
    AccountType,
    SignInEvent,
    SignInMethod,
    SignInReason,
    SignInResult,
)
from app.domain.values.text import translatable
from app.ports.throttle import BlockedIp
from app.services.console.sign_in_methods import Blocks, SignInDiagnosis, SignInState
from app.web.translation import enumeration, reason_text, text

RESULTS: Mapping[str, str] = {
    SignInResult.SUCCESSFUL: translatable("Successful"),
    SignInResult.FAILED: translatable("Failed"),
}
METHODS: Mapping[str, str] = {
    SignInMethod.PASSWORD: translatable("Password"),
    SignInMethod.PASSKEY: translatable("Passkey"),
    SignInMethod.EMAIL_CODE: translatable("Code by email"),
    SignInMethod.SSO: translatable("SSO"),
    SignInMethod.LINK: translatable("Emailed link"),
    SignInMethod.REFRESH: translatable("Token refresh"),
    SignInMethod.APP_TOKEN: translatable("App token"),
    SignInMethod.PROVIDER_TOKEN: translatable("SSO access token"),
}
ACCOUNT_TYPES: Mapping[str, str] = {
    AccountType.STAFF: translatable("Staff"),
    AccountType.CUSTOMER: translatable("Customers"),
    AccountType.APP: translatable("Apps"),
    AccountType.UNKNOWN: translatable("Unknown"),
}
REASONS: Mapping[str, str] = {
    SignInReason.INCORRECT_PASSWORD: translatable("Incorrect password"),
    SignInReason.UNKNOWN_EMAIL: translatable("Unknown email"),
    SignInReason.NO_PASSWORD: translatable("No password set"),
    SignInReason.INCORRECT_CODE: translatable("Incorrect code"),
    SignInReason.PASSKEY_REFUSED: translatable("Passkey not accepted"),
    SignInReason.CHALLENGE_ENDED: translatable("Second factor too late or already used"),
    SignInReason.BLOCKED_IP: translatable("Blocked IP"),
    SignInReason.PASSWORD_LOGIN_OFF: translatable("Password login is off"),
    SignInReason.INACTIVE: translatable("Account inactive"),
    SignInReason.NOT_CONFIRMED: translatable("Email not confirmed"),
    SignInReason.NOT_STAFF: translatable("Not a staff member"),
    SignInReason.LINK_INVALID: translatable("Link invalid or expired"),
    SignInReason.SSO_EXPIRED: translatable("SSO sign-in expired"),
    SignInReason.SSO_REFUSED: translatable("Refused by the identity provider"),
    SignInReason.SSO_NOT_LINKED: translatable("No account linked to this identity"),
    SignInReason.SSO_OTHER_PERSON: translatable("Signed in with SSO as someone else"),
    SignInReason.TOKEN_EXPIRED: translatable("Token expired"),
    SignInReason.TOKEN_INVALID: translatable("Token invalid or revoked"),
    SignInReason.SESSION_ENDED: translatable("Session ended"),
    SignInReason.UNAVAILABLE: translatable("Temporarily unavailable"),
    SignInReason.OTHER: translatable("Other"),
}
_INACTIVE_APP = translatable("App inactive")


def result_pill(event: SignInEvent) -> Pill:
    state = "ok" if event.result is SignInResult.SUCCESSFUL else "bad"
    return Pill(state, text(RESULTS[event.result]))


def reason_words(event: SignInEvent) -> str:
    """Return why an attempt failed and how often; empty for a successful one."""
    if event.reason is None:
        return ""
    reason = text(REASONS[event.reason])
    if event.reason is SignInReason.INACTIVE and event.account_type is AccountType.APP:
        reason = text(_INACTIVE_APP)
    if event.attempts == 1:
        return reason
    return text("{reason}, {count:,}\N{MULTIPLICATION SIGN}", reason=reason, count=event.attempts)


_SECOND_FACTORS = {
    SecondFactorType.PASSKEY: translatable("passkey"),
    SecondFactorType.AUTHENTICATOR_APP: translatable("authenticator app"),
    SecondFactorType.RECOVERY_CODES: translatable("recovery code"),
}


def method_words(event: SignInEvent) -> str:
    """Return how someone tried to sign in, with the identity provider and the second factor."""
    if event.second_factor is None:
        return _first_factor(event)
    factor = text(_SECOND_FACTORS[event.second_factor])
    return text("{method}, then {factor}", method=_first_factor(event), factor=factor)


def _first_factor(event: SignInEvent) -> str:
    if event.method is SignInMethod.SSO and event.provider:
        return event.provider
    if event.method is SignInMethod.PROVIDER_TOKEN and event.provider:
        return text("{provider}, access token", provider=event.provider)
    return text(METHODS[event.method])


_NONE = "\N{EN DASH}"
_MODES = {
    PasswordLoginMode.ENABLED: translatable("Mode: everyone."),
    PasswordLoginMode.CUSTOMERS_ONLY: translatable("Mode: customers only."),
    PasswordLoginMode.DISABLED: translatable("Mode: disabled."),
}


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that decides about signing in; ``state`` is ok, warn or bad.

    ``reason`` says in a sentence how it keeps the customer out. ``unblock`` is an IP address that
    the reader can unblock; ``unblocks_account`` asks for a button that lifts the account's block.
    """

    state: str
    title: str
    detail: str = ""
    reason: str = ""
    unblock: str = ""
    unblocks_account: bool = False


@dataclass(frozen=True, slots=True)
class AttemptRow:
    result: Pill
    reason: str
    provider_reason: str
    method: str
    ip_address: str
    device: str
    at: datetime


@dataclass(frozen=True, slots=True)
class SignInCard:
    """The answer, the checks behind it, and the last attempts; ``search`` finds all of them."""

    state: str
    answer: str
    checks: tuple[Check, ...]
    attempts: tuple[AttemptRow, ...]
    search: str


def make_sign_in_card(diagnosis: SignInDiagnosis, actor: Actor, now: datetime) -> SignInCard:
    user, state = diagnosis.person.user, diagnosis.state
    checks = (
        *_block_checks(diagnosis.blocks, actor, now),
        _activity(user),
        _confirmation(user, state),
        _method(diagnosis),
        _mode(state),
        _storefront(state),
    )
    failed = [check for check in checks if check.state == "bad"]
    warned = [check for check in checks if check.state == "warn"]
    return SignInCard(
        state="bad" if failed else "warn" if warned else "ok",
        answer=_answer(failed, warned),
        checks=checks,
        attempts=tuple(map(_row, diagnosis.attempts)),
        search=user.email,
    )


def _answer(failed: Sequence[Check], warned: Sequence[Check]) -> str:
    """Return whether the customer can sign in, and the first reason."""
    if failed:
        return text("No. {reason}", reason=failed[0].reason)
    if warned:
        return text("Yes. {limit}", limit=warned[0].reason)
    return text("Yes.")


def _block_checks(blocks: Blocks | None, actor: Actor, now: datetime) -> Iterator[Check]:
    if blocks is None:
        yield Check(
            "bad",
            text("Login throttle unavailable"),
            text("Blocks can't be read."),
            reason=text("Password sign-ins are refused until the login throttle responds."),
        )
        return
    for block in blocks.addresses:
        yield _blocked_address(block, actor, now)
    if blocks.account_until is not None:
        yield _blocked_account(blocks.account_until, now)


def _blocked_account(until: datetime, now: datetime) -> Check:
    minutes = _minutes(until.timestamp(), now)
    detail = text("Too many incorrect current passwords. Unblocks in {count} min.", count=minutes)
    return Check(
        "warn",
        text("Password changes blocked"),
        detail,
        reason=text("Password changes are blocked."),
        unblocks_account=True,
    )


def _blocked_address(block: BlockedIp, actor: Actor, now: datetime) -> Check:
    minutes = _minutes(block.blocked_until, now)
    detail = text(
        "{address}, {count:,} failed attempt. Unblocks in {minutes} min.",
        "{address}, {count:,} failed attempts. Unblocks in {minutes} min.",
        address=block.address,
        minutes=minutes,
        count=block.failures,
    )
    can_unblock = actor.holds(Permission.MANAGE_STAFF)
    return Check(
        "bad",
        text("IP address blocked"),
        detail
        if can_unblock
        else text("{detail} To unblock it, ask someone with Manage staff.", detail=detail),
        reason=text(
            "The customer's IP address is blocked for {minutes} more min.", minutes=minutes
        ),
        unblock=block.address if can_unblock else "",
    )


def _minutes(until: float, now: datetime) -> str:
    return amount(max(1, -int(-(until - now.timestamp()) // 60)))


def _activity(user: User) -> Check:
    if user.is_active:
        return Check("ok", text("Account active"))
    return Check(
        "bad",
        text("Account inactive"),
        text("Activate the account to allow sign-ins."),
        reason=text("The account is inactive."),
    )


def _confirmation(user: User, state: SignInState) -> Check:
    if user.is_confirmed:
        return Check("ok", text("Email confirmed"))
    if state.needs_confirmation:
        return Check(
            "bad",
            text("Email not confirmed"),
            text("A password reset link also confirms the email."),
            reason=text("The email isn't confirmed."),
        )
    return Check(
        "ok", text("Email not confirmed"), text("This shop doesn't require confirmed emails.")
    )


def _method(diagnosis: SignInDiagnosis) -> Check:
    state, origin = diagnosis.state, diagnosis.person.origin
    providers = enumeration(state.providers)
    if state.has_password and providers:
        return Check(
            "ok", text("Signs in with a password or with {providers}", providers=providers)
        )
    if state.has_password:
        return Check("ok", text("Signs in with a password"), text("No linked SSO account."))
    if providers:
        return Check(
            "ok", text("Signs in with {providers}", providers=providers), text("No password.")
        )
    detail = text("Send a password reset link.")
    if origin is not None and origin.password is ImportedPasswordState.MUST_RESET:
        detail = text("The password couldn't be imported. Send a password reset link.")
    return Check(
        "bad",
        text("No password set and no linked SSO account"),
        detail,
        reason=text("The account has no password and no linked SSO account."),
    )


def _mode(state: SignInState) -> Check:
    mode = text(_MODES[state.mode])
    if state.mode is not PasswordLoginMode.DISABLED:
        return Check("ok", text("Password login is on for customers"), mode)
    if state.providers:
        return Check("ok", text("Password login is off"), text("{mode} SSO works.", mode=mode))
    reason = text("Password login is off, and the account has no linked SSO account.")
    return Check("bad", text("Password login is off"), mode, reason=reason)


def _storefront(state: SignInState) -> Check:
    if state.is_storefront_open:
        return Check("ok", text("Storefront open"))
    return Check(
        "bad",
        text("Storefront closed"),
        text("Only staff and apps can use the API."),
        reason=text("The storefront is closed."),
    )


def _row(event: SignInEvent) -> AttemptRow:
    return AttemptRow(
        result=result_pill(event),
        reason=reason_words(event),
        provider_reason=reason_text(event.detail),
        method=method_words(event),
        ip_address=event.address or _NONE,
        device=device_words(event.device),
        at=event.at,
    )
