"""What other systems say of an account that is disabled, locked, banned or unverified.

Each has its own field for it. Nothing widens: who can't sign in there is imported inactive, whose
email isn't verified there unconfirmed, and who has to set a password comes without one.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum


class Effect(StrEnum):
    """What a field says: nothing against the person, or how they are imported."""

    NONE = ""
    INACTIVE = "inactive"
    UNCONFIRMED = "unconfirmed"
    MUST_RESET = "must reset"


class Kind(StrEnum):
    """How a field is read."""

    ACTIVE = "active"
    INACTIVE = "inactive"
    INACTIVE_SINCE = "inactive since"
    INACTIVE_UNTIL = "inactive until"
    CONFIRMED = "confirmed"
    UNCONFIRMED = "unconfirmed"
    STATUS = "status"
    MUST_RESET = "must reset"
    CONFIRMATION = "confirmation"
    REQUIRED_ACTIONS = "required actions"
    UNVERIFIED_EMAILS = "unverified emails"


def _kinds_of(kind: Kind, names: str) -> dict[str, Kind]:
    return dict.fromkeys(names.split(), kind)


_PARTICIPLES = (
    *("disabled", "blocked", "banned", "locked"),
    *("suspended", "deactivated", "deleted", "archived"),
)

FIELDS: Mapping[str, Kind] = {
    **_kinds_of(
        Kind.ACTIVE,
        "active enabled isenabled accountenabled isaccountenabled useractive useractivated "
        "accountactive isaccountactive loginenabled approved isapproved",
    ),
    **{
        f"{before}{each}": Kind.INACTIVE
        for each in _PARTICIPLES
        for before in ("", "is", "user", "account", "isuser", "isaccount")
    },
    **_kinds_of(
        Kind.INACTIVE,
        "inactive isinactive userinactive accountinactive lockedout islockedout accountlockedout "
        "frozen isfrozen nsaccountlock terminated isterminated spam isspam logindisabled "
        "softdeleted",
    ),
    **{f"{each}{after}": Kind.INACTIVE_SINCE for each in _PARTICIPLES for after in ("at", "on")},
    **_kinds_of(Kind.INACTIVE_SINCE, "pwdaccountlockedtime lockouttime dateblocked datedeleted"),
    **{
        f"{each}{after}": Kind.INACTIVE_UNTIL
        for each in ("banned", "blocked", "locked", "suspended", "disabled")
        for after in ("until", "till")
    },
    **_kinds_of(
        Kind.INACTIVE_UNTIL,
        "lockoutend lockoutenddate lockoutenddateutc lockexpires lockexpiresat lockeduntil "
        "banexpires banexpiresat banexpiry",
    ),
    **_kinds_of(
        Kind.CONFIRMED,
        "emailverified isemailverified verifiedemail emailisverified verified isverified "
        "emailconfirmed isemailconfirmed confirmed emailvalidated isemailvalidated "
        "accountverified isaccountverified accountconfirmed emailverifiedat emailconfirmedat "
        "confirmedat verifiedat emailverifiedon emailverificationdate",
    ),
    **_kinds_of(
        Kind.UNCONFIRMED,
        "unverified isunverified emailunverified unconfirmed isunconfirmed emailunconfirmed",
    ),
    **_kinds_of(
        Kind.STATUS,
        "status state userstatus userstate accountstatus accountstate customerstatus "
        "customerstate memberstatus loginstatus statusreadonly externaluserstate",
    ),
    **_kinds_of(
        Kind.MUST_RESET,
        "passwordchangerequired passwordresetrequired requirepasswordchange mustchangepassword "
        "forcechangepassword forcepasswordchange changepasswordatnextlogin passwordexpired "
        "needspasswordreset",
    ),
    "confirmation": Kind.CONFIRMATION,
    "requiredactions": Kind.REQUIRED_ACTIONS,
    "unverifiedemailaddresses": Kind.UNVERIFIED_EMAILS,
}
"""The fields by their normalized names (``field_key``).

