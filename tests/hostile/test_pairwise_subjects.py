"""Clients with pairwise subjects can't find out together who a person is."""

import base64
import json
from typing import Any

import pytest

from app.domain.authorization.actor import OPERATOR
from app.domain.values.errors import TokenRejected
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.services.identity.identify import identify
from app.services.oauth.client_tokens import find_issued_token, revoke_grant
from app.services.oauth.clients import ClientChange, update_client
from app.services.oauth.userinfo import show_claims
from app.services.sign_in.tokens import check_token
from tests.builders.oauth import Registered, grant, make_client
from tests.builders.people import NOBODY, make_user, visit


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


def _works(ports: Ports, token: str) -> bool:
    try:
        return identify(ports, visit(token)).actor.user_id is not None
    except TokenRejected:
        return False
