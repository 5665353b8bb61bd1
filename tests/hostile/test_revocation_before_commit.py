"""Rights that are taken away between a use case's permission check and its commit."""

from dataclasses import replace
from datetime import timedelta

import pytest

from app import models
from app.domain.authorization.actor import OPERATOR, WORKER, Actor, SessionOrigin
from app.domain.authorization.permissions import Permission
from app.ports import Ports
from app.services.apps.app_tokens import create_app_token
from app.services.commerce.products import ProductInput, create_product
from app.services.deliveries.replays import replay_deliveries
from app.services.identity.identify import identify
from app.services.sign_in.sessions import deactivate_all_tokens, end_other_sessions
from app.services.sign_in.tokens import refresh_token
from tests.builders.apps import make_app, make_extension_app
from tests.builders.people import (
    actor_of,
    change_user,
    make_group,
    make_staff,
    make_user,
    sessions_of,
    sign_in,
    visit,
)
from tests.builders.providers import set_up
from tests.builders.webhooks import make_webhook
from tests.fakes.interrupted_database import InterruptedDatabase
from tests.fixtures.statements import recorded_statements
from tests.hostile.revocations import (
    INVALID,
    OF_PEOPLE,
    Revoke,
    app_tokens,
    deactivate,
    deactivate_app,
    end_session,
    expire_token,
    narrow_token,
    products,
    refusal_of,
    revoke_token,
    take_app_permission,
    take_group_permission,
)
from tests.servers.own_provider import AUDIENCE, OwnProvider
from tests.services.extension_setup import acts, token_for

APPS, PRODUCTS = Permission.MANAGE_APPS, Permission.MANAGE_PRODUCTS
BOWL = ProductInput(name="Ash bowl")


@pytest.fixture
def database(ports: Ports) -> InterruptedDatabase:
    return InterruptedDatabase(ports.database)


@pytest.fixture
def interrupted_ports(ports: Ports, database: InterruptedDatabase) -> Ports:
    """The ports of the process whose work is interrupted; ``second_process`` revokes."""
    return replace(ports, database=database)


@pytest.fixture
def manager(ports: Ports) -> Actor:
    """Holds MANAGE_PRODUCTS by a group, and MANAGE_APPS directly."""
    group = make_group(ports, "editors", PRODUCTS)
    key = make_user(ports, "m@example.com", is_staff=True, permissions=[APPS], groups=[group])
    return actor_of(ports, key)


@pytest.mark.both_databases
@pytest.mark.parametrize(("revoke", "refusal"), OF_PEOPLE)
def test_nothing_is_written_for_a_manager_who_lost_rights_after_the_check(
    interrupted_ports: Ports,
    second_process: Ports,
    database: InterruptedDatabase,
    manager: Actor,
    revoke: Revoke,
    refusal: str,
) -> None:
    database.before[1] = lambda: revoke(second_process, manager)

    assert refusal_of(lambda: create_product(interrupted_ports, manager, BOWL)) == refusal
    assert products(second_process) == 0


@pytest.mark.both_databases
def test_no_app_token_is_issued_for_a_manager_who_was_deactivated_meanwhile(
    interrupted_ports: Ports, second_process: Ports, database: InterruptedDatabase, manager: Actor
) -> None:
    app_id, _ = make_app(second_process, "Stock")
    database.before[1] = lambda: deactivate(second_process, manager)

    assert refusal_of(lambda: create_app_token(interrupted_ports, manager, app_id)) == INVALID
    assert app_tokens(second_process, app_id) == 1


@pytest.mark.both_databases
@pytest.mark.parametrize(
    ("revoke", "refusal"),
    [
        (revoke_token, INVALID),
        (expire_token, INVALID),
        (deactivate_app, INVALID),
        (narrow_token, "MANAGE_PRODUCTS"),
        (take_app_permission, "MANAGE_PRODUCTS"),
    ],
)
def test_nothing_is_written_for_an_app_whose_token_lost_rights_after_the_check(
    interrupted_ports: Ports,
    second_process: Ports,
    database: InterruptedDatabase,
    revoke: Revoke,
    refusal: str,
) -> None:
    _, token = make_app(second_process, "Stock", PRODUCTS)
    app = identify(interrupted_ports, visit(token)).actor
    database.before[1] = lambda: revoke(second_process, app)

    assert refusal_of(lambda: create_product(interrupted_ports, app, BOWL)) == refusal
    assert products(second_process) == 0


@pytest.mark.both_databases
@pytest.mark.parametrize(
    ("revoke", "refusal"),
    [
        (end_session, INVALID),
        (deactivate_app, INVALID),
        (take_app_permission, "MANAGE_PRODUCTS"),
        (take_group_permission, "MANAGE_PRODUCTS"),
    ],
)
def test_nothing_is_written_by_an_extension_when_either_side_lost_rights(
    interrupted_ports: Ports,
    second_process: Ports,
    database: InterruptedDatabase,
    manager: Actor,
    revoke: Revoke,
    refusal: str,
) -> None:
    extension = make_extension_app(second_process, "extension", PRODUCTS)
    actor = acts(interrupted_ports, token_for(interrupted_ports, manager, extension))
    database.before[database.begun + 1] = lambda: revoke(second_process, actor)

    assert refusal_of(lambda: create_product(interrupted_ports, actor, BOWL)) == refusal
    assert products(second_process) == 0


def sign_out_provider_tokens(ports: Ports, actor: Actor) -> None:
    change_user(ports, actor.user_id or 0, tokens_valid_after=ports.clock.now())


