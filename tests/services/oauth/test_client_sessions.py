"""Clients are told when a session that they know has ended, whatever ended it."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs

import jwt
import pytest
from sqlalchemy import select

from app import models
from app.adapters.metrics import PrometheusMetrics
from app.domain.authorization.actor import OPERATOR, WORKER, Actor
from app.domain.oauth import DEFAULT_SCOPES, OFFLINE, OAuthClient
from app.domain.values.ids import to_global_id
from app.domain.values.installation import Hold
from app.ports import Ports
from app.ports.http import CallFailed, CallFault, HttpRequest, HttpResponse
from app.services.hosted import HostedSession, replace_hosted_session, sign_out_of_hosted_pages
from app.services.keys import published_keys
from app.services.oauth.client_sessions import report_ended_sessions
from app.services.oauth.client_tokens import revoke_grant
from app.services.oauth.clients import ClientChange, update_client
from app.services.oauth.grants import (
    Granted,
    find_code,
    find_refresh_token,
    use_code,
    use_refresh_token,
)
from app.services.operations.background_work import Waiting, find_waiting_work, read_backlog
from app.services.operations.cleanup import clean_up
from app.services.operations.holds import Held, count_held
from app.services.sign_in.sessions import deactivate_all_tokens
from tests.builders.oauth import make_client, make_code, person_at_pages
from tests.builders.people import NOBODY, make_user
from tests.fakes.clock import FakeClock
from tests.fakes.fake_http import FakeHttp

TOLD_AT = "https://forum.example.com/logout"
WITHOUT_OFFLINE = DEFAULT_SCOPES
EVERYTHING = DEFAULT_SCOPES | {OFFLINE}


def with_answers(ports: Ports, status: int = 200) -> tuple[Ports, FakeHttp]:
    http = FakeHttp(ports.database, lambda _request: HttpResponse(status))
    return replace(ports, http=http), http


def client_of(ports: Ports, name: str = "Forum", uri: str = TOLD_AT) -> OAuthClient:
    made = make_client(ports, name, is_first_party=True, backchannel_logout_uri=uri)
    return made.client


def join(
    ports: Ports, client: OAuthClient, person: Actor, scopes: frozenset[str] = EVERYTHING
) -> Granted:
    found = find_code(ports, NOBODY, client, make_code(ports, client, person, scopes))
    assert found is not None
    granted = use_code(ports, NOBODY, client, found.id)
    assert granted is not None
    return granted


def claims_of(ports: Ports, request: HttpRequest, client: OAuthClient) -> dict[str, Any]:
    """Return the claims of a logout token, verified as OpenID Connect wants it of clients."""
    [token] = parse_qs((request.body or b"").decode(), strict_parsing=True)["logout_token"]
    header = jwt.get_unverified_header(token)
    assert header["typ"] == "logout+jwt"
    keys = [
        {"kty": "RSA", "kid": key.kid, "n": key.n, "e": key.e} for key in published_keys(ports)
    ]
    [key] = [key for key in keys if key["kid"] == header["kid"]]
    claims: dict[str, Any] = jwt.decode(
        token,
        jwt.PyJWK(key, "RS256"),
        ["RS256"],
        audience=client.client_id,
        options={"verify_exp": False, "verify_iat": False},
    )
    assert claims["events"] == {"http://schemas.openid.net/event/backchannel-logout": {}}
    assert "nonce" not in claims
    assert claims["exp"] - claims["iat"] == 120
    return claims


@pytest.mark.both_databases
def test_client_is_told_once_whatever_ends_the_session(ports: Ports) -> None:
    sent, http = with_answers(ports, 204)
    client = client_of(ports)

    def sign_out(person: Actor, _granted: Granted) -> None:
        sign_out_of_hosted_pages(ports, person)

    def end_all(person: Actor, _granted: Granted) -> None:
        deactivate_all_tokens(ports, person)

    def revoke(_person: Actor, granted: Granted) -> None:
        revoke_grant(ports, NOBODY, client, granted.refresh_token)

    ways: dict[str, Callable[[Actor, Granted], None]] = {
        "sign-out": sign_out,
        "all sessions": end_all,
        "revocation": revoke,
    }
    jtis: set[str] = set()
    for name, end in ways.items():
        user = make_user(ports, f"{len(jtis)}@example.com")
        person = person_at_pages(ports, user)
        granted = join(ports, client, person)
        assert report_ended_sessions(sent, WORKER) == 0, name
        end(person, granted)
        assert "logouts" in find_waiting_work(ports, WORKER), name
        while report_ended_sessions(sent, WORKER):
            pass
        [request] = http.requests
        http.requests.clear()
        assert (request.url, request.method) == (TOLD_AT, "POST")
        told = claims_of(ports, request, client)
        assert told["sid"] == granted.sid, name
        assert told["iss"] == NOBODY.issuer.removesuffix("/graphql/")
        jtis.add(told["jti"])
        assert "logouts" not in find_waiting_work(ports, WORKER), name
    assert len(jtis) == len(ways)


def test_session_id_belongs_to_a_sign_in_and_a_client(ports: Ports) -> None:
    forum, board = client_of(ports), client_of(ports, "Board", "")
    user = make_user(ports)
    first, second = person_at_pages(ports, user), person_at_pages(ports, user)
    granted = join(ports, forum, first)
    assert join(ports, forum, first, WITHOUT_OFFLINE).sid == granted.sid
    others = {join(ports, forum, second).sid, join(ports, board, first).sid}
    assert len(others | {granted.sid}) == 3
    found = find_refresh_token(ports, NOBODY, granted.refresh_token)
    assert found is not None
    refreshed = use_refresh_token(ports, NOBODY, forum, found.id)
    assert refreshed is not None
    assert refreshed.sid == granted.sid
    # Signing in again in the same browser keeps clients signed in; another person doesn't.
    sent, http = with_answers(ports)
    replace_hosted_session(ports, first, opened(ports, second, user))
    assert join(ports, forum, second).sid in others | {granted.sid}
    assert report_ended_sessions(sent, WORKER) == 0
    other = make_user(ports, "other@example.com")
    third = person_at_pages(ports, other)
    replace_hosted_session(ports, second, opened(ports, third, other))
    while report_ended_sessions(sent, WORKER):
        pass
    told = {
        claims_of(ports, one, forum)["sid"] for one in http.requests if "Board" not in str(one)
    }
    assert told >= {granted.sid}


def opened(ports: Ports, person: Actor, user_id: int) -> HostedSession:
    with ports.database.reading() as session:
        token = session.scalars(
            select(models.Session.token).where(models.Session.id == person.session_id)
        ).one()
    return HostedSession(token, user_id, ports.clock.now())


def test_expired_sessions_are_not_reported(ports: Ports, clock: FakeClock) -> None:
    sent, http = with_answers(ports)
    client = client_of(ports)
    person = person_at_pages(ports, make_user(ports))
    join(ports, client, person, WITHOUT_OFFLINE)
    clock.pass_(minutes=6)
    cleaned = clean_up(ports, WORKER)
    assert (cleaned.client_sessions, cleaned.sessions) == (1, 1)
    assert report_ended_sessions(sent, WORKER) == 0
    # The sign-in lives on, and its end is reported.
    sign_out_of_hosted_pages(ports, person)
    assert report_ended_sessions(sent, WORKER) == 1
    assert len(http.requests) == 1


def test_client_that_does_not_answer_is_tried_again(ports: Ports, clock: FakeClock) -> None:
    client = client_of(ports)
    person = person_at_pages(ports, make_user(ports))
    granted = join(ports, client, person, WITHOUT_OFFLINE)
    sign_out_of_hosted_pages(ports, person)
    sent, http = with_answers(ports, 503)
    sids, attempts = set(), 0
    for _ in range(12):
        while report_ended_sessions(sent, WORKER):
            pass
        attempts = max(attempts, len(http.requests))
        clock.pass_(hours=48)
    for request in http.requests:
        sids.add(claims_of(ports, request, client)["sid"])
    assert (attempts, sids) == (11, {granted.sid})
    with ports.database.reading() as session:
        assert session.scalar(select(models.OAuthClientSession.id)) is None
        entry = session.scalars(
            select(models.AuditEntry).where(
                models.AuditEntry.action == "oauth_client.logout_failed"
            )
        ).one()
    assert entry.after == {"reason": "The client answered with HTTP 503."}
    assert "eyJ" not in json.dumps(entry.after)


def test_refusal_and_lost_connections_are_told_apart(ports: Ports, clock: FakeClock) -> None:
    client = client_of(ports)
    refusing, http = with_answers(ports, 400)
    sign_out_of_hosted_pages(ports, joined(ports, client))
    while report_ended_sessions(refusing, WORKER):
        pass
    clock.pass_(hours=72)
    assert report_ended_sessions(refusing, WORKER) == 0
    assert len(http.requests) == 1

    def lost(_request: HttpRequest) -> HttpResponse:
        raise CallFailed(CallFault.TIMEOUT, "It didn't answer in time.")

    http.answer = lost
    sign_out_of_hosted_pages(ports, joined(ports, client))
    report_ended_sessions(refusing, WORKER)
    clock.pass_(minutes=5)
    http.answer = lambda _request: HttpResponse(200)
    while report_ended_sessions(refusing, WORKER):
        pass
    assert len(http.requests) == 3
    assert report_ended_sessions(refusing, WORKER) == 0


def test_client_that_cannot_be_reached_delays_no_other(ports: Ports, clock: FakeClock) -> None:
    slow_at, slow_again = "https://slow.example.com/logout", timedelta(seconds=33)
    slow, fast = client_of(ports, "Slow", slow_at), client_of(ports, "Fast")
    for client in (slow, slow, slow, fast):
        sign_out_of_hosted_pages(ports, joined(ports, client))
    sent, http = with_answers(ports)
    is_lost = True

    def answer(request: HttpRequest) -> HttpResponse:
        if request.url == slow_at and is_lost:
            clock.pass_(seconds=5)
            raise CallFailed(CallFault.TIMEOUT, "It didn't answer in time.")
        return HttpResponse(200)

    http.answer = answer
    while report_ended_sessions(sent, WORKER):
        pass
    # One call tells that it can't be reached; its other reports wait with it.
    assert [request.url for request in http.requests] == [slow_at, TOLD_AT]
    assert "logouts" not in find_waiting_work(ports, WORKER)
    sign_out_of_hosted_pages(ports, joined(ports, slow))
    sign_out_of_hosted_pages(ports, joined(ports, fast))
    while report_ended_sessions(sent, WORKER):
        pass
    assert [request.url for request in http.requests[2:]] == [TOLD_AT]
    clock.pass_(seconds=slow_again.seconds)
    assert "logouts" in find_waiting_work(ports, WORKER)
    assert report_ended_sessions(sent, WORKER) > 0
    assert report_ended_sessions(sent, WORKER) == 0
    waiting = read_backlog(ports, WORKER).logouts
    assert (waiting.number, waiting.seconds > 30) == (4, True)
    # It waits longer each time, an hour at most, and gets all when it answers.
    clock.pass_(minutes=1)
    assert report_ended_sessions(sent, WORKER) == 0
    for _ in range(9):
        clock.pass_(hours=2)
        while report_ended_sessions(sent, WORKER):
            pass
    assert len(http.requests) == 3 + 1 + 9
    is_lost = False
    clock.pass_(minutes=67)
    while report_ended_sessions(sent, WORKER):
        pass
    assert len(http.requests) == 13 + 4
    assert read_backlog(ports, WORKER).logouts == Waiting(0, 0.0)


def test_report_to_a_client_that_cannot_be_reached_ends_after_two_days(
    ports: Ports, clock: FakeClock
) -> None:
    client = client_of(ports)
    for _ in range(2):
        sign_out_of_hosted_pages(ports, joined(ports, client))

    def lost(_request: HttpRequest) -> HttpResponse:
        raise CallFailed(CallFault.TIMEOUT, "It didn't answer in time.")

    sent, http = with_answers(ports)
    http.answer, metrics = lost, PrometheusMetrics()
    sent = replace(sent, metrics=metrics)
    for hours in (0, 30, 30):
        clock.pass_(hours=hours)
        assert report_ended_sessions(sent, WORKER) == 2
    with ports.database.reading() as session:
        assert session.scalar(select(models.OAuthClientSession.id)) is None
        failed = models.AuditEntry.action == "oauth_client.logout_failed"
        entry = session.scalars(select(models.AuditEntry).where(failed)).one()
    assert entry.after == {"reason": "It didn't answer in time."}
    shown = metrics.render([]).decode()
    assert 'latchkey_logout_reports_total{result="failed"} 3.0' in shown
    assert 'latchkey_logout_reports_total{result="given_up"} 2.0' in shown


def test_each_client_gets_its_turn(ports: Ports, clock: FakeClock) -> None:
    """A client that answers, but slowly and with much to report, waits for the others in turn."""
    slow_at = "https://slow.example.com/logout"
    slow, fast = client_of(ports, "Slow", slow_at), client_of(ports, "Fast")
    for client in (slow, slow, slow, slow, fast):
        sign_out_of_hosted_pages(ports, joined(ports, client))
    sent, http = with_answers(ports)

    def answer(request: HttpRequest) -> HttpResponse:
        clock.pass_(seconds=4 if request.url == slow_at else 0)
        return HttpResponse(200)

    http.answer = answer
    while report_ended_sessions(sent, WORKER):
        pass
    assert [one.url for one in http.requests] == [slow_at, slow_at, TOLD_AT, slow_at, slow_at]


def test_clock_that_is_set_back_delays_no_report(ports: Ports, clock: FakeClock) -> None:
    client = client_of(ports)
    first, second = joined(ports, client), joined(ports, client)
    sent, http = with_answers(ports)
    sign_out_of_hosted_pages(ports, first)
    assert report_ended_sessions(sent, WORKER) == 1
    sign_out_of_hosted_pages(ports, second)
    clock.pass_(hours=-2)
    assert "logouts" in find_waiting_work(ports, WORKER)
    assert report_ended_sessions(sent, WORKER) == 1
    assert len(http.requests) == 2


def test_one_report_that_fails_holds_up_no_other_of_its_client(ports: Ports) -> None:
    client = client_of(ports)
    people = [joined(ports, client) for _ in range(2)]
    sent, http = with_answers(ports)
    for person in people:
        sign_out_of_hosted_pages(ports, person)
    statuses = iter((500, 200))
    http.answer = lambda _request: HttpResponse(next(statuses))
    while report_ended_sessions(sent, WORKER):
        pass
    assert len(http.requests) == 2
    assert read_backlog(ports, WORKER).logouts.number == 1


def test_pairwise_client_is_told_of_its_own_subject(ports: Ports) -> None:
    user = make_user(ports)
    shown = {}
    for name in ("Forum", "Board"):
        client = make_client(ports, name, is_pairwise=True, backchannel_logout_uri=TOLD_AT).client
        person = person_at_pages(ports, user)
        join(ports, client, person)
        sign_out_of_hosted_pages(ports, person)
        sent, http = with_answers(ports)
        while report_ended_sessions(sent, WORKER):
            pass
        shown[name] = claims_of(ports, http.requests[0], client)["sub"]
        assert shown[name] == client.subject_of(user)
        assert to_global_id("User", user) not in str(shown)
    assert shown["Forum"] != shown["Board"]


def joined(ports: Ports, client: OAuthClient) -> Actor:
    user = make_user(ports, f"{ports.randomness.token(8).lower()}@example.com")
    person = person_at_pages(ports, user)
    join(ports, client, person, WITHOUT_OFFLINE)
    return person


def test_clients_without_a_uri_and_disabled_ones_are_not_called(ports: Ports) -> None:
    quiet, disabled = client_of(ports, "Quiet", ""), client_of(ports, "Disabled")
    people = joined(ports, quiet), joined(ports, disabled)
    update_client(ports, OPERATOR, disabled.client_id, ClientChange(is_active=False))
    sent, http = with_answers(ports)
    for person in people:
        sign_out_of_hosted_pages(ports, person)
    while report_ended_sessions(sent, WORKER):
        pass
    assert http.requests == []
    with ports.database.reading() as session:
        assert session.scalar(select(models.OAuthClientSession.id)) is None


def test_restored_copy_reports_nothing(ports: Ports, clock: FakeClock) -> None:
    sign_out_of_hosted_pages(ports, joined(ports, client_of(ports)))
    sent, http = with_answers(ports)
    ports.cache.hold = Hold(clock.now(), ("The database was restored from a backup.",))
    assert report_ended_sessions(sent, WORKER) == 0
    counted = {work.kind: work.count for work in count_held(ports, OPERATOR)}
    assert counted[Held.DELIVERIES] > 0
    ports.cache.hold = None
    while report_ended_sessions(sent, WORKER):
        pass
    assert len(http.requests) == 1
