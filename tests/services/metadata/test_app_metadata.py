"""Apps' metadata: their own for themselves, any app's for people who manage apps."""

from dataclasses import replace

import pytest

from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.values.errors import PermissionDenied, Refused
from app.domain.values.ids import to_global_id
from app.domain.values.metadata import MetadataChange, StoredMetadata
from app.ports import Ports
from app.services.identity.identify import identify
from app.services.metadata import (
    change_app_metadata,
    private_metadata_of_apps,
    public_metadata_of_apps,
    show_app_with_metadata,
)
from tests.builders.apps import change_app, make_app
from tests.builders.audit import trail
from tests.builders.people import actor_of, make_staff, visit

PRIVATE = MetadataChange(is_private=True, values=(("secret", "1"),))
PUBLIC = MetadataChange(values=(("color", "red"),))


@pytest.fixture
def own_app(ports: Ports) -> Actor:
    """The actor of an app without permissions."""
    return identify(ports, visit(make_app(ports)[1])).actor


@pytest.fixture
def manager(ports: Ports) -> Actor:
    return actor_of(ports, make_staff(ports, "boss@example.com", Permission.MANAGE_APPS))


def key_of(app: Actor) -> int:
    assert app.app_id is not None
    return app.app_id


def test_app_keeps_its_own_metadata(ports: Ports, own_app: Actor) -> None:
    key = key_of(own_app)
    for change in (PUBLIC, PRIVATE):
        change_app_metadata(ports, own_app, to_global_id("App", key), change)
    assert public_metadata_of_apps(ports, own_app, [key]) == {key: {"color": "red"}}
    assert private_metadata_of_apps(ports, own_app, [key]) == {key: {"secret": "1"}}
    assert [row.after for row in trail(ports, "app.update_metadata")] == [
        {"public": ["color"]},
        {"private": ["secret"]},
    ]


def test_app_keeps_metadata_while_it_is_installed(ports: Ports, own_app: Actor) -> None:
    change_app(ports, key_of(own_app), is_installed=False)
    change_app_metadata(ports, own_app, to_global_id("App", key_of(own_app)), PRIVATE)
    assert private_metadata_of_apps(ports, own_app, [key_of(own_app)]) == {
        key_of(own_app): {"secret": "1"}
    }


def test_app_reaches_no_other_app(ports: Ports, own_app: Actor) -> None:
    other, _ = make_app(ports, "other")
    with pytest.raises(PermissionDenied):
        change_app_metadata(ports, own_app, to_global_id("App", other), PUBLIC)
    with pytest.raises(PermissionDenied):
        private_metadata_of_apps(ports, own_app, [key_of(own_app), other])
    with pytest.raises(PermissionDenied):
        public_metadata_of_apps(ports, own_app, [key_of(own_app), other])


def test_people_who_manage_apps_change_their_metadata(
    ports: Ports, own_app: Actor, manager: Actor
) -> None:
    key = key_of(own_app)
    change_app_metadata(ports, manager, to_global_id("App", key), PRIVATE)
    assert private_metadata_of_apps(ports, manager, [key]) == {key: {"secret": "1"}}


def test_manager_cannot_change_an_app_with_more_permissions(ports: Ports, manager: Actor) -> None:
    key, _ = make_app(ports, "other", Permission.MANAGE_ORDERS)
    with pytest.raises(Refused) as refused:
        change_app_metadata(ports, manager, to_global_id("App", key), PUBLIC)
    assert [problem.code for problem in refused.value.problems] == ["OUT_OF_SCOPE_APP"]


def test_staff_without_permission_see_no_metadata(ports: Ports, own_app: Actor) -> None:
    staff, key = actor_of(ports, make_staff(ports)), key_of(own_app)
    for call in (
        lambda: public_metadata_of_apps(ports, staff, [key]),
        lambda: public_metadata_of_apps(ports, replace(own_app, previewed_by=staff), [key]),
        lambda: private_metadata_of_apps(ports, staff, [key]),
        lambda: private_metadata_of_apps(ports, replace(own_app, previewed_by=staff), [key]),
        lambda: change_app_metadata(ports, staff, to_global_id("App", key), PUBLIC),
    ):
        with pytest.raises(PermissionDenied):
            call()


def test_unknown_app_is_not_found(ports: Ports, manager: Actor) -> None:
    for id_ in (to_global_id("App", 4711), to_global_id("User", 1), "garbage"):
        with pytest.raises(Refused) as refused:
            change_app_metadata(ports, manager, id_, PUBLIC)
        assert [problem.code for problem in refused.value.problems] == ["NOT_FOUND"]


def test_page_of_an_app_shows_metadata_to_its_managers(
    ports: Ports, own_app: Actor, manager: Actor
) -> None:
    key = key_of(own_app)
    for change in (PUBLIC, PRIVATE):
        change_app_metadata(ports, own_app, to_global_id("App", key), change)
    support = actor_of(ports, make_staff(ports, "support@example.com", Permission.MANAGE_ORDERS))
    everything = StoredMetadata({"color": "red"}, {"secret": "1"})
    for reader, shown in ((manager, everything), (support, StoredMetadata({}, {}))):
        found = show_app_with_metadata(ports, reader, key)
        assert found is not None
        app, metadata = found
        assert (app.id, metadata) == (key, shown)


def test_app_that_is_being_installed_has_no_page(ports: Ports, manager: Actor) -> None:
    key, _ = make_app(ports)
    change_app(ports, key, is_installed=False)
    assert show_app_with_metadata(ports, manager, key) is None
