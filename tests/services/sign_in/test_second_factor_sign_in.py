"""Accounts with a second factor: a password gives a challenge, a code the tokens."""

from datetime import timedelta

import pytest

from app.domain.accounts.email_links import LinkPurpose
from app.domain.authorization.actor import OPERATOR, SessionOrigin
from app.domain.second_factors import MAX_CHALLENGE_FAILURES, SecondFactorType
from app.domain.shop.settings import PasswordLoginMode
from app.domain.sign_in.sign_in_log import SignInMethod
from app.domain.values.pages import PageRequest
from app.ports import Ports
from app.services.accounts.password_changes import set_password
from app.services.identity.identify import identify
from app.services.second_factors.challenges import SecondFactorRequired
from app.services.sign_in.password_login import create_token
from app.services.sign_in.sessions import SecondFactorSkipped
from app.services.sign_in.tokens import refresh_token
from app.services.sign_in_log.events import list_sign_ins
from tests.builders.links import link_for
from tests.builders.people import (
    ADDRESS,
    NOBODY,
    PASSWORD,
    change_user,
    make_user,
    sign_in,
    user_as_stored,
    visit,
)
from tests.builders.second_factor_rule import require_second_factor
from tests.builders.second_factors import make_recovery_codes, one_time_code
from tests.builders.shop import set_mode
from tests.builders.tokens import claims_in
from tests.fakes.clock import START, FakeClock
from tests.fixtures.statements import recorded_statements
from tests.services.logins import EMAIL, OTHER, counted, fail, log_in, refusal_of, stored_sessions
from tests.services.sign_in.second_factors import (
    WRONG_CODE,
    challenged,
    finish,
    make_protected,
    problem_of_code,
    refusal_of_code,
    stored_challenges,
    verify,
)
from tests.services.sign_in.test_refresh_tokens import single_use

NEW = "nine lazy Störche by the sea"
ENDED = ("challenge", "INVALID")
INCORRECT = ("code", "INVALID_SECOND_FACTOR")
METHODS = ["pwd", "otp", "mfa"]


def test_right_password_gives_a_challenge_and_no_session(ports: Ports) -> None:
    user = make_protected(ports)
    make_recovery_codes(ports, user.id)

    challenge = challenged(ports)

    assert challenge.types == (SecondFactorType.AUTHENTICATOR_APP, SecondFactorType.RECOVERY_CODES)
    assert challenge.expires_at == START + timedelta(minutes=5)
    assert stored_sessions(ports) == []
    assert user_as_stored(ports, user.id).last_login is None
    [stored] = stored_challenges(ports)
    assert challenge.token not in (stored.digest, repr(stored), repr(challenge))


def test_code_gives_the_tokens_that_the_password_would(ports: Ports) -> None:
    user = make_protected(ports)
    challenge = challenged(ports)

    pair = verify(ports, challenge.token, one_time_code(ports, user.secret))

    identity = identify(ports, visit(pair.access))
    assert (identity.actor.user_id, identity.actor.origin) == (user.id, SessionOrigin.PASSWORD)
    assert identity.actor.amr == ("pwd", "otp", "mfa")
    assert claims_in(ports, pair.access)["amr"] == claims_in(ports, pair.refresh)["amr"] == METHODS
    [session] = stored_sessions(ports)
    assert (session.expires_at - START).days == 30
    assert (session.user_id, session.address) == (user.id, ADDRESS)
    assert user_as_stored(ports, user.id).last_login == START
    assert stored_challenges(ports) == []


def test_accounts_without_a_factor_sign_in_as_ever(ports: Ports) -> None:
    user_id = make_user(ports)
    make_recovery_codes(ports, user_id)  # by themselves they are no second factor
    pair = log_in(ports)
    assert "amr" not in claims_in(ports, pair.access)
    assert identify(ports, visit(pair.access)).actor.amr == ()


def test_recovery_code_finishes_a_sign_in_once(ports: Ports, clock: FakeClock) -> None:
    user = make_protected(ports)
    codes = make_recovery_codes(ports, user.id)
    pair = verify(ports, challenged(ports).token, codes[0].upper())
    assert claims_in(ports, pair.access)["amr"] == METHODS
    again = challenged(ports)
    assert refusal_of_code(ports, again.token, codes[0]) == INCORRECT
    clock.pass_(seconds=2)
    verify(ports, again.token, codes[1])


