"""Deliveries as they come, forwarded as they were signed; and what a signature is worth."""

import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from sqlalchemy import update

from app import models
from app.adapters.http.guarded_http import GuardedHttp
from app.domain.authorization.actor import OPERATOR, WORKER
from app.domain.events import EventType, ProductUpdated
from app.ports import Ports
from app.services.deliveries.dispatch import lease_due_deliveries
from app.services.deliveries.fanout import fan_out_events
from app.services.deliveries.sending import send_deliveries
from app.services.outbox.publisher import add_event
from tests.builders.remote_instances import make_remote_access
from tests.builders.webhooks import make_webhook
from tests.commands.fake_remote_shop import count_requests, operation, other_shop
from tests.commands.shell import run
from tests.commands.webhooks.paired_shops import Shops
from tests.commands.webhooks.verify_runner import verify
from tests.fakes.strict_http import LOOPBACK
from tests.servers.http import HttpServer, Received, Reply, http_server

SECRET = "whsec_b2xk"


@pytest.fixture
def receiver() -> Iterator[HttpServer]:
    with http_server() as server:
        server.answer("/app", Reply(204))
        server.answer("/local", Reply(201))
        yield server


def happen(ports: Ports) -> None:
    """A product changes, and everybody who wants to hear of it is told."""
    with ports.database.transaction() as session:
        add_event(ports, OPERATOR, session, ProductUpdated(1))
    trying = replace(ports, http=GuardedHttp(LOOPBACK))
    fan_out_events(trying, WORKER)
    for batch in lease_due_deliveries(trying, WORKER):
        send_deliveries(trying, WORKER, batch)


def want(ports: Ports, receiver: HttpServer, **webhook: Any) -> None:
    """One webhook that hears of products, and no other that would be tried."""
    with ports.database.transaction() as session:
        session.execute(update(models.Webhook).values(is_active=False))
    target = f"{receiver.url}/app"
    make_webhook(ports, 1, EventType.PRODUCT_UPDATED, target_url=target, **webhook)


def listen_once(
    shops: Shops, distant: bool, receiver: HttpServer, **webhook: Any
) -> tuple[Result, Received, Received]:
    """What `listen` shows of one delivery, as the app got it, and as it was forwarded."""
    ports = shops.remote if distant else shops.local
    want(ports, receiver, **webhook)
    words = (
        *("webhook", "listen", "--webhook", "hook", "--event", "product_updated", "--count", "1"),
        *("--interval", "0.1", "--forward-to", f"{receiver.url}/local", "--json"),
    )

    def listen() -> Result:
        if distant:
            return shops.remote_only(*words)
        return run(shops.local, *words, remote_access=shops.remote_access)

    with ThreadPoolExecutor(1) as other:
        listening = other.submit(listen)
        while not listening.done():
            happen(ports)
            if receiver.calls("/local"):
                break
        result = listening.result(180)
    forwarded = receiver.calls("/local")[0]
    same = forwarded.headers["webhook-id"]
    [sent] = [one for one in receiver.calls("/app") if one.headers["webhook-id"] == same]
    return result, sent, forwarded


DISTANT = pytest.mark.parametrize("distant", [False, True], ids=["here", "there"])


@DISTANT
def test_what_is_sent_is_shown_and_forwarded_as_it_was_signed(
    shops: Shops, receiver: HttpServer, tmp_path: Path, distant: bool
) -> None:
    result, sent, forwarded = listen_once(
        shops, distant, receiver, custom_headers={"X-Key": "only ours"}
    )
    assert result.exit_code == 0
    heard = json.loads(result.stdout)
    assert (heard["event"], heard["forwarded"]) == ("PRODUCT_UPDATED", 201)
    assert json.loads(forwarded.body) == heard["payload"]
    assert forwarded.body == sent.body
    assert forwarded.headers["latchkey-signature"] == sent.headers["latchkey-signature"]
    assert forwarded.headers["webhook-timestamp"] == sent.headers["webhook-timestamp"]
    assert forwarded.headers["x-key"] == "only ours"
    verified = verify(shops, tmp_path, forwarded, distant=distant)
    assert (verified.exit_code, verified.stdout.split("\t")[1]) == (0, "yes")


