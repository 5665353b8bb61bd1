"""Values of emails: English texts, and what the texts of other languages are made from.

An email is written when it is sent, in the language of its reader. The English text stays in
``lifetime``, ``when``, ``since``, ``factor`` and ``device``, for workers of an earlier release.
"""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

from app.domain.passwords.email_links import LIFETIMES, LinkPurpose, format_lifetime
from app.domain.sign_in.devices import device_of, device_parts
from app.domain.values.dates import date_in_words


class FactorType(StrEnum):
    PASSKEY = "passkey"
    AUTHENTICATOR_APP = "authenticator_app"


def lifetime_values(purpose: LinkPurpose) -> dict[str, str]:
    """Return how long a link for ``purpose`` works: ``lifetime``, ``lifetime_seconds``."""
    seconds = int(LIFETIMES[purpose].total_seconds())
    return {"lifetime": format_lifetime(purpose), "lifetime_seconds": str(seconds)}


def moment_values(moment: datetime) -> dict[str, str]:
    """Return when something happened: ``when``, ``at``."""
    return {"when": date_in_words(moment), "at": moment.isoformat()}


def since_values(moment: datetime | None) -> dict[str, str]:
    """Return since when something is so: ``since``, ``since_at``; empty if it isn't known."""
    if moment is None:
        return {"since": "", "since_at": ""}
    return {"since": date_in_words(moment), "since_at": moment.isoformat()}


def device_values(user_agent: str, max_length: int) -> dict[str, str]:
    """Return what a person used: ``device``, ``browser``, ``system``."""
    browser, system = device_parts(user_agent)
    device = device_of(user_agent)[:max_length]
    return {"device": device, "browser": browser, "system": system}


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
