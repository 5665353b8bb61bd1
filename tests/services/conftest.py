"""Actors for tests of several use cases."""

import pytest

from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.ports import Ports
from tests.builders.people import actor_of, make_staff


@pytest.fixture
def boss(ports: Ports) -> Actor:
    """A staff member who manages staff and orders."""
    permissions = (Permission.MANAGE_STAFF, Permission.MANAGE_ORDERS)
    return actor_of(ports, make_staff(ports, "boss@example.com", *permissions))
