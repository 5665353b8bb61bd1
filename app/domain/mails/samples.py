"""Sample values of each email, for previews and tests to oneself."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

from app.domain.mails.mail import Mail, MailKind
from app.domain.mails.values import (
    APP_VALUES,
    lifetime_values,
    moment_values,
    passkey_values,
    since_values,
)
from app.domain.passwords.email_links import LinkPurpose

_TOKEN = "sample-0123456789-sample-0123456789-sample"
_DEVICE = {
    "address": "203.0.113.7",
    "device": "Firefox on Windows",
    "browser": "Firefox",
    "system": "Windows",
}
_PURPOSES = {
    MailKind.PASSWORD_RESET: LinkPurpose.SET_PASSWORD,
    MailKind.ACCOUNT_CONFIRMATION: LinkPurpose.CONFIRM_ACCOUNT,
    MailKind.EMAIL_CHANGE_REQUEST: LinkPurpose.CHANGE_EMAIL,
    MailKind.ACCOUNT_DELETION_REQUEST: LinkPurpose.DELETE_ACCOUNT,
    MailKind.STAFF_INVITATION: LinkPurpose.INVITATION,
    MailKind.CUSTOMER_INVITATION: LinkPurpose.INVITATION,
}
_EMAILS = {"old_email": "old@example.com", "new_email": "new@example.com"}
_MORE: Mapping[MailKind, Callable[[datetime], Mapping[str, str]]] = {
    MailKind.EMAIL_CHANGE_REQUEST: lambda _now: _EMAILS,
    MailKind.STAFF_INVITATION: lambda _now: {"inviter": "colleague@example.com"},
    MailKind.EMAIL_CHANGED: lambda _now: _EMAILS,
    MailKind.SECOND_FACTOR_ADDED: lambda _now: passkey_values("Laptop"),
    MailKind.SECOND_FACTOR_REMOVED: lambda _now: APP_VALUES,
    MailKind.RECOVERY_CODE_USED: lambda _now: {"left": "9"},
    MailKind.PASSKEY_COPIED: lambda _now: passkey_values("Laptop"),
    MailKind.WEBHOOK_DISABLED: lambda now: {
        "webhook": "Order events",
        "app": "Parcel Post",
        "target": "https://app.example.com/webhooks",
        "reason": "The endpoint failed for 5 days without a successful delivery.",
        **since_values(now - timedelta(days=5)),
    },
}
_WITHOUT_TIME = {*_PURPOSES, MailKind.ACCOUNT_EXISTS}
_WITHOUT_LINK = {MailKind.ACCOUNT_SECURED, MailKind.WEBHOOK_DISABLED}


def sample_mail(
    kind: MailKind, recipient: str, base_url: str, now: datetime, language_code: str = ""
) -> Mail:
    """Return an email of ``kind`` with invented values; its links open the shop's host."""
    link = f"{base_url}/?token={_TOKEN}"
    values: dict[str, str] = {}
    if kind in _PURPOSES:
        values |= {"link": link, **lifetime_values(_PURPOSES[kind])}
    elif kind not in _WITHOUT_TIME:
        values |= moment_values(now)
        if kind is not MailKind.WEBHOOK_DISABLED:
            values |= _DEVICE
        if kind not in _WITHOUT_LINK:
            values["not_me"] = "" if kind is MailKind.SECOND_FACTORS_RESET else link
    more = _MORE.get(kind)
    if more is not None:
        values |= more(now)
    return Mail(kind, recipient, values, language_code)
