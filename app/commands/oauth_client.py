"""``flask oauth-client``: programs that sign people in with this shop."""

from datetime import timedelta

import click

from app.commands.app_installations import app_key, overlap_option
from app.commands.name_completion import complete_app, complete_client
from app.commands.terminal.command import Group
from app.commands.terminal.options import fields_option, read_text
from app.commands.terminal.output import Column, output
from app.commands.terminal.prompts import confirm_action, yes_option
from app.domain.oauth import NewClient, OAuthClient, read_scopes, write_scopes
from app.domain.values.errors import Problem, Refused
from app.domain.values.inputs import ABSENT, Absent
from app.services.oauth import clients
from app.web.installation import installation, operator

command = Group(
    "oauth-client",
    short_help="Manage programs that sign people in with this shop.",
    help="Manage OAuth clients: programs that sign people in with this shop. CLIENT is a client "
    "ID, as shown by the list command.",
    examples=[
        (
            "flask oauth-client create Forum --redirect-uri https://forum.example.com/callback",
            "prints its ID and secret once",
        ),
        ("flask oauth-client list", "all clients"),
        ("flask oauth-client disable CLIENT", "its tokens stop working immediately"),
    ],
)


def _scopes(client: OAuthClient) -> list[str]:
    return write_scopes(client.scopes, installation().ports.configuration.scope_prefix).split()


def _secrets(client: OAuthClient) -> list[str]:
    return [
        f"…{secret.last_four}"
        if secret.expires_at is None
        else f"…{secret.last_four} until {secret.expires_at:%Y-%m-%d %H:%M}"
        for secret in client.secrets
    ]


_COLUMNS: tuple[Column[OAuthClient], ...] = (
    Column("clientId", "Client ID", lambda client: client.client_id, short=True),
    Column("name", "Name", lambda client: client.name, short=True),
    Column("active", "Active", lambda client: client.is_active, short=True),
    Column("firstParty", "First party", lambda client: client.is_first_party),
    Column("public", "Public", lambda client: client.is_public),
    Column("scopes", "Scopes", _scopes),
    Column("redirectUris", "Redirect URIs", lambda client: [*client.redirect_uris]),
    Column(
        "postLogoutRedirectUris",
        "Post-logout redirect URIs",
        lambda client: [*client.post_logout_redirect_uris],
    ),
    Column(
        "backchannelLogoutUri",
        "Back-channel logout URI",
        lambda client: client.backchannel_logout_uri or None,
    ),
    Column("devices", "Devices", lambda client: client.allows_devices),
    Column("pairwise", "Pairwise subjects", lambda client: client.is_pairwise),
    Column("app", "App", lambda client: client.app_id),
    Column("hasKeys", "Has keys", lambda client: bool(client.key_set)),
    Column("secrets", "Secrets", _secrets),
    Column("created", "Created", lambda client: client.created_at),
    Column("lastUsed", "Last used", lambda client: client.last_used_at),
)
_NEW_COLUMNS: tuple[Column[NewClient], ...] = (
    Column("clientId", "Client ID", lambda new: new.client.client_id, short=True),
    Column("clientSecret", "Client secret", lambda new: new.secret or None, short=True),
    Column("name", "Name", lambda new: new.client.name),
)

_client = click.argument("client_id", metavar="CLIENT", shell_complete=complete_client)
_redirect = click.option(
    "--redirect-uri",
    "redirect_uris",
    multiple=True,
    help="Where people are sent back with a code; repeatable. Replaces all others.",
)
_post_logout = click.option(
    "--post-logout-redirect-uri",
    "post_logout",
    multiple=True,
    help="Where people can be sent after signing out; repeatable. Replaces all others.",
)
_backchannel = click.option(
    "--backchannel-logout-uri", "backchannel", help="Where ended sessions are reported."
)
_scope = click.option(
    "--scope",
    "scope",
    multiple=True,
    help="A scope that the client can ask for; repeatable. Replaces all others. "
    "Default: openid, profile and email.",
)
_first = click.option(
    "--first-party/--third-party",
    "first_party",
    default=None,
    help="Whether it belongs to the shop: people aren't asked for their consent. "
    "Default: third party.",
)
_devices = click.option(
    "--devices/--no-devices",
    "devices",
    default=None,
    help="Whether people can sign in with it by a code that they enter in a browser elsewhere, "
    "for programs without one. Default: no.",
)
_keys = click.option(
    "--key-set",
    "key_set",
    help="Its public keys as JSON (RFC 7517), for private_key_jwt instead of a secret; @FILE "
    "reads a file. The client's secrets end.",
)


@command.command("list", examples=[("flask oauth-client list --json", "for a script")])
@fields_option(_COLUMNS)
def list_() -> None:
    """List all clients."""
    listed = clients.list_clients(*operator())
    output().rows(listed, _COLUMNS, empty="No OAuth clients.")


@command.command("show", examples=[("flask oauth-client show CLIENT", "all settings of a client")])
@_client
@fields_option(_COLUMNS)
def show(client_id: str) -> None:
    """Show a client. Secrets are never shown again."""
    output().show_item(clients.show_client(*operator(), client_id), _COLUMNS)


