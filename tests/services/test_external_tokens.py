"""A provider's access token as credential: contract, "Single sign-on"."""

from app.domain.actor import ActorKind, SessionOrigin
from app.ports import Ports
from app.services.identity import Identity, identify
from tests.builders.people import ADDRESS, visit
from tests.builders.providers import identities, user_called
from tests.fakes.http import WatchedHttp
from tests.fixtures.statements import recorded_statements
from tests.servers.own_provider import OwnProvider


def who(ports: Ports, credential: str) -> Identity:
    return identify(ports, visit(credential))


def calls(ports: Ports) -> int:
    assert isinstance(ports.http, WatchedHttp)
    return len(ports.http.calls)


def test_an_access_token_tells_who_is_calling_and_makes_them_a_customer(
    ports: Ports, provider: OwnProvider
) -> None:
    identity = who(ports, provider.access_token())

    actor, user = identity.actor, identity.user
    assert (actor.kind, actor.origin, actor.session_id) == (
        ActorKind.USER,
        SessionOrigin.OIDC,
        None,
    )
    assert (actor.name, actor.is_staff, actor.address) == ("alice@sso.example", False, ADDRESS)
    assert user is not None
    assert (user.first_name, user.last_name, user.is_confirmed) == ("Alice", "Sso", True)
    kept = user_called(ports, "alice@sso.example")
    assert kept is not None
    assert kept.password_hash is None
    assert identities(ports) == [(provider.url, "alice", True)]


def test_a_token_that_was_seen_costs_one_statement_and_no_call(
    ports: Ports, provider: OwnProvider
) -> None:
    token = provider.access_token()
    who(ports, token)
    before = calls(ports)

    with recorded_statements() as statements:
        assert who(ports, token).actor.is_user

    assert len(statements) == 1
    assert calls(ports) == before
