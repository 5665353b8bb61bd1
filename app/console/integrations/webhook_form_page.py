"""The view model of the form that creates or edits a webhook."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from app.console.integrations.event_catalog import Group, catalogue
from app.console.integrations.missing_permissions import MissingPermissions
from app.domain.apps.apps import App
from app.domain.authorization.permissions import in_order
from app.domain.events import EventType
from app.domain.webhooks.webhooks import Webhook
from app.web.translation import enumeration, text


@dataclass(frozen=True, slots=True)
class AppOption:
    """An app to choose; ``label`` says if it is inactive, or can't be chosen."""

    id: int
    label: str
    is_chosen: bool
    is_within_reach: bool = True


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
        webhook="" if hook is None else hook.name or text("Unnamed webhook"),
        title=_title(hook),
        save=text("Create webhook") if hook is None else text("Save webhook"),
        owner="" if owner is None else owner.name,
        apps=tuple(_option(app, owner) for app in apps),
        chooses_any_event=EventType.ANY_EVENTS.value in chosen,
        groups=catalogue(owner, chosen),
        has_secret=has_secret,
        secret_hint=_secret_hint(has_secret=has_secret, is_lost=lost_secret),
        bad_lines=bad_lines,
        missing=missing,
        grant_label=_grant_label(missing),
    )


def _title(hook: Webhook | None) -> str:
    if hook is None:
        return text("Create webhook")
    return text("Edit {webhook}", webhook=hook.name) if hook.name else text("Edit webhook")


def _option(app: App, owner: App | None) -> AppOption:
    label = app.name if app.is_active else text("{app} (inactive)", app=app.name)
    return AppOption(app.id, label, is_chosen=owner is not None and owner.id == app.id)


def mark_beyond_reach(page: WebhookFormPage, apps: Iterable[App]) -> WebhookFormPage:
    """Return the page on which ``apps`` can't be chosen: the person lacks their permissions."""
    labels = {
        app.id: text("{app} (has permissions that you don't have)", app=app.name) for app in apps
    }
    options = tuple(
        replace(option, label=labels[option.id], is_within_reach=False)
        if option.id in labels
        else option
        for option in page.apps
    )
    return replace(page, apps=options)


def _grant_label(missing: MissingPermissions | None) -> str:
    if missing is None or not missing.grant:
        return ""
    labels = [text(permission.label) for permission in in_order(missing.permissions)]
    return text("Grant {permissions} and save", permissions=enumeration(labels))


def _secret_hint(*, has_secret: bool, is_lost: bool) -> str:
    if is_lost:
        return text("Enter the secret again. It isn't kept during a dry run.")
    if has_secret:
        return text(
            "Leave empty to keep the current secret. A replaced secret keeps signing for a day."
        )
    return text("Optional. Use the app's secret, for example whsec_…")
