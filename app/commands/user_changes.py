"""``flask user``: what becomes of people who are there already."""

from __future__ import annotations

import click

from app.commands.terminal.command import standalone
from app.commands.terminal.output import output
from app.commands.terminal.prompts import confirm_action, yes_option
from app.commands.user_output import ALL_COLUMNS, COLUMNS
from app.domain.accounts.users import User
from app.domain.authorization.actor import OPERATOR
from app.domain.values.errors import Problem, Refused
from app.domain.values.ids import to_global_id
from app.domain.values.unset import ABSENT
from app.ports import Ports
from app.services.accounts.password_resets import request_password_reset, set_password_page
from app.services.people.customers import delete_customer, update_customer
from app.services.people.directory import find_user
from app.services.people.group_lists import find_groups
from app.services.people.staff import (
    NewStaff,
    StaffChanges,
    create_staff,
    delete_staff,
    update_staff,
)
from app.services.people.user_details import Details
from app.services.shop.settings import show_settings
from app.web.installation import installation


@standalone(
    "update",
    examples=[
        ("flask user update bob@example.com --last-name Lee", "what somebody is called"),
        ("flask user update bob@example.com --email bob@example.org", "where mails go"),
        ("flask user update bob@example.com --add-group Support", "one of the staff may do more"),
    ],
)
@click.argument("email")
@click.option("--email", "new_email", help="The address from now on, for mails and signing in.")
@click.option("--first-name", help="The first name.")
@click.option("--last-name", help="The last name.")
@click.option("--add-group", "joined", multiple=True, help="A group to join; repeatable.")
@click.option("--remove-group", "left", multiple=True, help="A group to leave; repeatable.")
def update(
    email: str,
    *,
    new_email: str | None,
    first_name: str | None,
    last_name: str | None,
    joined: tuple[str, ...],
    left: tuple[str, ...],
) -> None:
    """Change somebody's names, address or groups; it holds from their next request on."""
    if not (joined or left) and new_email is first_name is last_name is None:
        raise click.UsageError("Say what to change: --email, --first-name, --add-group …")
    ports = installation().ports
    user = find_user(ports, OPERATOR, email)
    new_details = Details(
        first_name=ABSENT if first_name is None else first_name,
        last_name=ABSENT if last_name is None else last_name,
        email=ABSENT if new_email is None else new_email,
    )
    if user.is_staff:
        changes = StaffChanges(new_details, _group_ids(ports, joined), _group_ids(ports, left))
        changed = update_staff(ports, OPERATOR, _id(user), changes)
    elif joined or left:
        message = "Only staff are in groups. Make them staff: flask user promote {email}"
        raise Refused(Problem("INVALID", message, "group", values={"email": email}))
    else:
        changed = update_customer(ports, OPERATOR, _id(user), new_details)
    output().one(changed, ALL_COLUMNS)


@standalone(
    "promote",
    examples=[("flask user promote eve@example.com --group Support", "a customer, now staff")],
)
@click.argument("email")
@click.option("--group", "joined", multiple=True, help="A group to join; repeatable.")
def promote(email: str, *, joined: tuple[str, ...]) -> None:
    """Make a customer one of the staff.

    They are signed out everywhere. A password that was set before the address was confirmed is
    gone: anybody could have chosen it.
    """
    ports = installation().ports
    user = find_user(ports, OPERATOR, email)
    new = NewStaff(user.email, groups=_group_ids(ports, joined))
    output().one(create_staff(ports, OPERATOR, new), ALL_COLUMNS)


@standalone(
    "delete",
    examples=[
        ("flask user delete bob@example.com", "asks first"),
        ("flask user delete bob@example.com --yes", "from a script"),
    ],
)
@click.argument("email")
@yes_option
def delete(email: str, *, yes: bool) -> None:
    """Delete somebody with all that is theirs, for good. To lock them out: deactivate."""
    ports = installation().ports
    user = find_user(ports, OPERATOR, email)
    confirm_action(f"Delete {user.email} with all that is theirs?", yes=yes)
    remove = delete_staff if user.is_staff else delete_customer
    out = output()
    out.one(remove(ports, OPERATOR, _id(user)), COLUMNS)
    out.say(f"{user.email} is gone.")


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
@click.argument("email")
@click.option("--page", default="", help="Where the link leads, on one of ALLOWED_CLIENT_HOSTS.")
def reset_password(email: str, *, page: str) -> None:
    """Mail somebody a link to choose a new password.

    Without --page, to the shop's customer-set-password-url or, where none is set, to a page of the
    console. One link goes out per person and RESET_PASSWORD_LOCK_TIME, however often it is asked
    for. Without MAIL_URL mails are written to instance/mails.txt.
    """
    ports = installation().ports
    user = find_user(ports, OPERATOR, email)
    usual = show_settings(ports, OPERATOR).customer_set_password_url
    target = page or usual or set_password_page(ports, OPERATOR)
    request_password_reset(ports, OPERATOR, email=user.email, redirect_url=target)
    out = output()
    out.one(user, COLUMNS)
    out.say("A running worker mails the link, unless one went out a short while ago.")


CHANGES = (update, promote, delete, reset_password)


def _group_ids(ports: Ports, names: tuple[str, ...]) -> tuple[str, ...]:
    matches = find_groups(ports, OPERATOR, names) if names else ()
    return tuple(to_global_id("Group", group.id) for group in matches)


def _id(user: User) -> str:
    return to_global_id("User", user.id)
