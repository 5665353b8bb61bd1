"""Attacks on one-time codes and recovery codes: replay, races, fixation, downgrade, leaks."""

import logging
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from threading import Barrier

import pytest
import structlog
from graphql import GraphQLInputObjectType, GraphQLObjectType
from sqlalchemy import delete, select, update
from typing_extensions import override

from app import models
from app.composition.factory import create_app
from app.composition.settings import Settings
from app.domain.authorization.actor import Actor
from app.domain.second_factors import RECOVERY_CODES, SecondFactorType
from app.domain.values.errors import PermissionDenied, ProofRequired, Refused
from app.graphql.schema import schema
from app.ports import Ports
from app.ports.passwords import Match
from app.ports.second_factors import AuthenticatorApps, QrCode
from app.services.accounts.authenticator_apps import (
    confirm_app_setup,
    replace_own_recovery_codes,
    show_app_setup,
    start_app_setup,
    turn_off_app,
)
from app.services.accounts.passkeys import delete_passkey
from app.services.second_factors.factor_checks import check_code, replace_codes
from app.services.second_factors.stored_factors import read_factors
from app.web.logs import set_up_logs
from tests.builders.passkeys import SoftwareAuthenticator, make_passkey
from tests.builders.people import NOBODY, actor_of, make_staff, make_user
from tests.builders.second_factors import (
    make_authenticator_app,
    make_recovery_codes,
    one_time_code,
)
from tests.builders.shop import configure_shop
from tests.console.staff_client import ConsoleClient
from tests.fakes.clock import FakeClock
from tests.fakes.passwords import FakeHasher, InterruptedHasher
from tests.services.extension_setup import acts, set_scene

APP, RECOVERY = SecondFactorType.AUTHENTICATOR_APP, SecondFactorType.RECOVERY_CODES
WAIT = 30
PAGE = "/console/account/security/"
SETUP_KEY = re.compile(r'id="setup-key"[^>]*value="([^"]+)"')


@pytest.fixture
def logging_at_debug() -> Iterator[None]:
    """Log everything as a server does; others find logging as it was."""
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    set_up_logs(level="DEBUG", development=False)
    yield
    root.setLevel(level)
    root.handlers[:] = handlers
    structlog.reset_defaults()


class InterruptedApps:
    """Runs an action before the first code is computed."""

    def __init__(self, inner: AuthenticatorApps, meanwhile: Callable[[], object]) -> None:
        self._inner = inner
        self._meanwhile: Callable[[], object] | None = meanwhile

    def code_at(self, secret: str, step: int) -> str:
        meanwhile, self._meanwhile = self._meanwhile, None
        if meanwhile is not None:
            meanwhile()
        return self._inner.code_at(secret, step)

    def setup_uri(self, secret: str, account: str, issuer: str) -> str:
        return self._inner.setup_uri(secret, account, issuer)

    def qr_code(self, text: str) -> QrCode:
        return self._inner.qr_code(text)


class WaitingHasher(FakeHasher):
    """Compares codes at the same moment, as parallel requests have them compared."""

    def __init__(self, ports: Ports, together: Barrier) -> None:
        super().__init__(ports.database)
        self._together = together

    @override
    def verify(
        self, password_hash: str | None, password: str, imported_seconds: float = 0
    ) -> Match:
        is_right = super().verify(password_hash, password, imported_seconds)
        self._together.wait(WAIT)
        return is_right


def at_once(*calls: Callable[[], object]) -> list[object]:
    """Return what concurrent calls return, or the refusals that they raise."""

    def caught(call: Callable[[], object]) -> object:
        try:
            return call()
        except Refused as refused:
            return refused

    with ThreadPoolExecutor(len(calls)) as threads:
        return list(threads.map(caught, calls))


def test_code_that_was_overheard_works_at_no_other_time(ports: Ports, clock: FakeClock) -> None:
    user = make_user(ports)
    secret = make_authenticator_app(ports, user)
    overheard = one_time_code(ports, secret)
    assert check_code(ports, NOBODY, user, overheard) is APP
    for seconds in (0, 29, 1, 30, 30):
        clock.pass_(seconds=seconds)
        assert check_code(ports, NOBODY, user, overheard) is None
    clock.pass_(seconds=-90)
    assert check_code(ports, NOBODY, user, overheard) is None


