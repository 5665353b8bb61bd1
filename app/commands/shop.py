"""``flask shop``: the shop's settings and its two switches, with a warning of what they change."""

import sys
from collections.abc import Iterator, Mapping
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any

import click

from app.commands.terminal import options
from app.commands.terminal.command import Group
from app.commands.terminal.output import Column, Displayable, Form, output
from app.domain.accounts.addresses import AddressChange
from app.domain.authorization.actor import Actor
from app.domain.shop.setting_table import SETTINGS, Setting, SettingKind, SettingValue
from app.domain.shop.settings import (
    MAX_GRACE_DAYS,
    PasswordLoginMode,
    ShopSettings,
    ShopUpdate,
    StaffSecondFactor,
)
from app.domain.values.inputs import Upload
from app.domain.values.text import text
from app.ports import Ports
from app.services.shop import settings
from app.services.shop.impact import (
    BoundedCount,
    Impact,
    LoginModeImpact,
    count_second_factors,
    show_impact,
)
from app.web.installation import installation, operator

_CLOSING = "Customers and anonymous callers get an error at once."
_MODES = {
    PasswordLoginMode.CUSTOMERS_ONLY: "Staff who sign in with a password lose their permissions.",
    PasswordLoginMode.DISABLED: "No one can sign in with a password.",
}
_STAFF_LIMITED = (
    "{count:,} of {all:,} staff has no SSO identity and will lose staff access.",
    "{count:,} of {all:,} staff have no SSO identity and will lose staff access.",
)
_STAFF_REJECTED = (
    "{count:,} of {all:,} staff has no other way to sign in.",
    "{count:,} of {all:,} staff have no other way to sign in.",
)
_CUSTOMERS_REJECTED = (
    "{some} of {all} customers has no other way to sign in.",
    "{some} of {all} customers have no other way to sign in.",
)
_NOT_REFRESHED = (
    "{some} SSO session can't be refreshed by its identity provider.",
    "{some} SSO sessions can't be refreshed by their identity provider.",
)
_WITHOUT_FACTOR = (
    "{count:,} of {all:,} staff has no second factor.",
    "{count:,} of {all:,} staff have no second factor.",
)
_AFTER_GRACE = "They get customer-level access after the grace period."
_NONE = BoundedCount(0)
_ONLY_HERE = "No one could undo this in the console, only on the command line."


def _losses(caller: tuple[Ports, Actor], update: ShopUpdate) -> tuple[str, Mapping[str, object]]:
    """Return what ``update`` takes from people: a warning, and for ``--json`` in numbers."""
    if update.allow_storefront_traffic is False:
        return _CLOSING, {}
    if update.staff_second_factor is StaffSecondFactor.REQUIRED:
        counts = count_second_factors(*caller)
        sentence = text(*_WITHOUT_FACTOR, count=counts.without, all=counts.staff)
        return f"{sentence} {_AFTER_GRACE}" if counts.without else "", _lost(counts.without)
    mode = update.password_login_mode
    if not isinstance(mode, PasswordLoginMode) or mode not in _MODES:
        return "", {}
    found = show_impact(*caller)
    impact = found.login_mode(mode)
    if impact.is_current:
        return "", _lost()
    lost = _lost(
        impact.staff_losing_rights, impact.customers_losing_access, impact.sessions_without_refresh
    )
    return " ".join(_sentences(found, impact)), lost


def _lost(
    staff: int = 0, customers: BoundedCount = _NONE, without_refresh: BoundedCount = _NONE
) -> Mapping[str, object]:
    return {
        "staff": staff,
        "customers": customers.number,
        "moreCustomers": customers.is_more,
        "ssoSessionsWithoutRefresh": without_refresh.number,
        "moreSsoSessionsWithoutRefresh": without_refresh.is_more,
    }


