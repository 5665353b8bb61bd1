"""The dashboard extensions in a manifest."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from app.domain.apps.extensions import APP_PAGE, DEFAULT_TARGET
from app.domain.apps.manifest_fields import Identifiers, Members
from app.domain.authorization.permissions import Permission
from app.domain.urls.web_urls import MAX_URL_LENGTH, is_path, is_same_origin, is_web_url
from app.domain.values.errors import Problem

MAX_EXTENSIONS = 100
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,127}")
POST_SETTINGS = {"NEW_TAB": ("newTabTarget",), "WIDGET": ("widgetTarget", "homeWidgetTarget")}
"""The targets that the dashboard may open by POST, and the settings that ask for it."""


@dataclass(frozen=True, slots=True)
class ManifestExtension:
    """One entry; ``mount`` and ``target`` in capitals, ``url`` an address or a path."""

    label: str
    url: str
    mount: str
    target: str
    identifier: str
    permissions: frozenset[Permission]
    settings: Mapping[str, object]


def read_extensions(
    members: Members, app_url: str | None, permissions: frozenset[Permission] | None
) -> tuple[ManifestExtension, ...]:
    """Read the extensions of a manifest with ``app_url`` and ``permissions``.

    ``app_url`` is empty if there is none; each argument is ``None`` if it was refused, and
    problems that follow from that aren't reported.
    """
    identifiers = Identifiers()
    return tuple(
        _read(part, app_url, permissions, identifiers)
        for part in members.parts("extensions", max_items=MAX_EXTENSIONS)
    )


def _read(
    part: Members,
    app_url: str | None,
    permissions: frozenset[Permission] | None,
    identifiers: Identifiers,
) -> ManifestExtension:
    settings = part.mapping("options" if "options" in part.values else "settings")
    target = _name(part, "target") or DEFAULT_TARGET
    extension = ManifestExtension(
        label=part.line("label", required=True),
        url=_url(part, target, app_url, settings),
        mount=_name(part, "mount", required=True),
        target=target,
        identifier=part.line("identifier"),
        permissions=part.permissions(),
        settings=settings,
    )
    if not identifiers.is_new(extension.identifier):
        part.refuse(
            "identifier",
            "DUPLICATED_EXTENSION_IDENTIFIER",
            "Another extension has this identifier.",
        )
    if permissions is not None and not extension.permissions <= permissions:
        part.add("permissions", _out_of_scope(extension.permissions - permissions))
    return extension


def _out_of_scope(permissions: frozenset[Permission]) -> Problem:
    names = sorted(permission.value for permission in permissions)
    return Problem(
        "OUT_OF_SCOPE_PERMISSION",
        "The app itself doesn't request {names}.",
        permissions=tuple(names),
        values={"names": ", ".join(names)},
    )


def is_place_name(text: str) -> bool:
    """Whether ``text`` can name where an extension appears or how it opens."""
    return _NAME.fullmatch(text) is not None


def _name(part: Members, name: str, *, required: bool = False) -> str:
    text = part.line(name, required=required)
    if text and not is_place_name(text):
        part.refuse(name, "INVALID", "Use letters, digits and underscores.")
        return ""
    return text.upper()


def _url(part: Members, target: str, app_url: str | None, settings: Mapping[str, object]) -> str:
    url = part.line("url", required=True, max_length=MAX_URL_LENGTH)
    message = extension_url_message(url, target, app_url, settings) if url else ""
    if message:
        part.refuse("url", "INVALID_URL_FORMAT", message)
        return ""
    return url


def extension_url_message(
    url: str, target: str, app_url: str | None, settings: Mapping[str, object]
) -> str:
    """Return why an extension can't open ``url``; empty if it can."""
    if is_path(url):
        return "A path needs an appUrl in the manifest." if app_url == "" else ""
    if not is_web_url(url):
        return "Must be a path such as /settings, or an http or https URL."
    if target == APP_PAGE:
        return "The target APP_PAGE opens inside the app; use a path."
    # The dashboard would post the extension's token there.
    if app_url is not None and _is_posted(target, settings) and not is_same_origin(url, app_url):
        return (
            "Must have the same origin as the manifest's appUrl, because it is opened with POST."
        )
    return ""


def _is_posted(target: str, settings: Mapping[str, object]) -> bool:
    return any(_asks_for_post(settings.get(name)) for name in POST_SETTINGS.get(target, ()))


def _asks_for_post(options: object) -> bool:
    method = options.get("method") if isinstance(options, Mapping) else None
    return isinstance(method, str) and method.upper() == "POST"