def test_unused_code_of_the_step_before_dies_with_the_next_one(ports: Ports) -> None:
    user = make_user(ports)
    secret = make_authenticator_app(ports, user)
    seen = one_time_code(ports, secret, steps=-1)
    assert check_code(ports, NOBODY, user, one_time_code(ports, secret)) is APP
    assert check_code(ports, NOBODY, user, seen) is None


@pytest.mark.both_databases
def test_code_is_accepted_by_one_of_two_processes(ports: Ports, second_process: Ports) -> None:
    user = make_user(ports)
    code = one_time_code(ports, make_authenticator_app(ports, user))
    together = Barrier(2, timeout=60)
    waiting = [
        replace(
            process,
            authenticator_apps=InterruptedApps(
                process.authenticator_apps, lambda: together.wait(WAIT)
            ),
        )
        for process in (ports, second_process)
    ]
    first, second = (partial(check_code, one, NOBODY, user, code) for one in waiting)
    assert sorted(map(str, at_once(first, second))) == sorted(map(str, (APP, None)))


@pytest.mark.both_databases
def test_recovery_code_is_accepted_by_one_of_two_processes(
    ports: Ports, second_process: Ports
) -> None:
    user = make_user(ports)
    code = make_recovery_codes(ports, user)[0]
    together = Barrier(2, timeout=60)
    waiting = [
        replace(process, passwords=WaitingHasher(process, together))
        for process in (ports, second_process)
    ]
    first, second = (partial(check_code, one, NOBODY, user, code) for one in waiting)
    assert sorted(map(str, at_once(first, second))) == sorted(map(str, (RECOVERY, None)))


def test_code_of_a_phone_that_was_replaced_meanwhile_is_refused(ports: Ports) -> None:
    user = make_user(ports)
    actor = actor_of(ports, user)
    old = make_authenticator_app(ports, user)
    start_app_setup(ports, actor)

    def move() -> None:
        confirm_app_setup(ports, actor, code=one_time_code(ports, pending_secret(ports, actor)))

    apps = InterruptedApps(ports.authenticator_apps, move)
    # The old phone's code is of a later step than the code that confirmed the new phone.
    code = one_time_code(ports, old, steps=1)
    assert check_code(replace(ports, authenticator_apps=apps), NOBODY, user, code) is None


def test_recovery_code_that_was_replaced_meanwhile_is_refused(ports: Ports) -> None:
    user = make_user(ports)
    make_authenticator_app(ports, user)
    stolen = make_recovery_codes(ports, user)[0]
    found_alike = [(stolen, ports.passwords.hash("a new code that begins alike"))]

    def replace_all() -> None:
        with ports.database.transaction() as session:
            replace_codes(ports, session, user, found_alike)

    hasher = InterruptedHasher(ports.database, replace_all)
    assert check_code(replace(ports, passwords=hasher), NOBODY, user, stolen) is None


def test_secret_copied_into_another_account_opens_nothing(ports: Ports) -> None:
    """Someone who writes into the database can't give an account their own secret."""
    mine, victim = make_user(ports), make_user(ports, "victim@example.com")
    secret = make_authenticator_app(ports, mine)
    make_authenticator_app(ports, victim)
    app = models.AuthenticatorApp
    with ports.database.transaction() as session:
        copied = session.scalar(select(app.secret).where(app.user_id == mine))
        session.execute(update(app).where(app.user_id == victim).values(secret=copied))
    assert check_code(ports, NOBODY, victim, one_time_code(ports, secret)) is None
    assert check_code(ports, NOBODY, mine, one_time_code(ports, secret)) is not None


def test_setup_of_a_stolen_session_is_not_confirmed_by_its_owner(ports: Ports) -> None:
    user = make_user(ports)
    thief, owner = actor_of(ports, user), actor_of(ports, user)
    start_app_setup(ports, thief)
    planted = pending_secret(ports, thief)
    start_app_setup(ports, owner)
    shown = pending_secret(ports, owner)
    assert shown != planted
    confirm_app_setup(ports, owner, code=one_time_code(ports, shown))
    assert check_code(ports, NOBODY, user, one_time_code(ports, planted, steps=1)) is None


