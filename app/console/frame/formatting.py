"""How values are written on pages: moments, amounts, names, JSON."""

import json
import re
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from datetime import UTC, datetime, tzinfo
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from babel.dates import format_datetime
from babel.numbers import format_decimal
from markupsafe import Markup, escape

from app.domain.authorization.actor import SessionOrigin
from app.domain.authorization.permissions import Permission
from app.domain.sign_in.devices import UNKNOWN
from app.domain.values.ids import to_global_id
from app.domain.values.text import Plural, Sentence, translatable
from app.domain.values.times import in_zone
from app.services.shop.impact import BoundedCount
from app.web.translation import grouped, localized, page_language, problem_text, text, translated

_zone: ContextVar[tzinfo] = ContextVar("time_zone", default=UTC)


def use_time_zone(name: str | None) -> None:
    """Show times of this request in the IANA time zone ``name``; without one, in UTC."""
    try:
        _zone.set(ZoneInfo(name) if name else UTC)
    except ZoneInfoNotFoundError:  # this machine's time zone database is older
        _zone.set(UTC)


def time_zone() -> tzinfo:
    return _zone.get()


def time_zone_name() -> str:
    """Return the name of the time zone of this request: ``UTC``, ``Europe/Berlin``."""
    return str(_zone.get())


def local(moment: datetime) -> datetime:
    return in_zone(moment, _zone.get())


def zone_label(moment: datetime) -> str:
    """Return what the time zone is called at a local moment: ``UTC``, ``CET``, ``UTC+05:30``."""
    name = moment.tzname() or ""
    if name.isalpha():
        return name
    offset = f"{moment:%z}"
    return f"UTC{offset[:3]}:{offset[3:5]}"


_SECOND = 1000
_JSON_PART = re.compile(
    # An unfinished string reaches to the end: it must not be tried again from each quote in it.
    r'(?P<s>"(?:[^"\\]++|\\.)*+(?:"|\\?\Z))(?P<k>(?=\s*+:))?'
    r"|(?P<n>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\btrue\b|\bfalse\b|\bnull\b)"
)
_MARKED = Markup('<span class="{}">{}</span>')
_TIME = Markup('<time datetime="{}" title="{}">{}</time>')
_BREAKS = re.compile(r"(?<=[_/@.?&])(?=[^/])")
_IP_BREAKS = re.compile(r"(?<=:)(?=[^:])")
_INITIALS = 2
_LEEWAY = 5


def exact(moment: datetime) -> str:
    """Return the full moment in the person's time zone: ``20 Nov 2026, 09:42:11 UTC``."""
    return _with_zone(moment, text("d MMM yyyy, HH:mm:ss"))


def day(moment: datetime) -> str:
    """Return the date in the person's time zone: ``20 Nov 2026``."""
    return format_moment(local(moment), text("d MMM yyyy"))


