"""``flask app``: apps and their tokens."""

from datetime import datetime, timedelta
from typing import Any

import click

from app.commands import app_installations
from app.commands.name_completion import complete_app, complete_provider
from app.commands.terminal.command import Group
from app.commands.terminal.exit_codes import Exit
from app.commands.terminal.options import (
    Id,
    fields_option,
    page_options,
    permission_option,
    show_page,
)
from app.commands.terminal.output import Column, output
from app.commands.terminal.prompts import (
    ask_secret,
    confirm_action,
    may_ask,
    no_input_option,
    yes_option,
)
from app.domain.apps.apps import App, AppToken, NewAppToken, count_long_lived
from app.domain.authorization.permissions import Permission
from app.domain.single_sign_on.providers import DEFAULT_SLUG
from app.domain.values.errors import Problem, Refused
from app.domain.values.inputs import present
from app.domain.values.pages import PageRequest
from app.services.apps import app_changes, app_tokens
from app.services.apps.activity import ActivityPeriod, AppActivity, read_app_activity
from app.services.apps.app_lists import AppFilter, list_apps, show_app
from app.services.webhooks.app_reach import WebhooksNotConfirmed
from app.web.installation import operator

tokens = Group(
    "token",
    short_help="Create, list, rotate and revoke app tokens.",
    help="Create, list, rotate and revoke app tokens. APP is an ID or a unique name. ID is a "
    "token's ID, as shown by the list command.",
    examples=[
        ("flask app token list Warehouse", "last characters and last use of each token"),
        ("flask app token rotate 7", "replace a token; the old one works for another day"),
        ("flask app token revoke 7", "revoke a token by ID"),
    ],
)

_COLUMNS: tuple[Column[AppToken], ...] = (
    Column("id", "ID", lambda token: token.id, short=True),
    Column("name", "Name", lambda token: token.name),
    Column("lastFour", "Last 4", lambda token: token.last_four, short=True),
    Column("created", "Created", lambda token: token.created_at),
    Column("expires", "Expires", lambda token: token.expires_at),
    Column("replaced", "Replaced", lambda token: token.replaced_at),
    Column("lastUsed", "Last used", lambda token: token.last_used_at),
    Column("lastUsedFrom", "From", lambda token: token.last_used_address or None),
    Column(
        "imported", "Imported", lambda token: "not used yet" if token.awaits_first_use else None
    ),
    Column(
        "permissions",
        "For",
        lambda token: None if token.permissions is None else sorted(token.permissions),
    ),
)
_DATE_FORMATS = ("%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M")
_key = click.argument("token_id", metavar="ID", type=Id())


@tokens.command(
    "create",
    examples=[
        ("flask app token create Warehouse --name nightly", "prints the token once"),
        ("flask app token create Warehouse --expires 2030-12-31", "expires on that date"),
        ("flask app token create 7 --permission MANAGE_ORDERS", "limited to this permission"),
    ],
)
@click.argument("app", shell_complete=complete_app)
@click.option("--name", default="", help="A name to recognize the token by.")
@click.option(
    "--expires",
    type=click.DateTime(_DATE_FORMATS),
    metavar="WHEN",
    help="Expiry: 2030-12-31 or 2030-12-31T18:00 (UTC). Default: never.",
)
@permission_option
def create_token(
    app: str, *, name: str, expires: datetime | None, permissions: tuple[Permission, ...]
) -> None:
    """Create a token. Only the token is printed to standard output, and only once.

    With --permission, the token is limited to those permissions of its app.
    """
    new = app_tokens.TokenOptions(name, expires, frozenset(permissions) or None)
    _print_new_token(app_tokens.create_app_token(*operator(), app_installations.app_key(app), new))


@tokens.command("list", examples=[("flask app token list Warehouse", "all tokens of the app")])
@click.argument("app", shell_complete=complete_app)
@fields_option(_COLUMNS)
def list_tokens(app: str) -> None:
    """List an app's tokens. Expired tokens are listed for 30 days."""
    listed = app_tokens.list_app_tokens(*operator(), app_installations.app_key(app))
    empty = f"No tokens. Create one with: flask app token create {app}"
    output().rows(listed, _COLUMNS, empty=empty)


