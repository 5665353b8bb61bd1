"""Tokens that apps bring along from another installation."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import delete, select, update
from typing_extensions import override

from app import models
from app.domain.apps.apps import token_digest
from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import Permission
from app.domain.sign_in.rate_limits import IMPORTED_TOKEN, RateLimitPolicy, parse_rates
from app.domain.sign_in.sign_in_log import SignInMethod, SignInReason
from app.domain.values.errors import TokenFault, TooManyRequests
from app.ports import Ports
from app.ports.passwords import PasswordsBusy
from app.services.apps.app_tokens import verify_app_token
from app.services.identity.identify import Identity, identify
from app.services.identity.imported_tokens import FAILED_SECONDS, MAX_COMPARISONS
from tests.builders.apps import change_app, import_token, make_app
from tests.builders.people import ADDRESS, NOBODY, make_user, sign_in, visit
from tests.fakes.clock import FakeClock
from tests.fakes.passwords import FakeHasher, InterruptedHasher
from tests.fakes.sign_in_log import FakeSignInLog
from tests.fixtures.statements import recorded_statements
from tests.servers.own_provider import OwnProvider

TOKEN = "Zx81SpectrumQl68008Commodore64"
"""30 letters and digits, as the platform makes them."""

OTHERS = tuple(f"{number}wrongBearerWithARightEnding{TOKEN[-4:]}" for number in range(5))
USER_INFO = "/userinfo"


@pytest.fixture
def app_id(ports: Ports) -> int:
    return make_app(ports, "Parcel Post", Permission.MANAGE_PRODUCTS)[0]


def who(ports: Ports, token: str) -> Identity:
    return identify(ports, visit(token))


def stored(ports: Ports, token_id: int) -> tuple[str, str | None]:
    """The digest and the imported hash of a token."""
    query = select(models.AppToken.digest, models.AppToken.imported_hash)
    with ports.database.reading() as session:
        row = session.execute(query.where(models.AppToken.id == token_id)).one()
    return row.digest, row.imported_hash


def is_refused(ports: Ports, token: str) -> bool:
    identity = who(ports, token)
    return not identity.actor.is_app and identity.actor.fault is TokenFault.INVALID


@pytest.mark.both_databases
def test_first_use_replaces_the_hash_and_later_ones_take_one_statement(
    ports: Ports, app_id: int, hasher: FakeHasher
) -> None:
    token_id = import_token(ports, app_id, TOKEN)

    first = who(ports, TOKEN)

    assert (first.actor.app_id, first.app_token_id) == (app_id, token_id)
    assert first.actor.permissions == {Permission.MANAGE_PRODUCTS}
    assert stored(ports, token_id) == (token_digest(TOKEN), None)
    assert hasher.verifications == 1
    with recorded_statements() as statements:
        assert who(ports, TOKEN) == first
    assert len(statements) == 1
    assert hasher.verifications == 1


def test_wrong_token_is_compared_once_a_minute(
    ports: Ports, app_id: int, hasher: FakeHasher, clock: FakeClock
) -> None:
    token_id = import_token(ports, app_id, TOKEN)
    before = stored(ports, token_id)

    for _ in range(3):
        assert is_refused(ports, OTHERS[0])
    assert hasher.verifications == 1

    clock.pass_(seconds=FAILED_SECONDS + 1)
    assert is_refused(ports, OTHERS[0])
    assert hasher.verifications == 2
    assert stored(ports, token_id) == before
    assert who(ports, TOKEN).actor.app_id == app_id


def test_wrong_token_is_in_the_sign_in_log(ports: Ports, app_id: int) -> None:
    import_token(ports, app_id, TOKEN)
    assert is_refused(ports, OTHERS[0])

    assert isinstance(ports.sign_in_log, FakeSignInLog)
    (refusal,) = ports.sign_in_log.refusals
    assert (refusal.method, refusal.reason) == (SignInMethod.APP_TOKEN, SignInReason.TOKEN_INVALID)
    assert (refusal.token_end, refusal.address) == (TOKEN[-4:], ADDRESS)


def test_token_with_another_ending_is_not_compared(
    ports: Ports, app_id: int, hasher: FakeHasher
) -> None:
    import_token(ports, app_id, TOKEN)
    for other in ("a-token-with-another-end", "x", "ä" * 30, f"a b {TOKEN[-4:]}", "\ud8a0"):
        assert not who(ports, other).actor.is_app, other
        assert hasher.verifications == 0, other


def test_own_tokens_are_never_compared(ports: Ports, hasher: FakeHasher) -> None:
    app_id, own = make_app(ports, "an app")
    session = sign_in(ports, make_user(ports))
    for token in (own, session.access):
        import_token(ports, app_id, token)
    before = hasher.verifications

    assert who(ports, own).actor.is_app
    assert who(ports, session.access).actor.is_user
    for token in (own, session.access):
        assert not who(ports, f"{token[:-12]}12345678{token[-4:]}").actor.is_app
    assert hasher.verifications == before


def test_token_of_an_app_that_is_being_installed_works(ports: Ports, app_id: int) -> None:
    import_token(ports, app_id, TOKEN)
    change_app(ports, app_id, is_active=False, is_installed=False)
    assert who(ports, TOKEN).actor.app_id == app_id


def test_token_that_cannot_work_is_not_compared(
    ports: Ports, app_id: int, hasher: FakeHasher, clock: FakeClock
) -> None:
    token_id = import_token(ports, app_id, TOKEN)
    change_app(ports, app_id, is_active=False)
    assert is_refused(ports, TOKEN)
    change_app(ports, app_id, is_active=True)
    _change_token(ports, token_id, expires_at=clock.now() - timedelta(seconds=1))
    assert is_refused(ports, TOKEN)
    assert hasher.verifications == 0

    _change_token(ports, token_id, expires_at=None)
    assert who(ports, TOKEN).actor.app_id == app_id


@pytest.mark.parametrize("is_used", [False, True])
def test_no_provider_gets_to_see_it(
    ports: Ports, app_id: int, provider: OwnProvider, *, is_used: bool
) -> None:
    token_id = import_token(ports, app_id, TOKEN)
    if is_used:
        assert who(ports, TOKEN).actor.is_app
        _change_token(ports, token_id, expires_at=ports.clock.now())
    change_app(ports, app_id, is_active=False)

    for bearer in (TOKEN,) if is_used else (TOKEN, *OTHERS):
        assert is_refused(ports, bearer)
    change_app(ports, app_id, is_active=True)
    for bearer in (TOKEN,) if is_used else OTHERS:
        assert is_refused(ports, bearer)
    assert provider.server.calls(USER_INFO) == []

    opaque = provider.known("an-opaque-token")
    assert who(ports, opaque).actor.is_user
    assert len(provider.server.calls(USER_INFO)) == 1


def test_many_with_the_same_ending_are_compared_a_few_at_a_time(
    ports: Ports, app_id: int, hasher: FakeHasher
) -> None:
    for other in OTHERS[:4]:
        import_token(ports, app_id, other)
    token_id = import_token(ports, app_id, TOKEN)

    for attempt in (1, 2):
        with pytest.raises(TooManyRequests):
            who(ports, TOKEN)
        assert hasher.verifications == attempt * MAX_COMPARISONS
    assert who(ports, TOKEN).app_token_id == token_id
    assert hasher.verifications == 2 * MAX_COMPARISONS + 1


def test_comparisons_are_limited_by_client_ip(
    ports: Ports, app_id: int, hasher: FakeHasher
) -> None:
    import_token(ports, app_id, TOKEN)
    policy = RateLimitPolicy(changed={IMPORTED_TOKEN: parse_rates("2/minute")})
    limited = replace(ports, configuration=replace(ports.configuration, rate_limits=policy))
    for address in (ADDRESS, None):
        for other in OTHERS[:2]:
            assert not identify(limited, visit(other, address)).actor.is_app
        with pytest.raises(TooManyRequests) as refused:
            identify(limited, visit(TOKEN, address))
        assert 0 < refused.value.retry_after <= 60
        limited.cache.imported_tokens.failed.clear()
    assert hasher.verifications == 4
    assert identify(limited, visit(TOKEN, "198.51.100.9")).actor.app_id == app_id
    assert who(limited, TOKEN).actor.app_id == app_id


def test_busy_hasher_is_no_refusal(ports: Ports, app_id: int) -> None:
    import_token(ports, app_id, TOKEN)
    busy = replace(ports, passwords=_BusyHasher(ports.database))
    with pytest.raises(TooManyRequests):
        who(busy, TOKEN)
    assert who(ports, TOKEN).actor.app_id == app_id


@pytest.mark.both_databases
def test_first_requests_of_an_app_come_together(
    ports: Ports, second_process: Ports, app_id: int, hasher: FakeHasher
) -> None:
    token_id = import_token(ports, app_id, TOKEN)
    with ThreadPoolExecutor(6) as pool:
        processes = (ports, second_process) * 3
        found = list(pool.map(lambda process: who(process, TOKEN).app_token_id, processes))
    assert found == [token_id] * 6
    assert stored(ports, token_id) == (token_digest(TOKEN), None)
    assert hasher.verifications <= 1


def test_token_that_was_revoked_meanwhile_is_refused(ports: Ports, app_id: int) -> None:
    token_id = import_token(ports, app_id, TOKEN)

    def revoke() -> None:
        with ports.database.transaction() as session:
            session.execute(delete(models.AppToken).where(models.AppToken.id == token_id))

    meanwhile = replace(ports, passwords=InterruptedHasher(ports.database, revoke))
    assert is_refused(meanwhile, TOKEN)


def test_hash_that_was_imported_again_meanwhile_stays(ports: Ports, app_id: int) -> None:
    token_id = import_token(ports, app_id, TOKEN)
    newer = ports.passwords.hash(OTHERS[0])

    def import_again() -> None:
        _change_token(ports, token_id, imported_hash=newer)

    meanwhile = replace(ports, passwords=InterruptedHasher(ports.database, import_again))
    assert is_refused(meanwhile, TOKEN)
    assert stored(ports, token_id) == (f"imported-{token_id}", newer)


def test_token_that_was_imported_twice_works(ports: Ports, app_id: int) -> None:
    first = import_token(ports, app_id, TOKEN)
    second = import_token(ports, app_id, TOKEN)

    def convert_the_second() -> None:
        _change_token(ports, second, digest=token_digest(TOKEN), imported_hash=None)

    meanwhile = replace(ports, passwords=InterruptedHasher(ports.database, convert_the_second))
    assert who(meanwhile, TOKEN).app_token_id == second
    assert stored(ports, first)[1] is not None


def test_verifying_a_token_finds_imported_ones(
    ports: Ports, app_id: int, hasher: FakeHasher
) -> None:
    import_token(ports, app_id, TOKEN)
    for other in OTHERS[:2]:
        assert not verify_app_token(ports, NOBODY, other)
    for _ in range(2):
        assert verify_app_token(ports, NOBODY, TOKEN)
    assert not verify_app_token(ports, OPERATOR, sign_in(ports, make_user(ports)).access)
    assert hasher.verifications == 3


def _change_token(ports: Ports, token_id: int, **values: object) -> None:
    with ports.database.transaction() as session:
        session.execute(
            update(models.AppToken).where(models.AppToken.id == token_id).values(**values)
        )


class _BusyHasher(FakeHasher):
    @override
    def verify_token(self, token_hash: str, token: str) -> bool:
        raise PasswordsBusy
