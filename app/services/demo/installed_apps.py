"""The demo shop's third-party app, as an installation from its manifest leaves it."""

from collections.abc import Iterator

from sqlalchemy import select

from app.domain.apps.manifests import Manifest, ManifestExtension, ManifestWebhook
from app.domain.authorization.permissions import Permission, joined_names
from app.domain.events import AppInstalled
from app.domain.webhooks import saver_of
from app.models import AppInstallationRecord, AppRecord
from app.services.apps.app_creation import store_app
from app.services.audit.log import Change, record
from app.services.authorization.register import part
from app.services.demo.people import MANAGER
from app.services.demo.timeline import DAY, Happening, Past
from app.services.outbox.publisher import add_event

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


@part
def installations() -> Iterator[Happening]:
    """Yield the installation of the app."""
    yield Happening(_INSTALLED, _install)


def _install(past: Past) -> None:
    """Install the app without calling it."""
    ports, manager = past.at(_INSTALLED), past.staff(MANAGER)
    manifest = _manifest(past)
    with ports.database.transaction() as session:
        taken = select(AppRecord.id).where(AppRecord.identifier == IDENTIFIER)
        if session.scalar(taken) is not None:
            return
        installation = AppInstallationRecord(
            app_name=NAME,
            manifest_url=f"{_HOME}/api/manifest",
            permissions=joined_names(_PERMISSIONS),
        )
        created = store_app(ports, session, installation, manifest, saver_of(manager))
        app = session.get_one(AppRecord, created.app_id)
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
        events=past.ports.payloads.check(_QUERY).events,
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
