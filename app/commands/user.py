"""``flask user``: list, create, change and delete people."""

import json
import sys
from functools import partial
from pathlib import Path

import click

from app.commands.name_completion import complete_email, complete_group
from app.commands.terminal import options
from app.commands.terminal.command import Group
from app.commands.terminal.output import Column, Displayable, json_text, output, write
from app.commands.terminal.prompts import confirm_action, yes_option
from app.domain.accounts.users import User
from app.domain.authorization.permissions import Permission
from app.domain.values.errors import Problem, Refused
from app.domain.values.ids import to_global_id
from app.domain.values.inputs import ABSENT
from app.domain.values.pages import PageRequest
from app.services.accounts.password_resets import request_password_reset, set_password_page
from app.services.imports.exports import export_person
from app.services.people import user_status
from app.services.people.customers import delete_customer, update_customer
from app.services.people.directory import find_user, list_users
from app.services.people.erasure import Erasure, erase_person
from app.services.people.groups import find_groups
from app.services.people.staff import (
    NewStaff,
    StaffChanges,
    create_staff,
    delete_staff,
    update_staff,
)
from app.services.people.users import Details, NewUser, create_user, weak_password_reasons
from app.services.shop.settings import show_settings
from app.web.installation import installation, operator

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

COLUMNS: tuple[Column[User], ...] = (
    Column("id", "ID", lambda user: user.id),
    Column("email", "Email", lambda user: user.email, short=True),
    Column("firstName", "First name", lambda user: user.first_name),
    Column("lastName", "Last name", lambda user: user.last_name),
    Column("isStaff", "Staff", lambda user: user.is_staff),
    Column("isSuperuser", "Superuser", lambda user: user.is_superuser),
    Column("isActive", "Active", lambda user: user.is_active),
    Column("groups", "Groups", lambda user: [group.name for group in user.groups]),
    Column("lastLogin", "Last login", lambda user: user.last_login),
)
ALL_COLUMNS: tuple[Column[User], ...] = (
    *COLUMNS,
    Column("permissions", "Permissions", lambda user: sorted(user.permissions)),
    Column("dateJoined", "Joined", lambda user: user.date_joined),
)


def _origin(person: user_status.Person, name: str) -> Displayable:
    return None if person.origin is None else getattr(person.origin, name)


PERSON_COLUMNS: tuple[Column[user_status.Person], ...] = (
    *(column.of(lambda person: person.user) for column in ALL_COLUMNS),
    Column(
        "directPermissions", "Direct permissions", lambda person: sorted(person.direct_permissions)
    ),
    Column(
        "secondFactors",
        "Second factors",
        lambda person: [kind.value for kind in person.factors.types],
    ),
    Column("importedFrom", "Imported from", lambda person: _origin(person, "source")),
    Column("importedAt", "Imported", lambda person: _origin(person, "imported_at")),
    Column("importedPassword", "Imported password", lambda person: _origin(person, "password")),
    Column(
        "passwordReplacedAt", "Password replaced", lambda person: _origin(person, "replaced_at")
    ),
)
"""The columns of one person, with where an imported account came from."""

_ERASURE: tuple[Column[Erasure], ...] = (
    Column("id", "ID", lambda erasure: erasure.user_id, short=True),
    Column("signIns", "Sign-in log entries", lambda erasure: erasure.sign_ins),
    Column("auditEntries", "Audit log entries", lambda erasure: erasure.audit_entries),
    Column("orders", "Orders", lambda erasure: erasure.orders),
    Column("emails", "Deleted emails", lambda erasure: erasure.emails),
    Column("events", "Deleted events", lambda erasure: erasure.events),
    Column("deliveries", "Deleted deliveries", lambda erasure: erasure.deliveries),
)

_groups_option = partial(click.option, multiple=True, shell_complete=complete_group)
_ONLY_STAFF = (
    "Only staff can have groups and permissions. "
    "To make this customer staff: flask user promote {email}"
)