Of Auth0, Better Auth, Clerk, Cognito, Discourse, Drupal, Entra ID, Firebase, FusionAuth, Google
Workspace, Keycloak, Laravel, Logto, Magento, Okta, Rails' Devise, SCIM, Shopify, Supabase,
WordPress, Zitadel, and their likes.
"""


def _words(effect: Effect, words: str) -> dict[str, Effect]:
    return dict.fromkeys(words.split(), effect)


_STATUSES: Mapping[str, Effect] = {
    **_words(
        Effect.NONE,
        "active enabled confirmed verified approved accepted ok normal live registered true 1",
    ),
    **_words(
        Effect.INACTIVE,
        "disabled inactive blocked banned locked lockedout suspended suspend deprovisioned "
        "deactivated archived deleted removed compromised declined rejected terminated closed "
        "staged spam false 0 -1",
    ),
    **_words(
        Effect.UNCONFIRMED,
        "unconfirmed unverified pending pendingactivation pendingacceptance pendingverification "
        "pendinguseraction provisioned invited initial",
    ),
    **_words(Effect.MUST_RESET, "recovery passwordexpired resetrequired forcechangepassword"),
}
SWITCHES = {
    **dict.fromkeys(("true", "t", "yes", "y", "1"), True),
    **dict.fromkeys(("false", "f", "no", "n", "0"), False),
}
_NO_MOMENTS = ("", "0", "never", "null", "none", "false", "no")
_UNIX_TIME = re.compile(r"\d{9,14}", re.ASCII)
_SECONDS_DIGITS = 11

_LOOK = re.compile(
    r"disabl|enabl|(?<!c)lock|bann|suspend|activ|delet|archiv|verif|confirm|frozen|freez|revok|"
    r"terminat|reject|restrict|expel|quarantin|fraud|status|state$"
)
_AGAINST = re.compile(
    r"disabl|(?<!un)lock|bann|suspend|deactiv|inactiv|delet|archiv|frozen|freez|revok|terminat|"
    r"reject|restrict|expel|quarantin|fraud|un(?:verif|confirm)"
)
_EMAIL_PROOF = re.compile(r"verif|confirm")
_OTHER_MATTERS = re.compile(
    r"mfa|otp|2fa|twofactor|multifactor|phone|sms|market|newsletter|subscri|notif|consent|"
    r"credential|lockoutenabled|activity|lastactiv|activitykey|activationkey|autogroup|tax|token|"
    r"address|province|payment|order"
)
"""Names that look alike, of other things than whether a person can sign in."""

_PLACES = {"city", "zip", "zipcode", "postcode", "postalcode", "country", "countrycode", "street"}


def field_key(name: str) -> str:
    """Return a field's name without case, spaces and punctuation: ``Email Verified`` alike."""
    return re.sub(r"[\W_]", "", name).lower()


def is_place(key: str, keys: set[str]) -> bool:
    """Whether ``state`` is a part of a country: next to a city or a postal code."""
    return key == "state" and bool(keys & _PLACES)


def looks_like_state(key: str) -> bool:
    """Whether an unknown field can say that a person can't sign in."""
    return bool(_LOOK.search(key)) and not _OTHER_MATTERS.search(key)


def unknown_effect(key: str, value: object) -> Effect:
    """Return what an unknown field that looks like a state seems to say; in doubt, nothing."""
    switch = SWITCHES.get(_word(value))
    if switch is None:
        return _STATUSES.get(_word(value), Effect.NONE)
    is_against = bool(_AGAINST.search(key))
    if switch is not is_against or "status" in key or key.endswith("state"):
        return Effect.NONE
    return Effect.UNCONFIRMED if _EMAIL_PROOF.search(key) else Effect.INACTIVE


