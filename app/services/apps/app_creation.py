"""Apps as their manifests describe them: stored with their extensions, webhooks and token."""

from dataclasses import dataclass
from functools import partial

from sqlalchemy.orm import Session

from app.domain.apps.apps import AppType, NewAppToken
from app.domain.apps.manifests import Manifest, ManifestExtension, ManifestWebhook
from app.domain.authorization.permissions import joined_names, split_names
from app.domain.webhooks import Saver, Webhook
from app.models import (
    AppExtensionRecord,
    AppInstallationRecord,
    AppPermissionRecord,
    AppRecord,
)
from app.ports import Ports
from app.services.authorization.register import part
from app.services.identity.stored_apps import store_token
from app.services.webhooks.stored_webhooks import store_webhook

_TOKEN_NAME = "Default"  # noqa: S105


@dataclass(frozen=True, slots=True)
class MadeApp:
    """An app that isn't installed yet; ``token`` is empty if it has no back end."""

    app_id: int
    token: NewAppToken | None


@part
def store_app(
    ports: Ports,
    session: Session,
    installation: AppInstallationRecord,
    manifest: Manifest,
    saver: Saver,
) -> MadeApp:
    """The app of ``installation``, neither installed nor active yet; its token works already.

    It holds what was granted, whatever its manifest asks for. Its webhooks count as saved by
    ``saver``, who installs it.
    """
    now = ports.clock.now()
    app = AppRecord(
        name=installation.app_name,
        identifier=manifest.identifier,
        type=AppType.THIRDPARTY.value,
        is_active=False,
        is_installed=False,
        created_at=now,
        about=manifest.about,
        author=manifest.author,
        version=manifest.version,
        audience=manifest.audience,
        app_url=manifest.app_url,
        data_privacy_url=manifest.data_privacy_url,
        homepage_url=manifest.homepage_url,
        manifest_url=installation.manifest_url,
        support_url=manifest.support_url,
    )
    session.add(app)
    session.flush()
    session.add_all(
        AppPermissionRecord(app_id=app.id, permission=permission.value)
        for permission in split_names(installation.permissions)
    )
    session.add_all(_extension(app.id, extension) for extension in manifest.extensions)
    for webhook in manifest.webhooks:
        store_webhook(ports, session, app.id, _webhook(app, webhook, saver), now)
    token = None
    if manifest.token_target_url:
        token = store_token(ports, session, app.id, _TOKEN_NAME)
    return MadeApp(app.id, token)


def _extension(app_id: int, extension: ManifestExtension) -> AppExtensionRecord:
    return AppExtensionRecord(
        app_id=app_id,
        label=extension.label,
        url=extension.url,
        mount=extension.mount,
        target=extension.target,
        identifier=extension.identifier,
        permissions=joined_names(extension.permissions),
        settings=dict(extension.settings),
    )


def _webhook(app: AppRecord, webhook: ManifestWebhook, saver: Saver) -> Webhook:
    return Webhook(
        id=0,
        app_id=app.id,
        name=webhook.name,
        identifier=webhook.identifier,
        target_url=webhook.target_url,
        is_active=webhook.is_active,
        query=webhook.query,
        events=webhook.events,
        header_names=tuple(webhook.custom_headers),
        reveal_headers=partial(dict, webhook.custom_headers),
        created_at=app.created_at,
        saver=saver,
    )
