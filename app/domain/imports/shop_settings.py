"""Turn Saleor's shop settings into Latchkey's."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from app.domain.imports.fitting import SourceRow
from app.domain.imports.runs import Converted, Finding, Outcome
from app.domain.shop.setting_table import SETTINGS, Setting, SettingKind
from app.domain.shop.settings import PasswordLoginMode
from app.domain.values.errors import Problem

SITE_SETTINGS = "site_sitesettings"

IMPORTED_SETTINGS = (
    "description",
    "default_mail_sender_name",
    "default_mail_sender_address",
    "customer_set_password_url",
    "enable_account_confirmation_by_email",
    "allow_login_without_confirmation",
    "password_login_mode",
    "allow_storefront_traffic",
)
"""Columns of the platform that are settings here, by the same names."""

UNPLACED_SETTINGS = ("metadata", "private_metadata", "company_address_id")
"""Columns of the platform that hold the merchant's own data, for which there is no place."""

_BY_NAME: Mapping[str, Setting] = {setting.name: setting for setting in SETTINGS}


@dataclass(frozen=True, slots=True)
class ImportedSettings:
    """The settings that the import sets; a setting that isn't in ``values`` stays as it is."""

    id: int
    values: Mapping[str, str | bool] = field(default_factory=dict)


def convert_settings(
    source: Mapping[str, object], url_problem: Callable[[str], Problem | None]
) -> Converted[ImportedSettings]:
    """Return the settings in a row of ``site_sitesettings``.

    ``url_problem`` says why links in emails can't lead to a URL.
    """
    row = SourceRow(SITE_SETTINGS, source)
    values = dict(_values(row, url_problem))
    filled = [name for name in UNPLACED_SETTINGS if source.get(name)]
    if filled:
        row.add(
            "NO_PLACE",
            Outcome.LEFT_OUT,
            "The shop has no place for {columns} here.",
            columns=", ".join(filled),
        )
    return row.converted(ImportedSettings(row.key, values))


def not_chosen(source: Mapping[str, object]) -> Finding:
    """Return the finding for the settings of a further site."""
    row = SourceRow(SITE_SETTINGS, source)
    template = "The source has several sites. The settings of the first one were imported."
    return Finding(SITE_SETTINGS, row.key, "SITE_NOT_CHOSEN", template, Outcome.LEFT_OUT)


def locks_out(key: int, mode: PasswordLoginMode, reason: str) -> Finding:
    """Return the finding for a mode in which no one could sign in who can change it."""
    return Finding(
        SITE_SETTINGS,
        key,
        "LOGIN_MODE_LOCKS_OUT",
        "Password login is {mode}, as at the source. {reason}",
        Outcome.IMPORTED,
        {"mode": mode.value, "reason": reason},
    )


def _values(
    row: SourceRow, url_problem: Callable[[str], Problem | None]
) -> Iterator[tuple[str, str | bool]]:
    for name in IMPORTED_SETTINGS:
        if name not in row.values:
            continue
        setting = _BY_NAME[name]
        value = _read(row, setting)
        problem = _problem(value, setting, url_problem)
        if problem is None:
            yield name, value
        else:
            _refuse(row, setting, problem)


def _read(row: SourceRow, setting: Setting) -> str | bool:
    if setting.kind.is_switch:
        return row.flag(setting.name)
    if setting.kind is SettingKind.PROSE:
        return row.prose(setting.name, max_length=setting.max_length)
    text = row.text(setting.name)
    return text.upper() if setting.kind is SettingKind.LOGIN_MODE else text


def _problem(
    value: object, setting: Setting, url_problem: Callable[[str], Problem | None]
) -> Problem | None:
    if setting.kind is SettingKind.LOGIN_MODE and value not in PasswordLoginMode.__members__:
        return Problem("INVALID", "Unknown mode {mode}.", values={"mode": value})
    problem = setting.problem(value)
    if problem is None and setting.kind is SettingKind.REDIRECT_URL and value:
        return url_problem(str(value))
    return problem


def _refuse(row: SourceRow, setting: Setting, problem: Problem) -> None:
    row.add(
        "SETTING_REFUSED",
        Outcome.LEFT_OUT,
        "{column} isn't imported, and the setting here stays as it is. {reason}",
        column=setting.name,
        reason=problem.message,
    )
