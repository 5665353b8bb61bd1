"""Turn a platform's dashboard extensions into ours."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from app.domain.apps.extensions import DEFAULT_TARGET
from app.domain.apps.manifest_extensions import POST_SETTINGS, extension_url_message, is_place_name
from app.domain.authorization.permissions import Permission
from app.domain.imports.findings import Converted, Outcome
from app.domain.imports.fitting import SourceRow
from app.domain.values.json_values import is_keepable

EXTENSIONS = "app_appextension"

_MAX_LINE_LENGTH = 256


@dataclass(frozen=True, slots=True)
class ImportedExtension:
    """An extension as it is stored here."""

    id: int
    app_id: int
    label: str
    url: str
    mount: str
    target: str
    identifier: str
    permissions: frozenset[Permission]
    settings: Mapping[str, object]


def convert_extension(
    source: Mapping[str, object],
    codenames: Iterable[str],
    app_url: str,
    taken_identifiers: Iterable[str] = (),
) -> Converted[ImportedExtension]:
    """Return the extension of a row of ``app_appextension``; ``None`` if it can't work here.

    ``codenames`` are of its permissions, ``app_url`` its app's as imported, and
    ``taken_identifiers`` those of the app's other extensions.
    """
    row = SourceRow(EXTENSIONS, source)
    mount, target = row.text("mount"), row.text("target") or DEFAULT_TARGET
    permissions = row.permissions(codenames)
    if row.findings:
        # Without a permission that doesn't exist here, more staff would see the extension.
        return Converted(None, tuple(row.findings))
    if not (is_place_name(mount) and is_place_name(target)):
        message = "mount and target must consist of letters, digits and underscores."
        row.add("EXTENSION_PLACE_INVALID", Outcome.LEFT_OUT, message)
        return Converted(None, tuple(row.findings))
    url, settings = row.text("url"), _settings(row, target.upper())
    problem = extension_url_message(url, target.upper(), app_url, settings)
    if problem:
        row.add("EXTENSION_URL_INVALID", Outcome.LEFT_OUT, "url: {problem}", problem=problem)
        return Converted(None, tuple(row.findings))
    extension = ImportedExtension(
        id=row.key,
        app_id=row.number("app_id"),
        label=row.line("label", max_length=_MAX_LINE_LENGTH),
        url=url,
        mount=mount.upper(),
        target=target.upper(),
        identifier=_identifier(row, taken_identifiers),
        permissions=permissions,
        settings=settings,
    )
    return Converted(extension, tuple(row.findings))


def _settings(row: SourceRow, target: str) -> Mapping[str, object]:
    """Return the settings, with the method of older releases, which has a separate column."""
    stored = row.values.get("settings")
    settings = dict(stored) if isinstance(stored, Mapping) else {}
    if not is_keepable(settings):
        row.add(
            "SETTINGS_INVALID",
            Outcome.LEFT_OUT,
            "The settings aren't plain values, or are nested too deeply.",
        )
        return {}
    method = row.text("http_target_method").upper()
    names = POST_SETTINGS.get(target, ())
    if method and names and not any(name in settings for name in names):
        settings[names[0]] = {"method": method}
    return settings


def _identifier(row: SourceRow, taken: Iterable[str]) -> str:
    identifier = row.line("identifier", max_length=_MAX_LINE_LENGTH)
    if not identifier or identifier not in taken:
        return identifier
    row.add(
        "IDENTIFIER_TAKEN",
        Outcome.CHANGED,
        "Another extension of the app has the identifier {identifier}. The extension is imported"
        " without one.",
        identifier=identifier,
    )
    return ""
