"""Sign-in attempts in words, for the sign-in log and a customer's page."""

from collections.abc import Mapping

from app.console.parts import Pill
from app.domain.sign_in.sign_in_events import (
    AccountType,
    SignInEvent,
    SignInMethod,
    SignInReason,
    SignInResult,
)
from app.domain.values.text import translatable
from app.web.translation import text

RESULTS: Mapping[str, str] = {
    SignInResult.SUCCESSFUL: translatable("Successful"),
    SignInResult.FAILED: translatable("Failed"),
}
METHODS: Mapping[str, str] = {
    SignInMethod.PASSWORD: translatable("Password"),
    SignInMethod.PASSKEY: translatable("Passkey"),
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
    """Return the result of an attempt."""
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
    return text(
        "{reason}, {count:,} time",
        "{reason}, {count:,} times",
        reason=reason,
        count=event.attempts,
    )


def method_words(event: SignInEvent) -> str:
    """Return how someone tried to sign in: with which identity provider, if with any."""
    if event.method is SignInMethod.SSO and event.provider:
        return event.provider
    if event.method is SignInMethod.PROVIDER_TOKEN and event.provider:
        return text("{provider}, access token", provider=event.provider)
    return text(METHODS[event.method])
