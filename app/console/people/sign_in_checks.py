"""The view model of "Can this customer sign in?": the checks, the answer, the last attempts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from app.console.formatting import amount
from app.console.parts import Pill, enumeration
from app.console.sign_in_words import method_words, reason_words, result_pill
from app.domain.accounts.users import User
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.shop.settings import PasswordLoginMode
from app.domain.sign_in.sign_in_events import SignInEvent
from app.domain.values.text import text
from app.ports.throttle import BlockedIp
from app.services.console.sign_in_diagnosis import Blocks, SignInDiagnosis, SignInState

_NONE = "\N{EN DASH}"
_MODES = {
    PasswordLoginMode.ENABLED: "Mode: everyone.",
    PasswordLoginMode.CUSTOMERS_ONLY: "Mode: customers only.",
    PasswordLoginMode.DISABLED: "Mode: disabled.",
}


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that decides about signing in; ``state`` is ok, warn or bad.

    ``unblock`` is an IP address that the reader can unblock; ``unblocks_account`` asks for a
    button that lifts the account's own block.
    """

    state: str
    title: str
    detail: str = ""
    unblock: str = ""
    unblocks_account: bool = False


@dataclass(frozen=True, slots=True)
class AttemptRow:
    """One of the last attempts."""

    result: Pill
    reason: str
    method: str
    ip_address: str
    device: str
    at: datetime


@dataclass(frozen=True, slots=True)
class SignInCard:
    """The answer, the checks behind it, and the last attempts; ``search`` finds all of them."""

    state: str
    answer: str
    detail: str
    checks: tuple[Check, ...]
    attempts: tuple[AttemptRow, ...]
    search: str


def make_sign_in_card(diagnosis: SignInDiagnosis, actor: Actor, now: datetime) -> SignInCard:
    """Return the card for a customer."""
    user, state = diagnosis.person.user, diagnosis.state
    checks = (
        *_block_checks(diagnosis.blocks, actor, now),
        _activity(user),
        _confirmation(user, state),
        _method(user, state),
        _mode(state),
        _storefront(state),
    )
    failed = [check for check in checks if check.state == "bad"]
    warned = [check for check in checks if check.state == "warn"]
    answer, detail = _answer(failed, warned)
    return SignInCard(
        state="bad" if failed else "warn" if warned else "ok",
        answer=answer,
        detail=detail,
        checks=checks,
        attempts=tuple(map(_row, diagnosis.attempts)),
        search=user.email,
    )


def _answer(failed: Sequence[Check], warned: Sequence[Check]) -> tuple[str, str]:
    """Return whether the customer can sign in, and the first reason."""
    if failed:
        return text("No. {reason}.", reason=failed[0].title), failed[0].detail
    if warned:
        return "Yes, with limits.", text("{reason}.", reason=warned[0].title)
    return "Yes.", ""


def _block_checks(blocks: Blocks | None, actor: Actor, now: datetime) -> Iterator[Check]:
    if blocks is None:
        yield Check("warn", "Blocks can't be read", "The login throttle isn't responding.")
        return
    for block in blocks.addresses:
        yield _blocked_address(block, actor, now)
    if blocks.account_until is None:
        return
    yield Check(
        "warn",
        "Password changes blocked",
        text(
            "Too many incorrect current passwords. Unblocks in {count} min.",
            count=_minutes(blocks.account_until.timestamp(), now),
        ),
        unblocks_account=True,
    )


def _blocked_address(block: BlockedIp, actor: Actor, now: datetime) -> Check:
    values = {
        "address": block.address,
        "minutes": _minutes(block.blocked_until, now),
        "count": block.failures,
    }
    detail = text(
        "{address}, {count:,} failed attempt. Unblocks in {minutes} min.",
        "{address}, {count:,} failed attempts. Unblocks in {minutes} min.",
        **values,
    )
    if actor.holds(Permission.MANAGE_STAFF):
        return Check("bad", "IP address blocked", detail, unblock=block.address)
    hint = text("{detail} To unblock it, ask someone with Manage staff.", detail=detail)
    return Check("bad", "IP address blocked", hint)


def _minutes(until: float, now: datetime) -> str:
    return amount(max(1, -int(-(until - now.timestamp()) // 60)))


def _activity(user: User) -> Check:
    if user.is_active:
        return Check("ok", "Account active")
    return Check("bad", "Account inactive", "Activate the account to allow sign-ins.")


def _confirmation(user: User, state: SignInState) -> Check:
    if user.is_confirmed:
        return Check("ok", "Email confirmed")
    if state.needs_confirmation:
        return Check(
            "bad", "Email not confirmed", "A password reset link also confirms the email."
        )
    return Check("ok", "Email not confirmed", "This shop doesn't require confirmed emails.")


def _method(user: User, state: SignInState) -> Check:
    providers = enumeration(state.providers)
    if state.has_password and providers:
        return Check(
            "ok", text("Signs in with a password or with {providers}", providers=providers)
        )
    if state.has_password:
        return Check("ok", "Signs in with a password", "No linked SSO account.")
    if providers:
        return Check("ok", text("Signs in with {providers}", providers=providers), "No password.")
    return Check("bad", "No password set and no linked SSO account", "Send a password reset link.")


def _mode(state: SignInState) -> Check:
    mode = _MODES[state.mode]
    if state.mode is not PasswordLoginMode.DISABLED:
        return Check("ok", "Password login is on for customers", mode)
    if state.providers:
        return Check("ok", "Password login is off", text("{mode} SSO works.", mode=mode))
    return Check("bad", "Password login is off", mode)


def _storefront(state: SignInState) -> Check:
    if state.is_storefront_open:
        return Check("ok", "Storefront open")
    return Check("bad", "Storefront closed", "Only staff and apps can use the API.")


def _row(event: SignInEvent) -> AttemptRow:
    return AttemptRow(
        result=result_pill(event),
        reason=reason_words(event),
        method=method_words(event),
        ip_address=event.address or _NONE,
        device=event.device,
        at=event.at,
    )
