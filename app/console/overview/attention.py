"""What Home asks to do: what needs attention about people, and the setup of a new shop."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from app.console.frame.formatting import clock_element, html_text
from app.domain.shop.settings import PasswordLoginMode, Switches
from app.domain.values.text import translatable
from app.services.console.home import PeopleCounts, Setup
from app.web.translation import text

_WITHOUT_SIGN_ON = {
    PasswordLoginMode.ENABLED: translatable(
        "They sign in with a password or passkey. Identities of disabled providers don't count."
    ),
    PasswordLoginMode.CUSTOMERS_ONLY: translatable(
        "They have no staff access while password login is limited to customers. Identities of "
        "disabled providers don't count."
    ),
    PasswordLoginMode.DISABLED: translatable(
        "They can't sign in while password login is off. Identities of disabled providers don't "
        "count."
    ),
}


@dataclass(frozen=True, slots=True)
class AttentionItem:
    """Something that needs attention: ``state`` is bad or warn, ``endpoint`` where to look."""

    state: str
    title: str
    detail: str
    endpoint: str = ""
    arguments: Mapping[str, object] = field(default_factory=dict)
    action: str = ""
    label: str = ""

    @property
    def icon(self) -> str:
        return "x-circle-fill" if self.state == "bad" else "exclamation-triangle-fill"


def people_items(
    people: PeopleCounts | None, switches: Switches, now: datetime, *, sign_on_is_used: bool
) -> Iterable[AttentionItem]:
    if people is None:
        return
    if people.staff_without_second_factor and people.second_factor_from is not None:
        yield _second_factor_item(
            people.staff_without_second_factor, people.second_factor_from, now
        )
    if people.staff_without_sign_on and sign_on_is_used:
        yield AttentionItem(
            "warn",
            html_text(
                "{count:,} staff member has no SSO identity.",
                "{count:,} staff members have no SSO identity.",
                count=people.staff_without_sign_on,
            ),
            text(_WITHOUT_SIGN_ON[switches.password_login_mode]),
            "console.staff.index",
            {"status": "active", "by": "no-sso"},
            text("View staff"),
        )
    if people.untrusted_peers:
        yield AttentionItem(
            "warn",
            html_text(
                "{count:,} unknown proxy forwards requests.",
                "{count:,} unknown proxies forward requests.",
                count=people.untrusted_peers,
            ),
            text("If it's yours, trust it. Until then, everyone behind it shares one rate limit."),
            "console.throttle.index",
            action=text("View proxies"),
        )
    if people.blocked_ips:
        yield AttentionItem(
            "warn",
            html_text(
                "{count:,} IP address is blocked.",
                "{count:,} IP addresses are blocked.",
                count=people.blocked_ips,
            ),
            text("Too many failed sign-ins. Blocks expire."),
            "console.throttle.index",
            action=text("View blocked IPs"),
        )


def _second_factor_item(count: int, begins: datetime, now: datetime) -> AttentionItem:
    """Return the item for staff without the second factor that is required from ``begins``."""
    is_in_force = begins <= now
    detail = text("They have customer-level access until they add one.")
    if not is_in_force:
        moment = clock_element(begins, now)
        detail = html_text("They get customer-level access {moment}.", moment=moment)
    return AttentionItem(
        "bad" if is_in_force else "warn",
        html_text(
            "{count:,} staff member has no second factor.",
            "{count:,} staff members have no second factor.",
            count=count,
        ),
        detail,
        "console.staff.index",
        {"status": "active"},
        text("View staff"),
    )


@dataclass(frozen=True, slots=True)
class Step:
    """A step of the setup checklist; an open one is done at ``endpoint``, or with ``command``."""

    title: str
    detail: str
    is_done: bool
    endpoint: str = ""
    action: str = ""
    command: str = ""


@dataclass(frozen=True, slots=True)
class Checklist:
    steps: tuple[Step, ...]
    number_done: int
    summary: str


_MAIL = {
    True: translatable("Mail is sent by your mail server."),
    False: translatable(
        "Mail is written to a file and not sent. A server administrator connects a mail server by "
        "this setting, and restarts Latchkey:"
    ),
}


_MAIL_SETTING = "MAIL_URL=smtp://user:password@mail.example.com:587"


def make_checklist(setup: Setup | None) -> Checklist | None:
    """Return the checklist of ``setup``; ``None`` if it is done or was dismissed."""
    if setup is None or setup.is_done:
        return None
    steps = (
        Step(
            text("Connect a mail server"),
            text(_MAIL[setup.sends_mail]),
            setup.sends_mail,
            command=_MAIL_SETTING,
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
