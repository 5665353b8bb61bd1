"""Values of emails: English texts, what those of other languages are made from, and samples.

An email is written when it is sent, in the language of its reader. The English texts in
``lifetime``, ``when``, ``since``, ``factor`` and ``device`` are for workers of an earlier release.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum

from app.domain.accounts.email_links import LIFETIMES, LinkPurpose, format_lifetime
from app.domain.mails.mail import Mail, MailKind
from app.domain.mails.own_templates import VALUES
from app.domain.sign_in.devices import device_of, device_parts
from app.domain.values.times import date_in_words


class FactorType(StrEnum):
    PASSKEY = "passkey"
    AUTHENTICATOR_APP = "authenticator_app"


def lifetime_values(purpose: LinkPurpose) -> dict[str, str]:
    """Return how long a link for ``purpose`` works: ``lifetime``, ``lifetime_seconds``."""
    seconds = int(LIFETIMES[purpose].total_seconds())
    return {"lifetime": format_lifetime(purpose), "lifetime_seconds": str(seconds)}


def code_values(code: str, lifetime: timedelta) -> dict[str, str]:
    """Return a code to sign in with, and how long it works: ``lifetime``, ``lifetime_seconds``."""
    seconds = int(lifetime.total_seconds())
    minutes = f"{seconds // 60} minutes"
    return {"code": code, "lifetime": minutes, "lifetime_seconds": str(seconds)}


def moment_values(moment: datetime) -> dict[str, str]:
    """Return when something happened: ``when``, ``at``."""
    return {"when": date_in_words(moment), "at": moment.isoformat()}


def since_values(moment: datetime | None) -> dict[str, str]:
    """Return since when something is so: ``since``, ``since_at``; empty if it isn't known."""
    if moment is None:
        return {"since": "", "since_at": ""}
    return {"since": date_in_words(moment), "since_at": moment.isoformat()}


def device_values(user_agent: str) -> dict[str, str]:
    """Return what a person used: ``device``, ``browser``, ``system``."""
    browser, system = device_parts(user_agent)
    return {"device": device_of(user_agent), "browser": browser, "system": system}


NO_DEVICE: Mapping[str, str] = {"device": "", "browser": "", "system": ""}


def passkey_values(name: str) -> dict[str, str]:
    """Return the passkey ``name`` as a second factor: ``factor``, ``factor_type`` and its name."""
    return {
        "factor": f'Passkey "{name}"',
        "factor_type": FactorType.PASSKEY.value,
        "factor_name": name,
    }


APP_VALUES: Mapping[str, str] = {
    "factor": "Authenticator app",
    "factor_type": FactorType.AUTHENTICATOR_APP.value,
    "factor_name": "",
}
"""The authenticator app as a second factor."""

_TOKEN = "sample-0123456789-sample-0123456789-sample"
_PURPOSES = {
    MailKind.PASSWORD_RESET: LinkPurpose.SET_PASSWORD,
    MailKind.ACCOUNT_CONFIRMATION: LinkPurpose.CONFIRM_ACCOUNT,
    MailKind.EMAIL_CHANGE_REQUEST: LinkPurpose.CHANGE_EMAIL,
    MailKind.ACCOUNT_DELETION_REQUEST: LinkPurpose.DELETE_ACCOUNT,
    MailKind.STAFF_INVITATION: LinkPurpose.INVITATION,
    MailKind.CUSTOMER_INVITATION: LinkPurpose.INVITATION,
}
_SAMPLES = {
    "address": "203.0.113.7",
    "app": "Parcel Post",
    "device": "Firefox on Windows",
    "inviter": "colleague@example.com",
    "left": "9",
    "new_email": "new@example.com",
    "old_email": "old@example.com",
    "provider": "Northlight ID",
    "reason": "503 Service Unavailable",
    "target": "https://app.example.com/webhooks",
    "webhook": "Order events",
}
"""Invented values by their name; those that depend on the kind or the time are made."""


def sample_mail(
    kind: MailKind, recipient: str, base_url: str, now: datetime, language_code: str = ""
) -> Mail:
    """Return an email of ``kind`` with invented values; its links open the shop's host."""
    link = f"{base_url}/?token={_TOKEN}"
    shown = VALUES[kind]
    values = {name: _SAMPLES[name] for name in shown if name in _SAMPLES}
    if kind in _PURPOSES:
        values |= {"link": link, **lifetime_values(_PURPOSES[kind])}
    if kind is MailKind.SIGN_IN_CODE:
        values |= code_values("482913", timedelta(minutes=10))
    if "when" in shown:
        values |= moment_values(now)
    if "device" in shown:
        values |= {"browser": "Firefox", "system": "Windows"}
    if "not_me" in shown:
        values["not_me"] = "" if kind is MailKind.SECOND_FACTORS_RESET else link
    if "factor" in shown:
        is_app = kind is MailKind.SECOND_FACTOR_REMOVED
        values |= APP_VALUES if is_app else passkey_values("Laptop")
    if "since" in shown:
        values |= since_values(now - timedelta(minutes=10))
    if kind is MailKind.WEBHOOK_DISABLED:
        values["reason"] = "The endpoint failed for 5 days without a successful delivery."
        values |= since_values(now - timedelta(days=5))
    return Mail(kind, recipient, values, language_code)