@pytest.mark.one_of("distant")
@DISTANT
def test_secret_signs_what_is_forwarded(
    shops: Shops, receiver: HttpServer, tmp_path: Path, distant: bool
) -> None:
    _, _, forwarded = listen_once(shops, distant, receiver, secret=SECRET)
    (tmp_path / "secret").write_text(SECRET)
    verified = verify(
        shops, tmp_path, forwarded, *("--secret-file", str(tmp_path / "secret")), distant=distant
    )
    assert verified.exit_code == 0
    assert [line.split("\t")[0] for line in verified.stdout.splitlines()] == [
        "latchkey-signature",
        "saleor-signature",
        "x-saleor-signature",
        "webhook-signature",
    ]


def test_failed_forwarding_is_reported_and_listening_continues(
    shops: Shops, receiver: HttpServer
) -> None:
    want(shops.local, receiver)
    words = ("webhook", "listen", "--webhook", "hook", "--count", "2", "--interval", "0.1")
    with ThreadPoolExecutor(1) as other:
        listening = other.submit(
            lambda: run(
                shops.local,
                *words,
                "--forward-to",
                "http://127.0.0.1:1/",
                remote_access=shops.remote_access,
            )
        )
        while not listening.done():
            happen(shops.local)
        result = listening.result(180)
    assert result.exit_code == 0
    assert [line.split()[3:5] for line in result.stdout.splitlines()] == [
        ["-->", "PRODUCT_UPDATED"],
        ["<--", "[failed]"],
    ] * 2
    assert result.stderr.splitlines()[1:] == [
        "Error: Not forwarded to http://127.0.0.1:1/: Can't connect to 127.0.0.1:1."
    ]


@pytest.mark.parametrize("verbose", [False, True])
def test_event_is_a_line_out_and_a_line_back(
    shops: Shops, receiver: HttpServer, verbose: bool
) -> None:
    receiver.answer("/local", Reply(422, b'{"error": "no such\x1b[2J size"}'))
    want(shops.local, receiver)
    words = [*("webhook", "listen", "--webhook", "hook", "--count", "1", "--interval", "0.1")]
    words += ["--forward-to", f"{receiver.url}/local", *(["--verbose"] if verbose else [])]
    with ThreadPoolExecutor(1) as other:
        listening = other.submit(
            lambda: run(shops.local, *words, remote_access=shops.remote_access)
        )
        while not listening.done():
            happen(shops.local)
    lines = listening.result(180).stdout.splitlines()
    sent = next(place for place, line in enumerate(lines) if "-->" in line)
    back = next(place for place, line in enumerate(lines) if "<--" in line)
    time = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC"
    assert re.fullmatch(rf"{time} --> PRODUCT_UPDATED \[\w+=*\] hook", lines[sent])
    url = re.escape(f"{receiver.url}/local")
    assert re.fullmatch(rf"{time} <-- \[422\] POST {url} \[\w+=*\] \d+ ms", lines[back])
    payload, response = "".join(lines[sent + 1 : back]), lines[back + 1 :]
    assert (json.loads(payload or "null") is not None) is verbose
    assert response == (['    {"error": "no such\\x1b[2J size"}'] if verbose else [])


def test_answer_of_the_webhook_itself_is_shown(shops: Shops, receiver: HttpServer) -> None:
    want(shops.local, receiver)
    words = ("webhook", "listen", "--webhook", "hook", "--count", "2", "--interval", "0.1")
    with ThreadPoolExecutor(1) as other:
        listening = other.submit(
            lambda: run(shops.local, *words, remote_access=shops.remote_access)
        )
        while not listening.done():
            happen(shops.local)
    # The first was answered before the second was sent.
    sent, back = listening.result(180).stdout.splitlines()[:2]
    assert "--> PRODUCT_UPDATED" in sent
    assert f"<-- [204] POST {receiver.url}/app" in back