def test_challenge_keeps_the_audience(ports: Ports) -> None:
    from_mobile = "custom:mobile"
    user = make_protected(ports)
    with pytest.raises(SecondFactorRequired) as required:
        create_token(ports, NOBODY, email=EMAIL, password=PASSWORD, audience=from_mobile)
    token = required.value.challenge.token
    pair = verify(ports, token, one_time_code(ports, user.secret))
    assert claims_in(ports, pair.access)["aud"] == from_mobile
    assert claims_in(ports, pair.refresh)["aud"] == from_mobile


def test_refreshed_tokens_keep_the_methods(ports: Ports, clock: FakeClock) -> None:
    pair = finish(ports, make_protected(ports))
    clock.pass_(seconds=400)
    refreshed = refresh_token(ports, NOBODY, token=pair.refresh)
    assert claims_in(ports, refreshed.access)["amr"] == METHODS
    following = refresh_token(single_use(ports), NOBODY, token=pair.refresh)
    assert following.refresh
    assert claims_in(ports, following.refresh)["amr"] == METHODS


def test_emailed_link_sets_the_password_and_asks_for_the_factor(
    ports: Ports, clock: FakeClock
) -> None:
    user = make_protected(ports)
    before = challenged(ports)
    link = link_for(ports, user.id, LinkPurpose.SET_PASSWORD)
    with pytest.raises(SecondFactorRequired) as required:
        set_password(ports, NOBODY, email=EMAIL, password=NEW, token=link)
    assert stored_sessions(ports) == []
    assert refusal_of(ports, password=PASSWORD) == ("email", "INVALID_CREDENTIALS")
    clock.pass_(seconds=1)
    code = one_time_code(ports, user.secret)
    assert refusal_of_code(ports, before.token, code) == ENDED
    pair = verify(ports, required.value.challenge.token, code)
    assert claims_in(ports, pair.access)["amr"] == METHODS


def test_session_by_password_cannot_begin_without_the_factor(ports: Ports) -> None:
    user = make_protected(ports)
    with pytest.raises(SecondFactorSkipped):
        sign_in(ports, user.id)
    assert stored_sessions(ports) == []
    sign_in(ports, user.id, SessionOrigin.OIDC)
    sign_in(ports, user.id, amr=("pwd", "otp", "mfa"))
    assert len(stored_sessions(ports)) == 2


def test_challenge_works_once(ports: Ports, clock: FakeClock) -> None:
    user = make_protected(ports)
    challenge = challenged(ports)
    verify(ports, challenge.token, one_time_code(ports, user.secret))
    clock.pass_(seconds=30)
    code = one_time_code(ports, user.secret)
    assert refusal_of_code(ports, challenge.token, code) == ENDED


def test_challenge_expires(ports: Ports, clock: FakeClock) -> None:
    user = make_protected(ports)
    challenge = challenged(ports)
    clock.pass_(seconds=300)
    code = one_time_code(ports, user.secret)
    assert refusal_of_code(ports, challenge.token, code) == ENDED


def test_wrong_code_says_how_many_attempts_are_left(ports: Ports, clock: FakeClock) -> None:
    make_protected(ports)
    challenge = challenged(ports)
    messages = []
    for failure in range(MAX_CHALLENGE_FAILURES):
        messages.append(problem_of_code(ports, challenge.token, WRONG_CODE).message)
        clock.pass_(seconds=2**failure)
    assert messages[0] == "Incorrect code. 4 attempts left."
    assert messages[3] == "Incorrect code. 1 attempt left."
    assert messages[4] == "Incorrect code. No attempts are left."
    assert refusal_of_code(ports, challenge.token, WRONG_CODE) == ENDED


def test_wrong_code_counts_in_the_throttle_like_a_wrong_password(
    ports: Ports, clock: FakeClock
) -> None:
    user = make_protected(ports)
    challenge = challenged(ports)
    assert refusal_of_code(ports, challenge.token, WRONG_CODE) == INCORRECT
    assert counted(ports) == (1, 1)
    code = one_time_code(ports, user.secret)
    assert refusal_of_code(ports, challenge.token, code) == (None, "LOGIN_ATTEMPT_DELAYED")
    clock.pass_(seconds=1)
    verify(ports, challenge.token, code)
    assert counted(ports) == (0, 0)


