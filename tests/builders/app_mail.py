"""A shop whose emails an app sends: the app's endpoint, the mail server, rounds of a worker."""

import json
from dataclasses import dataclass, field, replace

from sqlalchemy import select

from app import models
from app.domain.authorization.actor import OPERATOR, WORKER
from app.domain.authorization.permissions import Permission
from app.domain.events import EventType
from app.domain.mails.mail import MailKind, MailSender, RenderedMail, sender_setting
from app.domain.mails.mail_log import MailEntry
from app.domain.values.pages import PageRequest
from app.ports import Ports
from app.ports.http import HttpRequest, HttpResponse
from app.services.accounts.password_resets import request_password_reset
from app.services.deliveries.fanout import fan_out_events
from app.services.mails.mail_log import list_mails
from app.services.mails.sending import send_due_mail
from tests.builders.apps import make_app
from tests.builders.deliveries import work_off
from tests.builders.people import NOBODY
from tests.builders.shop import configure_shop
from tests.builders.webhooks import make_webhook
from tests.fakes.fake_http import FakeHttp

CLARA = "clara@example.com"
PAGE = "http://localhost:3000/reset"
LINK_EVENTS = (
    EventType.ACCOUNT_SET_PASSWORD_REQUESTED,
    EventType.STAFF_SET_PASSWORD_REQUESTED,
    EventType.ACCOUNT_CONFIRMATION_REQUESTED,
    EventType.ACCOUNT_CHANGE_EMAIL_REQUESTED,
)


@dataclass
class MailServer:
    """Accepts every email."""

    sent: list[RenderedMail] = field(default_factory=list)

    def send(self, rendered: RenderedMail) -> None:
        self.sent.append(rendered)

    def check(self) -> bool:
        return True


@dataclass
class MailingShop:
    """A shop with an app that answers ``status`` to events; ``ports`` reach its fakes."""

    ports: Ports
    http: FakeHttp
    mailer: MailServer
    status: int = 200

    @property
    def sent_to(self) -> list[str]:
        """The recipients of our emails."""
        return [mail.recipient for mail in self.mailer.sent]

    @property
    def accepted(self) -> list[str]:
        """The emails of the people whose link the app accepted, or was offered."""
        bodies = [json.loads(request.body or b"{}") for request in self.http.requests]
        return [body["user"]["email"] for body in bodies if body.get("token")]

    @property
    def mails(self) -> list[MailEntry]:
        """The mail log, the oldest first."""
        return [*list_mails(self.ports, OPERATOR, PageRequest(100)).items][::-1]

    @property
    def stored(self) -> list[models.OutboxMail]:
        with self.ports.database.reading() as session:
            return list(session.scalars(select(models.OutboxMail).order_by(models.OutboxMail.id)))

    def ask(self, email: str = CLARA) -> None:
        request_password_reset(self.ports, NOBODY, email=email, redirect_url=PAGE)
        send_due_mail(self.ports, WORKER)

    def make_listener(
        self, *permissions: Permission, name: str = "Mailer", query: str = ""
    ) -> int:
        """Create an app that subscribes to links; return the webhook."""
        app, _ = make_app(self.ports, name, *permissions)
        return make_webhook(self.ports, app, *LINK_EVENTS, query=query)

    def work(self, ports: Ports | None = None) -> None:
        """Do what is due: fan out, deliver, settle and send."""
        by = ports or self.ports
        fan_out_events(by, WORKER)
        work_off(by)
        send_due_mail(by, WORKER)


def make_mailing_shop(ports: Ports, sender: MailSender = MailSender.APP) -> MailingShop:
    """Return a shop in which ``sender`` sends every email with a link."""
    configure_shop(ports, **{sender_setting(kind): sender.value for kind in _kinds()})
    mailer = MailServer()
    http = FakeHttp(ports.database, lambda _request: HttpResponse(200))
    shop = MailingShop(replace(ports, http=http, mailer=mailer), http, mailer)

    def answer(_request: HttpRequest) -> HttpResponse:
        return HttpResponse(shop.status)

    http.answer = answer
    return shop


def _kinds() -> tuple[MailKind, ...]:
    return (
        MailKind.PASSWORD_RESET,
        MailKind.ACCOUNT_CONFIRMATION,
        MailKind.EMAIL_CHANGE_REQUEST,
        MailKind.CUSTOMER_INVITATION,
        MailKind.STAFF_INVITATION,
    )
