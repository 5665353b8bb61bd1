"""The setup checklist on Home: the steps of a new shop, in words."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from app.console.formatting import html_text
from app.domain.values.text import translatable
from app.services.console.setup import Setup
from app.web.translation import text


@dataclass(frozen=True, slots=True)
class Step:
    """A step of the setup checklist; ``endpoint`` is where an open step is done."""

    title: str
    detail: str
    is_done: bool
    endpoint: str
    action: str
    arguments: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Checklist:
    """The setup checklist of a new shop."""

    steps: tuple[Step, ...]
    number_done: int
    summary: str


_MAIL = {
    True: translatable("Mail is sent by your mail server."),
    False: translatable(
        "Mail is written to a file and not sent until a server administrator connects a mail "
        "server (MAIL_URL)."
    ),
}


def make_checklist(setup: Setup | None) -> Checklist | None:
    """Return the checklist of ``setup``; ``None`` if it is done or was dismissed."""
    if setup is None or setup.is_done:
        return None
    steps = (
        Step(
            text("Set up mail"),
            text(_MAIL[setup.sends_mail]),
            setup.sends_mail,
            "console.shop_settings.index",
            text("View mail settings"),
            {"_anchor": "mail"},
        ),
        Step(
            text("Invite your first staff member"),
            text("Give each person a sign-in and permissions of their own."),
            setup.has_staff,
            "console.staff.invitations.index",
            text("Invite staff"),
        ),
        Step(
            text("Set up single sign-on"),
            text("Let staff sign in with your identity provider."),
            setup.has_sign_on,
            "console.single_sign_on.index",
            text("Set up SSO"),
        ),
        Step(
            text("Connect your first app"),
            text("Create an app, or install one from its manifest."),
            setup.has_app,
            "console.apps.connect",
            text("Create app"),
        ),
        Step(
            text("Create your first webhook"),
            text("Send events of your shop to an app."),
            setup.has_webhook,
            "console.webhook_editing.new",
            text("Create webhook"),
        ),
    )
    number_done = sum(step.is_done for step in steps)
    summary = html_text("{done} of {all} steps done", done=number_done, all=len(steps))
    return Checklist(steps, number_done, summary)
