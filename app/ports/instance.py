"""An installation as commands work on it: this one or another over its API, by a saved login."""

from collections.abc import Collection, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from app.domain.deliveries.deliveries import ReplayResult, ReplayScope
from app.domain.values.inputs import ABSENT, Absent
from app.domain.values.installation import OnProgress, ignore_progress


@dataclass(frozen=True, slots=True)
class InstanceApp:
    """An app that can have webhooks; ``permissions`` are ``None`` if they weren't read."""

    id: str
    name: str
    is_active: bool
    permissions: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class InstanceWebhook:
    """A webhook and its app."""

    id: str
    app: InstanceApp
    name: str
    target_url: str
    is_active: bool
    events: tuple[str, ...]
    query: str
    custom_headers: Mapping[str, str] = field(repr=False)
    has_secret: bool = False
    is_paused: bool = False
    max_rate: int = 0
    facts: Mapping[str, object] = field(default_factory=dict, repr=False, compare=False)
    """What an installation that compares before it saves compares with."""


@dataclass(frozen=True, slots=True)
class WebhookDraft:
    """A webhook to create or change; absent fields stay."""

    name: str | Absent = ABSENT
    target_url: str | Absent = ABSENT
    events: tuple[str, ...] | Absent = ABSENT
    is_active: bool | Absent = ABSENT
    is_paused: bool | Absent = ABSENT
    max_rate: int | Absent = ABSENT
    query: str | Absent = ABSENT
    custom_headers: Mapping[str, str] | Absent = field(default=ABSENT, repr=False)
    secret_key: str | Absent = field(default=ABSENT, repr=False)


@dataclass(frozen=True, slots=True)
class InstanceAttempt:
    """One attempt at a delivery; ``duration`` in seconds, ``response_status`` if there was one."""

    created_at: datetime
    status: str
    response_status: int | None
    duration: float | None
    response: str = field(repr=False)
    request_headers: Mapping[str, str] = field(repr=False)


@dataclass(frozen=True, slots=True)
class InstanceDelivery:
    """A delivery and the newest attempt at it, if there has been one."""

    id: str
    event: str
    status: str
    created_at: datetime
    payload: str = field(repr=False)
    attempt: InstanceAttempt | None = None


@dataclass(frozen=True, slots=True)
class DeliveryPage:
    """Some deliveries, the newest first; ``next`` is where to go on, empty at the end."""

    items: tuple[InstanceDelivery, ...]
    next: str = ""


@dataclass(frozen=True, slots=True)
class DeliveryQuery:
    """Conditions on a webhook's deliveries, and a place in their list."""

    status: str = ""
    event: str = ""
    size: int = 50
    after: str = ""


class Instance(Protocol):
    """Refuses what the use case behind each method refuses, as the same errors.

    A distant one raises ``TrafficClosed`` and ``Unreachable``, too.
    """

    def apps(self) -> tuple[InstanceApp, ...]:
        """List the apps to which the caller can add webhooks, in order of creation."""

    def own_app(self) -> InstanceApp | None:
        """Return the app that the caller is, with its permissions; ``None`` for a person."""

    def permissions(self) -> frozenset[str]:
        """Return the permissions that the caller holds."""

    def create_app(self, name: str, permissions: Collection[str]) -> InstanceApp:
        """Create an app; a person with MANAGE_APPS can grant what they hold."""

    def delete_app(self, app: InstanceApp) -> None:
        """Delete an app with its webhooks and their deliveries."""

    def webhooks(self) -> tuple[InstanceWebhook, ...]:
        """List the webhooks that the caller can manage, by app, oldest first."""

    def event_types(self) -> Mapping[str, str]:
        """Return the events that webhooks can subscribe to, by name, with descriptions."""

    def create(self, app_id: str, draft: WebhookDraft) -> InstanceWebhook:
        """Make a webhook of that app; it comes with the app's permissions."""

    def change(self, webhook: InstanceWebhook, draft: WebhookDraft) -> InstanceWebhook:
        """Change a webhook; likewise."""

    def change_unchanged(self, webhook: InstanceWebhook, draft: WebhookDraft) -> InstanceWebhook:
        """Change a webhook that is still as ``webhook`` has it, else raise ``Stale``.

        Saleor's API can't compare: another instance changes it in any case.
        """

    def delete(self, webhook: InstanceWebhook) -> None:
        """Remove a webhook with its deliveries."""

    def dry_run(
        self, *, object_id: str | None = None, query: str | None = None, app_id: str | None = None
    ) -> str:
        """The payload of a webhook with ``query`` for that object; sends and writes nothing."""

    def trigger(self, webhook_id: str, object_id: str | None, event: str = "") -> InstanceDelivery:
        """Send a webhook's payload of that object, or of the newest that fits, now.

        ``event`` is one of the webhook's events; by default the first that fits.
        """

    def deliveries(self, webhook_id: str, query: DeliveryQuery) -> DeliveryPage:
        """Return the webhook's deliveries of the last days."""

    def retry(self, delivery_id: str) -> InstanceDelivery:
        """Make a delivery again, at once and with the same ``webhook-id``."""

    def replay(
        self,
        webhook_id: str,
        since: datetime,
        scope: ReplayScope,
        *,
        preview: bool = False,
        on_progress: OnProgress = ignore_progress,
    ) -> ReplayResult:
        """Replay what failed since that time, and what the webhook never got.

        ``preview`` counts alone.
        ``on_progress`` is called where the instance tells how far it is.
        """

    def send_waiting(self, webhook_id: str) -> int:
        """Send the deliveries now that wait for a later attempt; return how many."""

    def key_set(self) -> bytes:
        """The JSON Web Key Set that its signatures are verified by."""


@dataclass(frozen=True, slots=True)
class Profile:
    """A saved login at ``url``.

    An app's token lasts; a person's is renewed by ``refresh_token``. ``email`` is empty for an
    app.
    """

    url: str
    token: str = field(repr=False)
    refresh_token: str = field(default="", repr=False)
    email: str = ""


@dataclass(frozen=True, slots=True)
class DeviceLogin:
    """A login at ``url`` that waits for its person to enter ``user_code`` in a browser.

    ``interval`` and ``expires_in`` in seconds.
    """

    url: str
    token_url: str
    device_code: str = field(repr=False)
    user_code: str
    verification_url: str
    expires_in: float
    interval: float


class Profiles(Protocol):
    """Raises ``Fault`` when what is kept cannot be read or written."""

    def locked(self) -> AbstractContextManager[None]:
        """Keep other commands from renewing, saving or forgetting a login meanwhile."""

    def list_profiles(self) -> tuple[Profile, ...]:
        """All of them, by their addresses."""

    def find(self, url: str) -> Profile | None:
        """Return the login for that URL, if any."""

    def check(self) -> None:
        """Find out beforehand whether one can be kept."""

    def save(self, profile: Profile) -> None:
        """Save a login, readable by its owner only, replacing an earlier one.

        Like ``forget``, it waits for commands that are renewing one.
        """

    def replace(self, before: Profile, after: Profile) -> None:
        """Save ``after`` if ``before`` is still kept; called inside ``locked``."""

    def forget(self, url: str) -> bool:
        """Remove the one for that address; whether there was one."""
