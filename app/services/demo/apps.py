"""The demo shop's apps: created here with tokens and webhooks, or installed from a manifest."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from sqlalchemy import String, cast, select

from app import models
from app.domain.apps.manifests import Manifest, ManifestExtension, ManifestWebhook
from app.domain.authorization.permissions import Permission, joined_names
from app.domain.events import AppInstalled, EventType
from app.domain.webhooks import saver_of
from app.services.apps.app_changes import NewApp, create_app, deactivate_app
from app.services.apps.app_tokens import TokenOptions, create_app_token
from app.services.apps.installation_worker import store_app
from app.services.audit.log import Change, record
from app.services.authorization.register import building_block
from app.services.demo.people import MANAGER
from app.services.demo.timeline import DAY, MAKER, Happening, Past
from app.services.outbox.publisher import add_event
from app.services.webhooks.changes import WebhookInput, create_webhook

WAREHOUSE = "Demo warehouse"

_SCANNER = "Scanner at the packing table"

_ORDERS = """subscription {
  event {
    ... on OrderCreated { order { number userEmail lines { productName quantity } } }
    ... on OrderConfirmed { order { number status } }
    ... on OrderCancelled { order { number status } }
  }
}"""
_LEDGER = """subscription {
  event {
    issuedAt
    ... on OrderPaid {
      order { number total { gross { amount currency } } }
    }
  }
}"""
_CUSTOMERS = """subscription {
  event {
    ... on CustomerCreated { user { email firstName lastName } }
    ... on CustomerUpdated { user { email firstName lastName } }
  }
}"""


@dataclass(frozen=True, slots=True)
class DemoWebhook:
    """A webhook and, in hours, since when it has only failed, if its endpoint is in trouble."""

    name: str
    target: str
    query: str = ""
    events: tuple[EventType, ...] = ()
    is_secret: bool = False
    headers: tuple[tuple[str, str], ...] = ()
    failing_since: float | None = None


@dataclass(frozen=True, slots=True)
class _App:
    name: str
    made: float
    permissions: frozenset[Permission]
    webhooks: tuple[DemoWebhook, ...] = ()
    tokens: tuple[str, ...] = ()
    deactivated: float | None = None


_APPS = (
    _App(
        WAREHOUSE,
        55 * DAY,
        frozenset({Permission.MANAGE_ORDERS, Permission.MANAGE_PRODUCTS}),
        (
            DemoWebhook(
                "Packing list", "https://warehouse.example/hooks/orders", _ORDERS, is_secret=True
            ),
            DemoWebhook(
                "Stock sheet",
                "https://warehouse.example/hooks/products",
                events=(EventType.PRODUCT_CREATED, EventType.PRODUCT_UPDATED),
                is_secret=True,
            ),
        ),
        (_SCANNER, "Stocktaking"),
    ),
    _App(
        "Bookkeeping",
        40 * DAY,
        frozenset({Permission.MANAGE_ORDERS}),
        (
            DemoWebhook(
                "Ledger",
                "https://ledger.example/in/orders",
                _LEDGER,
                headers=(("X-Ledger-Book", "shop-1"),),
            ),
        ),
    ),
    _App(
        "Newsletter",
        33 * DAY,
        frozenset({Permission.MANAGE_USERS}),
        (
            DemoWebhook(
                "New customers",
                "https://letters.example/subscribe",
                _CUSTOMERS,
                is_secret=True,
                failing_since=5 * DAY + 4,
            ),
        ),
    ),
    _App("Old till", 58 * DAY, frozenset({Permission.MANAGE_ORDERS}), deactivated=29 * DAY),
)

APP_NAMES = tuple(app.name for app in _APPS)


@building_block
def made_apps() -> Iterator[Happening]:
    """Create the demo apps with their tokens and webhooks."""
    for app in _APPS:
        yield Happening(app.made, partial(_make, app))
        for token in app.tokens:
            yield Happening(app.made - 0.2, partial(_add_token, app, token))
        for webhook in app.webhooks:
            yield Happening(app.made - 0.5, partial(_add_webhook, app, webhook))
        if app.deactivated is not None:
            yield Happening(app.deactivated, partial(_deactivate, app))


@building_block
def demo_webhooks() -> Iterator[tuple[str, DemoWebhook]]:
    """Yield every webhook of the apps that were made here, and the app's name."""
    for app in _APPS:
        for webhook in app.webhooks:
            yield app.name, webhook


@building_block
def app_made_for_demo(past: Past, name: str) -> int | None:
    """Return the key of the app of that name which was made for the demo: no other is touched."""
    query = (
        select(models.App.id)
        .join(models.AuditEntry, models.AuditEntry.subject_id == cast(models.App.id, String))
        .where(
            models.App.name == name,
            models.AuditEntry.action == "app.create",
            models.AuditEntry.subject_type == "App",
            models.AuditEntry.actor_name == MAKER.name,
        )
    )
    with past.ports.database.reading() as session:
        return session.scalar(query.order_by(models.App.id).limit(1))


def _make(app: _App, past: Past) -> None:
    if app_made_for_demo(past, app.name) is not None:
        return
    create_app(past.at(app.made), MAKER, NewApp(app.name, app.permissions))


