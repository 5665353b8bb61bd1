"""``flask user``: people."""

from __future__ import annotations

import sys

import click

from app.commands.name_completion import complete_email, complete_group
from app.commands.terminal.command import Group
from app.commands.terminal.field_selection import fields_option
from app.commands.terminal.options import page_options, permission_option
from app.commands.terminal.output import output
from app.commands.user_changes import ALL_COLUMNS, CHANGES, COLUMNS, PERSON_COLUMNS
from app.domain.accounts.users import User
from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import Permission
from app.domain.values.errors import problem_text
from app.domain.values.pages import PageRequest, read_cursor
from app.ports import Ports
from app.services.people.directory import find_user, list_users
from app.services.people.groups import find_groups
from app.services.people.user_sessions import show_person
from app.services.people.user_status import activate_user, deactivate_user, sign_out_user
from app.services.people.users import NewUser, create_user, weak_password_reasons
from app.web.installation import installation

command = Group(
    "user",
    short_help="Create, list, update and deactivate people.",
    help="Create, list, update and deactivate customers and staff.",
    examples=[
        ("flask user create ann@example.com --superuser", "an administrator"),
        ("flask user create bob@example.com --group Support", "a staff member"),
        ("flask user list --staff", "all staff"),
        ("flask user deactivate bob@example.com", "deactivate an account"),
    ],
)

for _change in CHANGES:
    command.add_command(_change)


@command.command(
    "create",
    examples=[
        ("flask user create ann@example.com --superuser", "prompts for a password"),
        ("pass show ann | flask user create ann@example.com --password-stdin", "from a script"),
        (
            "flask user create bob@example.com --permission MANAGE_ORDERS",
            "staff with one permission",
        ),
    ],
)
@click.argument("email")
@click.option("--staff", is_flag=True, help="Make the person staff.")
@click.option(
    "--superuser", is_flag=True, help="Make the person an administrator with all permissions."
)
@permission_option
@click.option(
    "--group",
    "groups",
    multiple=True,
    shell_complete=complete_group,
    help="A group to join. Repeatable.",
)
@click.option("--first-name", default="", help="First name.")
@click.option("--last-name", default="", help="Last name.")
@click.option("--password-stdin", is_flag=True, help="Read the password from standard input.")
@click.option(
    "--no-input", is_flag=True, help="Never prompt; no password is set if none is given."
)
def create(  # noqa: PLR0913 - one for each option
    email: str,
    *,
    staff: bool,
    superuser: bool,
    permissions: tuple[Permission, ...],
    groups: tuple[str, ...],
    first_name: str,
    last_name: str,
    password_stdin: bool,
    no_input: bool,
) -> None:
    """Create an active, confirmed account.

    A person with a permission or a group is staff. Without a password, they can only sign in with
    SSO until they set one.
    """
    ports = installation().ports
    password = _password(from_stdin=password_stdin, may_ask=not no_input)
    joined = find_groups(ports, OPERATOR, groups) if groups else ()
    new = NewUser(
        email=email,
        first_name=first_name,
        last_name=last_name,
        is_staff=staff or superuser or bool(permissions or groups),
        is_superuser=superuser,
        permissions=frozenset(permissions),
        groups=frozenset(group.id for group in joined),
        password=password,
    )
    user = create_user(ports, OPERATOR, new)
    out = output()
    out.one(user, ALL_COLUMNS)
    if password is None:
        out.say(f"{user.email} has no password yet.")
        return
    for problem in weak_password_reasons(ports, OPERATOR, new):
        out.say(f"Warning: this password is weak. {problem_text(problem)}")


@command.command(
    "list",
    examples=[
        ("flask user list --staff", "all staff"),
        ("flask user list --search ann --json", "for a script"),
    ],
)
@click.option(
    "--staff/--customers", "is_staff", default=None, help="Only staff or only customers."
)
@click.option(
    "--active/--inactive",
    "is_active",
    default=None,
    help="Only active or only inactive people.",
)
@click.option(
    "--search",
    default="",
    help="Only people whose email, name or addresses have words that start with these.",
)
@page_options
@fields_option(ALL_COLUMNS)
def list_(
    *, is_staff: bool | None, is_active: bool | None, search: str, limit: int, after: str
) -> None:
    """List people, oldest account first."""
    request = PageRequest(limit, cursor=read_cursor(after, "after") if after else ())
    page = list_users(
        installation().ports,
        OPERATOR,
        request,
        search=search,
        is_staff=is_staff,
        is_active=is_active,
    )
    out = output()
    out.rows(
        page.items, COLUMNS, empty="No people. Create an account with: flask user create EMAIL"
    )
    if page.has_next:
        out.say(f"More results: --after {page.cursors[-1]}")


@command.command("show", examples=[("flask user show ann@example.com", "one person")])
@click.argument("email", shell_complete=complete_email)
@fields_option(PERSON_COLUMNS)
def show(email: str) -> None:
    """Show a person with all their permissions, and where an imported account came from."""
    ports = installation().ports
    user = find_user(ports, OPERATOR, email)
    output().one(show_person(ports, OPERATOR, user.id), PERSON_COLUMNS)


@command.command(
    "deactivate", examples=[("flask user deactivate bob@example.com", "deactivate the account")]
)
@click.argument("email", shell_complete=complete_email)
def deactivate(email: str) -> None:
    """Deactivate an account and end all its sessions, effective immediately."""
    ports = installation().ports
    _show(deactivate_user(ports, OPERATOR, _key(ports, email)), "was deactivated")


@command.command(
    "activate", examples=[("flask user activate bob@example.com", "activate the account")]
)
@click.argument("email", shell_complete=complete_email)
def activate(email: str) -> None:
    """Activate an account."""
    ports = installation().ports
    _show(activate_user(ports, OPERATOR, _key(ports, email)), "was activated")


@command.command("sign-out", examples=[("flask user sign-out bob@example.com", "everywhere")])
@click.argument("email", shell_complete=complete_email)
def sign_out(email: str) -> None:
    """End all sessions of a person, in every browser and app."""
    ports = installation().ports
    ended = sign_out_user(ports, OPERATOR, _key(ports, email))
    out = output()
    out.alone("endedSessions", ended)
    out.say(f"Signed out {email} everywhere.")


def _key(ports: Ports, email: str) -> int:
    return find_user(ports, OPERATOR, email).id


def _show(user: User, what: str) -> None:
    out = output()
    out.one(user, COLUMNS)
    out.say(f"{user.email} {what}.")


def _password(*, from_stdin: bool, may_ask: bool) -> str | None:
    """The password that was piped in or typed, or ``None``; never a part of the command line."""
    if from_stdin:
        return sys.stdin.read().removesuffix("\n").removesuffix("\r")
    if not may_ask or not sys.stdin.isatty():
        return None
    while password := _ask("Password (empty for none)"):
        if _ask("Repeat password") == password:
            return password
        output().say("The passwords don't match.")
    return None


def _ask(question: str) -> str:
    answer: str = click.prompt(question, hide_input=True, default="", show_default=False, err=True)
    return answer