def _sentences(found: Impact, impact: LoginModeImpact) -> Iterator[str]:
    disables = impact.mode is PasswordLoginMode.DISABLED
    staff, customers = impact.staff_losing_rights, impact.customers_losing_access
    if staff:
        sentences = _STAFF_REJECTED if disables else _STAFF_LIMITED
        yield text(*sentences, count=staff, all=found.numbers.staff_active)
    if customers.number:
        numbers = {"some": _tally(customers), "all": _tally(found.numbers.customers)}
        yield text(*_CUSTOMERS_REJECTED, count=customers.number, **numbers)
    ending = impact.sessions_without_refresh
    if ending.number:
        yield text(*_NOT_REFRESHED, count=ending.number, some=_tally(ending))
    if not (impact.lockout.people or impact.lockout.apps):
        yield _ONLY_HERE
    yield _MODES[impact.mode]


def _tally(count: BoundedCount) -> str:
    return text("more than {n:,}" if count.is_more else "{n:,}", n=count.number)


command = Group(
    "shop",
    short_help="Show and change the shop's settings and switches.",
    help="Show and change the shop's settings and its two switches, also after a change that "
    "locked everyone out.",
    examples=[
        ("flask shop show", "all settings"),
        ("flask shop set password-login-mode ENABLED", "allow password login again"),
        ("flask shop set allow-storefront-traffic true", "open the storefront again"),
        ("flask shop set staff-second-factor OPTIONAL", "stop requiring a second factor"),
    ],
)

_SETTINGS = {setting.option: setting for setting in SETTINGS}


def _column(setting: Setting) -> Column[ShopSettings]:
    def read(shop: ShopSettings) -> Displayable:
        value = setting.read(shop)
        return value.value if isinstance(value, StrEnum) else value

    is_short = setting.name in ("password_login_mode", "allow_storefront_traffic")
    return Column(setting.api_name, setting.label, read, short=is_short)


Columns = tuple[Column[ShopSettings], ...]
_COLUMNS: Columns = (
    *(_column(setting) for setting in SETTINGS),
    Column("logo", "Logo", lambda shop: bool(shop.logo)),
    Column(
        "secondFactorRequiredFrom",
        "Second factor required from",
        lambda shop: shop.second_factor_from,
    ),
)
_VALUES = {
    SettingKind.SWITCH: " (true or false)",
    SettingKind.MOMENT: " (2h, 2026-03-01T08:30, or an empty text)",
    SettingKind.DAYS: f" (a number up to {MAX_GRACE_DAYS})",
    SettingKind.NUMBER: " (a number from 1 on)",
}


def _values(kind: SettingKind) -> str:
    return f" ({', '.join(kind.choices)})" if kind.choices else _VALUES.get(kind, "")


_LIST = "\n".join(
    f"  {setting.option}{_values(setting.kind)}\n      {setting.help}" for setting in SETTINGS
)


@command.command("show", examples=[("flask shop show --json", "for a script")])
@options.fields_option(_COLUMNS)
def show() -> None:
    """Show every setting."""
    output().show_item(settings.show_settings(*operator()), _COLUMNS)


@command.command(
    "set",
    help="Change a setting. It applies from the next request in every process.\n\n"
    "On a terminal, asks before a change that takes access from people, and counts them; "
    "elsewhere, and with --yes, prints the counts to standard error. --json prints them as "
    "accessLost.\n\n"
    f"\b\nSettings:\n{_LIST}",
    examples=[
        ("flask shop set password-login-mode CUSTOMERS_ONLY", "staff sign in with SSO only"),
        ("flask shop set allow-storefront-traffic false --yes", "close the storefront"),
        ('flask shop set name "Corner shop"', "rename the shop"),
    ],
)
@click.argument("setting", metavar="SETTING", type=options.Word(list(_SETTINGS)))
@click.argument("value")
@click.option("--yes", is_flag=True, help="Don't ask before a change that locks people out.")
@click.option("--no-input", is_flag=True, help="Never prompt.")
def set_(setting: str, value: str, *, yes: bool, no_input: bool) -> None:
    caller = operator()
    update = _SETTINGS[setting].update(_parse(_SETTINGS[setting], value))
    warning, lost = _losses(caller, update)
    columns = _COLUMNS
    if lost and output().form is Form.JSON:  # people were told when they were asked
        columns = (*columns, Column("accessLost", "Access lost", lambda _shop: lost))
    # The contract runs this command without --yes from scripts: only a terminal is asked.
    if warning and sys.stdin.isatty() and not (yes or no_input):
        click.confirm(f"{warning} Continue?", abort=True, err=True)
    elif warning and output().form is not Form.JSON:
        click.echo(warning, err=True)
    output().show_item(settings.update_shop(*caller, update), columns)


