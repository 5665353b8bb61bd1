"""Single-use refresh tokens: contract, "Operations" (announced), RFC 9700, 4.14.2."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier

import pytest
from sqlalchemy import delete

from app import models
from app.domain.authorization.actor import SessionOrigin
from app.domain.shop.settings import PasswordLoginMode
from app.domain.values.errors import Refused
from app.ports import Ports
from app.services.identity.identify import identify
from app.services.sign_in.password_login import create_token
from app.services.sign_in.tokens import GRACE, TokenPair, refresh_token, verify_token
from tests.builders.audit import trail
from tests.builders.people import ADDRESS, NOBODY, PASSWORD, make_user, sign_in, visit
from tests.builders.shop import set_mode
from tests.builders.tokens import altered, claims_in
from tests.fakes.clock import FakeClock
from tests.services.logins import stored_sessions

WAIT = 30


def single_use(ports: Ports) -> Ports:
    configuration = replace(ports.configuration, single_use_refresh_tokens=True)
    return replace(ports, configuration=configuration)


def refresh(ports: Ports, token: str) -> TokenPair:
    return refresh_token(single_use(ports), NOBODY, token=token)


def successor(ports: Ports, token: str) -> str:
    refreshed = refresh(ports, token).refresh
    assert refreshed is not None
    return refreshed


def assert_refused(ports: Ports, token: str) -> None:
    with pytest.raises(Refused) as refused:
        refresh(ports, token)
    [problem] = refused.value.problems
    assert (problem.field, problem.code) == (None, "JWT_INVALID_TOKEN")


def is_alive(ports: Ports, access: str) -> bool:
    return identify(ports, visit(access)).actor.is_user


def test_refresh_returns_the_next_refresh_token(ports: Ports, clock: FakeClock) -> None:
    pair = sign_in(ports, make_user(ports))
    clock.pass_(hours=1)

    following = successor(ports, pair.refresh)

    before, after = claims_in(ports, pair.refresh), claims_in(ports, following)
    assert before["csrf_token"] != after["csrf_token"]
    changed = {"iat": int(clock.timestamp()), "csrf_token": after["csrf_token"]}
    assert after == {**before, **changed}, "same session, same end"


def test_refresh_tokens_can_be_chained_until_the_session_ends(
    ports: Ports, clock: FakeClock
) -> None:
    token = sign_in(ports, make_user(ports), SessionOrigin.OIDC).refresh

    for _ in range(3):
        clock.pass_(hours=200)
        refreshed = refresh(ports, token)
        assert refreshed.refresh
        token = refreshed.refresh
        assert identify(ports, visit(refreshed.access)).actor.origin is SessionOrigin.OIDC

    clock.pass_(hours=121)
    with pytest.raises(Refused) as refused:
        refresh(ports, token)
    assert refused.value.problems[0].code == "JWT_SIGNATURE_EXPIRED"


def test_refresh_token_used_twice_ends_the_session(ports: Ports, clock: FakeClock) -> None:
    pair = sign_in(ports, make_user(ports))
    following = refresh(ports, pair.refresh)

    clock.pass_(seconds=GRACE.total_seconds() + 1)
    assert_refused(ports, pair.refresh)

    assert not is_alive(ports, pair.access)
    assert not is_alive(ports, following.access)
    assert following.refresh
    assert_refused(ports, following.refresh)


@pytest.mark.both_databases
def test_used_token_gets_the_same_successor_for_a_few_seconds(
    ports: Ports, second_process: Ports, clock: FakeClock
) -> None:
    pair = sign_in(ports, make_user(ports))
    first = successor(ports, pair.refresh)
    clock.pass_(seconds=GRACE.total_seconds())
    second = successor(second_process, pair.refresh)
    assert claims_in(ports, first)["csrf_token"] == claims_in(ports, second)["csrf_token"]

    clock.pass_(hours=1)
    third = successor(ports, second)
    assert claims_in(ports, successor(ports, first)) == claims_in(ports, third)
    clock.pass_(hours=1)
    assert_refused(ports, first)
    assert stored_sessions(ports) == []


@pytest.mark.both_databases
def test_grace_period_ends_when_the_successor_is_used(ports: Ports) -> None:
    pair = sign_in(ports, make_user(ports))
    successor(ports, successor(ports, pair.refresh))
    assert_refused(ports, pair.refresh)
    assert stored_sessions(ports) == []


def test_session_ended_by_token_reuse_is_audited(ports: Ports, clock: FakeClock) -> None:
    user_id = make_user(ports)
    pair = sign_in(ports, user_id)
    refresh(ports, pair.refresh)

    clock.pass_(minutes=1)
    assert_refused(ports, pair.refresh)

    [row] = trail(ports, "session.end")
    assert (row.actor_kind, row.address) == ("anonymous", ADDRESS)
    assert (row.subject_type, row.subject_id) == ("User", str(user_id))
    assert row.subject_name == "customer@example.com"
    assert row.after == {"reason": "A refresh token was used twice."}


def test_reuse_ends_no_other_session_of_the_user(ports: Ports, clock: FakeClock) -> None:
    user_id = make_user(ports)
    pair, other = sign_in(ports, user_id), sign_in(ports, user_id)
    refresh(ports, pair.refresh)

    clock.pass_(minutes=1)
    assert_refused(ports, pair.refresh)

    assert is_alive(ports, other.access)
    assert refresh(ports, other.refresh).access


@pytest.mark.both_databases
def test_concurrent_uses_get_equal_tokens_and_keep_the_session(ports: Ports) -> None:
    rivals = 8
    pair = sign_in(ports, make_user(ports))
    together = Barrier(rivals, timeout=60)

    def use() -> str:
        together.wait(WAIT)
        return successor(ports, pair.refresh)

    with ThreadPoolExecutor(rivals) as threads:
        futures = [threads.submit(use) for _ in range(rivals)]
        answers = [future.result(WAIT) for future in futures]

    assert len({claims_in(ports, answer)["csrf_token"] for answer in answers}) == 1
    assert len(stored_sessions(ports)) == 1
    assert refresh(ports, answers[0]).access


def test_refresh_token_that_was_never_issued_ends_the_session(ports: Ports) -> None:
    user_id = make_user(ports)
    for csrf_token in (..., "", "x" * 64, 7):
        token = altered(ports, sign_in(ports, user_id).refresh, csrf_token=csrf_token)

        assert_refused(ports, token)
        assert stored_sessions(ports) == [], csrf_token


def test_session_ended_meanwhile_is_not_refreshed(ports: Ports) -> None:
    pair = sign_in(ports, make_user(ports))
    with ports.database.transaction() as session:
        session.execute(delete(models.Session))

    assert_refused(ports, pair.refresh)
    assert trail(ports, "session.end") == []


def test_verifying_a_refresh_token_does_not_use_it(ports: Ports) -> None:
    user_id = make_user(ports)
    pair = sign_in(ports, user_id)

    assert verify_token(single_use(ports), NOBODY, token=pair.refresh).user.id == user_id
    assert refresh(ports, pair.refresh).refresh


def test_refused_refresh_does_not_use_the_token(ports: Ports) -> None:
    pair = sign_in(ports, make_user(ports))
    set_mode(ports, PasswordLoginMode.DISABLED)
    with pytest.raises(Refused):
        refresh(ports, pair.refresh)
    set_mode(ports, PasswordLoginMode.ENABLED)

    assert refresh(ports, pair.refresh).refresh


def test_audience_is_kept_on_refresh(ports: Ports) -> None:
    make_user(ports)
    pair = create_token(
        ports, NOBODY, email="customer@example.com", password=PASSWORD, audience="custom:x"
    )

    refreshed = refresh(ports, pair.refresh)

    assert refreshed.refresh
    tokens = (refreshed.access, refreshed.refresh)
    assert [claims_in(ports, token)["aud"] for token in tokens] == ["custom:x", "custom:x"]


def test_existing_session_changes_to_single_use(ports: Ports, clock: FakeClock) -> None:
    pair = sign_in(ports, make_user(ports))
    for _ in range(2):
        assert not refresh_token(ports, NOBODY, token=pair.refresh).refresh

    following = successor(ports, pair.refresh)

    clock.pass_(minutes=1)
    assert_refused(ports, pair.refresh)
    assert_refused(ports, following)


def test_disabling_the_setting_makes_used_tokens_valid_again(ports: Ports) -> None:
    pair = sign_in(ports, make_user(ports))
    successor(ports, pair.refresh)

    assert refresh_token(ports, NOBODY, token=pair.refresh).access


def test_stored_digest_is_not_a_refresh_token(ports: Ports) -> None:
    pair = sign_in(ports, make_user(ports))
    following = successor(ports, pair.refresh)

    [session] = stored_sessions(ports)
    for token in (pair.refresh, following):
        assert session.refresh_digest not in token
        assert session.refresh_digest != claims_in(ports, token)["csrf_token"]