def test_right_password_alone_resets_no_failures(ports: Ports, clock: FakeClock) -> None:
    user = make_protected(ports)
    fail(ports)
    clock.pass_(seconds=1)
    challenge = challenged(ports)
    assert counted(ports) == (1, 1)
    verify(ports, challenge.token, one_time_code(ports, user.secret))
    assert counted(ports) == (0, 0)


@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        ({"is_active": False}, ("email", "INACTIVE")),
        ({"is_confirmed": False}, ("email", "ACCOUNT_NOT_CONFIRMED")),
    ],
)
def test_account_is_checked_again_with_the_code(
    ports: Ports, change: dict[str, bool], refusal: tuple[str, str]
) -> None:
    user = make_protected(ports)
    challenge = challenged(ports)
    change_user(ports, user.id, **change)
    code = one_time_code(ports, user.secret)
    assert refusal_of_code(ports, challenge.token, code) == refusal
    assert stored_sessions(ports) == []


def test_disabled_mode_refuses_the_code_too(ports: Ports) -> None:
    user = make_protected(ports)
    challenge = challenged(ports)
    set_mode(ports, PasswordLoginMode.DISABLED)
    code = one_time_code(ports, user.secret)
    refusal = (None, "DISABLED_AUTHENTICATION_METHOD")
    assert refusal_of_code(ports, challenge.token, code) == refusal
    set_mode(ports, PasswordLoginMode.ENABLED)
    verify(ports, challenge.token, code)


def test_staff_have_no_rights_in_customers_only_with_a_factor_either(ports: Ports) -> None:
    user = make_protected(ports, is_superuser=True)
    set_mode(ports, PasswordLoginMode.CUSTOMERS_ONLY)
    pair = finish(ports, user)
    assert (pair.user.is_staff, pair.user.permissions) == (False, frozenset())


def test_sessions_with_a_factor_cost_no_statement_more(ports: Ports) -> None:
    user = make_protected(ports, is_staff=True)
    require_second_factor(ports)
    plain = sign_in(ports, make_user(ports, OTHER))
    costs = []
    for pair in (finish(ports, user), plain):
        identify(ports, visit(pair.access))
        refresh_token(ports, NOBODY, token=pair.refresh)
        with recorded_statements() as identifying:
            assert identify(ports, visit(pair.access)).actor.is_user
        with recorded_statements() as refreshing:
            refresh_token(ports, NOBODY, token=pair.refresh)
        costs.append((len(identifying), len(refreshing)))
    # The version of the key ring, to sign with the current key, is in the same statement.
    assert costs == [(1, 1), (1, 1)]


@pytest.mark.both_databases
def test_sign_in_without_a_factor_costs_one_read_of_factors(ports: Ports) -> None:
    make_user(ports)
    log_in(ports)
    with recorded_statements() as statements:
        log_in(ports)
    assert sum("authenticator_apps" in statement for statement in statements) == 1
    assert not any("second_factor_challenges" in statement for statement in statements)


def test_sign_in_log_names_the_factors_used(ports: Ports, clock: FakeClock) -> None:
    user = make_protected(ports)
    [code, *_] = make_recovery_codes(ports, user.id)
    verify(ports, challenged(ports).token, one_time_code(ports, user.secret))
    clock.pass_(seconds=60)
    verify(ports, challenged(ports).token, code)
    make_user(ports, "plain@example.com")
    create_token(ports, NOBODY, email="plain@example.com", password=PASSWORD)
    logged = list_sign_ins(ports, OPERATOR, PageRequest(10)).items
    assert [(entry.method, entry.second_factor) for entry in reversed(logged)] == [
        (SignInMethod.PASSWORD, SecondFactorType.AUTHENTICATOR_APP),
        (SignInMethod.PASSWORD, SecondFactorType.RECOVERY_CODES),
        (SignInMethod.PASSWORD, None),
    ]
