"""The parts of the guide to apps that are printed from the code: every field of a manifest."""

from collections.abc import Mapping
from pathlib import Path

from typing_extensions import override

from app.domain.apps.apps import (
    DEFAULT_OVERLAP,
    EXTENSION_TOKEN_LIFETIME,
    MAX_ANSWER_LENGTH,
    MAX_MESSAGE_LENGTH,
    MAX_OVERLAP,
)
from app.domain.apps.manifests import MAX_EXTENSIONS, MAX_WEBHOOKS, read_manifest
from app.domain.deliveries.deliveries import RETENTION
from app.domain.values.installation import SCHEMA_VERSION
from app.ports.configuration import Configuration
from app.services.apps.installation_requests import MAX_SIZE
from app.services.apps.installation_requests import TIMEOUT as MANIFEST_TIMEOUT
from app.services.apps.installation_worker import TIMEOUT as HANDSHAKE_TIMEOUT
from docs.parts import duration, size, table, with_printed_parts
from docs.sample_shop import API_URL, SHOP

PAGE = Path(__file__).parent / "guides" / "apps.md"

_APP: Mapping[str, str] = {
    "id": "Required. Identifier of the app, unique in a shop, such as `example.stock-notes`.",
    "name": "Required. Name of the app. The shop can install it under another name.",
    "version": "Required. Version of the app.",
    "permissions": "The permissions that it asks for. `MANAGE_APPS` is refused.",
    "tokenTargetUrl": "Where the handshake is sent. Without it the app gets no token.",
    "appUrl": "The app's page. Paths of extensions are relative to it.",
    "webhooks": "See below.",
    "extensions": "See below.",
    "about": "What the app does. Shown before it is installed.",
    "author": "Who publishes it.",
    "audience": "Extension tokens then carry `aud: custom:AUDIENCE`.",
    "homepageUrl": "Its home page.",
    "supportUrl": "Its support page.",
    "dataPrivacyUrl": "Its privacy policy.",
    "dataPrivacy": "What it says of data privacy; deprecated in favor of `dataPrivacyUrl`.",
    "configurationUrl": "The page of its settings; deprecated in favor of `appUrl`.",
    "brand": (
        '`{"logo": {"default": URL}}`: a PNG, JPEG, WebP or GIF of at most 2 MiB. It is fetched '
        "when the app is installed, drawn again and served from this installation. A logo that "
        "can't be fetched or isn't an image is left out."
    ),
    "requiredSaleorVersion": "API versions that it works with, in npm's syntax: `^3.20`.",
    "requiredLatchkeyVersion": "The same; both must fit.",
}
_WEBHOOK: Mapping[str, str] = {
    "name": "Required. Name of the webhook.",
    "targetUrl": "Required. Endpoint URL, in full.",
    "query": "Required. Subscription query: events and payload.",
    "identifier": "Unique in the app; `webhookUpdate` finds the webhook by it.",
    "isActive": "`false` installs it disabled. Default: `true`.",
    "asyncEvents": "Events. Default: those of the query.",
    "syncEvents": "Refused unless empty: synchronous events aren't sent.",
    "customHeaders": "An object of headers for each delivery.",
}
_EXTENSION: Mapping[str, str] = {
    "label": "Required. Text of the entry.",
    "mount": "Required. Where it appears, such as `PRODUCT_DETAILS_MORE_ACTIONS`. Any name.",
    "url": "Required. A path below `appUrl`, or a full URL. With `APP_PAGE` a path.",
    "target": "How it opens: `POPUP` (default), `APP_PAGE`, `NEW_TAB`, `WIDGET`.",
    "permissions": "What people need to see it; a part of the app's permissions.",
    "identifier": "Unique in the app.",
    "options": "An object for the dashboard. With `method: POST`, `url` needs `appUrl`'s origin.",
    "settings": "The older name of `options`.",
}


_LIMITS = (
    ("Size of a manifest", size(MAX_SIZE)),
    ("Time for the manifest", duration(MANIFEST_TIMEOUT)),
    ("Webhooks of a manifest", str(MAX_WEBHOOKS)),
    ("Extensions of a manifest", str(MAX_EXTENSIONS)),
    ("Time for the answer to the handshake", duration(HANDSHAKE_TIMEOUT)),
    ("Kept of a refusal in plain text", f"{MAX_ANSWER_LENGTH} characters"),
    ("Kept of a refusal in JSON", f"{MAX_MESSAGE_LENGTH} characters"),
    (
        "A rotated token goes on for",
        f"{duration(DEFAULT_OVERLAP)}, or up to {duration(MAX_OVERLAP)}",
    ),
    ("An extension token is valid for", duration(EXTENSION_TOKEN_LIFETIME)),
    ("Events missed while an app is inactive can be sent for", duration(RETENTION)),
)


class _ReadKeys(dict[str, object]):
    """A JSON object that remembers which of its members are asked for."""

    def __init__(self, values: Mapping[str, object]) -> None:
        super().__init__(values)
        self.read: set[str] = set()

    @override
    def get(self, key: str, default: object = None) -> object:
        self.read.add(key)
        return super().get(key, default)

    @override
    def __contains__(self, key: object) -> bool:
        self.read.add(str(key))
        return super().__contains__(key)


def printed_apps() -> str:
    """The guide with its printed parts; raises ``ValueError`` if a table isn't what is read."""
    webhook = _ReadKeys({"name": "a", "targetUrl": "https://a.example/", "query": "a"})
    extension = _ReadKeys({"label": "a", "mount": "a", "url": "/a"})
    lists: dict[str, object] = {"webhooks": [webhook], "extensions": [extension]}
    app = _ReadKeys(
        {"id": "a", "name": "a", "version": "1", "appUrl": "https://a.example/"} | lists
    )
    read_manifest(app, "latchkey")
    extension_without_options = _ReadKeys({**extension, "options": {}})
    read_manifest(_ReadKeys({**app, "extensions": [extension_without_options]}), "latchkey")
    extension.read |= extension_without_options.read
    parts = {
        "manifest": _table(_APP, app),
        "manifest-webhook": _table(_WEBHOOK, webhook),
        "manifest-extension": _table(_EXTENSION, extension),
        "handshake": _handshake(),
        "limits": table(("limit", "value"), _LIMITS),
    }
    return with_printed_parts(PAGE, parts)


def _handshake() -> str:
    values = {
        "Domain": SHOP.removeprefix("https://"),
        "Api-Url": API_URL,
        "Schema-Version": SCHEMA_VERSION,
    }
    headers = {"Content-Type": "application/json"}
    headers |= Configuration().header_names.name_headers(values)
    lines = "".join(f"{name}: {value}\n" for name, value in headers.items())
    return f'```text\nPOST /api/register HTTP/1.1\n{lines}\n{{"auth_token": "lkapp_…"}}\n```\n'


def _table(meanings: Mapping[str, str], keys: _ReadKeys) -> str:
    if keys.read != meanings.keys():
        raise ValueError(f"read or described alone: {keys.read ^ meanings.keys()}")
    rows = ((f"`{name}`", meaning) for name, meaning in meanings.items())
    return table(("field", "meaning"), rows)
