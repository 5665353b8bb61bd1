"""A key that has left the process names the same thing for ever, and a token its own subject."""

import pytest
from sqlalchemy import delete, insert, update

from app import models
from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import Permission
from app.domain.values.errors import TokenFault
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.services.apps.app_changes import delete_app
from app.services.people.customers import delete_customer
from tests.builders.apps import change_app, make_app, make_extension_app
from tests.builders.people import make_user
from tests.fakes.clock import FakeClock
from tests.servers.own_provider import OwnProvider
from tests.services.extension_setup import acts, set_scene
from tests.services.provider_bearers import fault, who


def test_token_of_a_deleted_user_does_not_identify_another(
    ports: Ports, provider: OwnProvider
) -> None:
    token = provider.access_token("mallory")
    deleted = who(ports, token).actor.user_id
    assert deleted is not None
    delete_customer(ports, OPERATOR, to_global_id("User", deleted))

    next_person = who(ports, provider.access_token("victim")).actor
    assert next_person.user_id != deleted
    assert fault(ports, token) is TokenFault.INVALID


def test_cached_token_stays_with_its_user(ports: Ports, provider: OwnProvider) -> None:
    first, second = provider.access_token("alice"), provider.access_token("bob")
    names = [who(ports, token).actor.name for token in (first, second, first, second)]
    assert names == ["alice@sso.example", "bob@sso.example"] * 2


@pytest.mark.parametrize("column", ["issuer", "subject"])
def test_cached_token_is_compared_with_issuer_and_subject(
    ports: Ports, provider: OwnProvider, column: str
) -> None:
    """A restored backup can give a key to somebody else while a process runs."""
    token = provider.access_token()
    assert fault(ports, token) is None
    with ports.database.transaction() as session:
        session.execute(update(models.ExternalIdentity).values({column: "https://other.example"}))

    assert fault(ports, token) is TokenFault.INVALID


def test_extension_token_of_a_deleted_app_does_not_identify_another(
    ports: Ports, clock: FakeClock
) -> None:
    scene = set_scene(ports)
    assert acts(ports, scene.token).permissions
    delete_app(ports, OPERATOR, scene.app.id)

    next_app = make_extension_app(ports, "the next one", *Permission)
    assert next_app.id != scene.app.id
    assert acts(ports, scene.token).fault is TokenFault.INVALID


def test_extension_token_older_than_its_app_is_refused(ports: Ports, clock: FakeClock) -> None:
    """A restored backup can give an app's key to another app while a token of it is valid."""
    scene = set_scene(ports)
    clock.pass_(minutes=2)
    with ports.database.transaction() as session:
        session.execute(delete(models.App))
        values = {"id": scene.app.id, "name": "another", "created_at": ports.clock.now()}
        session.execute(insert(models.App).values(values))
        rows = [
            {"app_id": scene.app.id, "permission": permission.value} for permission in Permission
        ]
        session.execute(insert(models.AppPermission), rows)

    assert acts(ports, scene.token).fault is TokenFault.INVALID


def test_extension_token_made_just_after_its_app_is_accepted(
    ports: Ports, clock: FakeClock
) -> None:
    """Hosts' clocks differ, and a token tells whole seconds."""
    clock.pass_(seconds=0.9)
    scene = set_scene(ports)
    assert acts(ports, scene.token).is_user
    clock.pass_(seconds=50)
    change_app(ports, scene.app.id, created_at=ports.clock.now())
    assert acts(ports, scene.token).is_user


def test_global_ids_are_never_reused(ports: Ports) -> None:
    user, (app, _) = make_user(ports, "gone@example.com"), make_app(ports)
    with ports.database.transaction() as session:
        session.execute(delete(models.User))
        session.execute(delete(models.App))

    assert make_user(ports, "next@example.com") > user
    assert make_app(ports, "the next one")[0] > app