def test_stolen_session_cannot_read_the_setup_of_another(ports: Ports) -> None:
    user = make_user(ports)
    thief, owner = actor_of(ports, user), actor_of(ports, user)
    start_app_setup(ports, owner)
    assert show_app_setup(ports, thief) is None
    assert show_app_setup(ports, owner) is not None


DOWNGRADES: tuple[Callable[[Ports, Actor], object], ...] = (
    replace_own_recovery_codes,
    start_app_setup,
    turn_off_app,
)


def test_stolen_session_without_a_proof_changes_no_factor(ports: Ports) -> None:
    user = make_user(ports)
    owner = actor_of(ports, user)
    secret = make_authenticator_app(ports, user)
    for downgrade in DOWNGRADES:
        with pytest.raises(ProofRequired):
            downgrade(ports, replace(owner, proof_is_old=True))
    assert check_code(ports, NOBODY, user, one_time_code(ports, secret)) is APP
    for downgrade in DOWNGRADES:
        downgrade(ports, owner)


def test_extension_changes_no_factor_of_its_user(ports: Ports) -> None:
    scene = set_scene(ports)
    make_authenticator_app(ports, scene.user)
    for downgrade in DOWNGRADES:
        with pytest.raises(PermissionDenied):
            downgrade(ports, acts(ports, scene.token))
        downgrade(ports, scene.caller)


def test_api_has_no_way_to_add_or_remove_a_factor() -> None:
    """A stolen API token can't downgrade the account: only the console asks for a proof."""
    mutation = schema.graphql_schema.mutation_type
    assert isinstance(mutation, GraphQLObjectType)
    about_factors = {
        name
        for name in mutation.fields
        if any(word in name.lower() for word in ("authenticator", "recovery", "totp", "enrol"))
    }
    assert about_factors == set()
    user_input = schema.graphql_schema.type_map["UserCreateInput"]
    assert isinstance(user_input, GraphQLInputObjectType)
    assert not any("factor" in name.lower() for name in user_input.fields)


@pytest.mark.both_databases
def test_parallel_removals_leave_a_required_factor(ports: Ports, second_process: Ports) -> None:
    """Each alone could go: the other factor is left."""
    user = make_staff(ports)
    actor = actor_of(ports, user)
    configure_shop(ports, staff_second_factor="REQUIRED")
    for _ in range(5):
        with ports.database.transaction() as session:
            session.execute(delete(models.AuthenticatorApp))
            session.execute(delete(models.Passkey))
        make_authenticator_app(ports, user)
        passkey = make_passkey(ports, user, SoftwareAuthenticator())
        results = at_once(
            partial(turn_off_app, ports, actor),
            partial(delete_passkey, second_process, actor, passkey_id=passkey),
        )
        assert sum(isinstance(result, Refused) for result in results) == 1
        with ports.database.reading() as session:
            assert read_factors(session, user).is_active


def pending_secret(ports: Ports, actor: Actor) -> str:
    """Return the secret of the setup that the session's page shows."""
    setup = show_app_setup(ports, actor)
    assert setup is not None
    return setup.key.replace(" ", "")


@pytest.mark.usefixtures("logging_at_debug")
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_failure_while_confirming_logs_no_secret(
    ports: Ports, capsys: pytest.CaptureFixture[str]
) -> None:
    """The page fails after the secret was read and the codes were made."""
    make_staff(ports)
    made: list[str] = []

    class Full(FakeHasher):
        @override
        def hash(self, password: str) -> str:
            made.append(password)
            if len(made) > RECOVERY_CODES - 1:
                raise RuntimeError("no memory left")
            return super().hash(password)

    app = create_app(replace(ports, passwords=Full(ports.database)), Settings())
    app.config["PROPAGATE_EXCEPTIONS"] = False
    console = ConsoleClient(app.test_client(), ports)
    console.sign_in("staff@example.com")
    console.send(f"{PAGE}app", seen_at=PAGE)
    key = SETUP_KEY.findall(console.open(PAGE).html)[0]
    secret = key.replace(" ", "")
    code = one_time_code(ports, secret)
    failed = console.send(f"{PAGE}app/confirm", {"code": code}, seen_at=PAGE)
    assert failed.status == 500
    captured = capsys.readouterr()
    logged = captured.out + captured.err
    assert "no memory left" in logged
    for hidden in (secret, key, code, "otpauth", *made):
        assert hidden not in logged + failed.html