def test_listening_survives_an_outage_of_the_instance(ports: Ports, tmp_path: Path) -> None:
    def answer(received: Received) -> Reply:
        times = count_requests(shop, "Deliveries")
        if operation(received) == "Deliveries" and times == 1:
            nothing = {"edges": [], "pageInfo": {"hasNextPage": False, "endCursor": None}}
            return Reply(
                body=json.dumps({"data": {"webhook": {"eventDeliveries": nothing}}}).encode()
            )
        is_down = operation(received) == "Deliveries" and times in (2, 3)
        return Reply(503, b"<html>", {"Content-Type": "text/html"}) if is_down else alive(received)

    with other_shop() as shop:
        alive = shop.routes["/graphql/"]
        shop.routes["/graphql/"] = answer
        words = ("webhook", "listen", "--webhook", "hook 1", "--interval", "0.1", "--count", "1")
        remote_access = make_remote_access(tmp_path / "config", token="a token")
        heard = run(ports, *words, "-u", shop.url, remote_access=remote_access)
    assert heard.exit_code == 0
    assert heard.stdout.count("ORDER_PAID") == 1
    ill = "it responded with HTTP 503: it has a problem. Try again later."
    assert heard.stderr.splitlines() == [
        "Listening to 1 webhook. Press Ctrl-C to stop.",
        f"{shop.url}/graphql/ cannot be reached: {ill} Retrying.",
        "Reconnected.",
    ]


def with_headers(received: Received, **headers: str) -> Received:
    return replace(received, headers={**received.headers, **headers})


def test_delivery_that_was_changed_is_found_out(
    shops: Shops, receiver: HttpServer, tmp_path: Path
) -> None:
    _, sent, _ = listen_once(shops, False, receiver)  # noqa: FBT003 - at hand
    for changed in (
        replace(sent, body=sent.body + b" "),
        with_headers(sent, **{"latchkey-signature": "a..b"}),
        with_headers(sent, **{"latchkey-signature": "a.b.c"}),
        with_headers(sent, **{"latchkey-signature": ".."}),
    ):
        verified = verify(shops, tmp_path, changed, "--json")
        assert verified.exit_code == 1, changed
        finding = json.loads(verified.stdout)[0]
        assert (finding["header"], finding["valid"]) == ("latchkey-signature", False), changed


def test_signature_is_checked_offline_by_a_file_of_keys(
    shops: Shops, receiver: HttpServer, tmp_path: Path
) -> None:
    _, sent, _ = listen_once(shops, True, receiver)  # noqa: FBT003 - at the server
    base = shops.url.removesuffix("/graphql/")
    online = verify(shops, tmp_path, sent, "--key-set", f"{base}/.well-known/jwks.json")
    assert online.exit_code == 0
    keys = make_remote_access(tmp_path).connect_by_token(shops.url, "").key_set()
    (tmp_path / "keys").write_bytes(keys)
    assert verify(shops, tmp_path, sent, "--key-set", str(tmp_path / "keys")).exit_code == 0
    (tmp_path / "keys").write_text('{"keys": []}')
    assert verify(shops, tmp_path, sent, "--key-set", str(tmp_path / "keys")).exit_code == 1
    (tmp_path / "keys").write_text("[]")
    assert verify(shops, tmp_path, sent, "--key-set", str(tmp_path / "keys")).exit_code == 3
    assert verify(shops, tmp_path, sent, "--key-set", "http://127.0.0.1:1/").exit_code == 5
    secretive = verify(shops, tmp_path, sent, "--key-set", "http://ann:geheim@127.0.0.1:1/")
    assert secretive.exit_code == 2
    assert "geheim" not in secretive.output
