"""``flask login``: sign in to another instance, and stay signed in."""

import sys

import click

from app.commands.terminal.command import standalone
from app.commands.terminal.options import ApiAddress, read_input
from app.commands.terminal.output import Column, output
from app.ports.instance import DeviceLogin, Profile
from app.web.installation import remote_access

_COLUMNS: tuple[Column[Profile], ...] = (
    Column("url", "Instance", lambda profile: profile.url, short=True),
    Column("email", "Signed in as", lambda profile: profile.email or "an app", short=True),
)
_FORGOTTEN: tuple[Column[tuple[str, bool]], ...] = (
    Column("url", "Instance", lambda row: row[0], short=True),
    Column("forgotten", "Forgotten", lambda row: row[1], short=True),
)


@standalone(
    "login",
    examples=[
        ("flask login https://shop.example.com/graphql/", "by a code, or email and password"),
        ("flask login https://shop.example.com --app-token", "asks for an app's token"),
        ("flask login https://shop.example.com --email ann@example.com --password-stdin", "piped"),
        ("flask login --list", "instances you're signed in to"),
        ("flask login https://shop.example.com --forget", "forget the stored login"),
    ],
)
@click.argument("url", required=False, type=ApiAddress())
@click.option("--email", help="Your email. Prompts if omitted.")
@click.option("--password-stdin", is_flag=True, help="Read the password from standard input.")
@click.option("--device", is_flag=True, help="Sign in by a code that you enter in a browser.")
@click.option("--app-token", is_flag=True, help="Sign in as an app. Prompts for its token.")
@click.option("--token-stdin", is_flag=True, help="Read an app's token from standard input.")
@click.option("--list", "lists", is_flag=True, help="List stored logins.")
@click.option("--forget", is_flag=True, help="Forget the login stored for this instance.")
@click.option("--no-input", is_flag=True, help="Never prompt.")
def command(  # noqa: PLR0913 - one for each option
    url: str | None,
    email: str | None,
    *,
    password_stdin: bool,
    device: bool,
    app_token: bool,
    token_stdin: bool,
    lists: bool,
    forget: bool,
    no_input: bool,
) -> None:
    """Sign in to another instance for use with `flask webhook --instance URL`.

    Where the instance offers it, you sign in with a browser, which can be on another device:
    enter the code that is printed. Otherwise, and with --email, this prompts for your password,
    and for a code if your account has a second factor. The login is stored in your configuration
    folder, in a file that only you can read. A person's login is renewed automatically until the
    session expires.
    """
    profiles = remote_access().profiles
    if lists:
        output().rows(profiles.list_profiles(), _COLUMNS, empty="No stored logins.")
        return
    if url is None:
        raise click.UsageError(
            "Missing URL. For example: flask login https://shop.example.com/graphql/"
        )
    if forget:
        was_signed_in = profiles.forget(url)
        out = output()
        out.show_item((url, was_signed_in), _FORGOTTEN)
        out.say(
            f"Forgot the login for {url}." if was_signed_in else f"No login is stored for {url}."
        )
        return
    # Otherwise a session would stay open that this machine can't use.
    profiles.check()
    may_ask = sys.stdin.isatty() and not no_input
    has_password = email is not None or password_stdin
    if app_token or token_stdin:
        token = _secret("Token", from_input=token_stdin, may_ask=may_ask, flag="--token-stdin")
        profile = remote_access().sign_in_app(url, token)
    elif begun := _begun(url, device=device, is_default=may_ask and not has_password):
        profile = _by_device(begun)
    else:
        name = email or _email(may_ask=may_ask)
        secret = _secret(
            "Password", from_input=password_stdin, may_ask=may_ask, flag="--password-stdin"
        )
        profile = remote_access().sign_in_person(url, name, secret, lambda: _code(may_ask=may_ask))
    profiles.save(profile)
    output().show_item(profile, _COLUMNS, f"Signed in. Next: flask webhook list --instance {url}")


def _begun(url: str, *, device: bool, is_default: bool) -> DeviceLogin | None:
    """Begin a login by a code if it was asked for, or is the default and offered."""
    if not (device or is_default):
        return None
    begun = remote_access().begin_device_login(url)
    if begun is None and device:
        raise click.UsageError(
            f"{url} offers no sign-in by a code. Use --email, or --app-token for an app."
        )
    return begun


def _by_device(login: DeviceLogin) -> Profile:
    out = output()
    out.say(f"Open {login.verification_url} and enter this code: {login.user_code}")
    out.say("Waiting for you to allow it. To enter a password instead, use --email.")
    return remote_access().finish_device_login(login)


def _email(*, may_ask: bool) -> str:
    if not may_ask:
        raise click.UsageError("Missing --email.")
    email: str = click.prompt("Email", err=True)
    return email


def _code(*, may_ask: bool) -> str:
    if not may_ask:
        raise click.UsageError(
            "This account has a second factor. Run this in a terminal to enter a code, or sign in "
            "with an app's token (--token-stdin)."
        )
    code: str = click.prompt("Code of your authenticator app, or recovery code", err=True)
    return code


def _secret(what: str, *, from_input: bool, may_ask: bool, flag: str) -> str:
    """A secret that was piped in or typed, never a part of the command line."""
    if from_input:
        return read_input().removesuffix("\n").removesuffix("\r")
    if not may_ask:
        raise click.UsageError(f"Not running in a terminal; pipe it in with {flag}.")
    secret: str = click.prompt(what, hide_input=True, err=True)
    return secret
