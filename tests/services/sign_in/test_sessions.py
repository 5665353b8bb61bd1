"""Sessions and their end: contract, "Sessions" and `tokensDeactivateAll`."""

import pytest
from sqlalchemy import select

from app import models
from app.domain.authorization.actor import OPERATOR, WORKER, Actor, SessionOrigin
from app.domain.shop.settings import PasswordLoginMode
from app.domain.values.errors import PermissionDenied, Refused, TokenFault, TokenRejected
from app.ports import Ports
from app.services.identity.identify import identify
from app.services.sign_in.sessions import deactivate_all_tokens, end_sessions
from app.services.sign_in.tokens import TokenPair, refresh_token, verify_token
from tests.builders.apps import make_app
from tests.builders.audit import trail
from tests.builders.people import ADDRESS, NOBODY, make_staff, make_user, sign_in, visit
from tests.builders.shop import set_mode
from tests.builders.tokens import claims_in, extension_of
from tests.fakes.clock import START, FakeClock
from tests.fixtures.cases import cases
from tests.services.invalid_tokens import broken_tokens
from tests.services.logins import stored_sessions


def actor(ports: Ports, credential: str | None) -> Actor:
    return identify(ports, visit(credential)).actor


def assert_dead(ports: Ports, pair: TokenPair) -> None:
    """Assert that nothing which speaks for the session of ``pair`` works."""
    app_id, _ = make_app(ports)
    extension = extension_of(ports, pair.access, app_id)
    for token in (pair.access, extension):
        assert actor(ports, token).fault is TokenFault.INVALID
    with pytest.raises(Refused):
        refresh_token(ports, NOBODY, token=pair.refresh)
    for token in (pair.access, pair.refresh, extension):
        with pytest.raises(Refused) as refused:
            verify_token(ports, NOBODY, token=token)
        assert refused.value.problems[0].code == "JWT_INVALID_TOKEN"


def assert_alive(ports: Ports, pair: TokenPair) -> None:
    app_id, _ = make_app(ports)
    for token in (pair.access, extension_of(ports, pair.access, app_id)):
        assert actor(ports, token).is_user
    assert refresh_token(ports, NOBODY, token=pair.refresh).access


def test_signing_out_everywhere_ends_every_session(ports: Ports) -> None:
    user_id = make_user(ports)
    pairs = [
        sign_in(ports, user_id),
        sign_in(ports, user_id),
        sign_in(ports, user_id, SessionOrigin.OIDC),
    ]

    deactivate_all_tokens(ports, actor(ports, pairs[0].access))

    for pair in pairs:
        assert_dead(ports, pair)
    assert stored_sessions(ports) == []


def test_signing_out_everywhere_affects_no_one_else(ports: Ports) -> None:
    mine = sign_in(ports, make_user(ports))
    other = sign_in(ports, make_user(ports, "other@example.com"))

    deactivate_all_tokens(ports, actor(ports, mine.access))

    assert_alive(ports, other)


def test_new_login_works_after_signing_out_everywhere(ports: Ports) -> None:
    user_id = make_user(ports)
    deactivate_all_tokens(ports, actor(ports, sign_in(ports, user_id).access))

    assert_alive(ports, sign_in(ports, user_id))


def test_provider_tokens_issued_before_a_sign_out_are_recognized(
    ports: Ports, clock: FakeClock
) -> None:
    user_id = make_user(ports)
    caller = actor(ports, sign_in(ports, user_id).access)
    clock.pass_(hours=1)

    deactivate_all_tokens(ports, caller)

    with ports.database.reading() as session:
        assert session.scalar(select(models.User.tokens_valid_after)) == clock.now()


