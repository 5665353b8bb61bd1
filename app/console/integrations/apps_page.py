"""The view model of the list of apps: its rows, and installations in progress or failed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from app.console.frame.formatting import html_text, time_element
from app.console.frame.parts import Pill
from app.console.lists.files import Columns
from app.console.lists.list_page import RowCount
from app.domain.apps.apps import App, AppType, Installation, JobStatus
from app.domain.authorization.permissions import Permission, in_order
from app.domain.values.ids import to_global_id
from app.domain.values.pages import Page
from app.domain.values.text import translatable
from app.services.apps.app_lists import AppSummary
from app.web.translation import reason_text, text

STATUS = {"active": translatable("Active"), "inactive": translatable("Inactive")}
KINDS = {"made": translatable("Custom"), "installed": translatable("Installed")}
SORTS = {"": translatable("Name"), "newest": translatable("Newest first")}

COLUMNS: Columns[App] = {
    "id": lambda app: to_global_id("App", app.id),
    "name": lambda app: app.name,
    "identifier": lambda app: app.identifier,
    "type": lambda app: app.type.value,
    "active": lambda app: app.is_active,
    "version": lambda app: app.version,
    "permissions": lambda app: ", ".join(one.value for one in in_order(app.permissions)),
    "created_at": lambda app: app.created_at,
}
"""The columns of the list as a file."""

COUNT = RowCount(
    none="No apps",
    no_match="No matching apps",
    one="1 app",
    many="{count} apps",
    some="{matching} of {total} apps",
)

_LABELS = 2
"""How many permissions a row names."""


@dataclass(frozen=True, slots=True)
class AppFigures:
    """What people who manage apps see in an app's row."""

    token: str
    more_tokens: str
    last_used_at: datetime | None
    unused: str
    webhooks: Pill


@dataclass(frozen=True, slots=True)
class AppRow:
    """An app in the list."""

    id: int
    name: str
    kind: str
    status: Pill
    permissions: str
    figures: AppFigures | None


@dataclass(frozen=True, slots=True)
class InstallationNotice:
    """An installation that is in progress, or failed and can be retried."""

    id: int
    app_name: str
    is_failed: bool
    title: str
    detail: str


@dataclass(frozen=True, slots=True)
class AppsPage:
    """The list of apps; ``can_manage`` shows tokens and webhooks too.

    ``installing`` is what a screen reader says of installations in progress, empty without any.
    """

    rows: tuple[AppRow, ...]
    installations: tuple[InstallationNotice, ...]
    installing: str
    summary: str
    can_manage: bool


def make_apps_page(
    found: Page[App],
    summaries: Mapping[int, AppSummary],
    installations: Iterable[Installation],
    now: datetime,
    *,
    can_manage: bool,
) -> AppsPage:
    """Return the page that lists ``found``."""
    notices = tuple(_notice(installation, now) for installation in installations)
    return AppsPage(
        rows=tuple(_row(app, summaries.get(app.id)) for app in found.items),
        installations=notices,
        installing=" ".join(
            installation.title for installation in notices if not installation.is_failed
        ),
        summary=COUNT.of(found.counts),
        can_manage=can_manage,
    )


def app_status(app: App) -> Pill:
    """Return whether the app is active."""
    return Pill("ok", text("Active")) if app.is_active else Pill("off", text("Inactive"))


def permission_labels(permissions: Iterable[Permission]) -> list[str]:
    """Return the labels of ``permissions`` in alphabetical order."""
    return sorted(text(permission.label) for permission in permissions)


def _row(app: App, summary: AppSummary | None) -> AppRow:
    return AppRow(
        id=app.id,
        name=app.name,
        kind=_kind(app),
        status=app_status(app),
        permissions=_permissions(app.permissions),
        figures=None if summary is None else _figures(summary),
    )


def _kind(app: App) -> str:
    kind = text(KINDS["made"] if app.type is AppType.LOCAL else KINDS["installed"])
    if not app.version:
        return kind
    return text("{kind} · {version}", kind=kind, version=app.version)


def _permissions(permissions: frozenset[Permission]) -> str:
    if not permissions:
        return text("None")
    labels = permission_labels(permissions)
    named = ", ".join(labels[:_LABELS])
    if len(labels) <= _LABELS:
        return named
    return text("{named}, +{count}", named=named, count=len(labels) - _LABELS)


def _figures(summary: AppSummary) -> AppFigures:
    others = summary.tokens - 1
    return AppFigures(
        token=text("…{last_four}", last_four=summary.last_four) if summary.tokens else "",
        more_tokens=text("+{count}", count=others) if others > 0 else "",
        last_used_at=summary.last_used_at,
        unused=text("Not used here yet") if summary.unused_imports else text("Never"),
        webhooks=_webhooks(summary),
    )


def _webhooks(summary: AppSummary) -> Pill:
    if not summary.webhooks:
        return Pill("off", text("None"))
    if summary.failing:
        words = text(
            "{failing:,} of {webhooks:,} failing",
            failing=summary.failing,
            webhooks=summary.webhooks,
        )
        return Pill("bad", words)
    return Pill("ok", text("{count:,} webhook", "{count:,} webhooks", count=summary.webhooks))


def _notice(installation: Installation, now: datetime) -> InstallationNotice:
    name = installation.app_name
    if installation.status is JobStatus.FAILED:
        title = text("{name} could not be installed.", name=name)
        reason = reason_text(installation.message) or text("The app gave no reason.")
        detail = text("{reason} No app was created.", reason=reason)
        return InstallationNotice(
            installation.id, name, is_failed=True, title=title, detail=detail
        )
    return InstallationNotice(
        installation.id,
        name,
        is_failed=False,
        title=text("Installing {name} …", name=name),
        detail=html_text("Started {moment}.", moment=time_element(installation.created_at, now)),
    )
