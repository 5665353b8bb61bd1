"""``flask shop``: the shop's settings and its two switches."""

from __future__ import annotations

import sys
from dataclasses import fields
from typing import Any

import click

from app.commands.choices import Word, read_switch
from app.commands.command import Group
from app.commands.output import Column, Shown, output
from app.domain.authorization.actor import OPERATOR
from app.domain.shop.settings import PasswordLoginMode, Shop
from app.services.shop import settings as shop_cases
from app.web.installation import installation

command = Group(
    "shop",
    short_help="Show and change the shop's settings and switches.",
    help="Show and change the shop's settings and its two switches: also the way back in for "
    "whoever has locked everybody out.",
    examples=[
        ("flask shop show", "all settings"),
        ("flask shop set password-login-mode ENABLED", "let everybody in by password again"),
        ("flask shop set allow-storefront-traffic true", "open the storefront again"),
    ],
)

_MODE = "password-login-mode"
_SETTINGS = {field.name.replace("_", "-"): field.name for field in fields(Shop)}
_SWITCHES = ("password_login_mode", "allow_storefront_traffic")
_WARNINGS = {
    (_MODE, PasswordLoginMode.CUSTOMERS_ONLY): "Staff who sign in by password lose their rights.",
    (_MODE, PasswordLoginMode.DISABLED): "Nobody can sign in by password any more.",
    ("allow-storefront-traffic", False): "Customers and anonymous callers get an error at once.",
}


def _column(name: str) -> Column[Shop]:
    def read(shop: Shop) -> Shown:
        value: Shown = getattr(shop, name)
        return value.value if isinstance(value, PasswordLoginMode) else value

    first, *rest = name.split("_")
    title = name.replace("_", " ").capitalize()
    camel = first + "".join(word.capitalize() for word in rest)
    return Column(camel, title, read, short=name in _SWITCHES)


_COLUMNS = tuple(_column(name) for name in _SETTINGS.values())


@command.command("show", examples=[("flask shop show --json", "for a script")])
def show() -> None:
    """Show every setting."""
    output().one(shop_cases.show_settings(installation().ports, OPERATOR), _COLUMNS)


@command.command(
    "set",
    examples=[
        ("flask shop set password-login-mode CUSTOMERS_ONLY", "staff by single sign-on alone"),
        ("flask shop set allow-storefront-traffic false --yes", "close the storefront, unasked"),
        ('flask shop set name "Corner shop"', "how the shop is called"),
    ],
)
@click.argument("setting", metavar="SETTING", type=Word(list(_SETTINGS)))
@click.argument("value")
@click.option("--yes", is_flag=True, help="Do not ask before something that locks people out.")
@click.option("--no-input", is_flag=True, help="Ask nothing, and go on.")
def set_(setting: str, value: str, *, yes: bool, no_input: bool) -> None:
    """Change one setting; it holds from the next request on, in every process.

    There are: password-login-mode (ENABLED, CUSTOMERS_ONLY, DISABLED), allow-storefront-traffic,
    enable-account-confirmation-by-email and allow-login-without-confirmation (true, false), name,
    description, default-mail-sender-name, default-mail-sender-address and
    customer-set-password-url.
    """
    chosen = _parse(setting, value)
    warning = _WARNINGS.get((setting, chosen))
    # The contract writes the command bare: it is the way back in, and a script means what it says.
    if warning and sys.stdin.isatty() and not (yes or no_input):
        click.confirm(f"{warning} Go on?", abort=True, err=True)
    # Each setting is parsed as what its field holds; a type checker cannot follow the names.
    changed: dict[str, Any] = {_SETTINGS[setting]: chosen}
    update = shop_cases.ShopUpdate(**changed)
    output().one(shop_cases.update_shop(installation().ports, OPERATOR, update), _COLUMNS)


def _parse(setting: str, value: str) -> PasswordLoginMode | bool | str:
    if setting == _MODE:
        modes = Word([mode.value for mode in PasswordLoginMode], case_sensitive=False)
        return PasswordLoginMode(modes.convert(value, None, None))
    if setting.startswith(("allow-", "enable-")):
        return read_switch(value)
    return value
