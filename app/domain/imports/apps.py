"""Turn Saleor's apps, their tokens and dashboard extensions into Latchkey's."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from app.domain.apps.apps import DEFAULT_TARGET, AppType
from app.domain.apps.manifests import POST_SETTINGS, extension_url_message, is_place_name
from app.domain.authorization.permissions import Permission, known_permissions
from app.domain.imports.fitting import SourceRow, listed
from app.domain.imports.runs import Converted, Outcome
from app.domain.values.json_values import is_keepable

APPS = "app_app"
TOKENS = "app_apptoken"

_MAX_LINE_LENGTH = 256
_MAX_ABOUT_LENGTH = 20_000
_LAST_FOUR = 4
_NO_PLACE = ("configuration_url", "data_privacy", "brand_logo_default")
"""Columns of Saleor's apps that apps here don't have."""


@dataclass(frozen=True, slots=True)
class ImportedApp:
    """An app as it is stored here, where it counts as installed."""

    id: int
    name: str
    identifier: str
    type: AppType
    is_active: bool
    created_at: datetime
    about: str
    author: str
    version: str
    audience: str
    app_url: str
    data_privacy_url: str
    homepage_url: str
    manifest_url: str
    support_url: str
    public_metadata: Mapping[str, str]
    private_metadata: Mapping[str, str]
    permissions: frozenset[Permission]


@dataclass(frozen=True, slots=True)
class AppSurroundings:
    """What other tables of the source have for an app.

    ``codenames`` are of its permissions; ``tokens`` and ``webhooks`` count its own.
    ``identifier_holder`` is the app here that has its identifier already.
    """

    codenames: tuple[str, ...] = ()
    tokens: int = 0
    webhooks: int = 0
    identifier_holder: int | None = None


@dataclass(frozen=True, slots=True)
class ImportedToken:
    """An app's token as it is stored here: without its SHA-256, which its first use tells.

    The source doesn't know when it was created, so it counts as created when it is imported.
    """

    id: int
    app_id: int
    name: str
    last_four: str
    imported_hash: str = field(repr=False)


def convert_app(source: Mapping[str, object], around: AppSurroundings) -> Converted[ImportedApp]:
    """Return the app of a row of ``app_app``; ``None`` if it was removed at the source."""
    row = SourceRow(APPS, source)
    if source.get("removed_at") is not None:
        return row.refused(
            "APP_REMOVED",
            "The app was removed. Its tokens ({tokens}) and webhooks ({webhooks}) are left out"
            " too.",
            tokens=around.tokens,
            webhooks=around.webhooks,
        )
    app = ImportedApp(
        id=row.key,
        name=_name(row),
        identifier=_identifier(row, around.identifier_holder),
        type=_type(row),
        is_active=_is_installed(row) and row.flag("is_active"),
        created_at=row.moment("created_at"),
        about=row.prose("about_app", max_length=_MAX_ABOUT_LENGTH),
        author=row.line("author", max_length=_MAX_LINE_LENGTH),
        version=row.line("version", max_length=_MAX_LINE_LENGTH),
        audience=row.line("audience", max_length=_MAX_LINE_LENGTH),
        app_url=row.url("app_url"),
        data_privacy_url=row.url("data_privacy_url"),
        homepage_url=row.url("homepage_url"),
        manifest_url=row.url("manifest_url"),
        support_url=row.url("support_url"),
        public_metadata=row.metadata("metadata"),
        private_metadata=row.metadata("private_metadata"),
        permissions=_permissions(row, around.codenames),
    )
    _report_missing_fields(row)
    return row.converted(app)


def convert_token(
    source: Mapping[str, object], is_verifiable: Callable[[str], bool]
) -> Converted[ImportedToken]:
    """Return the token of a row of ``app_apptoken``; ``None`` if it can't work here.

    ``is_verifiable`` says whether such a password hash can be verified here.
    """
    row = SourceRow(TOKENS, source)
    last_four, encoded = row.text("token_last_4"), row.text("auth_token")
    if len(last_four) != _LAST_FOUR:
        return row.refused(
            "TOKEN_WITHOUT_LAST_FOUR",
            "The last four characters of the token are missing. The app needs a new token.",
        )
    if not is_verifiable(encoded):
        return row.refused(
            "TOKEN_HASH_UNSUPPORTED",
            "The token's hash can't be verified here. The app needs a new token.",
        )
    name = row.line("name", max_length=_MAX_LINE_LENGTH)
    token = ImportedToken(row.key, row.number("app_id"), name, last_four, encoded)
    return row.converted(token)


def grantable_permissions(codenames: Iterable[str]) -> frozenset[Permission]:
    """Return the permissions with these ``codenames`` that apps can have here."""
    permissions = known_permissions([codename.upper() for codename in codenames])
    return permissions - {Permission.MANAGE_APPS}


def _name(row: SourceRow) -> str:
    name = row.line("name", max_length=_MAX_LINE_LENGTH)
    if name:
        return name
    row.add("NAME_EMPTY", Outcome.CHANGED, "The app has no name.")
    return f"App {row.key}"


def _is_installed(row: SourceRow) -> bool:
    if row.flag("is_installed"):
        return True
    row.add("APP_NOT_INSTALLED", Outcome.DISABLED, "The app's installation wasn't finished.")
    return False


def _identifier(row: SourceRow, holder: int | None) -> str:
    identifier = row.line("identifier", max_length=_MAX_LINE_LENGTH)
    if not identifier or holder in (None, row.key):
        return identifier
    row.add(
        "IDENTIFIER_TAKEN",
        Outcome.CHANGED,
        "App {holder} already has the identifier {identifier}. The app is imported without one.",
        holder=holder,
        identifier=identifier,
    )
    return ""


def _type(row: SourceRow) -> AppType:
    name = row.text("type").upper()
    if name in AppType.__members__:
        return AppType(name)
    row.add("APP_TYPE_UNKNOWN", Outcome.CHANGED, "Unknown type {type}.", type=repr(name[:80]))
    return AppType.LOCAL


def _permissions(row: SourceRow, codenames: Iterable[str]) -> frozenset[Permission]:
    permissions = row.permissions(codenames)
    if Permission.MANAGE_APPS in permissions:
        row.add(
            "PERMISSION_NOT_FOR_APPS",
            Outcome.LEFT_OUT,
            "Apps can't have {permission} here.",
            permission=Permission.MANAGE_APPS.value,
        )
    return permissions - {Permission.MANAGE_APPS}


def _report_missing_fields(row: SourceRow) -> None:
    missing = [name for name in _NO_PLACE if row.text(name)]
    if missing:
        row.add(
            "COLUMN_NOT_SUPPORTED",
            Outcome.LEFT_OUT,
            "Apps don't have {columns} here.",
            columns=listed(missing),
        )


EXTENSIONS = "app_appextension"


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
        return row.converted(None)
    if not (is_place_name(mount) and is_place_name(target)):
        message = "mount and target must consist of letters, digits and underscores."
        return row.refused("EXTENSION_PLACE_INVALID", message)
    url, settings = row.text("url"), _settings(row, target.upper())
    problem = extension_url_message(url, target.upper(), app_url, settings)
    if problem:
        return row.refused("EXTENSION_URL_INVALID", "url: {problem}", problem=problem)
    extension = ImportedExtension(
        id=row.key,
        app_id=row.number("app_id"),
        label=row.line("label", max_length=_MAX_LINE_LENGTH),
        url=url,
        mount=mount.upper(),
        target=target.upper(),
        identifier=_extension_identifier(row, taken_identifiers),
        permissions=permissions,
        settings=settings,
    )
    return row.converted(extension)


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


def _extension_identifier(row: SourceRow, taken: Iterable[str]) -> str:
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