def relative(moment: datetime, now: datetime) -> str:
    """Return how long ago, or in how long, for the last day; beyond it the date."""
    seconds = int(abs(now - moment).total_seconds())
    if seconds < _NOW:
        return text("now")
    forms = _AHEAD if moment > now else _AGO
    for form, (size, limit) in zip(forms, _UNITS, strict=True):
        if seconds < limit:
            return text(form, number=seconds // size)
    is_this_year = local(moment).year == local(now).year
    return _with_zone(moment, text("d MMM, HH:mm") if is_this_year else text("d MMM yyyy, HH:mm"))


def clock_time(moment: datetime, now: datetime) -> str:
    """Return a moment as people say it: ``today at 12:00 UTC``, ``22 Nov at 12:00 UTC``."""
    at, today = local(moment), local(now)
    days = (at.date() - today.date()).days
    if days in _NEAR_DAYS:
        return text(_NEAR_DAYS[days], time=_with_zone(moment, text("HH:mm")))
    is_this_year = at.year == today.year
    pattern = text("d MMM 'at' HH:mm") if is_this_year else text("d MMM yyyy 'at' HH:mm")
    return _with_zone(moment, pattern)


def format_moment(at: datetime, pattern: str) -> str:
    """Write a moment by a pattern of the CLDR, with the names of the page's language."""
    return format_datetime(at, pattern, locale=page_language())


def _with_zone(moment: datetime, pattern: str) -> str:
    at = local(moment)
    return text("{moment} {zone}", moment=format_moment(at, pattern), zone=zone_label(at))


_NEAR_DAYS = {
    -1: translatable("yesterday at {time}"),
    0: translatable("today at {time}"),
    1: translatable("tomorrow at {time}"),
}

_NOW = 5
_UNITS = ((1, 60), (60, 3600), (3600, 24 * 3600))
"""Seconds, minutes and hours: each in seconds, and up to how many seconds it is used."""

_AGO = (
    translatable("{number} s ago"),
    translatable("{number} min ago"),
    translatable("{number} h ago"),
)
_AHEAD = (
    translatable("in {number} s"),
    translatable("in {number} min"),
    translatable("in {number} h"),
)


def html_text(one: Sentence, many: Plural = "", /, **values: object) -> Markup:
    """Return a sentence for a page: values are escaped, and markup among them stays markup."""
    sentence = translated(one, many, values)
    safe = Markup(sentence) if isinstance(one, Markup) else escape(sentence)  # noqa: S704
    return safe.format_map(localized(values)) if values else safe


def time_element(moment: datetime, now: datetime) -> Markup:
    """Return how long ago ``moment`` was, with the full moment as its tooltip."""
    return _TIME.format(moment.isoformat(), exact(moment), relative(moment, now))


def clock_element(moment: datetime, now: datetime) -> Markup:
    """Return ``clock_time``, with the full moment as its tooltip."""
    return _TIME.format(moment.isoformat(), exact(moment), clock_time(moment, now))


def amount(number: float) -> str:
    """A count, grouped: ``1,240``."""
    return grouped(number)


def tally(count: BoundedCount) -> str:
    """Return a number as far as it was counted: ``1,240``, ``more than 10,000``."""
    number = amount(count.number)
    return text("more than {number}", number=number) if count.is_more else number


def milliseconds(took: float) -> str:
    """Format a duration on one line: ``84 ms``, ``1.9 s``."""
    return (
        f"{decimal(took)}\N{NO-BREAK SPACE}ms"
        if took < _SECOND
        else f"{decimal(took / _SECOND, 1)}\N{NO-BREAK SPACE}s"
    )


def percent(share: float, digits: int = 0) -> str:
    """Format a share between 0 and 1 on one line: ``78 %``, ``77.8 %``."""
    return f"{decimal(100 * share, digits)}\N{NO-BREAK SPACE}%"


def decimal(number: float, digits: int = 0) -> str:
    """Return a number with exactly so many digits after the separator of the page's language."""
    rounded = Decimal(f"{number:.{digits}f}")
    return format_decimal(rounded, "0" if not digits else f"0.{'0' * digits}", page_language())


def initials(name: str) -> str:
    """Return two initials: of the first and the last name, of an email's first two words."""
    words = re.findall(r"[^\W_]+", name.partition("@")[0])
    names = [found[0] for part in name.split() if (found := re.search(r"[^\W_]", part))]
    if "@" not in name and len(names) >= _INITIALS:
        return (names[0] + names[-1]).upper()
    letters = "".join(word[0] for word in words[:_INITIALS])
    if len(letters) < _INITIALS and words:
        letters = words[0][:_INITIALS]
    return letters.upper() or "?"


def permission_label(name: str) -> str:
    """Return the permission's label; an unknown name is returned unchanged."""
    return text(Permission(name).label) if name in Permission.__members__ else name


def setting_text(value: object) -> str:
    """A stored value as people read it: ``on``, ``Manage orders, Manage users``; none is empty."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return text("on") if value else text("off")
    if isinstance(value, (list, tuple)):
        return ", ".join(permission_label(str(one)) for one in value)
    return str(value)


def device_words(device: str) -> str:
    """Return a device that the domain described, in the language of the page."""
    if device == UNKNOWN:
        return text("Unknown device")
    browser, on, system = device.partition(" on ")
    return text("{browser} on {system}", browser=browser, system=system) if on else device


_METHODS = {
    SessionOrigin.PASSWORD: translatable("Password"),
    SessionOrigin.OIDC: translatable("SSO"),
    SessionOrigin.NONE: translatable("Unknown"),
}


def method_words(origin: SessionOrigin, *, by_passkey: bool) -> str:
    return text("Passkey") if by_passkey else text(_METHODS[origin])


def global_id(key: int, type_name: str) -> str:
    """The id that the API knows the thing by."""
    return to_global_id(type_name, key)


def capitalize_first(text: str) -> str:
    """``text`` as a sentence begins; the rest of it stays as it is."""
    return text[:1].upper() + text[1:]


def shortened(value: str, length: int = 60) -> str:
    """Return a long text cut off at a word, with three dots; a few characters more stay."""
    if len(value) <= length + _LEEWAY:
        return value
    return value[: length - 3].rsplit(" ", 1)[0] + "..."


def breakable(value: str) -> Markup:
    """Return a URL, an email or a name in capitals, which breaks at its punctuation alone."""
    return Markup("<wbr>").join(escape(part) for part in _BREAKS.split(value))


def breakable_ip(value: str) -> Markup:
    """Return an IP address, which breaks after the colons of IPv6 alone."""
    return Markup("<wbr>").join(escape(part) for part in _IP_BREAKS.split(value))


def pretty_json(value: object) -> str:
    """A payload as people read it; text that is no JSON stays as it is."""
    if isinstance(value, (bytes, str)):
        try:
            value = json.loads(value)
        except ValueError:
            return value.decode(errors="replace") if isinstance(value, bytes) else str(value)
    return json.dumps(value, indent=2, ensure_ascii=False, default=str)


def coloured_json(value: object) -> Markup:
    """``pretty_json`` with marks for keys, texts and numbers; everything in it is escaped."""
    text = pretty_json(value)
    made, end = [], 0
    for part in _JSON_PART.finditer(text):
        made.append(escape(text[end : part.start()]))
        made.append(_MARKED.format(part.lastgroup, part[0]))
        end = part.end()
    return Markup("").join([*made, escape(text[end:])])


FILTERS: Mapping[str, Callable[..., Any]] = {
    "exact": exact,
    "amount": amount,
    "problem_text": problem_text,
    "milliseconds": milliseconds,
    "percent": percent,
    "initials": initials,
    "permission_label": permission_label,
    "breakable": breakable,
    "breakable_ip": breakable_ip,
    "global_id": global_id,
    "capitalize_first": capitalize_first,
    "pretty_json": pretty_json,
    "coloured_json": coloured_json,
}