@command.command(
    "update",
    examples=[
        ("flask user update bob@example.com --last-name Lee", "change the name"),
        ("flask user update bob@example.com --email bob@example.org", "change the email"),
        ("flask user update bob@example.com --add-group Support", "add to a group"),
        (
            "flask user update bob@example.com --no-permission MANAGE_ORDERS",
            "remove a direct permission",
        ),
    ],
)
@click.argument("email", shell_complete=complete_email)
@click.option("--email", "new_email", help="New email, for mail and sign-in.")
@click.option("--first-name", help="First name.")
@click.option("--last-name", help="Last name.")
@_groups_option("--add-group", "joined", help="A group to join. Repeatable.")
@_groups_option("--remove-group", "left", help="A group to leave. Repeatable.")
@options.permission_option
@options.no_permission_option
def update(  # noqa: PLR0913 - one for each option
    email: str,
    *,
    new_email: str | None,
    first_name: str | None,
    last_name: str | None,
    joined: tuple[str, ...],
    left: tuple[str, ...],
    permissions: tuple[Permission, ...],
    withdrawn: tuple[Permission, ...],
) -> None:
    """Update a person's name, email, groups or direct permissions.

    Changes apply from their next request. To see where each permission comes from: flask user show
    """
    given = joined or left or permissions or withdrawn
    if not given and new_email is first_name is last_name is None:
        raise click.UsageError("Nothing to update. Use --email, --first-name, --add-group …")
    user = find_user(*operator(), email)
    new_details = Details(
        first_name=ABSENT if first_name is None else first_name,
        last_name=ABSENT if last_name is None else last_name,
        email=ABSENT if new_email is None else new_email,
    )
    if user.is_staff:
        changes = StaffChanges(
            new_details,
            _group_ids(joined),
            _group_ids(left),
            frozenset(permissions),
            frozenset(withdrawn),
        )
        changed = update_staff(*operator(), _id(user), changes)
    elif given:
        field = "group" if joined or left else "permission"
        raise Refused(Problem("INVALID", _ONLY_STAFF, field, values={"email": email}))
    else:
        changed = update_customer(*operator(), _id(user), new_details)
    output().show_item(changed, ALL_COLUMNS)


@command.command(
    "promote",
    examples=[("flask user promote eve@example.com --group Support", "make a customer staff")],
)
@click.argument("email", shell_complete=complete_email)
@_groups_option("--group", "joined", help="A group to join. Repeatable.")
def promote(email: str, *, joined: tuple[str, ...]) -> None:
    """Make a customer a staff member.

    They are signed out everywhere. A password set before the email was confirmed is removed,
    because the owner of the email may not have chosen it.
    """
    user = find_user(*operator(), email)
    new = NewStaff(user.email, groups=_group_ids(joined))
    output().show_item(create_staff(*operator(), new), ALL_COLUMNS)


@command.command(
    "delete",
    examples=[
        ("flask user delete bob@example.com", "asks to confirm"),
        ("flask user delete bob@example.com --yes", "without a prompt"),
    ],
)
@click.argument("email", shell_complete=complete_email)
@yes_option
def delete(email: str, *, yes: bool) -> None:
    """Permanently delete a person and all their data. To block sign-in only, use deactivate."""
    user = find_user(*operator(), email)
    confirm_action(f"Delete {user.email} and all their data?", yes=yes)
    remove = delete_staff if user.is_staff else delete_customer
    output().show_item(remove(*operator(), _id(user)), COLUMNS, f"Deleted {user.email}.")


@command.command(
    "export",
    examples=[
        ("flask user export ann@example.com ann.json", "into a file"),
        ("flask user export ann@example.com -", "to another program"),
    ],
)
@click.argument("email", shell_complete=complete_email)
@click.argument("file", type=options.FilePath(dir_okay=False, allow_dash=True))
def export(email: str, file: str) -> None:
    """Write everything that is stored about a person to FILE as JSON, `-` for standard output.

    That includes sessions, sign-ins, audit log entries, orders, carts, and deliveries to apps, but
    no passwords or other secrets. Only your account can read FILE.
    """
    ports = installation().ports
    exported = export_person(*operator(), email)
    if file == "-":
        output()  # escapes what the encoding of standard output lacks
        write(json_text(exported, indent=2))
        return
    text = json.dumps(exported, ensure_ascii=False, indent=2)
    ports.private_files.write(Path(file), [text])
    message = f"Wrote everything that is stored about {email} to {file}."
    output().show_value("file", file, message)


@command.command(
    "erase",
    examples=[
        ("flask user erase bob@example.com", "asks to confirm"),
        ("flask user erase bob@example.com --yes", "without a prompt"),
    ],
)
@click.argument("email", shell_complete=complete_email)
@yes_option
def erase(email: str, *, yes: bool) -> None:
    """Delete a person and remove them from logs, orders, events and deliveries, permanently.

    Log entries and orders stay under the account's ID, without email, name, IP address and device.
    Refuses the last person who can manage staff. Backups aren't changed.
    """
    user = find_user(*operator(), email)
    question = f"Delete {user.email} and erase them from all logs? This can't be undone."
    confirm_action(question, yes=yes)
    output().show_item(
        erase_person(*operator(), user.email),
        _ERASURE,
        f"Erased {user.email}. Backups and logs outside the database still have their data.",
    )


