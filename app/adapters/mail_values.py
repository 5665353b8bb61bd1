"""Values of emails as their readers see them, in one language, by the locale data (CLDR)."""

import gettext
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Literal
from zoneinfo import ZoneInfo

from babel import Locale
from babel.core import UnknownLocaleError
from babel.dates import format_date, format_time, format_timedelta, get_timezone_name

from app.domain.mails.values import FactorType
from app.domain.sign_in.devices import UNKNOWN
from app.domain.values.text import Sentence
from app.domain.values.times import in_zone

_ENGLISH = "en"
_ENGLISH_FORMATS = "en_150"
"""English without a country: dates as in "1 March 2026", 24 hours."""

_DAY = 24 * 60 * 60
_LARGEST = 10**9
"""A number that no duration reaches, so that each is written in the unit that is asked for."""


def N_(message: Sentence) -> Sentence:  # noqa: N802 - the name that tools which extract messages look for
    """Mark a message that is translated where it is shown."""
    return message


REASONS = (
    N_("The endpoint returned 410 Gone."),
    N_("The endpoint failed for 5 days without a successful delivery."),
)
"""Why webhooks are disabled."""


@dataclass(frozen=True, slots=True)
class MailLanguage:
    """A language that an email is written in: its catalog, and how it writes dates.

    ``tag`` is the language in HTML.
    """

    tag: str
    locale: Locale
    catalog: gettext.NullTranslations

    @property
    def is_right_to_left(self) -> bool:
        return self.locale.text_direction == "rtl"


@lru_cache(maxsize=64)
def load_language(code: str, catalogs: Path) -> MailLanguage:
    """Return the language ``code``, such as "PT_BR"; English for one without a catalog."""
    base = code.partition("_")[0].lower()
    if base in ("", _ENGLISH) or not gettext.find("messages", catalogs, [base]):
        formats = code if code.startswith("EN_") else _ENGLISH_FORMATS
        catalog = gettext.NullTranslations()
        return MailLanguage(_ENGLISH, _locale(formats, _ENGLISH_FORMATS), catalog)
    catalog = gettext.translation("messages", catalogs, [base])
    return MailLanguage(base, _locale(code, base), catalog)


def shown_values(values: Mapping[str, str], language: MailLanguage) -> dict[str, str]:
    """Return ``values`` as they are shown.

    Those that differ by language are made from the values that come with them; where these are
    missing (an email that the last release queued), the English text stays.
    """
    catalog = language.catalog
    shown = dict(values)
    zone = ZoneInfo(values.get("time_zone") or "UTC")
    if values.get("lifetime_seconds"):
        shown["lifetime"] = _duration(int(values["lifetime_seconds"]), language)
    for name, source in (("when", "at"), ("since", "since_at")):
        if values.get(source):
            shown[name] = _moment(datetime.fromisoformat(values[source]), zone, language)
    if values.get("factor_type"):
        shown["factor"] = _factor(values, language)
    if values.get("browser") and values.get("system"):
        shown["device"] = catalog.gettext("%(browser)s on %(system)s") % values
    elif values.get("device") == UNKNOWN:
        shown["device"] = catalog.gettext("Unknown device")
    if values.get("reason"):
        shown["reason"] = catalog.gettext(values["reason"])
    return shown


def _duration(seconds: int, language: MailLanguage) -> str:
    unit: Literal["day", "hour"] = "day" if seconds % _DAY == 0 else "hour"
    length = timedelta(seconds=seconds)
    return format_timedelta(length, unit, threshold=_LARGEST, locale=language.locale)


def _moment(moment: datetime, zone: ZoneInfo, language: MailLanguage) -> str:
    here = in_zone(moment, zone) if moment.tzinfo else moment.astimezone(UTC)
    return language.catalog.gettext("%(date)s, %(time)s %(zone)s") % {
        "date": format_date(here, "long", locale=language.locale),
        "time": format_time(here, "short", tzinfo=zone, locale=language.locale),
        "zone": get_timezone_name(here, "short", locale=language.locale),
    }


def _factor(values: Mapping[str, str], language: MailLanguage) -> str:
    if values["factor_type"] == FactorType.PASSKEY:
        return language.catalog.gettext('Passkey "%(name)s"') % {"name": values["factor_name"]}
    return language.catalog.gettext("Authenticator app")


def _locale(code: str, otherwise: str) -> Locale:
    """Return the locale data of ``code``; not all languages of the API have some."""
    language, _, rest = code.partition("_")
    try:
        return Locale.parse(f"{language.lower()}_{rest}" if rest else language.lower())
    except (UnknownLocaleError, ValueError):
        return Locale.parse(otherwise)