@tokens.command(
    "rotate",
    examples=[
        ("flask app token rotate 7", "prints the new token; the old one works for another day"),
        ("flask app token rotate 7 --overlap 0", "the old token stops working immediately"),
    ],
)
@_key
@app_installations.overlap_option("token")
def rotate_token(token_id: int, *, overlap: int) -> None:
    """Replace a token with a new one that has the same limits. It is shown only once."""
    _print_new_token(
        app_tokens.rotate_app_token(*operator(), token_id, timedelta(seconds=overlap))
    )
    left = f"works for at most {overlap} more seconds" if overlap else "has been revoked"
    output().say(f"Token {token_id} {left}.")


@tokens.command("revoke", examples=[("flask app token revoke 7", "revoke it immediately")])
@_key
def revoke_token(token_id: int) -> None:
    """Revoke a token permanently, effective immediately."""
    output().show_item(
        app_tokens.revoke_app_token(*operator(), token_id),
        _COLUMNS,
        f"Token {token_id} has been revoked.",
    )


@tokens.command("verify", examples=[("flask app token verify < token.txt", "check a token")])
@no_input_option
def verify_token() -> None:
    """Check whether the token on standard input works. Exits with 1 if it doesn't."""
    token = ask_secret("Token")
    valid = app_tokens.verify_app_token(*operator(), token)
    output().show_value("valid", valid)
    if not valid:
        click.get_current_context().exit(Exit.FAILED)


def _print_new_token(new: NewAppToken) -> None:
    message = f"Created token {new.token.id}. Store it now: it isn't shown again."
    output().show_value("token", new.secret, message)


command = Group(
    "app",
    short_help="Create, install and update apps and their tokens.",
    help="Create, install, update and delete apps, and manage their tokens. APP is an ID or a "
    "unique name.",
    examples=[
        ("flask app create Warehouse --permission MANAGE_ORDERS", "prints its token once"),
        ("TOKEN=$(flask app create Warehouse)", "store the token in a variable"),
        (
            "flask app install https://app.example.com/api/manifest",
            "install an app from its manifest",
        ),
        ("flask app list", "all apps"),
        ("flask app token create Warehouse", "another token for the app"),
    ],
)
command.add_command(tokens)
command.add_command(app_installations.install)
command.add_command(app_installations.installations)


@command.command(
    "create",
    examples=[("flask app create Warehouse --permission MANAGE_ORDERS", "prints its token once")],
)
@click.argument("name")
@permission_option
def create(name: str, *, permissions: tuple[Permission, ...]) -> None:
    """Create an app. Only its token is printed to standard output, and only once."""
    new = app_changes.NewApp(name, frozenset(permissions))
    created = app_changes.create_app(*operator(), new)
    out = output()
    out.show_value("token", created.token.secret)
    out.say(f"Created {created.app.name} (app {created.app.id}). Store its token now: it isn't")
    out.say("shown again. Send it as `Authorization: Bearer TOKEN`.")


@command.command(
    "list",
    examples=[
        ("flask app list --json", "for a script"),
        ("flask app list --search ware", "apps with this in their name"),
    ],
)
@click.option("--search", default="", help="Only names that contain this text.")
@click.option(
    "--active/--inactive", "is_active", default=None, help="Only active or only inactive apps."
)
@page_options
@fields_option(app_installations.ALL_COLUMNS)
def list_(*, search: str, is_active: bool | None, request: PageRequest) -> None:
    """List apps, oldest first."""
    filter_ = AppFilter(search=search, is_active=is_active)
    page = list_apps(*operator(), request, filter_)
    show_page(
        page, app_installations.COLUMNS, empty="No apps. Create one with: flask app create NAME"
    )


@command.command("show", examples=[("flask app show Warehouse", "one app")])
@click.argument("app", shell_complete=complete_app)
@fields_option(app_installations.ALL_COLUMNS)
def show(app: str) -> None:
    """Show an app with the details from its manifest."""
    output().show_item(_find_app(app), app_installations.ALL_COLUMNS)


