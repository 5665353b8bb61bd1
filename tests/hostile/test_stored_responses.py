"""An endpoint that echoes its request publishes no secret in the stored response."""

import base64
import html
import json
from collections.abc import Callable
from dataclasses import replace
from urllib.parse import quote, quote_plus

import pytest
from sqlalchemy import select

from app import models
from app.domain.authorization.actor import OPERATOR, WORKER
from app.domain.authorization.permissions import Permission
from app.domain.deliveries.deliveries import MAX_RESPONSE_SIZE
from app.domain.events import Event, EventType, ProductUpdated, StaffSetPasswordRequested
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.ports.http import HttpRequest, HttpResponse
from app.services.deliveries.fanout import fan_out_events
from app.services.outbox.publisher import add_event
from tests.builders.apps import make_app
from tests.builders.deliveries import work_off
from tests.builders.people import make_staff, sign_in
from tests.builders.products import make_product
from tests.builders.webhooks import make_webhook
from tests.fakes.fake_http import FakeHttp
from tests.graphql.shop_client import ApiClient

LINK = "9f8e7d6c5b4a39281706f5e4d3c2b1a0sesame"
SIGNING = 'whsec_+/"<b>&secret'
HEADER = 'Bearer sk_live/"<i>&value'
CREDENTIAL = HEADER.removeprefix("Bearer ")

ATTEMPTS = """
query ($id: ID!) {
  webhook(id: $id) {
    eventDeliveries(first: 1) { edges { node { payload attempts(first: 5) { edges { node {
      response responseHeaders requestHeaders responseStatusCode
    } } } } } }
  }
}"""


@pytest.fixture
def database_url(sqlite_url: str) -> str:
    """One kind of database is enough: what is stored does not depend on it."""
    return sqlite_url


def echo(request: HttpRequest) -> HttpResponse:
    body = request.body or b""
    headers = {"x-echo": body.decode(), "x-authorization": str(request.headers)}
    return HttpResponse(200, headers, body + str(request.headers).encode())


def deliver(ports: Ports, answer: Callable[[HttpRequest], HttpResponse], event: Event) -> None:
    with ports.database.transaction() as session:
        add_event(ports, OPERATOR, session, event)
    fan_out_events(ports, WORKER)
    work_off(replace(ports, http=FakeHttp(ports.database, answer)))


def stored(ports: Ports) -> str:
    """Everything that is kept of the answers, as text."""
    with ports.database.reading() as session:
        attempts = session.scalars(select(models.DeliveryAttempt)).all()
        assert attempts, "nothing was delivered"
        return "".join(
            f"{attempt.response} {dict(attempt.response_headers)}" for attempt in attempts
        )


def make_listener(ports: Ports) -> int:
    app, _ = make_app(ports, "listener", Permission.MANAGE_STAFF, Permission.MANAGE_PRODUCTS)
    return make_webhook(
        ports,
        app,
        EventType.STAFF_SET_PASSWORD_REQUESTED,
        EventType.PRODUCT_UPDATED,
        secret=SIGNING,
        custom_headers={"Authorization": HEADER, "X-Flag": "on"},
    )


def test_echoed_link_token_is_not_readable_in_attempts(ports: Ports) -> None:
    webhook = make_listener(ports)
    subject = make_staff(ports, "clerk@example.com")
    deliver(ports, echo, StaffSetPasswordRequested(subject, token=LINK))

    held = (Permission.MANAGE_APPS, Permission.MANAGE_PRODUCTS, Permission.MANAGE_STAFF)
    client = sign_in(ports, make_staff(ports, "desk@example.com", *held)).access
    shown = ApiClient(ports).run(ATTEMPTS, client, id=to_global_id("Webhook", webhook))

    assert '"responseStatusCode": 200' in json.dumps(shown)
    assert LINK not in json.dumps(shown)
    assert LINK not in stored(ports)


def test_response_to_a_link_event_is_never_stored(ports: Ports) -> None:
    make_listener(ports)
    subject = make_staff(ports, "clerk@example.com")
    encoded = [base64.b64encode(LINK.encode()).decode(), LINK[::-1], " ".join(LINK)]

    def reply(_request: HttpRequest) -> HttpResponse:
        return HttpResponse(500, {"x-echo": " | ".join(encoded)}, " | ".join(encoded).encode())

    deliver(ports, reply, StaffSetPasswordRequested(subject, token=LINK))
    stored_text = stored(ports)
    assert [text for text in encoded if text in stored_text] == []


def encodings(secret: str) -> list[str]:
    raw = secret.encode()
    return [
        secret,
        secret.upper(),
        quote(secret, safe=""),
        quote(secret),
        quote_plus(secret).lower(),
        json.dumps(secret)[1:-1],
        json.dumps(secret)[1:-1].replace("/", "\\/"),
        html.escape(secret),
        html.escape(secret, quote=False),
        raw.hex(),
        base64.b64encode(raw).decode(),
        base64.urlsafe_b64encode(raw).decode().rstrip("="),
        base64.b64encode(b"x: " + raw + b"; y").decode(),
        base64.b64encode(b"x:" + raw + b"; y").decode(),
    ]


@pytest.mark.parametrize("secret", [SIGNING, SIGNING.removeprefix("whsec_"), HEADER, CREDENTIAL])
def test_echoed_signing_secret_and_custom_headers_are_removed(ports: Ports, secret: str) -> None:
    make_listener(ports)
    encoded = encodings(secret)

    def reply(_request: HttpRequest) -> HttpResponse:
        headers = {f"x-{place}": text for place, text in enumerate(encoded)}
        return HttpResponse(200, headers, "\n".join(encoded).encode())

    deliver(ports, reply, ProductUpdated(make_product(ports, "Cup")))
    stored_text = stored(ports)
    assert [text for text in encoded if text in stored_text] == []


@pytest.mark.parametrize("missing", [1, 5, 20])
def test_secret_cut_off_at_the_size_limit_is_removed(ports: Ports, missing: int) -> None:
    make_listener(ports)
    beginning = HEADER[:-missing]
    filler = "." * (MAX_RESPONSE_SIZE - len(beginning.encode()))

    def reply(request: HttpRequest) -> HttpResponse:
        return HttpResponse(200, {}, (filler + HEADER).encode()[: request.max_size])

    deliver(ports, reply, ProductUpdated(make_product(ports, "Cup")))
    assert beginning[:8] not in stored(ports)


def test_ordinary_responses_stay_readable(ports: Ports) -> None:
    webhook = make_listener(ports)

    def reply(_request: HttpRequest) -> HttpResponse:
        return HttpResponse(
            422, {"x-reason": "no stock"}, b'{"error": "Unknown product", "on": 1}'
        )

    deliver(ports, reply, ProductUpdated(make_product(ports, "Cup")))
    held = (Permission.MANAGE_APPS, Permission.MANAGE_PRODUCTS, Permission.MANAGE_STAFF)
    client = sign_in(ports, make_staff(ports, "desk@example.com", *held)).access
    shown = ApiClient(ports).run(ATTEMPTS, client, id=to_global_id("Webhook", webhook))
    (delivery,) = shown["eventDeliveries"]["edges"]
    (attempt,) = delivery["node"]["attempts"]["edges"]
    assert attempt["node"]["response"] == '{"error": "Unknown product", "on": 1}'
    assert json.loads(attempt["node"]["responseHeaders"]) == {"x-reason": "no stock"}