@command.command(
    "reset-password",
    examples=[
        ("flask user reset-password ann@example.com", "to the shop's page, or the console's"),
        (
            "flask user reset-password ann@example.com --page https://shop.example.com/password",
            "to another page",
        ),
    ],
)
@click.argument("email", shell_complete=complete_email)
@click.option("--page", default="", help="URL the link opens, on one of ALLOWED_CLIENT_HOSTS.")
def reset_password(email: str, *, page: str) -> None:
    """Email a password reset link.

    Without --page, the link opens the shop's customer-set-password-url or, if none is set, a page
    of the console. Each person gets at most one link per RESET_PASSWORD_LOCK_TIME. Without
    MAIL_URL, mail is written to instance/mails.txt.
    """
    user = find_user(*operator(), email)
    usual = show_settings(*operator()).customer_set_password_url
    target = page or usual or set_password_page(*operator())
    request_password_reset(*operator(), email=user.email, redirect_url=target)
    output().show_item(user, COLUMNS, "The worker sends the link, unless one was sent recently.")


@command.command(
    "reset-second-factor",
    examples=[
        ("flask user reset-second-factor ann@example.com", "asks to confirm"),
        ("flask user reset-second-factor ann@example.com --yes", "without a prompt"),
    ],
)
@click.argument("email", shell_complete=complete_email)
@yes_option
def reset_second_factor(email: str, *, yes: bool) -> None:
    """Remove the passkeys, authenticator app and recovery codes of a person who lost them.

    All their sessions end, and they get an email. They then sign in with their password or SSO;
    staff add a new second factor at the next sign-in to the console where the shop requires one.
    """
    user = find_user(*operator(), email)
    question = f"Remove all second factors of {user.email} and end their sessions?"
    confirm_action(question, yes=yes)
    output().show_item(
        user_status.reset_second_factors(*operator(), _id(user)),
        COLUMNS,
        f"Removed the second factors of {user.email} and ended all sessions.",
    )


def _group_ids(names: tuple[str, ...]) -> tuple[str, ...]:
    matches = find_groups(*operator(), names) if names else ()
    return tuple(to_global_id("Group", group.id) for group in matches)


def _id(user: User) -> str:
    return to_global_id("User", user.id)


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
@options.permission_option
@_groups_option("--group", "groups", help="A group to join. Repeatable.")
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
    caller = operator()
    password = _password(from_stdin=password_stdin, may_ask=not no_input)
    joined = find_groups(*caller, groups) if groups else ()
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
    user = create_user(*caller, new)
    out = output()
    out.show_item(user, ALL_COLUMNS)
    if password is None:
        out.say(f"{user.email} has no password yet.")
        return
    for problem in weak_password_reasons(*caller, new):
        out.say(f"Warning: this password is weak. {problem.message}")


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
    "--active/--inactive", "is_active", default=None, help="Only active or only inactive people."
)
@click.option(
    "--search",
    default="",
    help="Only people whose email, name or addresses have words that start with these.",
)
@options.page_options
@options.fields_option(ALL_COLUMNS)
def list_(
    *, is_staff: bool | None, is_active: bool | None, search: str, request: PageRequest
) -> None:
    """List people, oldest account first."""
    page = list_users(*operator(), request, search=search, is_staff=is_staff, is_active=is_active)
    options.show_page(
        page, COLUMNS, empty="No people. Create an account with: flask user create EMAIL"
    )


@command.command("show", examples=[("flask user show ann@example.com", "one person")])
@click.argument("email", shell_complete=complete_email)
@options.fields_option(PERSON_COLUMNS)
def show(email: str) -> None:
    """Show a person with all their permissions, and where an imported account came from."""
    user = find_user(*operator(), email)
    output().show_item(user_status.show_person(*operator(), user.id), PERSON_COLUMNS)


@command.command(
    "deactivate", examples=[("flask user deactivate bob@example.com", "deactivate the account")]
)
@click.argument("email", shell_complete=complete_email)
def deactivate(email: str) -> None:
    """Deactivate an account and end all its sessions, effective immediately."""
    _show(user_status.deactivate_user(*operator(), _key(email)), "was deactivated")


@command.command(
    "activate", examples=[("flask user activate bob@example.com", "activate the account")]
)
@click.argument("email", shell_complete=complete_email)
def activate(email: str) -> None:
    """Activate an account."""
    _show(user_status.activate_user(*operator(), _key(email)), "was activated")


@command.command("sign-out", examples=[("flask user sign-out bob@example.com", "everywhere")])
@click.argument("email", shell_complete=complete_email)
def sign_out(email: str) -> None:
    """End all sessions of a person, in every browser and app."""
    ended = user_status.sign_out_user(*operator(), _key(email))
    output().show_value("endedSessions", ended, f"Signed out {email} everywhere.")


def _key(email: str) -> int:
    return find_user(*operator(), email).id


def _show(user: User, what: str) -> None:
    output().show_item(user, COLUMNS, f"{user.email} {what}.")


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
