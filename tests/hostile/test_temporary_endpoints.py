"""Temporary endpoints, which the worker deletes, as a way to delete what one can't delete."""

import pytest
from sqlalchemy import select

from app import models
from app.domain.authorization.actor import OPERATOR, WORKER
from app.domain.authorization.permissions import Permission
from app.domain.events import EventType
from app.domain.values.errors import PermissionDenied, Refused
from app.domain.webhooks import TEMPORARY_URL
from app.ports import Ports
from app.services.apps.app_changes import delete_app
from app.services.operations.cleanup import clean_up
from app.services.webhooks.changes import WebhookInput, create_webhook
from tests.builders.apps import make_app
from tests.builders.people import actor_of, make_staff
from tests.fakes.clock import FakeClock


def test_webhook_with_the_name_of_an_app_does_not_delete_the_app(
    ports: Ports, clock: FakeClock
) -> None:
    """Staff who can't delete an app, because it has permissions beyond theirs."""
    app_id, _ = make_app(ports, "Warehouse", Permission.MANAGE_STAFF)
    attacker = actor_of(ports, make_staff(ports, "eve@example.com", Permission.MANAGE_APPS))
    with pytest.raises(Refused):
        delete_app(ports, attacker, app_id)
    disguised = WebhookInput(
        name="Warehouse", target_url=TEMPORARY_URL, events=(EventType.PRODUCT_UPDATED,)
    )
    with pytest.raises(PermissionDenied):
        create_webhook(ports, attacker, disguised, app_id)
    create_webhook(ports, OPERATOR, disguised, app_id)
    clock.pass_(hours=25)
    assert clean_up(ports, WORKER).temporary_endpoints == 1
    with ports.database.reading() as session:
        assert session.scalars(select(models.App.name)).all() == ["Warehouse"]
