"""``flask user``: commands that change or delete people who exist, and how people are shown."""

from __future__ import annotations

import json
from pathlib import Path

import click

from app.commands.name_completion import complete_email, complete_group
from app.commands.terminal.command import standalone
from app.commands.terminal.options import FilePath, no_permission_option, permission_option
from app.commands.terminal.output import Column, Displayable, json_text, output, write
from app.commands.terminal.prompts import confirm_action, yes_option
from app.domain.accounts.users import User
from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import Permission
from app.domain.values.errors import Problem, Refused
from app.domain.values.ids import to_global_id
from app.domain.values.inputs import ABSENT
from app.ports import Ports
from app.services.accounts.password_resets import request_password_reset, set_password_page
from app.services.imports.person_export import export_person
from app.services.people.customers import delete_customer, update_customer
from app.services.people.directory import find_user
from app.services.people.erasure import Erasure, erase_person
from app.services.people.groups import find_groups
from app.services.people.staff import (
    NewStaff,
    StaffChanges,
    create_staff,
    delete_staff,
    update_staff,
)
from app.services.people.user_sessions import Person
from app.services.people.user_status import reset_second_factors
from app.services.people.users import Details
from app.services.shop.settings import show_settings
from app.web.installation import installation

COLUMNS = (
    Column[User]("id", "ID", lambda user: user.id),
    Column[User]("email", "Email", lambda user: user.email, short=True),
    Column[User]("firstName", "First name", lambda user: user.first_name),
    Column[User]("lastName", "Last name", lambda user: user.last_name),
    Column[User]("isStaff", "Staff", lambda user: user.is_staff),
    Column[User]("isSuperuser", "Superuser", lambda user: user.is_superuser),
    Column[User]("isActive", "Active", lambda user: user.is_active),
    Column[User]("groups", "Groups", lambda user: [group.name for group in user.groups]),
    Column[User]("lastLogin", "Last login", lambda user: user.last_login),
)
ALL_COLUMNS = (
    *COLUMNS,
    Column[User]("permissions", "Permissions", lambda user: sorted(user.permissions)),
    Column[User]("dateJoined", "Joined", lambda user: user.date_joined),
)


def _column_of_person(column: Column[User]) -> Column[Person]:
    return Column[Person](
        column.name, column.title, lambda person: column.read(person.user), column.short
    )


def _origin(person: Person, name: str) -> Displayable:
    return None if person.origin is None else getattr(person.origin, name)


PERSON_COLUMNS = (
    *map(_column_of_person, ALL_COLUMNS),
    Column[Person](
        "directPermissions", "Direct permissions", lambda person: sorted(person.direct_permissions)
    ),
    Column[Person](
        "secondFactors",
        "Second factors",
        lambda person: [kind.value for kind in person.factors.types],
    ),
    Column[Person]("importedFrom", "Imported from", lambda person: _origin(person, "source")),
    Column[Person]("importedAt", "Imported", lambda person: _origin(person, "imported_at")),
    Column[Person](
        "importedPassword", "Imported password", lambda person: _origin(person, "password")
    ),
    Column[Person](
        "passwordReplacedAt", "Password replaced", lambda person: _origin(person, "replaced_at")
    ),
)
"""The columns of one person, with where an imported account came from."""

_ERASURE = (
    Column[Erasure]("id", "ID", lambda erasure: erasure.user_id, short=True),
    Column[Erasure]("signIns", "Sign-in log entries", lambda erasure: erasure.sign_ins),
    Column[Erasure]("auditEntries", "Audit log entries", lambda erasure: erasure.audit_entries),
    Column[Erasure]("orders", "Orders", lambda erasure: erasure.orders),
    Column[Erasure]("emails", "Deleted emails", lambda erasure: erasure.emails),
    Column[Erasure]("events", "Deleted events", lambda erasure: erasure.events),
    Column[Erasure]("deliveries", "Deleted deliveries", lambda erasure: erasure.deliveries),
)

_ONLY_STAFF = (
    "Only staff can have groups and permissions. "
    "To make this customer staff: flask user promote {email}"
)


