"""All deliveries that match a search are resent."""

import pytest
from sqlalchemy import func, select

from app import models
from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import Permission
from app.domain.deliveries.deliveries import DeliveryStatus
from app.domain.events import EventType
from app.domain.values.errors import PermissionDenied, Refused
from app.ports import Ports
from app.services.deliveries import replays
from app.services.deliveries.lists import DeliverySearch
from app.services.deliveries.replays import (
    ResendImpact,
    Resent,
    resend_matching,
    show_resend_impact,
)
from tests.builders.apps import change_app, make_app
from tests.builders.people import actor_of, make_staff
from tests.builders.webhooks import change_webhook, make_many_deliveries, make_webhook
from tests.fixtures.statements import recorded_statements
from tests.services.error_codes import codes

FAILED = DeliverySearch(status=DeliveryStatus.FAILED)


@pytest.fixture
def webhook(ports: Ports) -> int:
    app, _ = make_app(ports, "warehouse", Permission.MANAGE_PRODUCTS)
    return make_webhook(ports, app, EventType.PRODUCT_UPDATED)


def states(ports: Ports) -> dict[str, int]:
    by_status = select(models.Delivery.status, func.count()).group_by(models.Delivery.status)
    with ports.database.reading() as session:
        return {row[0]: row[1] for row in session.execute(by_status)}


@pytest.mark.both_databases
def test_matching_deliveries_are_resent_in_batches_and_audited_once(
    ports: Ports, webhook: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replays, "_DUE_AT_ONCE", 10)
    make_many_deliveries(ports, webhook, 25, status="FAILED")
    make_many_deliveries(ports, webhook, 4)
    assert show_resend_impact(ports, OPERATOR, FAILED) == ResendImpact(25, 25, 0)

    with recorded_statements() as statements:
        resent = resend_matching(ports, OPERATOR, FAILED)

    assert resent == Resent(25)
    assert states(ports) == {"PENDING": 25, "SUCCESS": 4}
    changed = [one for one in statements if one.startswith("UPDATE deliveries")]
    assert len(changed) == 3
    with ports.database.reading() as session:
        (entry,) = session.scalars(select(models.AuditEntry))
    assert entry.action == "delivery.retry"
    assert entry.after == {"deliveries": 25, "status": "FAILED"}


@pytest.mark.parametrize("disables_app", [False, True])
def test_deliveries_of_disabled_webhooks_are_left_out_and_counted(
    ports: Ports, webhook: int, disables_app: bool
) -> None:
    app, _ = make_app(ports, "till", Permission.MANAGE_PRODUCTS)
    other = make_webhook(ports, app, EventType.PRODUCT_UPDATED)
    make_many_deliveries(ports, webhook, 2)
    make_many_deliveries(ports, other, 3)
    if disables_app:
        change_app(ports, app, is_active=False)
    else:
        change_webhook(ports, other, is_active=False)
    everything = DeliverySearch()
    assert show_resend_impact(ports, OPERATOR, everything) == ResendImpact(5, 2, 2)
    assert show_resend_impact(ports, OPERATOR, everything).disabled == 3
    assert resend_matching(ports, OPERATOR, everything) == Resent(2, disabled=3)
    only_disabled = DeliverySearch(webhook_id=other)
    assert resend_matching(ports, OPERATOR, only_disabled) == Resent(0, disabled=3)
    assert states(ports) == {"PENDING": 2, "SUCCESS": 3}


def test_nothing_is_resent_if_nothing_matches(ports: Ports, webhook: int) -> None:
    make_many_deliveries(ports, webhook, 2)
    for search in (FAILED, DeliverySearch(text="no such text"), DeliverySearch(text="nul\0")):
        assert resend_matching(ports, OPERATOR, search) == Resent(0)
    assert states(ports) == {"SUCCESS": 2}


def test_too_many_are_refused(ports: Ports, webhook: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replays, "MAX_MATCHING", 3)
    make_many_deliveries(ports, webhook, 4, status="FAILED")
    with pytest.raises(Refused) as refused:
        resend_matching(ports, OPERATOR, FAILED)
    assert codes(refused) == [("search", "INVALID")]
    assert states(ports) == {"FAILED": 4}


def test_invalid_object_is_refused(ports: Ports) -> None:
    with pytest.raises(Refused) as refused:
        resend_matching(ports, OPERATOR, DeliverySearch(object_id="nonsense"))
    assert codes(refused) == [("objectId", "INVALID_ID")]


def test_resending_needs_manage_apps(ports: Ports, webhook: int) -> None:
    make_many_deliveries(ports, webhook, 1, status="FAILED")
    clerk = actor_of(ports, make_staff(ports, "clerk@example.com", Permission.MANAGE_ORDERS))
    for use_case in (show_resend_impact, resend_matching):
        with pytest.raises(PermissionDenied):
            use_case(ports, clerk, FAILED)
    assert states(ports) == {"FAILED": 1}