@command.command(
    "create",
    examples=[
        (
            "flask oauth-client create Forum --redirect-uri https://forum.example.com/callback",
            "a website with a server",
        ),
        (
            "flask oauth-client create Till --public --redirect-uri http://127.0.0.1/callback",
            "a native program; any port",
        ),
        ("flask oauth-client create Sync --app Warehouse", "tokens for an app"),
        ("flask oauth-client create Kiosk --public --devices", "a device without a browser"),
    ],
)
@click.argument("name")
@click.option("--public", is_flag=True, help="It can't keep a secret: a native program or page.")
@click.option(
    "--pairwise",
    is_flag=True,
    help="It knows people by subjects that no other client knows, as a third party. Can't be "
    "changed later.",
)
@click.option(
    "--app", shell_complete=complete_app, help="The app that it gets short-lived tokens for."
)
@_redirect
@_post_logout
@_backchannel
@_scope
@_first
@_devices
@_keys
def create(name: str, *, public: bool, pairwise: bool, app: str | None, **options: object) -> None:
    """Create a client. Its secret is printed once."""
    caller = operator()
    app_id = None if app is None else app_key(app)
    kind = clients.ClientKind(is_public=public, app_id=app_id, is_pairwise=pairwise)
    new = clients.create_client(*caller, _read_change(name, options), kind)
    output().show_item(new, _NEW_COLUMNS)
    if new.secret:
        output().say("Store the secret now: it isn't shown again.")


@command.command(
    "edit",
    examples=[
        ("flask oauth-client edit CLIENT --name Board", "rename it"),
        ("flask oauth-client edit CLIENT --scope openid --scope email", "replace its scopes"),
    ],
)
@_client
@click.option(
    "--name",
    help="Its name, as people see it. They are asked for their consent again after a change, and "
    "after a redirect URI at another site was added.",
)
@_redirect
@_post_logout
@_backchannel
@_scope
@_first
@_devices
@_keys
@yes_option
def edit(client_id: str, *, yes: bool, name: str | None, **options: object) -> None:
    """Change a client. Omitted settings stay as they are.

    Asks to confirm what ends the client's secrets, and what makes it a first party: with its
    secrets, redirect URIs and sessions, it could then change accounts without consent.
    """
    caller = operator()
    change = _read_change(ABSENT if name is None else name, options)
    client = clients.show_client(*caller, client_id)
    if isinstance(change.key_set, str) and change.key_set and client.secrets:
        confirm_action(f"End the secrets of {client.name}? Only its keys work then.", yes=yes)
    if change.is_first_party is True and not client.is_first_party:
        secrets = (f"secret {one}" for one in _secrets(client))
        kept = ", ".join(["its sessions", *client.redirect_uris, *secrets])
        question = f"Make {client.name} a first party? It keeps {kept}."
        confirm_action(question, yes=yes)
    output().show_item(clients.update_client(*caller, client_id, change), _COLUMNS)


@command.command(
    "rotate-secret",
    examples=[
        ("flask oauth-client rotate-secret CLIENT", "the old secret works for another day"),
        ("flask oauth-client rotate-secret CLIENT --overlap 0", "the old one ends immediately"),
    ],
)
@_client
@overlap_option("secret")
def rotate_secret(client_id: str, *, overlap: int) -> None:
    """Replace a client's secret. The new one is printed once."""
    span = timedelta(seconds=overlap)
    new = clients.rotate_client_secret(*operator(), client_id, span)
    output().show_item(new, _NEW_COLUMNS)
    output().say("Store the secret now: it isn't shown again.")


@command.command("enable", examples=[("flask oauth-client enable CLIENT", "let it work again")])
@_client
def enable(client_id: str) -> None:
    """Enable a client that was disabled."""
    _switch(client_id, active=True)


@command.command("disable", examples=[("flask oauth-client disable CLIENT", "stop it")])
@_client
def disable(client_id: str) -> None:
    """Disable a client: no one can sign in with it, and none of its tokens works."""
    _switch(client_id, active=False)


@command.command("delete", examples=[("flask oauth-client delete CLIENT --yes", "for good")])
@_client
@yes_option
def delete(client_id: str, *, yes: bool) -> None:
    """Delete a client, its sessions and what people allowed it."""
    client = clients.show_client(*operator(), client_id)
    confirm_action(f"Delete {client.name} and end its sessions?", yes=yes)
    output().show_item(clients.delete_client(*operator(), client_id), _COLUMNS)


def _switch(client_id: str, *, active: bool) -> None:
    change = clients.ClientChange(is_active=active)
    output().show_item(clients.update_client(*operator(), client_id, change), _COLUMNS)


def _read_change(name: str | Absent, options: dict[str, object]) -> clients.ClientChange:
    first, backchannel = options["first_party"], options["backchannel"]
    key_set, devices = options["key_set"], options["devices"]
    return clients.ClientChange(
        name=name,
        redirect_uris=_texts(options["redirect_uris"]),
        post_logout_redirect_uris=_texts(options["post_logout"]),
        backchannel_logout_uri=ABSENT if backchannel is None else str(backchannel),
        scopes=_read_scopes(options["scope"]),
        is_first_party=ABSENT if first is None else bool(first),
        allows_devices=ABSENT if devices is None else bool(devices),
        key_set=ABSENT if key_set is None else read_text(str(key_set)),
    )


def _texts(values: object) -> tuple[str, ...] | Absent:
    return tuple(map(str, values)) if isinstance(values, tuple) and values else ABSENT


def _read_scopes(values: object) -> frozenset[str] | Absent:
    texts = _texts(values)
    if texts is ABSENT or isinstance(texts, Absent):
        return ABSENT
    prefix = installation().ports.configuration.scope_prefix
    scopes = read_scopes(" ".join(texts), prefix)
    if scopes is None:
        message = (
            "Unknown scope. Scopes are openid, profile, email, address, phone, offline_access, "
            "staff and {prefix}:PERMISSION."
        )
        raise Refused(Problem("INVALID", message, "scope", values={"prefix": prefix}))
    return scopes
