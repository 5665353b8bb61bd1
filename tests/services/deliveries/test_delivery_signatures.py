"""What really leaves is accepted by the reference library and by an independent one for JOSE."""

import base64
from dataclasses import replace

import pytest
from jwcrypto import jwk, jws
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from app.adapters.system import SystemClock
from app.domain.authorization.actor import OPERATOR, WORKER
from app.domain.authorization.permissions import Permission
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.ports.http import HttpRequest, HttpResponse
from app.services.deliveries.dispatch import lease_due_deliveries
from app.services.deliveries.sending import send_deliveries
from app.services.keys import published_keys, rotate_keys
from app.services.webhooks.changes import WebhookInput, update_webhook
from tests.builders.apps import make_app
from tests.builders.webhooks import make_delivery, make_webhook
from tests.fakes.clock import FakeClock
from tests.fakes.fake_http import FakeHttp

PAYLOAD = '{"product":{"name":"Sch\\u00fcssel. Größe: 50 %"}}'
OLD = "whsec_" + base64.b64encode(b"0123456789abcdef0123456789abcdef").decode()
NEW = "whsec_" + base64.b64encode(b"another secret of thirty-two byte").decode()
NEITHER = "whsec_" + base64.b64encode(b"a secret that nobody ever had....").decode()


@pytest.fixture
def http(ports: Ports) -> FakeHttp:
    return FakeHttp(ports.database, lambda _request: HttpResponse(500))


@pytest.fixture
def trying(ports: Ports, http: FakeHttp) -> Ports:
    return replace(ports, http=http)


@pytest.fixture
def in_real_time(trying: Ports) -> Ports:
    """The reference library compares with the clock of the machine."""
    return replace(trying, clock=SystemClock())


def work(ports: Ports) -> None:
    for batch in lease_due_deliveries(ports, WORKER):
        send_deliveries(ports, WORKER, batch)


def deliver(ports: Ports, secret: str = "") -> int:
    app, _ = make_app(ports, "warehouse", Permission.MANAGE_PRODUCTS)
    key = make_webhook(ports, app, secret=secret)
    make_delivery(ports, key, PAYLOAD)
    work(ports)
    return key


def verify(request: HttpRequest, secret: str) -> None:
    assert request.body is not None
    Webhook(secret).verify(request.body.decode(), dict(request.headers))


def verify_jws(ports: Ports, request: HttpRequest) -> str:
    """The ``kid`` of the key of the key set that an independent library verifies it by."""
    signature = request.headers["Latchkey-Signature"]
    token = jws.JWS()
    token.deserialize(signature)
    keys = {key.kid: key for key in published_keys(ports)}
    key = keys[token.jose_header["kid"]]
    token.verify(jwk.JWK(kty="RSA", n=key.n, e=key.e), detached_payload=request.body)
    return key.kid


def test_reference_library_accepts_both_secrets_during_a_rotation(
    in_real_time: Ports, http: FakeHttp
) -> None:
    key = deliver(in_real_time, secret=OLD)
    (first,) = http.requests
    verify(first, OLD)
    input_ = WebhookInput(secret_key=NEW)
    update_webhook(in_real_time, OPERATOR, to_global_id("Webhook", key), "", input_)
    make_delivery(in_real_time, key, PAYLOAD)
    work(in_real_time)

    second = http.requests[-1]
    verify(second, NEW)
    verify(second, OLD)
    with pytest.raises(WebhookVerificationError):
        verify(second, NEITHER)


def test_independent_library_accepts_the_jws_of_old_and_new_keys(
    trying: Ports, http: FakeHttp, clock: FakeClock
) -> None:
    key = deliver(trying)
    clock.pass_(hours=2)
    rotate_keys(trying, OPERATOR)
    make_delivery(trying, key, "{}")
    work(trying)

    before, after = http.requests[0], http.requests[-1]
    assert verify_jws(trying, before) != verify_jws(trying, after)


def test_rotation_in_the_middle_of_a_batch_leaves_every_signature_valid(
    trying: Ports, http: FakeHttp, clock: FakeClock
) -> None:
    """A batch is signed with the key of its beginning, which the key set still has."""

    def rotate_once(_request: HttpRequest) -> HttpResponse:
        if len(http.requests) == 2:
            rotate_keys(trying, OPERATOR)
        return HttpResponse(200)

    http.answer = rotate_once
    key = deliver(trying)
    clock.pass_(hours=2)
    for body in ("[1]", "[2]"):
        make_delivery(trying, key, body)
    work(trying)
    make_delivery(trying, key, "[3]")
    work(trying)

    before, after, then = (verify_jws(trying, sent) for sent in http.requests[1:])
    assert before == after != then


def test_retries_keep_the_id_and_are_signed_again(
    trying: Ports, http: FakeHttp, clock: FakeClock
) -> None:
    deliver(trying, secret=OLD)
    clock.pass_(seconds=6)
    work(trying)

    first, second = (request.headers for request in http.requests)
    assert first["webhook-id"] == second["webhook-id"]
    assert first["webhook-timestamp"] != second["webhook-timestamp"]
    assert first["webhook-signature"] != second["webhook-signature"]
    assert first["Latchkey-Signature"] == second["Latchkey-Signature"]


def test_jws_is_computed_once_for_all_attempts(
    trying: Ports, http: FakeHttp, clock: FakeClock
) -> None:
    deliver(trying)
    clock.pass_(seconds=6)
    work(trying)

    first, second = http.requests
    assert first.headers["Latchkey-Signature"] == second.headers["Latchkey-Signature"]
    assert len(trying.cache.signatures) == 1
    verify_jws(trying, second)
