"""``flask oidc``: identity providers."""

from dataclasses import replace
from functools import partial
from typing import Protocol

import click

from app.commands.doctor import show_checks
from app.commands.name_completion import complete_provider
from app.commands.terminal.command import Group
from app.commands.terminal.options import Word, fields_option, read_secret, read_switch
from app.commands.terminal.output import Column, output, visible_lines
from app.commands.terminal.prompts import ask_secret, confirm_action, may_ask, yes_option
from app.domain.shop.lockouts import LockoutRefused
from app.domain.single_sign_on.provider_settings import SECRET_NAMES, SETTINGS
from app.domain.single_sign_on.providers import DEFAULT_SLUG
from app.domain.values.errors import Problem, Refused
from app.domain.values.pages import MAX_PAGE_SIZE, PageRequest
from app.services.outbox.base_url import base_url
from app.services.single_sign_on.provider_checks import check_provider, discover_provider
from app.services.single_sign_on.provider_settings import (
    Plugin,
    ProviderUpdate,
    confirm_provider,
    list_plugins,
    save_provider,
)
from app.web.installation import installation, operator

command = Group(
    "oidc",
    short_help="Set up single sign-on through identity providers.",
    help="Set up single sign-on with OpenID Connect providers. Commands use the default provider "
    "unless --provider names another; setting a value for a new provider adds it.",
    examples=[
        ("flask oidc discover https://id.example.com", "fill in its endpoints"),
        ("flask oidc set client_id shop", "the client ID registered there"),
        ("flask oidc set client_secret -", "prompts, or reads standard input"),
        ("flask oidc set active true", "enable sign-in with it"),
        ("flask oidc test", "check that it works"),
    ],
)

_NAMES = ("active", "name", *(setting.name for setting in SETTINGS))
_ENDS_MAPPING = {"active": False, "use_oauth_scope_permissions": True}
"""With which values of switches a claim no longer decides about groups."""

_provider = click.option(
    "--provider",
    default=DEFAULT_SLUG,
    shell_complete=complete_provider,
    help="Slug of the provider. Default: the default provider.",
)


class _Act(Protocol):
    """A change of a provider; ``asks_first`` raises if administrators would lose access."""

    def __call__(self, *, asks_first: bool) -> object: ...


def _column(name: str, title: str) -> Column[Plugin]:
    return Column(name, title, lambda plugin: plugin.facts[name])


_COLUMNS: tuple[Column[Plugin], ...] = (
    Column("id", "Plugin ID", lambda plugin: plugin.id, short=True),
    Column("provider", "Provider", lambda plugin: plugin.slug, short=True),
    Column("name", "Name", lambda plugin: plugin.name),
    Column("active", "Active", lambda plugin: plugin.active, short=True),
    *(_column(setting.name, setting.label) for setting in SETTINGS),
    Column(
        "waiting",
        "Waiting for confirmation",
        lambda plugin: ", ".join(change.setting for change in plugin.waiting),
    ),
    Column(
        "backchannelLogout",
        "Back-channel logout URL",
        lambda plugin: f"{base_url(installation().ports)}/oidc/{plugin.slug}/backchannel-logout",
    ),
)


@command.command(
    "show",
    examples=[
        ("flask oidc show", "the default provider"),
        ("flask oidc show --all --short", "list all providers"),
    ],
)
@_provider
@click.option("--all", "everyone", is_flag=True, help="Show all providers.")
@fields_option(_COLUMNS)
def show(provider: str, *, everyone: bool) -> None:
    """Show a provider's settings. Secrets are never shown."""
    plugins = _plugins()
    if everyone:
        output().rows(plugins, _COLUMNS, empty="No identity providers.")
    else:
        output().show_item(_named(plugins, provider), _COLUMNS)