def _add_token(app: _App, name: str, past: Past) -> None:
    app_id = app_made_for_demo(past, app.name)
    if app_id is None or _has_token(past, app_id, name):
        return
    create_app_token(past.at(app.made - 0.2), MAKER, app_id, _token_options(past, name))


def _token_options(past: Past, name: str) -> TokenOptions:
    """One that is good for orders alone, or one that ends soon."""
    if name == _SCANNER:
        return TokenOptions(name, permissions=frozenset({Permission.MANAGE_ORDERS}))
    return TokenOptions(name, expires_at=past.moment(-12 * DAY))


def _has_token(past: Past, app_id: int, name: str) -> bool:
    query = select(models.AppToken.id).where(
        models.AppToken.app_id == app_id, models.AppToken.name == name
    )
    with past.ports.database.reading() as session:
        return session.scalar(query.limit(1)) is not None


def _add_webhook(app: _App, webhook: DemoWebhook, past: Past) -> None:
    """Switched off until the past is complete: nothing of it may be sent again."""
    app_id = app_made_for_demo(past, app.name)
    if app_id is None or _has_webhook(past, app_id, webhook.name):
        return
    secret = f"demo-{past.ports.randomness.token(32)}" if webhook.is_secret else ""
    input_ = WebhookInput(
        name=webhook.name,
        target_url=webhook.target,
        query=webhook.query,
        events=webhook.events,
        is_active=False,
        custom_headers=dict(webhook.headers),
        secret_key=secret,
    )
    create_webhook(past.at(app.made - 0.5), past.staff(MANAGER), input_, app_id)


def _has_webhook(past: Past, app_id: int, name: str) -> bool:
    query = select(models.Webhook.id).where(
        models.Webhook.app_id == app_id, models.Webhook.name == name
    )
    with past.ports.database.reading() as session:
        return session.scalar(query.limit(1)) is not None


def _deactivate(app: _App, past: Past) -> None:
    app_id = app_made_for_demo(past, app.name)
    if app_id is not None and app.deactivated is not None:
        deactivate_app(past.at(app.deactivated), past.staff(MANAGER), app_id)


NAME, IDENTIFIER, WEBHOOK = "Parcel Post", "example.parcel-post", "Parcels to send"

_INSTALLED = 24 * DAY
_HOME = "https://parcelpost.example"
_PERMISSIONS = frozenset({Permission.MANAGE_ORDERS})
_QUERY = """subscription {
  event {
    ... on OrderPaid { order { id number userEmail } }
    ... on OrderFulfilled { order { id number status } }
  }
}"""


def _extension(
    label: str, path: str, mount: str, target: str, identifier: str
) -> ManifestExtension:
    return ManifestExtension(label, path, mount, target, identifier, _PERMISSIONS, {})


_EXTENSIONS = (
    _extension("Parcels", "/parcels", "NAVIGATION_ORDERS", "APP_PAGE", "parcels"),
    _extension("Print a label", "/label", "ORDER_DETAILS_MORE_ACTIONS", "POPUP", "label"),
    _extension("Where is it?", "/tracking", "ORDER_DETAILS_WIDGETS", "WIDGET", "tracking"),
)


@building_block
def installations() -> Iterator[Happening]:
    """Yield the installation of the app."""
    yield Happening(_INSTALLED, _install)


def _install(past: Past) -> None:
    """Install the app without calling it."""
    ports, manager = past.at(_INSTALLED), past.staff(MANAGER)
    manifest = _manifest(past)
    with ports.database.transaction() as session:
        taken = select(models.App.id).where(models.App.identifier == IDENTIFIER)
        if session.scalar(taken) is not None:
            return
        installation = models.AppInstallation(
            app_name=NAME,
            manifest_url=f"{_HOME}/api/manifest",
            permissions=joined_names(_PERMISSIONS),
        )
        created = store_app(ports, session, installation, manifest, saver_of(manager))
        app = session.get_one(models.App, created.app_id)
        app.is_installed = app.is_active = True
        add_event(ports, manager, session, AppInstalled(app.id))
        after = {
            "identifier": app.identifier,
            "manifest_url": app.manifest_url,
            "is_active": True,
            "permissions": sorted(permission.value for permission in _PERMISSIONS),
        }
        change = Change("app.install", "App", app.id, app.name, after=after)
        record(ports, manager, session, change)


def _manifest(past: Past) -> Manifest:
    webhook = ManifestWebhook(
        name=WEBHOOK,
        identifier="parcels",
        target_url=f"{_HOME}/api/webhooks/orders",
        query=_QUERY,
        events=past.ports.payloads.check(_QUERY),
        is_active=False,
        custom_headers={},
        place="webhooks[0]",
    )
    return Manifest(
        identifier=IDENTIFIER,
        name=NAME,
        version="2.4.1",
        about="Labels, pick-ups and tracking for parcels of every size.",
        author="Parcel Post Cooperative",
        audience="",
        permissions=_PERMISSIONS,
        app_url=_HOME,
        token_target_url=f"{_HOME}/api/register",
        data_privacy_url=f"{_HOME}/privacy",
        homepage_url=_HOME,
        support_url=f"{_HOME}/help",
        extensions=_EXTENSIONS,
        webhooks=(webhook,),
    )
