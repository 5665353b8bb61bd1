"""``flask demo``: a shop to try things on."""

from collections.abc import Sequence

import click

from app.commands.terminal.command import standalone
from app.commands.terminal.output import Column, output
from app.commands.terminal.progress import progress
from app.domain.values.errors import Problem, Refused
from app.services.demo.identity_provider import NAME, DemoPerson, set_up_demo_provider
from app.services.demo.shop import SignIn, fill_shop, is_in_use, sign_in_people
from app.web.installation import installation, operator

_COLUMNS: tuple[Column[SignIn], ...] = (
    Column("role", "Role", lambda made: made.role),
    Column("name", "Sign in as", lambda made: made.name, short=True),
    Column("secret", "Password or token", lambda made: made.secret, short=True),
)


@standalone(
    "demo",
    examples=[
        ("flask demo", "add missing demo data"),
        ("flask demo --once", "do nothing if the shop is already in use"),
    ],
)
@click.option("--once", is_flag=True, help="Do nothing if the shop is already in use.")
@click.option("--yes", is_flag=True, help="Allow demo data outside development.")
def command(*, once: bool, yes: bool) -> None:
    """Fill the shop with demo people, products, orders, apps and history, and print the logins.

    Passwords are random and shown only once. Safe to run repeatedly: existing people are left
    unchanged, and an interrupted run is completed. Webhooks that were there before receive no
    events of it.
    """
    ports = installation().ports
    if not (yes or ports.configuration.development):
        message = "Refusing to add demo data outside development. Pass --yes to override."
        raise Refused(Problem("NOT_DEVELOPMENT", message))
    if once and is_in_use(*operator()):
        _show(())
    else:
        _fill()
    _show_provider(set_up_demo_provider(*operator()))


def _fill() -> None:
    with progress("Adding demo data") as report:
        fill_shop(*operator(), _show, report)


def _show(sign_ins: Sequence[SignIn]) -> None:
    out = output()
    out.rows(sign_ins, _COLUMNS, empty="" if sign_ins else _existing_sign_ins())
    if sign_ins:
        out.say("Store them now: passwords and tokens aren't shown again.")


def _show_provider(people: Sequence[DemoPerson]) -> None:
    if people:
        names = ", ".join(f"{person.first_name} {person.last_name}" for person in people)
        output().say(
            f"With SSO: choose {NAME} on the console's sign-in page, then one of {names}."
        )


def _existing_sign_ins() -> str:
    sign_ins = sign_in_people(*operator())
    lines = ["The shop already has accounts. Their passwords were shown when they were created."]
    if sign_ins:
        names = ", ".join(f"{sign_in.email} ({sign_in.role})" for sign_in in sign_ins)
        lines.append(f"Demo accounts: {names}.")
        lines.append(f"To reset a password: flask user reset-password {sign_ins[0].email}")
    return "\n".join([*lines, "To add an administrator: flask user create EMAIL --superuser"])
