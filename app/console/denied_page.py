"""The view model of the page for a missing permission: what is missing, who can grant it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import quote

from markupsafe import Markup

from app.console.formatting import html_text, permission_label, time_element
from app.services.people.permission_granters import PermissionGranter
from app.web.translation import text


@dataclass(frozen=True, slots=True)
class Granter:
    """A staff member who can grant the permission; ``action`` opens an email to them."""

    name: str
    detail: str
    mail_url: str
    action: str


@dataclass(frozen=True, slots=True)
class DeniedPage:
    """What is missing, and who can grant it."""

    missing: str
    granters: tuple[Granter, ...]


_PERMISSION = Markup("<b>{}</b> (<code>{}</code>)")


def make_denied_page(
    required: Sequence[str],
    granters: Iterable[PermissionGranter],
    now: datetime,
    *,
    needs_all: bool = False,
) -> DeniedPage:
    """Return the page for a caller without one of ``required``, or ``needs_all`` of them."""
    missing = _missing(required, needs_all=needs_all)
    return DeniedPage(missing, make_granters(required, granters, now))


def make_granters(
    required: Sequence[str], granters: Iterable[PermissionGranter], now: datetime
) -> tuple[Granter, ...]:
    """Return who can grant ``required``, as a page shows them."""
    labels = tuple(permission_label(name) for name in required)
    return tuple(_granter(granter, labels, now) for granter in granters)


def _missing(required: Sequence[str], *, needs_all: bool) -> str:
    named = [_PERMISSION.format(permission_label(name), name) for name in required]
    if len(named) == 1:
        return html_text("You need the permission {permission}.", permission=named[0])
    if needs_all:
        return html_text(
            "You need all of these permissions: {permissions}.",
            permissions=Markup(", ").join(named),
        )
    return html_text(
        "You need one of these permissions: {permissions}.", permissions=Markup(", ").join(named)
    )


def _granter(granter: PermissionGranter, labels: Sequence[str], now: datetime) -> Granter:
    subject = text("Latchkey permission: {permissions}", permissions=", ".join(labels))
    return Granter(
        name=granter.name,
        detail=_detail(granter, now),
        mail_url=f"mailto:{quote(granter.email)}?subject={quote(subject)}",
        action=text("Email {name}", name=granter.first_name or granter.name),
    )


def _detail(granter: PermissionGranter, now: datetime) -> str:
    groups = ", ".join(granter.groups)
    if granter.last_used_at is None:
        return groups
    active = time_element(granter.last_used_at, now)
    if not groups:
        return html_text("Active {active}", active=active)
    return html_text("{groups} · active {active}", groups=groups, active=active)
