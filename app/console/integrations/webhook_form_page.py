"""The view model of the form that creates or edits a webhook."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from app.console.integrations.event_catalog import Group, catalogue
from app.console.integrations.missing_permissions import MissingPermissions
from app.domain.apps.apps import App
from app.domain.events import EventType
from app.domain.webhooks.webhooks import Webhook
from app.web.translation import text

_ENTER_AGAIN = "Enter the secret again. It isn't kept during a dry run."


@dataclass(frozen=True, slots=True)
class AppOption:
    """An app to choose; ``label`` says if it is inactive."""

    id: int
    label: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class WebhookFormPage:
    """The form; ``webhook_id`` is ``None`` for a new webhook."""

    webhook_id: int | None
    webhook: str
    title: str
    save: str
    owner: str
    apps: tuple[AppOption, ...]
    chooses_any_event: bool
    groups: list[Group]
    has_secret: bool
    secret_hint: str
    bad_lines: Collection[int]
    missing: MissingPermissions | None
    grant_label: str


def make_webhook_form_page(
    hook: Webhook | None,
    owner: App | None,
    apps: Iterable[App],
    chosen: Collection[str],
    bad_lines: Collection[int] = (),
    missing: MissingPermissions | None = None,
    *,
    lost_secret: bool = False,
) -> WebhookFormPage:
    """Return the form's page; ``chosen`` are the names of the selected events.

    ``bad_lines`` are the lines of the query with errors. ``missing`` is what the app can't receive
    of it. ``lost_secret`` says that a secret was entered, and has to be entered again.
    """
    has_secret = hook is not None and hook.has_secret
    return WebhookFormPage(
        webhook_id=None if hook is None else hook.id,
        webhook="" if hook is None else hook.name or "Unnamed webhook",
        title=_title(hook),
        save="Create webhook" if hook is None else "Save webhook",
        owner="" if owner is None else owner.name,
        apps=tuple(_option(app, owner) for app in apps),
        chooses_any_event=EventType.ANY_EVENTS.value in chosen,
        groups=catalogue(owner, chosen),
        has_secret=has_secret,
        secret_hint=_ENTER_AGAIN if lost_secret else _secret_hint(has_secret=has_secret),
        bad_lines=bad_lines,
        missing=missing,
        grant_label=_grant_label(missing),
    )


def _title(hook: Webhook | None) -> str:
    if hook is None:
        return "Create webhook"
    return text("Edit {webhook}", webhook=hook.name) if hook.name else "Edit webhook"


def _option(app: App, owner: App | None) -> AppOption:
    label = app.name if app.is_active else text("{app} (inactive)", app=app.name)
    return AppOption(app.id, label, is_chosen=owner is not None and owner.id == app.id)


def _grant_label(missing: MissingPermissions | None) -> str:
    if missing is None or not missing.grant:
        return ""
    return text("{grant} and save", grant=missing.grant)


def _secret_hint(*, has_secret: bool) -> str:
    if has_secret:
        return "Leave empty to keep the current secret. A replaced secret keeps signing for a day."
    return "Optional. Use the app's secret, for example whsec_…"
