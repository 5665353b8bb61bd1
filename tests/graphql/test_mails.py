"""`mails`: the mail log in the API."""

import pytest

from app.domain.authorization.permissions import Permission
from app.domain.values.ids import to_global_id
from app.ports import Ports
from tests.builders.mails import make_mail, make_waiting_mail
from tests.builders.people import make_staff, make_user, sign_in
from tests.fakes.clock import FakeClock
from tests.graphql.shop_client import ApiClient

FIELDS = """
query Log($filter: MailFilterInput) {
  mails(first: 10, filter: $filter) {
    totalCount
    edges { node {
      id kind recipient userId status error attempts createdAt attemptedAt nextAttemptAt sentAt
    } }
  }
}
"""
GREYLISTED = "The mail server rejected the recipient with 450: 4.7.1 Greylisted."


@pytest.fixture
def api(ports: Ports) -> ApiClient:
    return ApiClient(ports)


@pytest.fixture
def clara(ports: Ports) -> int:
    return make_user(ports, "clara@example.com")


@pytest.fixture
def boss(ports: Ports) -> str:
    return sign_in(ports, make_staff(ports, "boss@example.com", Permission.MANAGE_STAFF)).access


def test_email_has_all_fields_and_no_link(
    ports: Ports, api: ApiClient, clock: FakeClock, clara: int, boss: str
) -> None:
    make_mail(ports, user_id=clara, redirect_url="https://shop.example.com/reset")
    make_waiting_mail(ports, last_error=GREYLISTED, attempts=2, sealed="sesame")
    response = api.run(FIELDS, boss)
    waiting, sent = (edge["node"] for edge in response["edges"])
    now = clock.now().isoformat()
    assert sent == {
        "id": to_global_id("Mail", 1),
        "kind": "password_reset",
        "recipient": "clara@example.com",
        "userId": to_global_id("User", clara),
        "status": "SENT",
        "error": None,
        "attempts": 1,
        "createdAt": now,
        "attemptedAt": now,
        "nextAttemptAt": None,
        "sentAt": now,
    }
    assert (waiting["status"], waiting["error"], waiting["userId"], waiting["nextAttemptAt"]) == (
        *("DEFERRED", GREYLISTED, None, now),
    )
    assert response["totalCount"] == 2


def test_emails_are_filtered(ports: Ports, api: ApiClient, boss: str) -> None:
    make_mail(ports, user_id=77, recipient="ann@example.com")
    make_mail(ports, sent_at=None, last_error="The mail server responded with 550.")
    make_mail(ports)
    for filter_, numbers in (
        ({"status": "FAILED"}, [2]),
        ({"status": "SENT"}, [3, 1]),
        ({"userId": to_global_id("User", 77)}, [1]),
        ({"userId": "nonsense"}, []),
        ({"search": "ann"}, [1]),
        ({"createdAt": {"gte": "2000-01-01T00:00:00Z"}}, [3, 2, 1]),
        ({"createdAt": {"lte": "2000-01-01T00:00:00Z"}}, []),
    ):
        response = api.run(FIELDS, boss, filter=filter_)
        found = [edge["node"]["id"] for edge in response["edges"]]
        assert found == [to_global_id("Mail", number) for number in numbers], filter_


def test_who_manages_customers_sees_emails_about_them(
    ports: Ports, api: ApiClient, clara: int
) -> None:
    staff = make_staff(ports, "s@example.com", Permission.MANAGE_USERS)
    make_mail(ports, user_id=staff)
    make_mail(ports, user_id=clara)
    response = api.run(FIELDS, sign_in(ports, staff).access)
    assert [edge["node"]["userId"] for edge in response["edges"]] == [to_global_id("User", clara)]
    assert response["totalCount"] == 1