def test_signing_out_everywhere_is_audited(ports: Ports) -> None:
    user_id = make_user(ports)
    pair = sign_in(ports, user_id)
    sign_in(ports, user_id)

    deactivate_all_tokens(ports, actor(ports, pair.access))

    [row] = trail(ports, "tokens.deactivate_all")
    assert (row.actor_kind, row.actor_user_id) == ("user", user_id)
    assert (row.actor_name, row.address, row.at) == ("customer@example.com", ADDRESS, START)
    assert (row.subject_type, row.subject_id) == ("User", str(user_id))
    assert (row.before, row.after) == ({"sessions": 2}, {})


def test_app_has_no_sessions_to_end(ports: Ports) -> None:
    _, token = make_app(ports)

    with pytest.raises(PermissionDenied) as denied:
        deactivate_all_tokens(ports, actor(ports, token))

    assert denied.value.required == ("AUTHENTICATED_USER",)


@cases("caller", [NOBODY, OPERATOR, WORKER])
def test_anonymous_callers_cannot_sign_out_everywhere(ports: Ports, caller: Actor) -> None:
    with pytest.raises(PermissionDenied) as denied:
        deactivate_all_tokens(ports, caller)

    assert denied.value.required == ("AUTHENTICATED_USER",)


def test_broken_token_ends_no_session_and_is_rejected_with_its_fault(ports: Ports) -> None:
    pair = sign_in(ports, make_user(ports))
    broken = broken_tokens(ports, pair.access)

    faults = {}
    for name, (token, _) in broken.items():
        with pytest.raises(TokenRejected) as rejected:
            deactivate_all_tokens(ports, actor(ports, token))
        faults[name] = rejected.value.fault

    assert faults == {name: fault for name, (_, fault) in broken.items()}
    assert_alive(ports, pair)


def test_password_session_cannot_sign_out_everywhere_while_disabled(ports: Ports) -> None:
    pair = sign_in(ports, make_staff(ports))
    set_mode(ports, PasswordLoginMode.DISABLED)

    with pytest.raises(TokenRejected) as rejected:
        deactivate_all_tokens(ports, actor(ports, pair.access))

    assert rejected.value.fault is TokenFault.INVALID
    assert len(stored_sessions(ports)) == 1


def test_signed_out_token_is_rejected_afterwards(ports: Ports) -> None:
    pair = sign_in(ports, make_user(ports))
    deactivate_all_tokens(ports, actor(ports, pair.access))

    with pytest.raises(TokenRejected):
        deactivate_all_tokens(ports, actor(ports, pair.access))


@pytest.mark.both_databases
def test_ended_session_is_rejected_at_once_in_every_process(
    ports: Ports, second_process: Ports
) -> None:
    pair = sign_in(ports, make_user(ports))
    assert_alive(second_process, pair)

    deactivate_all_tokens(ports, actor(ports, pair.access))

    assert_dead(second_process, pair)


@pytest.mark.both_databases
def test_session_is_valid_in_every_process(ports: Ports, second_process: Ports) -> None:
    assert_alive(second_process, sign_in(ports, make_user(ports)))


def test_all_other_sessions_can_be_ended(ports: Ports) -> None:
    user_id = make_user(ports)
    kept, ended, other = (
        sign_in(ports, user_id),
        sign_in(ports, user_id),
        sign_in(ports, make_user(ports, "other@example.com")),
    )
    but = actor(ports, kept.access).session_id

    with ports.database.transaction() as session:
        assert end_sessions(ports, session, user_id, but=but) == 1

    assert_alive(ports, kept)
    assert_dead(ports, ended)
    assert_alive(ports, other)


def test_ending_other_sessions_keeps_provider_tokens(ports: Ports) -> None:
    user_id = make_user(ports)
    but = actor(ports, sign_in(ports, user_id).access).session_id

    with ports.database.transaction() as session:
        assert end_sessions(ports, session, user_id, but=but) == 0

    with ports.database.reading() as session:
        assert session.scalar(select(models.User.tokens_valid_after)) is None


def test_session_ids_are_unique(ports: Ports) -> None:
    user_id = make_user(ports)

    names = {claims_in(ports, sign_in(ports, user_id).access)["token"] for _ in range(20)}

    assert len(names) == 20
