"""``flask demo``: a shop to try things on."""

from __future__ import annotations

from collections.abc import Sequence

import click

from app.commands.terminal.command import standalone
from app.commands.terminal.output import Column, output
from app.domain.authorization.actor import OPERATOR
from app.domain.values.errors import Problem, Refused
from app.services.demo.identity_provider import NAME, DemoPerson, set_up_demo_provider
from app.services.demo.shop import SignIn, fill_shop, is_in_use, sign_in_people
from app.web.installation import installation

_COLUMNS: tuple[Column[SignIn], ...] = (
    Column("role", "Role", lambda made: made.role),
    Column("name", "Sign in as", lambda made: made.name, short=True),
    Column("secret", "Password or token", lambda made: made.secret, short=True),
)


@standalone(
    "demo",
    examples=[
        ("flask demo", "add whatever of the demo shop is missing"),
        ("flask demo --once", "nothing at all in a shop that is in use already"),
    ],
)
@click.option("--once", is_flag=True, help="Do nothing in a shop that is in use.")
@click.option("--yes", is_flag=True, help="Outside development too.")
def command(*, once: bool, yes: bool) -> None:
    """Fill the shop with people, goods, orders, apps and a past, and print the sign-ins.

    Passwords are made up each time and shown this once. Safe to repeat: whoever exists stays as
    they are, and what an interruption has left is finished.
    """
    ports = installation().ports
    if not (yes or ports.configuration.development):
        message = "This is no development shop. If you want demo people in it all the same: --yes"
        raise Refused(Problem("NOT_DEVELOPMENT", message))
    if once and is_in_use(ports, OPERATOR):
        _show(())
    else:
        fill_shop(ports, OPERATOR, _show)
    _show_provider(set_up_demo_provider(ports, OPERATOR))


def _show(sign_ins: Sequence[SignIn]) -> None:
    out = output()
    out.rows(sign_ins, _COLUMNS, empty="" if sign_ins else _existing_sign_ins())
    if sign_ins:
        out.say("Keep them: passwords and tokens are not shown again.")


def _show_provider(people: Sequence[DemoPerson]) -> None:
    if people:
        names = ", ".join(f"{person.first_name} {person.last_name}" for person in people)
        output().say(
            f"With SSO: choose {NAME} on the console's sign-in page, then one of {names}."
        )


def _existing_sign_ins() -> str:
    sign_ins = sign_in_people(installation().ports, OPERATOR)
    lines = ["The shop has people already; their passwords were shown when they were made."]
    if sign_ins:
        names = ", ".join(f"{sign_in.email} ({sign_in.role})" for sign_in in sign_ins)
        lines.append(f"The demo's are {names}.")
        lines.append(f"A link to a new password: flask user reset-password {sign_ins[0].email}")
    return "\n".join([*lines, "Somebody new: flask user create EMAIL --superuser"])
