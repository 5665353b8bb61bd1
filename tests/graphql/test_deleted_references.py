"""A deletion's payload has the external reference that the account had."""

import json

import pytest
from sqlalchemy import select

from app import models
from app.domain.authorization.actor import OPERATOR, WORKER
from app.domain.authorization.permissions import Permission
from app.domain.events import EventType
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.services.deliveries.fanout import fan_out_events
from app.services.people.customers import delete_customer
from tests.builders.apps import make_app
from tests.builders.people import change_user, make_user
from tests.builders.webhooks import make_webhook

QUERY = """subscription {
  event { ... on CustomerDeleted { user { id externalReference } } }
}"""


@pytest.mark.parametrize("reference", ["crm-7", None])
def test_payload_of_a_deletion_has_the_external_reference(
    ports: Ports, reference: str | None
) -> None:
    app, _ = make_app(ports, "crm", Permission.MANAGE_USERS)
    make_webhook(ports, app, EventType.CUSTOMER_DELETED, query=QUERY)
    key = make_user(ports)
    change_user(ports, key, external_reference=reference)
    id_ = to_global_id("User", key)
    delete_customer(ports, OPERATOR, id_)
    fan_out_events(ports, WORKER)
    with ports.database.reading() as session:
        (delivery,) = session.scalars(select(models.Delivery)).all()
    payload = json.loads(delivery.payload)
    assert payload == {"user": {"id": id_, "externalReference": reference}}
