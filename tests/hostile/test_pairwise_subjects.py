"""Clients with pairwise subjects can't find out together who a person is."""

import base64
import json
from functools import partial
from typing import Any

import pytest
from sqlalchemy import update

from app import models
from app.domain.authorization.actor import OPERATOR
from app.domain.values.errors import PermissionDenied, Refused, TokenRejected
from app.domain.values.ids import to_global_id
from app.domain.values.pages import PageRequest
from app.ports import Ports
from app.services.identity.identify import identify
from app.services.oauth.client_pages import ClientFilter, find_clients
from app.services.oauth.client_tokens import find_issued_token, revoke_grant
from app.services.oauth.clients import (
    ClientChange,
    ClientKind,
    create_client,
    show_client,
    update_client,
)
from app.services.oauth.grants import issue_code
from app.services.oauth.userinfo import show_claims
from app.services.sign_in.tokens import check_token
from tests.builders.oauth import (
    CALLBACK,
    Registered,
    code_request,
    grant,
    make_client,
    person_at_pages,
)
from tests.builders.people import NOBODY, actor_of, make_user, visit
from tests.graphql.shop_client import ApiClient


@pytest.fixture
def database_url(sqlite_url: str) -> str:
    """One kind of database is enough: the rule stands above it."""
    return sqlite_url


def read(token: str) -> dict[str, Any]:
    body = token.split(".")[1]
    claims: dict[str, Any] = json.loads(base64.urlsafe_b64decode(f"{body}=="))
    return claims


def subjects(ports: Ports, client: Registered, user: int) -> set[object]:
    """What a client is told a person is called, wherever it is told."""
    token = grant(ports, client.client, user, frozenset({"openid"})).access_token
    issued = find_issued_token(ports, NOBODY, client.client, token)
    assert issued is not None
    actor = identify(ports, visit(token)).actor
    assert actor.user_id == user
    assert check_token(ports, NOBODY, token=token) == read(token)
    return {issued.subject, show_claims(ports, actor)["sub"], read(token)["user_id"]}


def test_each_client_knows_a_person_by_another_subject(ports: Ports) -> None:
    user, other = make_user(ports), make_user(ports, "other@example.com")
    forum, board = (make_client(ports, name, is_pairwise=True) for name in ("Forum", "Board"))
    (at_forum,), (at_board,) = (subjects(ports, one, user) for one in (forum, board))
    assert len({at_forum, at_board, *subjects(ports, forum, other)}) == 3
    assert subjects(ports, forum, user) == {at_forum}
    # Other clients have the ID of the API.
    assert subjects(ports, make_client(ports), user) == {to_global_id("User", user)}


def test_access_token_names_the_person_in_no_claim(ports: Ports) -> None:
    user = make_user(ports, "ann@example.com")
    client = make_client(ports, is_pairwise=True).client
    text = json.dumps(read(grant(ports, client, user, frozenset({"openid"})).access_token))
    assert "ann@example.com" not in text
    assert to_global_id("User", user) not in text
    assert client.subject_salt not in f"{client!r}{text}"


def test_token_without_a_name_ends_with_its_session_and_client(ports: Ports) -> None:
    user = make_user(ports)
    kept, ended = (make_client(ports, name, is_pairwise=True) for name in ("Kept", "Ended"))
    tokens = [grant(ports, one.client, user).access_token for one in (kept, ended, ended)]
    revoke_grant(ports, NOBODY, ended.client, tokens[1])
    for token, works in zip(tokens, (True, False, True), strict=True):
        assert _works(ports, token) is works
    update_client(ports, OPERATOR, ended.id, ClientChange(is_active=False))
    assert [_works(ports, token) for token in tokens] == [True, False, False]


def test_first_party_knows_people_by_their_ids(ports: Ports) -> None:
    """It reads them in its access token and by the API, without a scope for them."""
    both = ClientChange(name="Till", redirect_uris=(CALLBACK,), is_first_party=True)
    refused = partial(create_client, ports, OPERATOR, both)
    apart = make_client(ports, is_pairwise=True)
    for call in (
        partial(refused, ClientKind(is_pairwise=True)),
        partial(update_client, ports, OPERATOR, apart.id, ClientChange(is_first_party=True)),
    ):
        with pytest.raises(Refused) as caught:
            call()
        assert [(one.code, one.field) for one in caught.value.problems] == [
            ("INVALID", "firstParty")
        ]
    update_client(ports, OPERATOR, apart.id, ClientChange(name="Board"))
    assert refused().client.is_first_party


def test_pairwise_client_that_was_stored_as_a_first_party_is_a_third(ports: Ports) -> None:
    """Release 1.0.0 stored such clients."""
    user = make_user(ports, "ann@example.com")
    stored, first = make_client(ports, is_pairwise=True), make_client(ports, is_first_party=True)
    with ports.database.transaction() as session:
        session.execute(
            update(models.OAuthClient)
            .where(models.OAuthClient.client_id == stored.id)
            .values(is_first_party=True)
        )
    client = show_client(ports, OPERATOR, stored.id)
    boss = actor_of(ports, make_user(ports, "boss@example.com", is_superuser=True))
    listed = [
        [one.client_id for one in find_clients(ports, boss, PageRequest(9), party).items]
        for party in (ClientFilter(is_first_party=True), ClientFilter(is_first_party=False))
    ]
    assert (first.id in listed[0], stored.id in listed[0]) == (True, False)
    assert (first.id in listed[1], stored.id in listed[1]) == (False, True)
    with pytest.raises(PermissionDenied):
        issue_code(ports, person_at_pages(ports, user), code_request(ports, client))
    read_me = "{ me { id email } }"
    for one, shown in ((client, None), (first.client, "ann@example.com")):
        token = grant(ports, one, user, frozenset({"openid"})).access_token
        assert ("ann@example.com" in json.dumps(read(token))) is bool(shown)
        answer = ApiClient(ports).ask(read_me, token)["data"]["me"]
        assert (answer and answer["email"]) == shown
    disabled = update_client(ports, OPERATOR, stored.id, ClientChange(is_active=False))
    assert not disabled.is_active


def _works(ports: Ports, token: str) -> bool:
    try:
        return identify(ports, visit(token)).actor.user_id is not None
    except TokenRejected:
        return False
