"""``flask oidc``: identity providers."""

from __future__ import annotations

from typing import Protocol

import click

from app.commands.public_url import base_url
from app.commands.terminal.choices import Word, read_switch
from app.commands.terminal.command import Group
from app.commands.terminal.exit_codes import Exit
from app.commands.terminal.output import Column, Displayable, output
from app.commands.terminal.prompts import ask_secret, may_ask, yes_option
from app.commands.terminal.text_options import read_secret
from app.domain.authorization.actor import OPERATOR
from app.domain.shop.lockouts import LockoutRefused
from app.domain.single_sign_on.provider_settings import SECRET_NAMES, SETTINGS
from app.domain.single_sign_on.providers import DEFAULT_SLUG
from app.domain.values.check_results import Finding, State
from app.domain.values.errors import Problem, Refused
from app.domain.values.pages import MAX_PAGE_SIZE, PageRequest
from app.services.single_sign_on.provider_checks import check_provider, discover_provider
from app.services.single_sign_on.provider_settings import (
    Plugin,
    ProviderUpdate,
    list_plugins,
    save_provider,
)
from app.web.installation import installation

command = Group(
    "oidc",
    short_help="Set up single sign-on through identity providers.",
    help="Set up single sign-on through OpenID Connect providers. One answers by default; others "
    "are named with --provider, and added by their first setting.",
    examples=[
        ("flask oidc discover https://id.example.com", "fill its addresses from its description"),
        ("flask oidc set client_id shop", "the name of this service there"),
        ("flask oidc set client_secret -", "typed in, or read from standard input"),
        ("flask oidc set active true", "let people sign in through it"),
        ("flask oidc test", "try whether it works"),
    ],
)

_NAMES = ("active", "name", *(setting.name for setting in SETTINGS))
_provider = click.option(
    "--provider", default=DEFAULT_SLUG, help="Which one, by its word; the default one otherwise."
)


class _Act(Protocol):
    """A change of a provider; ``asks_first`` raises if administrators would lose access."""

    def __call__(self, *, asks_first: bool) -> None: ...


def _column(name: str, title: str) -> Column[Plugin]:
    def read(plugin: Plugin) -> Displayable:
        values = {shown.setting.name: shown.value for shown in plugin.settings}
        return values[name]

    return Column(name, title, read)


_COLUMNS: tuple[Column[Plugin], ...] = (
    Column("id", "Plugin id", lambda plugin: plugin.id, short=True),
    Column("provider", "Provider", lambda plugin: plugin.slug, short=True),
    Column("name", "Name", lambda plugin: plugin.name),
    Column("active", "Active", lambda plugin: plugin.active, short=True),
    *(_column(setting.name, setting.label) for setting in SETTINGS),
    Column(
        "backchannelLogout",
        "Back-channel logout URL",
        lambda plugin: f"{base_url(installation().ports)}/oidc/{plugin.slug}/backchannel-logout",
    ),
)
_CHECK_COLUMNS = (
    Column[Finding]("subject", "Checked", lambda check: check.subject, short=True),
    Column[Finding]("state", "State", lambda check: check.state.value, short=True),
    Column[Finding]("message", "Found", lambda check: check.message),
    Column[Finding]("remedy", "Remedy", lambda check: check.remedy),
)


@command.command(
    "show",
    examples=[
        ("flask oidc show", "the default provider"),
        ("flask oidc show --all --short", "which there are"),
    ],
)
@_provider
@click.option("--all", "everyone", is_flag=True, help="Every provider.")
def show(provider: str, *, everyone: bool) -> None:
    """Show a provider's settings. Secrets are never shown."""
    plugins = _plugins()
    if everyone:
        output().rows(plugins, _COLUMNS, empty="There is no provider.")
    else:
        output().one(_named(plugins, provider), _COLUMNS)


@command.command(
    "set",
    examples=[
        ("flask oidc set audience https://shop.example.com/graphql/", "what tokens are made for"),
        ("flask oidc set client_secret - < secret.txt", "keep it out of the shell's history"),
        ('flask oidc set staff_user_domains ""', "clear it"),
        ('flask oidc set name "Our staff" --provider staff', "another provider, added if new"),
    ],
)
@click.argument("setting", metavar="SETTING", type=Word(_NAMES))
@click.argument("value")
@_provider
@yes_option
def set_(setting: str, value: str, provider: str, *, yes: bool) -> None:
    """Change one setting; it holds from the next request on, in every process.

    VALUE - reads it from standard input, or asks for it without showing what is typed. A secret
    can also be @FILE. An empty one clears the setting. What would keep out everybody who could
    undo it is asked about first.
    """
    parsed = _parse_value(setting, value)
    active = read_switch(parsed) if setting == "active" else None

    def save(*, asks_first: bool) -> None:
        changes = ProviderUpdate(
            {} if setting in ("active", "name") else {setting: parsed},
            active=active,
            name=parsed if setting == "name" else None,
            asks_first=asks_first,
        )
        save_provider(installation().ports, OPERATOR, provider, changes)

    _unless_locked_out(save, yes=yes)
    output().one(_named(_plugins(), provider), _COLUMNS)


@command.command(
    "discover",
    examples=[("flask oidc discover https://id.example.com", "fill its addresses")],
)
@click.argument("issuer")
@_provider
@yes_option
def discover(issuer: str, provider: str, *, yes: bool) -> None:
    """Fill a provider's addresses from its own description, and check what it offers.

    ISSUER is where that begins: the address before /.well-known/openid-configuration.
    """

    def fill(*, asks_first: bool) -> None:
        ports = installation().ports
        discover_provider(ports, OPERATOR, provider, issuer, asks_first=asks_first)

    _unless_locked_out(fill, yes=yes)
    output().one(_named(_plugins(), provider), _COLUMNS)


@command.command("test", examples=[("flask oidc test --json", "for a monitor")])
@_provider
def test(provider: str) -> None:
    """Try whether a provider works, without signing anybody in; ends with 1 when it does not."""
    checks = check_provider(installation().ports, OPERATOR, provider)
    output().rows(checks, _CHECK_COLUMNS, empty="")
    if any(check.state is State.FAILED for check in checks):
        click.get_current_context().exit(Exit.FAILED)


def _parse_value(setting: str, value: str) -> str:
    if value == "-":
        return ask_secret("Value")
    return read_secret(value, setting) if value and setting in SECRET_NAMES else value


def _unless_locked_out(act: _Act, *, yes: bool) -> None:
    """Make the change; confirm it first if administrators would lose access.

    Without a terminal and without ``--yes`` it is refused.
    """
    try:
        act(asks_first=not yes)
    except LockoutRefused as refused:
        if not may_ask():
            message = "{refused} Whoever holds the shell may: say --yes."
            raise Refused(Problem("LOCKOUT", message, values={"refused": refused})) from refused
        click.confirm(f"{refused} Go on?", abort=True, err=True)
        act(asks_first=False)


def _plugins() -> tuple[Plugin, ...]:
    return list_plugins(installation().ports, OPERATOR, PageRequest(MAX_PAGE_SIZE)).items


def _named(plugins: tuple[Plugin, ...], slug: str) -> Plugin:
    for plugin in plugins:
        if plugin.slug == slug:
            return plugin
    slugs = ", ".join(plugin.slug for plugin in plugins)
    message = "There is no provider {slug}. There are: {slugs}."
    raise Refused(Problem("NOT_FOUND", message, "provider", values={"slug": slug, "slugs": slugs}))