@pytest.mark.both_databases
@pytest.mark.parametrize("revoke", [deactivate, sign_out_provider_tokens])
def test_nothing_is_written_with_a_provider_token_that_was_ended_after_the_check(
    interrupted_ports: Ports,
    second_process: Ports,
    database: InterruptedDatabase,
    provider: OwnProvider,
    revoke: Revoke,
) -> None:
    set_up(second_process, provider, audience=AUDIENCE)
    token = provider.access_token()
    key = identify(second_process, visit(token)).actor.user_id or 0
    change_user(second_process, key, is_staff=True)
    with second_process.database.transaction() as session:
        session.add(models.UserPermission(user_id=key, permission=PRODUCTS.value))
    actor = identify(interrupted_ports, visit(token)).actor
    create_product(interrupted_ports, actor, BOWL)
    database.before[database.begun + 1] = lambda: revoke(second_process, actor)

    assert refusal_of(lambda: create_product(interrupted_ports, actor, BOWL)) == INVALID
    assert products(second_process) == 1


class TestOnPostgresql:
    """SQLite lets nobody else commit while a transaction is open."""

    @pytest.fixture
    def database_url(self, postgresql_url: str) -> str:
        return postgresql_url

    @pytest.mark.both_databases
    @pytest.mark.parametrize(("revoke", "refusal"), OF_PEOPLE)
    def test_revocation_committed_during_the_transaction_applies(
        self,
        interrupted_ports: Ports,
        second_process: Ports,
        database: InterruptedDatabase,
        manager: Actor,
        revoke: Revoke,
        refusal: str,
    ) -> None:
        database.during[1] = lambda: revoke(second_process, manager)

        assert refusal_of(lambda: create_product(interrupted_ports, manager, BOWL)) == refusal
        assert products(second_process) == 0


@pytest.mark.both_databases
def test_replay_in_steps_stops_when_its_caller_is_deactivated(
    interrupted_ports: Ports, second_process: Ports, database: InterruptedDatabase, manager: Actor
) -> None:
    app_id, _ = make_app(second_process, "Stock")
    webhook = make_webhook(second_process, app_id)
    database.after[1] = lambda: deactivate(second_process, manager)
    since = second_process.clock.now() - timedelta(days=1)

    assert (
        refusal_of(lambda: replay_deliveries(interrupted_ports, manager, webhook, since))
        == INVALID
    )


@pytest.mark.both_databases
def test_revocation_of_others_has_no_effect(
    interrupted_ports: Ports, second_process: Ports, database: InterruptedDatabase, manager: Actor
) -> None:
    other = actor_of(second_process, make_staff(second_process, "other@example.com", PRODUCTS))
    database.before[1] = lambda: deactivate(second_process, other)

    assert create_product(interrupted_ports, manager, BOWL).id
    assert products(second_process) == 1


def test_users_can_revoke_their_own_rights(interrupted_ports: Ports, manager: Actor) -> None:
    end_other_sessions(interrupted_ports, manager)
    deactivate_all_tokens(interrupted_ports, manager)

    assert sessions_of(interrupted_ports, manager.user_id or 0) == []


@pytest.mark.both_databases
def test_caller_who_gains_rights_meanwhile_is_not_refused(
    interrupted_ports: Ports, second_process: Ports, database: InterruptedDatabase, manager: Actor
) -> None:
    database.before[1] = lambda: change_user(
        second_process, manager.user_id or 0, is_superuser=True
    )

    assert create_product(interrupted_ports, manager, BOWL).id


@pytest.mark.both_databases
def test_refresh_is_answered_although_the_session_in_the_header_ended(
    interrupted_ports: Ports, second_process: Ports, database: InterruptedDatabase, manager: Actor
) -> None:
    """`tokenRefresh` goes by its argument, and never fails at the top."""
    configuration = replace(interrupted_ports.configuration, single_use_refresh_tokens=True)
    other = sign_in(second_process, manager.user_id or 0, SessionOrigin.PASSWORD)
    database.before[1] = lambda: end_session(second_process, manager)

    refreshed = refresh_token(
        replace(interrupted_ports, configuration=configuration), manager, token=other.refresh
    )

    assert refreshed.access


def test_every_request_caller_has_a_rereadable_credential(
    ports: Ports, provider: OwnProvider, manager: Actor
) -> None:
    extension = token_for(ports, manager, make_extension_app(ports, "extension", PRODUCTS))
    _, app_token = make_app(ports, "Stock", PRODUCTS)
    session = sign_in(ports, manager.user_id or 0).access

    for credential in (session, extension, app_token, provider.access_token()):
        actor = identify(ports, visit(credential)).actor
        named = actor.session_id, actor.app_token_id, actor.provider_token
        assert sum(value is not None for value in named) == 1


@pytest.mark.both_databases
@pytest.mark.parametrize("trusted", [OPERATOR, WORKER])
def test_operator_and_worker_are_not_read_again(interrupted_ports: Ports, trusted: Actor) -> None:
    with recorded_statements() as statements:
        create_product(interrupted_ports, trusted, BOWL)

    assert not [statement for statement in statements if "FROM shop LEFT OUTER JOIN" in statement]


@pytest.mark.both_databases
def test_transaction_reads_its_caller_once(interrupted_ports: Ports, manager: Actor) -> None:
    with recorded_statements() as statements:
        create_product(interrupted_ports, manager, BOWL)

    assert (
        len([statement for statement in statements if "FROM shop LEFT OUTER JOIN" in statement])
        == 1
    )
