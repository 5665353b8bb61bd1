"""Requesters that an earlier version stored with less are read."""

import pytest

from app.domain.authorization.actor import Actor, ActorKind
from app.domain.authorization.permissions import Permission
from app.domain.values.errors import Refused
from app.ports import Ports
from app.services.audit.log import requester, requesting_saver, require_requester, store_requester
from tests.fixtures.cases import cases

HELD = frozenset({Permission.MANAGE_APPS})
ASKED = Actor(ActorKind.USER, user_id=7, name="ann@example.com", permissions=HELD, address="::1")
STORED = store_requester(ASKED)


@cases("dropped", STORED)
def test_requester_can_be_read_without_one_of_its_fields(dropped: str) -> None:
    stored = {name: value for name, value in STORED.items() if name != dropped}
    found = requester(stored)
    assert found.permissions == frozenset()
    assert found.name == ("" if dropped == "name" else "ann@example.com")
    assert requesting_saver(stored, granted=HELD).permissions == HELD


@pytest.mark.parametrize("dropped", ["kind", "user_id"])
def test_unknown_requester_cannot_grant_permissions(ports: Ports, dropped: str) -> None:
    stored = {name: value for name, value in STORED.items() if name != dropped}
    with ports.database.reading() as session, pytest.raises(Refused):
        require_requester(ports, session, stored, HELD)
