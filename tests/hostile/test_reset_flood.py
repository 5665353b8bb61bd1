"""Floods of requests for reset links: nobody's mail is late, and no table grows without bound."""

from dataclasses import replace

import pytest
from sqlalchemy import func, insert, select

from app import models
from app.domain.authorization.actor import WORKER
from app.domain.values.errors import TooManyRequests
from app.ports import Ports
from app.services.accounts.password_resets import answer_reset_requests, request_password_reset
from app.services.sign_in import email_codes
from tests.builders.outbox import mails
from tests.builders.people import NOBODY, make_user
from tests.builders.shop import configure_shop
from tests.console.staff_client import ConsoleClient
from tests.fakes.clock import FakeClock
from tests.fixtures.kept_application import AppOn
from tests.graphql.shop_client import ApiClient

CUSTOMER, STRANGER = "customer@example.com", "stranger@example.com"
SHOP = "http://localhost:3000/"
ASK = f"""
    mutation ($email: String!) {{
      requestPasswordReset(email: $email, redirectUrl: "{SHOP}") {{ errors {{ code }} }}
    }}
"""


def ask(ports: Ports, email: str, client: int = 0) -> None:
    actor = replace(NOBODY, address=f"198.51.{client // 200}.{client % 200}")
    request_password_reset(ports, actor, email=email, redirect_url=SHOP)


def waiting(ports: Ports, email: str = "") -> int:
    stored = select(func.count()).select_from(models.ResetRequest)
    if email:
        stored = stored.where(models.ResetRequest.email == email)
    with ports.database.reading() as session:
        return session.scalar(stored) or 0


def flood(ports: Ports, requests: int) -> None:
    """Requests for invented emails, as if they came from as many clients as it takes."""
    rows = [
        {
            "email": f"{number}@example.com",
            "redirect_url": SHOP,
            "caller": {},
            "created_at": ports.clock.now(),
        }
        for number in range(requests)
    ]
    with ports.database.transaction() as session:
        session.execute(insert(models.ResetRequest), rows)


def test_flood_of_invented_emails_delays_no_link(ports: Ports) -> None:
    make_user(ports, CUSTOMER)
    flood(ports, 2500)
    ask(ports, CUSTOMER)
    answer_reset_requests(ports, WORKER)
    assert [mail.recipient for mail in mails(ports)] == [CUSTOMER]
    assert waiting(ports) == 0


@pytest.mark.parametrize("email", [CUSTOMER, STRANGER])
def test_few_of_many_requests_for_one_email_are_stored(ports: Ports, email: str) -> None:
    make_user(ports, CUSTOMER)
    for client in range(40):
        ask(ports, email, client)
    assert waiting(ports, email) == 20


def test_known_and_unknown_emails_always_get_the_same_response(ports: Ports) -> None:
    make_user(ports, CUSTOMER)
    for email in (CUSTOMER, STRANGER):
        for client in range(20):
            ask(ports, email, client)
    api = ApiClient(ports)
    known, unknown = (api.ask(ASK, email=email) for email in (CUSTOMER, STRANGER))
    assert known == unknown == {"data": {"requestPasswordReset": {"errors": []}}}
    assert waiting(ports, CUSTOMER) == waiting(ports, STRANGER) == 20


def test_link_is_sent_during_a_flood_for_the_same_email(ports: Ports, clock: FakeClock) -> None:
    make_user(ports, CUSTOMER)
    for _ in range(3):
        for client in range(25):
            ask(ports, CUSTOMER, client)
        answer_reset_requests(ports, WORKER)
        clock.pass_(minutes=15)
    assert [mail.recipient for mail in mails(ports)] == [CUSTOMER] * 3


def test_full_table_refuses_links_and_codes_until_the_worker_runs(
    ports: Ports, app_on: AppOn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(email_codes, "MAX_WAITING", 20)
    make_user(ports, CUSTOMER)
    flood(ports, 20)
    for email in (CUSTOMER, STRANGER):
        with pytest.raises(TooManyRequests):
            ask(ports, email)
    configure_shop(ports, email_code_login=True)
    with pytest.raises(TooManyRequests):
        email_codes.request_email_code(ports, NOBODY, email=CUSTOMER)
    console = ConsoleClient(app_on(ports).test_client(), ports)
    refused = console.send("/console/forgotten", {"email": CUSTOMER})
    assert refused.status == 429
    assert refused.response.headers["Retry-After"] == "60"
    answer_reset_requests(ports, WORKER)
    ask(ports, CUSTOMER)
    assert waiting(ports) == 1