@command.command(
    "logo",
    help="Change or remove the logo that emails show.\n\n"
    "PNG, JPEG, WebP or GIF of at most 2 MiB. It is scaled down to 480 by 112 pixels.",
    examples=[
        ("flask shop logo logo.png", "show the logo in emails"),
        ("flask shop logo --remove", "show the shop's name instead"),
    ],
)
@click.argument("file", type=options.FilePath(dir_okay=False), required=False)
@click.option("--remove", is_flag=True, help="Remove the logo.")
def logo(file: str | None, *, remove: bool) -> None:
    caller = operator()
    if remove is (file is not None):
        raise click.UsageError("Pass either a file or --remove.")
    if file is None:
        shop = settings.delete_logo(*caller)
    else:
        upload = Upload(Path(file).name, "", options.read_bytes(file))
        shop = settings.update_logo(*caller, upload)
    output().show_item(shop, (Column("logo", "Logo", lambda shop: bool(shop.logo), short=True),))


_ADDRESS = (
    ("company_name", "Company or organization."),
    ("street_address_1", "Street and number."),
    ("street_address_2", "What the street's line has no room for."),
    ("postal_code", "Postal code."),
    ("city", "City."),
    ("city_area", "District."),
    ("country_area", "State or province."),
    ("country", "Country, by its code of ISO 3166-1."),
    ("phone", "Phone number."),
)


@command.command(
    "address",
    help="Show, change or delete the address of the company behind the shop.\n\n"
    "Emails end with it if no legal line is set. What you don't name stays; the country's rules "
    "apply.",
    examples=[
        ("flask shop address", "show it"),
        (
            (
                "flask shop address --company-name Marigold --street-address-1 'Main Street 1' "
                "--postal-code 10115 --city Berlin --country DE"
            ),
            "set it",
        ),
        ("flask shop address --remove", "delete it"),
    ],
)
@click.option("--remove", is_flag=True, help="Delete the address.")
def address(*, remove: bool, **details: str | None) -> None:
    caller = operator()
    given: dict[str, Any] = {name: value for name, value in details.items() if value is not None}
    if remove and given:
        raise click.UsageError("Pass either --remove or parts of the address.")
    if remove:
        shop = settings.update_company_address(*caller, None)
    elif given:
        country = given.pop("country", settings.show_company_address(*caller).country).upper()
        change = AddressChange(country=country, **given)
        shop = settings.update_company_address(*caller, change)
    else:
        shop = settings.show_settings(*caller)
    output().show_item(shop.company_address, _ADDRESS_COLUMNS)


for _name, _help in reversed(_ADDRESS):
    address = click.option(f"--{_name.replace('_', '-')}", _name, metavar="TEXT", help=_help)(
        address
    )
_ADDRESS_COLUMNS = tuple(
    Column(
        name,
        name.replace("_", " ").capitalize(),
        partial(lambda name, address: getattr(address, name), name),
        short=name in ("company_name", "country"),
    )
    for name, _ in _ADDRESS
)


def _parse(setting: Setting, value: str) -> SettingValue:
    if setting.kind.choices is not None:
        return options.Word(setting.kind.choices, case_sensitive=False).convert(value, None, None)
    if setting.kind is SettingKind.MOMENT:
        return options.read_future(value, installation().ports.clock.now()) if value else None
    if setting.kind in (SettingKind.DAYS, SettingKind.NUMBER):
        return options.read_number(value)
    return options.read_switch(value) if setting.kind is SettingKind.SWITCH else value