@command.command(
    "update",
    examples=[
        ('flask app update Warehouse --name "Old warehouse"', "rename it"),
        ("flask app update 7 --permission MANAGE_ORDERS", "replace its permissions with this one"),
        ("flask app update 7 --no-permissions", "remove all its permissions"),
    ],
)
@click.argument("app", shell_complete=complete_app)
@click.option("--name", help="New name.")
@click.option("--identifier", help="The app's own identifier. Must be unique.")
@click.option(
    "--contact-email", help="Where alerts about its webhooks are sent; '' for app managers."
)
@click.option(
    "--client-credentials-only/--long-lived-tokens",
    "client_credentials_only",
    default=None,
    help="Whether only its OAuth clients and linked clients get tokens: long-lived ones are "
    "refused. With --long-lived-tokens they work again.",
)
@permission_option
@click.option("--no-permissions", is_flag=True, help="Remove all permissions.")
@yes_option
def update(
    app: str,
    *,
    permissions: tuple[Permission, ...],
    no_permissions: bool,
    yes: bool,
    **settings: Any,
) -> None:
    """Update an app. Changes apply from its next request.

    The given permissions replace the app's current ones. Asks to confirm if the person who saved
    a webhook of the app lacked an added permission: the webhook is sent what the app can read.
    """
    if permissions and no_permissions:
        raise click.UsageError("Use either --permission or --no-permissions, not both.")
    given = {name: value for name, value in settings.items() if value is not None}
    if permissions or no_permissions:
        given["permissions"] = frozenset(permissions)
    if not given:
        raise click.UsageError("Nothing to update. Use --name, --identifier or --permission.")
    change = app_changes.AppChange(**given)
    key = app_installations.app_key(app)
    _confirm_tokens(key, change, yes=yes)
    try:
        updated = app_changes.update_app(*operator(), key, change)
    except WebhooksNotConfirmed as unconfirmed:
        warnings = " ".join(webhook.problem.message for webhook in unconfirmed.webhooks)
        confirm_action(f"{warnings} Grant the permissions?", yes=yes)
        updated = app_changes.update_app(*operator(), key, change, confirmed=True)
    output().show_item(updated, app_installations.ALL_COLUMNS)


def _confirm_tokens(app_id: int, change: app_changes.AppChange, *, yes: bool) -> None:
    """Ask before long-lived tokens of an app stop working, or work again."""
    ports, actor = operator()
    app = show_app(ports, actor, app_id)
    only = present(change.client_credentials_only, None)
    count = count_long_lived(app_tokens.list_app_tokens(ports, actor, app_id), ports.clock.now())
    if app is None or only in (None, app.client_credentials_only) or not count:
        return
    noun = "token" if count == 1 else "tokens"
    if only:
        # Like deactivating an app, which scripts do without confirmation.
        confirm_action(
            f"Refuse {count} long-lived {noun} of {app.name}?", yes=yes or not may_ask()
        )
    else:
        confirm_action(f"Let {count} long-lived {noun} of {app.name} work again?", yes=yes)


@command.command("deactivate", examples=[("flask app deactivate Warehouse", "deactivate it")])
@click.argument("app", shell_complete=complete_app)
def deactivate(app: str) -> None:
    """Deactivate an app with its tokens and extensions, effective immediately."""
    _print_change(
        app_changes.deactivate_app(*operator(), app_installations.app_key(app)), "was deactivated"
    )


@command.command("activate", examples=[("flask app activate Warehouse", "activate it")])
@click.argument("app", shell_complete=complete_app)
def activate(app: str) -> None:
    """Activate an app."""
    _print_change(
        app_changes.activate_app(*operator(), app_installations.app_key(app)), "was activated"
    )


@command.command(
    "delete",
    examples=[
        ("flask app delete Warehouse", "asks to confirm"),
        ("flask app delete 7 --yes", "without a prompt"),
    ],
)
@click.argument("app", shell_complete=complete_app)
@yes_option
def delete(app: str, *, yes: bool) -> None:
    """Permanently delete an app with its tokens, webhooks and extensions."""
    app_record = _find_app(app)
    confirm_action(
        f"Delete {app_record.name} (app {app_record.id}) with its tokens and webhooks?", yes=yes
    )
    _print_change(app_changes.delete_app(*operator(), app_record.id), "was deleted")


_LINK_COLUMNS: tuple[Column[app_tokens.ClientLink], ...] = (
    Column("id", "ID", lambda link: link.id, short=True),
    Column("provider", "Provider", lambda link: link.provider),
    Column("clientId", "Client", lambda link: link.client_id, short=True),
    Column("subject", "Subject", lambda link: link.subject),
    Column("issuer", "Issuer", lambda link: link.issuer),
    Column("created", "Created", lambda link: link.created_at),
)