@command.command(
    "set",
    examples=[
        (
            "flask oidc set audience https://shop.example.com/graphql/",
            "the audience of access tokens",
        ),
        ("flask oidc set client_secret - < secret.txt", "keep it out of the shell's history"),
        ('flask oidc set staff_user_domains ""', "clear the value"),
        (
            'flask oidc set group_mapping "{}" --remove-members',
            "groups by claim end, and so do its people's memberships",
        ),
        ('flask oidc set name "Our staff" --provider staff', "another provider, added if new"),
    ],
)
@click.argument("setting", metavar="SETTING", type=Word(_NAMES))
@click.argument("value")
@_provider
@click.option(
    "--remove-members",
    is_flag=True,
    help="With group_mapping, active false or use_oauth_scope_permissions true: remove people who "
    "have signed in with the provider from groups that its table no longer gives. Without it they "
    "stay.",
)
@yes_option
def set_(setting: str, value: str, provider: str, *, remove_members: bool, yes: bool) -> None:
    """Change a setting. It applies from the next request in every process.

    With VALUE -, the value is read from standard input, or prompted for without echo. A secret can
    also be @FILE. An empty value clears the setting. Asks to confirm a change that would lock out
    everyone who could undo it.
    """
    parsed = _parse_value(setting, value)
    active = read_switch(parsed) if setting == "active" else None
    if remove_members and not _can_end_mapping(setting, parsed):
        message = (
            "--remove-members works only with group_mapping, active false or "
            "use_oauth_scope_permissions true."
        )
        raise click.UsageError(message)

    changes = ProviderUpdate(
        {} if setting in ("active", "name") else {setting: parsed},
        active=active,
        name=parsed if setting == "name" else None,
        removes_members=remove_members,
    )
    _unless_locked_out(
        lambda *, asks_first: save_provider(
            *operator(), provider, replace(changes, asks_first=asks_first)
        ),
        yes=yes,
    )
    output().show_item(_named(_plugins(), provider), _COLUMNS)


@command.command(
    "discover", examples=[("flask oidc discover https://id.example.com", "fill in its endpoints")]
)
@click.argument("issuer")
@_provider
@yes_option
def discover(issuer: str, provider: str, *, yes: bool) -> None:
    """Fill in a provider's endpoints from its discovery document and check what it supports.

    ISSUER is the URL before /.well-known/openid-configuration.
    """
    _unless_locked_out(partial(discover_provider, *operator(), provider, issuer), yes=yes)
    output().show_item(_named(_plugins(), provider), _COLUMNS)


@command.command(
    "confirm", examples=[("flask oidc confirm", "review what waits, then confirm it")]
)
@_provider
@yes_option
def confirm(provider: str, *, yes: bool) -> None:
    """Confirm the waiting changes to a provider.

    People who manage plugins without holding every permission can change a provider. Until a
    superuser or this command confirms the change, the provider signs in only new customers.
    """
    plugin = _named(_plugins(), provider)
    for change in plugin.waiting:
        now = plugin.values.get(change.setting, "")
        line = f"{change.setting}: {change.was!r} -> {now!r}, by {change.changer.name}"
        click.echo(visible_lines(line), err=True)
    if plugin.waiting:
        confirm_action("Confirm these settings?", yes=yes)
    confirm_provider(*operator(), provider, plugin.version)
    output().show_item(_named(_plugins(), provider), _COLUMNS)


@command.command("test", examples=[("flask oidc test --json", "for a monitor")])
@_provider
def test(provider: str) -> None:
    """Check that a provider works without signing in.

    Exits with 1 if it isn't set up or a check fails; warnings don't count.
    """
    show_checks(check_provider(*operator(), provider))


def _can_end_mapping(setting: str, value: str) -> bool:
    """Return whether a setting can end that a claim decides about groups."""
    if setting in _ENDS_MAPPING:
        return read_switch(value) is _ENDS_MAPPING[setting]
    return setting == "group_mapping"


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
            message = "{refused} To do it anyway, pass --yes."
            raise Refused(Problem("LOCKOUT", message, values={"refused": refused})) from refused
        click.confirm(f"{refused} Continue?", abort=True, err=True)
        act(asks_first=False)


def _plugins() -> tuple[Plugin, ...]:
    return list_plugins(*operator(), PageRequest(MAX_PAGE_SIZE)).items


def _named(plugins: tuple[Plugin, ...], slug: str) -> Plugin:
    for plugin in plugins:
        if plugin.slug == slug:
            return plugin
    slugs = ", ".join(plugin.slug for plugin in plugins)
    message = "Unknown provider {slug}. Available providers: {slugs}."
    raise Refused(Problem("NOT_FOUND", message, "provider", values={"slug": slug, "slugs": slugs}))
