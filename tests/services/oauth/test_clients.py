"""OAuth clients: created, changed, their secrets rotated, and who can manage which."""

import json
from collections.abc import Callable
from datetime import timedelta

import pytest

from app import models
from app.domain.authorization.actor import OPERATOR, STAFF_SCOPE, Actor
from app.domain.authorization.permissions import Permission
from app.domain.oauth import COMMAND_LINE, EMAIL, OFFLINE, OPENID
from app.domain.values.errors import PermissionDenied, Refused
from app.ports import Ports
from app.services.oauth.clients import (
    ClientChange,
    ClientKind,
    create_client,
    delete_client,
    list_clients,
    rotate_client_secret,
    show_client,
    update_client,
)
from app.services.oauth.consents import disconnect_program_of_user
from app.services.oauth.grants import find_client, is_client_secret
from tests.builders.oauth import CALLBACK, grant, make_client
from tests.builders.people import NOBODY, actor_of, make_staff, make_user, sessions_of
from tests.fakes.clock import FakeClock
from tests.servers.own_provider import public_jwk, rsa_key

APPS = Permission.MANAGE_APPS


@pytest.fixture
def database_url(sqlite_url: str) -> str:
    """One database is enough: locks of clients are tested with their grants."""
    return sqlite_url


@pytest.fixture
def manager(ports: Ports) -> Actor:
    return actor_of(ports, make_staff(ports, "apps@example.com", APPS))


def refused(call: Callable[[], object]) -> list[tuple[str, str | None]]:
    with pytest.raises(Refused) as caught:
        call()
    return [(problem.code, problem.field) for problem in caught.value.problems]


def test_client_is_created_with_a_secret_that_is_shown_once(ports: Ports, manager: Actor) -> None:
    change = ClientChange(name=" Forum ", redirect_uris=(CALLBACK,))
    new = create_client(ports, manager, change)
    shown = show_client(ports, manager, new.client.client_id)
    assert shown.name == "Forum"
    assert [secret.last_four for secret in shown.secrets] == [new.secret[-4:]]
    assert is_client_secret(ports, NOBODY, shown, new.secret)
    assert not is_client_secret(ports, NOBODY, shown, new.secret[:-1])
    assert new.secret not in repr(new)
    public = create_client(ports, manager, change, ClientKind(is_public=True))
    assert public.secret == ""
    names = [client.name for client in list_clients(ports, manager)]
    assert names == ["Forum", "Forum", "Latchkey command line"]


def test_secret_of_one_client_is_none_of_another(ports: Ports) -> None:
    forum, board = make_client(ports, "Forum"), make_client(ports, "Board")
    assert is_client_secret(ports, NOBODY, forum.client, forum.secret)
    assert not is_client_secret(ports, NOBODY, board.client, forum.secret)


def test_rotated_secret_works_until_its_overlap_ends(ports: Ports, clock: FakeClock) -> None:
    first = make_client(ports)
    second = rotate_client_secret(ports, OPERATOR, first.id, timedelta(hours=1))

    def works(secret: str) -> bool:
        return is_client_secret(ports, NOBODY, first.client, secret)

    assert works(first.secret)
    assert works(second.secret)
    third = rotate_client_secret(ports, OPERATOR, first.id, timedelta(hours=5))
    assert [works(one) for one in (first.secret, second.secret, third.secret)] == [0, 1, 1]
    clock.pass_(hours=6)
    assert [works(one) for one in (second.secret, third.secret)] == [0, 1]
    last = rotate_client_secret(ports, OPERATOR, first.id, timedelta())
    assert [works(one) for one in (third.secret, last.secret)] == [0, 1]


def test_keys_end_the_secrets_before_them(ports: Ports) -> None:
    """Else a secret that leaked long ago would work again when the keys are removed."""
    keys = json.dumps({"keys": [public_jwk(rsa_key(), kid="one")]})
    client, other = make_client(ports), make_client(ports, "Board")
    rotate_client_secret(ports, OPERATOR, client.id)
    update_client(ports, OPERATOR, client.id, ClientChange(name="Board"))
    assert is_client_secret(ports, NOBODY, client.client, client.secret)

    changed = update_client(ports, OPERATOR, client.id, ClientChange(key_set=keys))
    assert changed.secrets == ()
    update_client(ports, OPERATOR, client.id, ClientChange(key_set=""))
    assert not is_client_secret(ports, NOBODY, client.client, client.secret)
    assert show_client(ports, OPERATOR, client.id).secrets == ()
    assert is_client_secret(ports, NOBODY, other.client, other.secret)
    new = rotate_client_secret(ports, OPERATOR, client.id)
    assert is_client_secret(ports, NOBODY, client.client, new.secret)
    with ports.database.reading() as session:
        entries = session.query(models.AuditEntry).filter_by(action="oauth_client.update").all()
    assert [entry.after.get("secrets_ended") for entry in entries] == [None, 2, None]