@command.command(
    "clients",
    examples=[("flask app clients Warehouse", "the identity providers' clients that act as it")],
)
@click.argument("app", shell_complete=complete_app)
@fields_option(_LINK_COLUMNS)
def list_clients(app: str) -> None:
    """List the clients of identity providers that are linked to an app."""
    listed = app_tokens.list_app_clients(*operator(), app_installations.app_key(app))
    empty = f"No clients. Link one with: flask app link-client {app}"
    output().rows(listed, _LINK_COLUMNS, empty=empty)


@command.command(
    "link-client",
    examples=[
        (
            "flask app link-client Warehouse --client-id stock-sync --subject stock-sync",
            "a client of the default provider",
        )
    ],
)
@click.argument("app", shell_complete=complete_app)
@click.option(
    "--provider",
    default=DEFAULT_SLUG,
    show_default=True,
    shell_complete=complete_provider,
    help="The identity provider, as shown by flask oidc list.",
)
@click.option("--client-id", required=True, help="The client's ID at the provider.")
@click.option(
    "--subject",
    required=True,
    help="The subject (claim sub) of the tokens that the client gets for itself.",
)
def link_client(app: str, *, provider: str, client_id: str, subject: str) -> None:
    """Let a client of an identity provider act as an app, with the app's permissions.

    The client sends its own access tokens (client credentials) instead of an app token. The
    provider needs an issuer and an audience.
    """
    new = app_tokens.NewClientLink(provider, client_id, subject)
    link = app_tokens.link_app_client(*operator(), app_installations.app_key(app), new)
    output().show_item(
        link, _LINK_COLUMNS, f"Linked client {link.client_id} to app {link.app_id}."
    )


@command.command(
    "unlink-client",
    examples=[("flask app unlink-client 3", "its tokens stop working immediately")],
)
@click.argument("link_id", metavar="ID", type=Id())
def unlink_client(link_id: int) -> None:
    """Unlink a client from its app, effective immediately. ID is shown by flask app clients."""
    link = app_tokens.unlink_app_client(*operator(), link_id)
    output().show_item(
        link, _LINK_COLUMNS, f"Unlinked client {link.client_id} from app {link.app_id}."
    )


_ACTIVITY: tuple[Column[AppActivity], ...] = (
    Column("requests", "Requests", lambda found: found.requests, short=True),
    Column("errors", "Errors", lambda found: found.errors, short=True),
    Column("codes", "Error codes", lambda found: dict(found.codes)),
    Column("slow", "Slow (1 s or more)", lambda found: found.slow, short=True),
    Column("slowestMs", "Slowest in ms", lambda found: found.slowest),
    Column("unusedPermissions", "Unused for 90 days", lambda found: found.unused),
    Column(
        "permissions",
        "Last used",
        lambda found: {use.permission.value: use.last_used_at for use in found.permissions},
    ),
    Column("countedSince", "Counted since", lambda found: found.counted_since),
)


@command.command(
    "activity",
    examples=[
        ("flask app activity Warehouse", "requests and errors of the last 24 hours"),
        ("flask app activity 7 --period 30d --json", "for a script"),
    ],
)
@click.argument("app", shell_complete=complete_app)
@click.option(
    "--period",
    type=click.Choice([period.value for period in ActivityPeriod]),
    default=ActivityPeriod.DAY.value,
    show_default=True,
    help="How far back to look.",
)
@fields_option(_ACTIVITY)
def activity(app: str, *, period: str) -> None:
    """Show an app's API requests, their errors, and permissions that it doesn't use.

    Servers write their counts once a minute.
    """
    key = app_installations.app_key(app)
    found = read_app_activity(*operator(), key, ActivityPeriod(period))
    output().show_item(found, _ACTIVITY)


def _find_app(app: str) -> App:
    record = show_app(*operator(), app_installations.app_key(app))
    if record is None:
        raise Refused(Problem("NOT_FOUND", app_installations.NO_APP, "app"))
    return record


def _print_change(app: App, what: str) -> None:
    output().show_item(app, app_installations.COLUMNS, f"{app.name} {what}.")