@standalone(
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
@click.option(
    "--add-group",
    "joined",
    multiple=True,
    shell_complete=complete_group,
    help="A group to join. Repeatable.",
)
@click.option(
    "--remove-group",
    "left",
    multiple=True,
    shell_complete=complete_group,
    help="A group to leave. Repeatable.",
)
@permission_option
@no_permission_option
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
    ports = installation().ports
    user = find_user(ports, OPERATOR, email)
    new_details = Details(
        first_name=ABSENT if first_name is None else first_name,
        last_name=ABSENT if last_name is None else last_name,
        email=ABSENT if new_email is None else new_email,
    )
    if user.is_staff:
        changes = StaffChanges(
            new_details,
            _group_ids(ports, joined),
            _group_ids(ports, left),
            frozenset(permissions),
            frozenset(withdrawn),
        )
        changed = update_staff(ports, OPERATOR, _id(user), changes)
    elif given:
        field = "group" if joined or left else "permission"
        raise Refused(Problem("INVALID", _ONLY_STAFF, field, values={"email": email}))
    else:
        changed = update_customer(ports, OPERATOR, _id(user), new_details)
    output().one(changed, ALL_COLUMNS)


@standalone(
    "promote",
    examples=[("flask user promote eve@example.com --group Support", "make a customer staff")],
)
@click.argument("email", shell_complete=complete_email)
@click.option(
    "--group",
    "joined",
    multiple=True,
    shell_complete=complete_group,
    help="A group to join. Repeatable.",
)
def promote(email: str, *, joined: tuple[str, ...]) -> None:
    """Make a customer a staff member.

    They are signed out everywhere. A password set before the email was confirmed is removed,
    because the owner of the email may not have chosen it.
    """
    ports = installation().ports
    user = find_user(ports, OPERATOR, email)
    new = NewStaff(user.email, groups=_group_ids(ports, joined))
    output().one(create_staff(ports, OPERATOR, new), ALL_COLUMNS)


@standalone(
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
    ports = installation().ports
    user = find_user(ports, OPERATOR, email)
    confirm_action(f"Delete {user.email} and all their data?", yes=yes)
    remove = delete_staff if user.is_staff else delete_customer
    out = output()
    out.one(remove(ports, OPERATOR, _id(user)), COLUMNS)
    out.say(f"Deleted {user.email}.")


@standalone(
    "export",
    examples=[
        ("flask user export ann@example.com ann.json", "into a file"),
        ("flask user export ann@example.com -", "to another program"),
    ],
)
@click.argument("email", shell_complete=complete_email)
@click.argument("file", type=FilePath(dir_okay=False, allow_dash=True))
def export(email: str, file: str) -> None:
    """Write everything that is stored about a person to FILE as JSON, `-` for standard output.

    That includes sessions, sign-ins, audit log entries, orders, carts, and deliveries to apps, but
    no passwords or other secrets. Only your account can read FILE.
    """
    ports = installation().ports
    exported = export_person(ports, OPERATOR, email)
    out = output()
    if file == "-":
        write(json_text(exported, indent=2))
        return
    text = json.dumps(exported, ensure_ascii=False, indent=2)
    ports.private_files.write(Path(file), [text])
    out.alone("file", file)
    out.say(f"Wrote everything that is stored about {email} to {file}.")


@standalone(
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
    ports = installation().ports
    user = find_user(ports, OPERATOR, email)
    question = f"Delete {user.email} and erase them from all logs? This can't be undone."
    confirm_action(question, yes=yes)
    out = output()
    out.one(erase_person(ports, OPERATOR, user.email), _ERASURE)
    out.say(f"Erased {user.email}. Backups and logs outside the database still have their data.")


@standalone(
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
    ports = installation().ports
    user = find_user(ports, OPERATOR, email)
    usual = show_settings(ports, OPERATOR).customer_set_password_url
    target = page or usual or set_password_page(ports, OPERATOR)
    request_password_reset(ports, OPERATOR, email=user.email, redirect_url=target)
    out = output()
    out.one(user, COLUMNS)
    out.say("The worker sends the link, unless one was sent recently.")


@standalone(
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
    ports = installation().ports
    user = find_user(ports, OPERATOR, email)
    question = f"Remove all second factors of {user.email} and end their sessions?"
    confirm_action(question, yes=yes)
    out = output()
    out.one(reset_second_factors(ports, OPERATOR, _id(user)), COLUMNS)
    out.say(f"Removed the second factors of {user.email} and ended all sessions.")


CHANGES = (update, promote, delete, export, erase, reset_password, reset_second_factor)


def _group_ids(ports: Ports, names: tuple[str, ...]) -> tuple[str, ...]:
    matches = find_groups(ports, OPERATOR, names) if names else ()
    return tuple(to_global_id("Group", group.id) for group in matches)


def _id(user: User) -> str:
    return to_global_id("User", user.id)
