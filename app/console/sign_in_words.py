"""Sign-in attempts in words, for the sign-in log and a customer's page."""

from collections.abc import Mapping
from math import ceil

from app.console.parts import Pill
from app.domain.sign_in.sign_in_events import (
    AccountType,
    SignInEvent,
    SignInMethod,
    SignInReason,
    SignInResult,
)
from app.domain.values.errors import Problem
from app.web.translation import problem_text, text

_SECONDS = 60

RESULTS: Mapping[str, str] = {
    SignInResult.SUCCESSFUL: "Successful",
    SignInResult.FAILED: "Failed",
}
METHODS: Mapping[str, str] = {
    SignInMethod.PASSWORD: "Password",
    SignInMethod.PASSKEY: "Passkey",
    SignInMethod.SSO: "SSO",
    SignInMethod.LINK: "Emailed link",
    SignInMethod.REFRESH: "Token refresh",
    SignInMethod.APP_TOKEN: "App token",
}
ACCOUNT_TYPES: Mapping[str, str] = {
    AccountType.STAFF: "Staff",
    AccountType.CUSTOMER: "Customers",
    AccountType.APP: "Apps",
    AccountType.UNKNOWN: "Unknown",
}
REASONS: Mapping[str, str] = {
    SignInReason.INCORRECT_PASSWORD: "Incorrect password",
    SignInReason.UNKNOWN_EMAIL: "Unknown email",
    SignInReason.NO_PASSWORD: "No password set",
    SignInReason.INCORRECT_CODE: "Incorrect code",
    SignInReason.PASSKEY_REFUSED: "Passkey not accepted",
    SignInReason.CHALLENGE_ENDED: "Second factor too late or already used",
    SignInReason.BLOCKED_IP: "Blocked IP",
    SignInReason.PASSWORD_LOGIN_OFF: "Password login is off",
    SignInReason.INACTIVE: "Account inactive",
    SignInReason.NOT_CONFIRMED: "Email not confirmed",
    SignInReason.NOT_STAFF: "Not a staff member",
    SignInReason.LINK_INVALID: "Link invalid or expired",
    SignInReason.SSO_EXPIRED: "SSO sign-in expired",
    SignInReason.SSO_REFUSED: "Refused by the identity provider",
    SignInReason.SSO_NOT_LINKED: "No account linked to this identity",
    SignInReason.SSO_OTHER_PERSON: "Signed in with SSO as someone else",
    SignInReason.TOKEN_EXPIRED: "Token expired",
    SignInReason.TOKEN_INVALID: "Token invalid or revoked",
    SignInReason.SESSION_ENDED: "Session ended",
    SignInReason.UNAVAILABLE: "Temporarily unavailable",
    SignInReason.OTHER: "Other",
}
_INACTIVE_APP = "App inactive"


def result_pill(event: SignInEvent) -> Pill:
    """Return the result of an attempt."""
    state = "ok" if event.result is SignInResult.SUCCESSFUL else "bad"
    return Pill(state, RESULTS[event.result])


def reason_words(event: SignInEvent) -> str:
    """Return why an attempt failed and how often; empty for a successful one."""
    if event.reason is None:
        return ""
    reason = REASONS[event.reason]
    if event.reason is SignInReason.INACTIVE and event.account_type is AccountType.APP:
        reason = _INACTIVE_APP
    if event.attempts == 1:
        return reason
    return text("{reason}, {attempts:,} times", reason=reason, attempts=event.attempts)


def method_words(event: SignInEvent) -> str:
    """Return how someone tried to sign in: with which identity provider, if with any."""
    if event.method is SignInMethod.SSO and event.provider:
        return event.provider
    return METHODS[event.method]


def refusal_text(problem: Problem) -> str:
    """Return why someone wasn't signed in; the API's clients get the problem's message."""
    if problem.code == "INVALID_CREDENTIALS":
        return text("Incorrect email or password.")
    wait = problem.values.get("wait")
    if not isinstance(wait, int):
        return problem_text(problem)
    if wait > _SECONDS:
        return text(
            "Too many attempts. Try again in {count} minute.",
            "Too many attempts. Try again in {count} minutes.",
            count=ceil(wait / _SECONDS),
        )
    return text(
        "Too many attempts. Try again in {count} second.",
        "Too many attempts. Try again in {count} seconds.",
        count=wait,
    )
