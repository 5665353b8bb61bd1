"""Webhooks and apps with many deliveries are deleted, and nobody else who writes waits for it."""

from collections.abc import Callable

import pytest
from sqlalchemy import func, select

from app import models
from app.domain.authorization.actor import OPERATOR
from app.domain.values.errors import Refused
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.services.apps.app_changes import delete_app
from app.services.webhooks import changes
from app.services.webhooks.changes import delete_webhook
from tests.builders.apps import make_app
from tests.builders.webhooks import make_many_deliveries, make_webhook
from tests.fixtures.statements import recorded_statements

BATCH = 10
MANY, FEW = 2 * BATCH + 1, 3


def _count(ports: Ports) -> list[int | None]:
    kinds = (models.Webhook, models.Delivery, models.DeliveryAttempt)
    with ports.database.reading() as session:
        return [session.scalar(select(func.count()).select_from(kind)) for kind in kinds]


@pytest.mark.both_databases
@pytest.mark.parametrize(
    "remove",
    [
        lambda ports, _app, hook: delete_webhook(ports, OPERATOR, to_global_id("Webhook", hook)),
        lambda ports, app, _hook: delete_app(ports, OPERATOR, app),
    ],
    ids=["webhook", "app"],
)
def test_deliveries_are_deleted_in_batches(
    ports: Ports, remove: Callable[[Ports, int, int], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "BATCH_SIZE", BATCH)
    app, hook = _busy(ports, MANY)
    other = _busy(ports, FEW)[0]
    assert _count(ports) == [2, MANY + FEW, MANY + FEW]

    with recorded_statements() as statements:
        remove(ports, app, hook)

    steps = [
        statement for statement in statements if statement.startswith("DELETE FROM deliveries")
    ]
    assert len(steps) >= MANY // BATCH
    assert {step.count(",") for step in steps} == {BATCH - 1}
    assert _count(ports) == [1, FEW, FEW]
    with ports.database.reading() as session:
        assert session.scalars(select(models.Webhook.app_id)).all() == [other]


def test_batch_is_of_a_thousand() -> None:
    assert changes.BATCH_SIZE == 1000


def test_refused_deletion_deletes_nothing(ports: Ports) -> None:
    _busy(ports, FEW)
    with pytest.raises(Refused):
        delete_app(ports, OPERATOR, 9999)
    with pytest.raises(Refused):
        delete_webhook(ports, OPERATOR, to_global_id("Webhook", 9999))
    assert _count(ports) == [1, FEW, FEW]


def _busy(ports: Ports, deliveries: int) -> tuple[int, int]:
    app, _ = make_app(ports)
    hook = make_webhook(ports, app)
    make_many_deliveries(ports, hook, deliveries)
    return app, hook