def read_state(key: str, value: object, email: str, now: datetime) -> Effect:
    """Return what a field of ``FIELDS`` says of a person; raises ``ValueError`` if unreadable."""
    kind = FIELDS[key]
    if kind is Kind.REQUIRED_ACTIONS:
        return _required_actions(value)
    if kind is Kind.UNVERIFIED_EMAILS:
        return Effect.UNCONFIRMED if email and email in _text(value).lower() else Effect.NONE
    if isinstance(value, list | dict):
        raise ValueError(key)  # noqa: TRY004 - the caller's one kind of error
    return _read_value(kind, key, value, now)


def _read_value(kind: Kind, key: str, value: object, now: datetime) -> Effect:
    word = _word(value)
    if kind is Kind.CONFIRMED:
        return Effect.NONE if _is_proof(value, word) else Effect.UNCONFIRMED
    if word in ("", "null", "none"):
        return Effect.NONE
    if kind in (Kind.INACTIVE_SINCE, Kind.INACTIVE_UNTIL):
        return Effect.INACTIVE if _is_inactive(kind, _text(value).strip(), now) else Effect.NONE
    if kind is Kind.STATUS:
        return _status(key, word)
    if kind is Kind.CONFIRMATION:
        return _confirmation(word)
    return _EFFECTS[kind] if _switch(word) is (kind is not Kind.ACTIVE) else Effect.NONE


_EFFECTS = {
    Kind.ACTIVE: Effect.INACTIVE,
    Kind.INACTIVE: Effect.INACTIVE,
    Kind.UNCONFIRMED: Effect.UNCONFIRMED,
    Kind.MUST_RESET: Effect.MUST_RESET,
}


def _text(value: object) -> str:
    return "" if value is None else str(value)


def _word(value: object) -> str:
    return re.sub(r"[\s_]|(?<=\w)-", "", _text(value)).lower()


def _status(key: str, word: str) -> Effect:
    if key == "userstatus" and word in ("0", "1", "2"):
        # WordPress: 0 is the usual one.
        return Effect.NONE if word == "0" else Effect.INACTIVE
    effect = _STATUSES.get(word.removeprefix("userstate"))
    if effect is None:
        raise ValueError(word)
    return effect


def _confirmation(word: str) -> Effect:
    """Magento's: a token that waits for its use, or in exports a sentence."""
    is_proven = word in ("confirmed", "confirmationnotrequired") or SWITCHES.get(word)
    return Effect.NONE if is_proven else Effect.UNCONFIRMED


def _switch(word: str) -> bool:
    named = {"enabled": True, "disabled": False}
    switch = SWITCHES.get(word, named.get(word))
    if switch is None:
        raise ValueError(word)
    return switch


def _is_proof(value: object, word: str) -> bool:
    """Whether an email is verified: a switch, or since when; null and empty are a no."""
    switch = SWITCHES.get(word)
    if switch is not None:
        return switch
    if word in _NO_MOMENTS or word.startswith("0000"):
        return False
    _moment(_text(value).strip())
    return True


def _is_inactive(kind: Kind, text: str, now: datetime) -> bool:
    if text.lower() in _NO_MOMENTS or text.startswith("0000"):
        return False
    if kind is Kind.INACTIVE_SINCE:
        return True
    try:
        return _moment(text) > now
    except ValueError:
        return True  # such as "infinity"


def _moment(text: str) -> datetime:
    if _UNIX_TIME.fullmatch(text):
        seconds = int(text) if len(text) < _SECONDS_DIGITS else int(text) / 1000
        return datetime.fromtimestamp(seconds, UTC)
    moment = datetime.fromisoformat(text)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment


def _required_actions(value: object) -> Effect:
    actions = _word(value if isinstance(value, str) else " ".join(map(str, _list(value))))
    if "verifyemail" in actions:
        return Effect.UNCONFIRMED
    return Effect.MUST_RESET if "updatepassword" in actions else Effect.NONE


def _list(value: object) -> list[object]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise ValueError(value)  # noqa: TRY004 - the caller's one kind of error
    return value