def test_wrong_settings_are_refused_at_their_field(ports: Ports, manager: Actor) -> None:
    def create(**settings: object) -> Callable[[], object]:
        values = {"name": "Forum", "redirect_uris": (CALLBACK,), **settings}
        return lambda: create_client(ports, manager, ClientChange(**values))  # type: ignore[arg-type]

    assert refused(create(name="")) == [("REQUIRED", "name")]
    assert refused(create(redirect_uris=())) == [("REQUIRED", "redirectUris")]
    assert refused(create(redirect_uris=("http://x.example/",))) == [("INVALID", "redirectUris")]
    assert refused(create(scopes=frozenset({"other"})))[0] == ("INVALID", "scopes")
    assert refused(create(key_set="{}")) == [("INVALID", "keySet")]
    wrong = create(backchannel_logout_uri="http://x.example/")
    assert refused(wrong) == [("INVALID", "backchannelLogoutUri")]
    missing = refused(lambda: show_client(ports, manager, "no such client"))
    assert missing == [("NOT_FOUND", "id")]


def test_clients_with_more_rights_are_for_people_with_all(ports: Ports, manager: Actor) -> None:
    """Else someone who manages apps could send staff to a client of their own, and act as them."""
    chief = actor_of(ports, make_user(ports, "chief@example.com", is_superuser=True))
    stronger = (
        ClientChange(is_first_party=True),
        ClientChange(scopes=frozenset({"openid", "staff"})),
        ClientChange(scopes=frozenset({"openid", Permission.MANAGE_ORDERS.value})),
    )
    for change in stronger:
        client = make_client(ports)
        expected = [("OUT_OF_SCOPE_PERMISSION", "id")]
        assert refused(lambda: update_client(ports, manager, client.id, change)) == expected  # noqa: B023
        update_client(ports, chief, client.id, change)
        # What is stronger already can't be led elsewhere either.
        elsewhere = ClientChange(redirect_uris=("https://evil.example/",))
        assert refused(lambda: update_client(ports, manager, client.id, elsewhere)) == expected  # noqa: B023
        assert refused(lambda: rotate_client_secret(ports, manager, client.id)) == expected  # noqa: B023
        assert refused(lambda: delete_client(ports, manager, client.id)) == expected  # noqa: B023
    with pytest.raises(PermissionDenied):
        list_clients(ports, actor_of(ports, make_staff(ports, "other@example.com")))


def test_programs_are_disconnected_by_those_who_manage_the_person(ports: Ports) -> None:
    client = make_client(ports)
    customer, staff = make_user(ports), make_staff(ports, "support@example.com")
    for person in (customer, staff):
        grant(ports, client.client, person)
    helper = actor_of(ports, make_staff(ports, "help@example.com", Permission.MANAGE_USERS))
    with pytest.raises(PermissionDenied):
        disconnect_program_of_user(ports, helper, staff, client.id)
    disconnect_program_of_user(ports, helper, customer, client.id)
    missing = refused(lambda: disconnect_program_of_user(ports, helper, customer, client.id))
    assert missing == [("NOT_FOUND", "client")]
    chief = actor_of(ports, make_staff(ports, "chief@example.com", Permission.MANAGE_STAFF))
    disconnect_program_of_user(ports, chief, staff, client.id)
    with ports.database.reading() as session:
        assert session.query(models.OAuthConsent).count() == 0


def test_disabled_client_is_unknown_and_deleted_one_leaves_no_session(ports: Ports) -> None:
    user, client = make_user(ports), make_client(ports)
    grant(ports, client.client, user)
    assert find_client(ports, NOBODY, client.id) is not None
    update_client(ports, OPERATOR, client.id, ClientChange(is_active=False))
    assert find_client(ports, NOBODY, client.id) is None
    before = len(sessions_of(ports, user))
    delete_client(ports, OPERATOR, client.id)
    assert len(sessions_of(ports, user)) == before - 1
    with ports.database.reading() as session:
        actions = [entry.action for entry in session.query(models.AuditEntry)]
    assert [action for action in actions if action.startswith("oauth_client")] == [
        "oauth_client.create",
        "oauth_client.update",
        "oauth_client.delete",
    ]


def test_command_line_can_be_disabled_but_not_deleted(ports: Ports) -> None:
    """No one could create it again: client IDs of new clients are random."""
    assert refused(lambda: delete_client(ports, OPERATOR, COMMAND_LINE)) == [("INVALID", "id")]
    update_client(ports, OPERATOR, COMMAND_LINE, ClientChange(is_active=False))
    assert not show_client(ports, OPERATOR, COMMAND_LINE).is_active
    assert delete_client(ports, OPERATOR, make_client(ports).id).name == "Forum"


def test_command_line_can_ask_for_every_permission(ports: Ports) -> None:
    """A new permission takes a migration that adds it to this client's scopes."""
    client = find_client(ports, NOBODY, COMMAND_LINE)
    assert client is not None
    assert client.scopes == {OPENID, EMAIL, OFFLINE, STAFF_SCOPE, *Permission}
    assert client.allows_devices
    assert client.is_public
    assert client.is_first_party
