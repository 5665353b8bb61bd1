"""Every attempt to sign in is recorded with its result and reason."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

import pytest
from sqlalchemy.orm import Session
from typing_extensions import override

from app import models
from app.domain.accounts.email_links import LinkPurpose
from app.domain.apps.apps import last_four, token_digest
from app.domain.authorization.actor import Actor
from app.domain.second_factors import Challenge
from app.domain.shop.settings import PasswordLoginMode
from app.domain.sign_in.sign_in_log import AccountType, SignInMethod, SignInReason, SignInRefusal
from app.domain.values.errors import Problem, Refused
from app.ports import Ports, Subject
from app.ports.passwords import Match, PasswordsBusy
from app.services.accounts.email_links import make_link
from app.services.accounts.password_changes import set_password
from app.services.console.console_sessions import (
    ConsoleSession,
    finish_console_sign_in,
    set_password_at_console,
    sign_in_to_console,
)
from app.services.identity.identify import Visitor, identify
from app.services.second_factors.challenges import SecondFactorRequired
from app.services.sign_in.tokens import refresh_token
from app.services.sign_in_log.recording import SignInEntry, logged_sign_in
from app.services.single_sign_on.provider_sessions import refresh_external_session
from tests.builders.apps import make_app
from tests.builders.people import ADDRESS, NOBODY, PASSWORD, change_user, make_staff, make_user
from tests.builders.people import sign_in as make_session
from tests.builders.second_factors import make_authenticator_app
from tests.builders.shop import configure_shop, set_mode
from tests.builders.sign_in_events import stored_sign_ins
from tests.fakes.clock import FakeClock
from tests.fakes.interrupted_database import InterruptedDatabase
from tests.fakes.sign_in_log import FakeSignInLog
from tests.servers.own_provider import OwnProvider
from tests.services import provider_logins
from tests.services.logins import EMAIL, GHOST, log_in, stored_sessions

SAFARI = "Mozilla/5.0 (iPhone) AppleWebKit/605.1.15 Version/18.0 Safari/604.1"
VISITOR = replace(NOBODY, user_agent=SAFARI)
STAFF = "staff@example.com"
NEW = "nine lazy Störche by the sea"


@pytest.fixture
def log(ports: Ports) -> FakeSignInLog:
    assert isinstance(ports.sign_in_log, FakeSignInLog)
    return ports.sign_in_log


def refused(log: FakeSignInLog, act: Callable[[], object]) -> SignInRefusal:
    """The refusal that ``act`` is counted as."""
    before = len(log.refusals)
    with pytest.raises(Refused):
        act()
    [refusal] = log.refusals[before:]
    return refusal


def test_success_is_written_with_its_session(ports: Ports, log: FakeSignInLog) -> None:
    user_id = make_user(ports)
    log_in(ports, " Customer@example.com", actor=VISITOR)

    [entry] = stored_sign_ins(ports)
    now = ports.clock.now()
    assert (entry.at, entry.first_at, entry.attempts) == (now, now, 1)
    assert (entry.method, entry.reason, entry.user_id) == ("PASSWORD", "", user_id)
    assert (entry.name, entry.account_type) == (EMAIL, AccountType.CUSTOMER)
    assert (entry.address, entry.device) == (ADDRESS, "Safari on iPhone")
    assert (entry.in_console, log.refusals) == (False, [])


@pytest.mark.both_databases
def test_session_and_entry_are_stored_together(ports: Ports, log: FakeSignInLog) -> None:
    make_user(ports)
    with pytest.raises(ArithmeticError):
        log_in(replace(ports, database=_FailingCommit(ports.database)))
    assert (stored_sessions(ports), stored_sign_ins(ports), log.refusals) == ([], [], [])


def test_refused_password_is_counted_with_its_reason(ports: Ports, log: FakeSignInLog) -> None:
    configure_shop(ports, enable_account_confirmation_by_email=True)
    make_user(ports)
    make_user(ports, "sso@example.com", password=None)
    make_user(ports, "inactive@example.com", is_active=False)
    make_user(ports, "new@example.com", is_confirmed=False)
    for email, password, reason in (
        (EMAIL, "wrong", SignInReason.INCORRECT_PASSWORD),
        (GHOST, PASSWORD, SignInReason.UNKNOWN_EMAIL),
        ("sso@example.com", PASSWORD, SignInReason.NO_PASSWORD),
        ("inactive@example.com", PASSWORD, SignInReason.INACTIVE),
        ("inactive@example.com", "wrong", SignInReason.INCORRECT_PASSWORD),
        ("new@example.com", PASSWORD, SignInReason.NOT_CONFIRMED),
    ):
        refusal = refused(log, partial(log_in, ports, email.upper(), password, VISITOR))
        assert refusal == SignInRefusal(SignInMethod.PASSWORD, reason, ADDRESS, email)
        assert log.user_agents[-1] == SAFARI
        ports.throttle.unblock(ADDRESS)
    assert stored_sign_ins(ports) == []


def test_blocked_ip_and_busy_server_have_their_own_reasons(
    ports: Ports, log: FakeSignInLog
) -> None:
    make_user(ports)
    assert refused(log, lambda: log_in(ports, EMAIL, "wrong")).reason == "INCORRECT_PASSWORD"
    blocked = refused(log, lambda: log_in(ports))
    assert (blocked.reason, blocked.email) == (SignInReason.BLOCKED_IP, EMAIL)

    busy = replace(ports, passwords=_BusyHasher())
    elsewhere = replace(NOBODY, address="192.0.2.1")
    assert refused(log, lambda: log_in(busy, actor=elsewhere)).reason == "UNAVAILABLE"


def test_password_login_that_is_off_is_a_reason(ports: Ports, log: FakeSignInLog) -> None:
    make_user(ports)
    set_mode(ports, PasswordLoginMode.DISABLED)
    assert refused(log, lambda: log_in(ports)).reason is SignInReason.PASSWORD_LOGIN_OFF


def test_incomplete_request_is_not_recorded(ports: Ports, log: FakeSignInLog) -> None:
    with pytest.raises(Refused):
        log_in(ports, EMAIL, None)
    assert log.refusals == []


def test_console_sign_ins_are_marked(ports: Ports, log: FakeSignInLog) -> None:
    make_user(ports)
    staff_id = make_staff(ports, STAFF)
    sign_in_to_console(ports, NOBODY, email=STAFF, password=PASSWORD)
    [entry] = stored_sign_ins(ports)
    assert (entry.user_id, entry.account_type, entry.in_console) == (staff_id, "STAFF", True)

    refusal = refused(
        log, lambda: sign_in_to_console(ports, NOBODY, email=EMAIL, password=PASSWORD)
    )
    assert (refusal.reason, refusal.email) == (SignInReason.NOT_STAFF, EMAIL)
    assert refusal.in_console


def test_password_set_by_a_link_signs_in(ports: Ports, log: FakeSignInLog) -> None:
    user_id = make_staff(ports, STAFF)

    def set_it(token: str, password: str = NEW) -> object:
        return set_password(ports, NOBODY, email=STAFF, password=password, token=token)

    set_it(_link(ports, user_id))
    token = _link(ports, user_id)
    set_password_at_console(ports, NOBODY, email=STAFF, password=NEW, token=token)
    entries = [(one.method, one.user_id, one.in_console) for one in stored_sign_ins(ports)]
    assert entries == [("LINK", user_id, False), ("LINK", user_id, True)]

    refusal = refused(log, lambda: set_it(token))
    assert (refusal.reason, refusal.email) == (SignInReason.LINK_INVALID, STAFF)
    with pytest.raises(Refused):
        set_it(_link(ports, user_id), "weak")
    assert log.refusals == [refusal]


def test_refused_second_factor_has_its_reason(ports: Ports, log: FakeSignInLog) -> None:
    reasons = {
        ("INVALID_SECOND_FACTOR", "code"): SignInReason.INCORRECT_CODE,
        ("INVALID_SECOND_FACTOR", "credential"): SignInReason.PASSKEY_REFUSED,
        ("INVALID", "challenge"): SignInReason.CHALLENGE_ENDED,
        ("INVALID", "token"): SignInReason.LINK_INVALID,
    }
    entry = SignInEntry(SignInMethod.PASSWORD, email=EMAIL, reason=SignInReason.LINK_INVALID)
    for code, field in reasons:
        with pytest.raises(Refused), logged_sign_in(ports, NOBODY, entry):
            raise Refused(Problem(code, "It is wrong.", field))
    assert [one.reason for one in log.refusals] == [*reasons.values()]


def test_password_that_waits_for_a_second_factor_is_no_failure(
    ports: Ports, log: FakeSignInLog
) -> None:
    entry = SignInEntry(SignInMethod.PASSWORD, email=EMAIL)
    with pytest.raises(SecondFactorRequired), logged_sign_in(ports, NOBODY, entry):
        raise SecondFactorRequired(Challenge("challenge", ports.clock.now()))
    assert log.refusals == []


def test_refused_refresh_names_the_tokens_user(
    ports: Ports, log: FakeSignInLog, clock: FakeClock
) -> None:
    user_id = make_user(ports)
    pair = make_session(ports, user_id)

    def refresh(token: str) -> SignInRefusal:
        return refused(log, lambda: refresh_token(ports, NOBODY, token=token))

    found = [refresh("garbage"), refresh(pair.access)]
    change_user(ports, user_id, is_active=False)
    found.append(refresh(pair.refresh))
    clock.pass_(hours=31 * 24)
    found.append(refresh(pair.refresh))

    assert {one.method for one in found} == {SignInMethod.REFRESH}
    assert [(one.reason, one.user_id) for one in found] == [
        (SignInReason.TOKEN_INVALID, None),
        (SignInReason.TOKEN_INVALID, user_id),
        (SignInReason.SESSION_ENDED, user_id),
        (SignInReason.TOKEN_EXPIRED, user_id),
    ]
    with pytest.raises(Refused):
        refresh_token(ports, NOBODY, token=None)
    assert len(log.refusals) == 4


def test_refused_app_token_is_counted(ports: Ports, log: FakeSignInLog) -> None:
    _, token = make_app(ports, is_active=False)
    visitor = Visitor(token, ADDRESS, "ledgerly-sync/3.1")
    assert not identify(ports, visitor).actor.is_app
    [refusal] = log.refusals
    assert refusal == SignInRefusal(
        SignInMethod.APP_TOKEN,
        SignInReason.TOKEN_INVALID,
        ADDRESS,
        token_digest=token_digest(token),
        token_end=last_four(token),
    )
    assert log.user_agents == ["ledgerly-sync/3.1"]


def test_sign_ins_with_a_provider(ports: Ports, log: FakeSignInLog, provider: OwnProvider) -> None:
    provider_logins.sign_in(ports, provider)
    [entry] = stored_sign_ins(ports)
    assert (entry.method, entry.provider, entry.name) == (
        "SSO",
        "OpenID Connect",
        "alice@sso.example",
    )
    assert entry.account_type == AccountType.CUSTOMER

    def finish(state: str) -> SignInRefusal:
        return refused(log, lambda: provider_logins.finish(ports, state))

    expired = finish("no state")
    unknown_code = finish(provider_logins.begin(ports)["state"])
    make_user(ports, "bob@sso.example")
    begun = provider_logins.begin(ports)
    id_token = provider.sign(
        provider.id_claims(begun["nonce"], "bob", email="bob@sso.example", email_verified=False)
    )
    provider_logins.grant(provider, begun, id_token=id_token)
    provider.known(f"access for {provider_logins.CODE}", "bob", email_verified=False)
    unlinked = finish(begun["state"])

    assert [(one.reason, one.email) for one in (expired, unknown_code, unlinked)] == [
        (SignInReason.SSO_EXPIRED, ""),
        (SignInReason.SSO_REFUSED, ""),
        (SignInReason.SSO_NOT_LINKED, "bob@sso.example"),
    ]
    assert {one.provider for one in log.refusals} == {"OpenID Connect"}


def test_only_staff_sign_in_to_the_console_with_a_provider(
    ports: Ports, log: FakeSignInLog, provider: OwnProvider
) -> None:
    def finish(actor: Actor = NOBODY) -> ConsoleSession:
        begun = provider_logins.begin(ports)
        provider_logins.grant(provider, begun)
        return finish_console_sign_in(
            ports,
            actor,
            plugin_id=provider_logins.PLUGIN,
            code=provider_logins.CODE,
            state=begun["state"],
        )

    refusal = refused(log, finish)
    assert (refusal.reason, refusal.email) == (SignInReason.NOT_STAFF, "alice@sso.example")
    make_staff(ports, "alice@sso.example")
    other = refused(log, lambda: finish(replace(NOBODY, user_id=999)))
    assert other.reason is SignInReason.SSO_OTHER_PERSON
    entered = finish()
    [entry] = stored_sign_ins(ports)
    assert (entry.account_type, entry.in_console) == (AccountType.STAFF, True)
    # With a second factor here, the provider's password alone proves nothing.
    make_authenticator_app(ports, entered.user_id)
    assert [entered.proved_ago, finish().proved_ago] == [0, 1e9]


def test_refresh_that_the_provider_refuses(
    ports: Ports, log: FakeSignInLog, provider: OwnProvider
) -> None:
    tokens = provider_logins.sign_in(ports, provider)
    user_id = tokens.user.id
    refusal = refused(
        log,
        lambda: refresh_external_session(
            ports, NOBODY, plugin_id=provider_logins.PLUGIN, token=tokens.refresh
        ),
    )
    assert (refusal.method, refusal.user_id) == (SignInMethod.REFRESH, user_id)
    assert refusal.provider == "OpenID Connect"


class _FailingCommit(InterruptedDatabase):
    """Rolls each transaction back when all was written."""

    @override
    @contextmanager
    def transaction(self, *subjects: Subject, signs_in: bool = False) -> Iterator[Session]:
        with super().transaction(*subjects, signs_in=signs_in) as session:
            yield session
            session.flush()
            raise ArithmeticError


class _BusyHasher:
    def verify_sign_in(
        self, password_hash: str | None, password: str, imported_seconds: float = 0
    ) -> Match:
        raise PasswordsBusy

    verify = verify_sign_in

    def verify_token(self, token_hash: str, token: str) -> bool:
        raise PasswordsBusy

    def hash(self, password: str) -> str:
        raise PasswordsBusy

    def needs_rehash(self, password_hash: str, match: Match = Match.RIGHT) -> bool:
        return False


def _link(ports: Ports, user_id: int) -> str:
    with ports.database.transaction() as session:
        user = session.get_one(models.User, user_id)
        return make_link(ports, session, user, LinkPurpose.SET_PASSWORD)
