"""What the demo shop looks like to somebody who comes in."""

from collections import Counter
from datetime import timedelta

import pytest
from sqlalchemy import func, select

from app import models
from app.domain.authorization.actor import OPERATOR, WORKER
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission
from app.domain.commerce.sales import OrderStatus
from app.domain.deliveries.deliveries import DISABLE_AFTER, SCHEDULE
from app.domain.shop.settings import TrafficKind
from app.domain.sign_in.sign_in_log import SignInFilter, SignInReason, SignInResult
from app.domain.values.pages import PageRequest
from app.ports import Ports
from app.services.commerce.products import ProductInput, create_product
from app.services.deliveries.dispatch import lease_due_deliveries
from app.services.deliveries.fanout import fan_out_events
from app.services.demo.people import GROUPS, STAFF
from app.services.demo.shop import GOODS, PUBLISHED
from app.services.identity.identify import identify
from app.services.people.directory import list_users
from app.services.people.groups import list_groups
from app.services.shop.traffic import count_traffic
from app.services.sign_in.login_throttle import list_block_details
from app.services.sign_in.password_login import create_token
from app.services.sign_in_log.events import export_sign_ins
from tests.builders.demo import DEMO_ROWS, demo_rows, fill_demo
from tests.builders.people import NOBODY, visit
from tests.services.demo.conftest import FilledFile

pytestmark = pytest.mark.first

EVERYTHING = PageRequest(100)
ROLES = ["superuser", "manager", "support", "customer", "app"]


def test_interrupted_demo_setup_is_completed_by_the_next_run(
    filled: FilledFile, own_shop: Ports
) -> None:
    """Every sign-in that is shown works; those that weren't shown are never stored."""
    assert [sign_in.role for sign_in in filled.sign_ins] == ROLES
    assert demo_rows(own_shop) == DEMO_ROWS
    with own_shop.database.reading() as session:
        open_notes = select(models.OutboxEvent.id).where(models.OutboxEvent.closed_at.is_(None))
        assert session.scalars(open_notes).all() == []
        assert session.scalars(select(models.Delivery.id)).all() != []
    for sign_in in filled.sign_ins[:-1]:
        user = create_token(own_shop, NOBODY, email=sign_in.name, password=sign_in.secret).user
        assert user.is_staff is (sign_in.role != "customer")
        assert user.is_superuser is (sign_in.role == "superuser")
    app = identify(own_shop, visit(filled.sign_ins[-1].secret)).actor
    assert app.permissions == {Permission.MANAGE_ORDERS, Permission.MANAGE_PRODUCTS}
    secrets = [sign_in.secret for sign_in in filled.sign_ins]
    assert len(set(secrets)) == len(secrets)
    assert all(len(secret) >= 16 for secret in secrets)
    assert not any(secret in repr(filled.sign_ins) for secret in secrets)


def test_demo_staff_have_groups_and_some_an_sso_identity(shop: Ports) -> None:
    groups = {group.name: group for group in list_groups(shop, OPERATOR, EVERYTHING).items}
    assert set(groups) == set(GROUPS)
    assert groups["Full Access"].permissions == ALL_PERMISSIONS
    assert sum(group.members for group in groups.values()) == len(STAFF)
    with shop.database.reading() as session:
        linked = session.scalars(select(models.ExternalIdentity.user_id)).all()
    assert 0 < len(linked) < len(STAFF)


def test_demo_orders_are_in_every_state(shop: Ports) -> None:
    assert demo_rows(shop) == DEMO_ROWS
    assert len(PUBLISHED) < len(GOODS)
    now = shop.clock.now()
    with shop.database.reading() as session:
        orders = session.scalars(select(models.Order)).all()
        carts = session.scalar(select(func.count()).where(models.Checkout.completed_at.is_(None)))
    assert {OrderStatus(order.status) for order in orders} == set(OrderStatus)
    assert {order.is_paid for order in orders} == {True, False}
    assert carts
    assert min(order.created_at for order in orders) < now - timedelta(days=21)
    assert max(order.created_at for order in orders) > now - timedelta(hours=3)
    assert all(order.created_at <= order.updated_at < now for order in orders)


def test_demo_deliveries_are_consistent(shop: Ports) -> None:
    now = shop.clock.now()
    with shop.database.reading() as session:
        deliveries = {
            delivery.id: delivery for delivery in session.scalars(select(models.Delivery))
        }
        attempts = session.scalars(select(models.DeliveryAttempt)).all()
    lately = [
        delivery
        for delivery in deliveries.values()
        if delivery.created_at > now - timedelta(days=1)
    ]
    assert Counter(delivery.status for delivery in lately).most_common(1)[0][0] == "SUCCESS"
    made = Counter(delivery.delivery_id for delivery in attempts)
    assert all(
        delivery.attempts == made[key] <= len(SCHEDULE) for key, delivery in deliveries.items()
    )
    assert max(delivery.attempts for delivery in lately if delivery.status == "SUCCESS") > 1
    assert all(delivery.payload.startswith("{") for delivery in deliveries.values())
    for attempt in attempts:
        delivery = deliveries[attempt.delivery_id]
        assert attempt.request_headers["webhook-id"] == delivery.message_id
        assert delivery.created_at <= attempt.created_at < now
        assert attempt.response
        assert attempt.duration > 0


def test_failing_demo_webhook_is_disabled(shop: Ports) -> None:
    with shop.database.reading() as session:
        off = session.scalars(select(models.Webhook).where(models.Webhook.is_active.is_(False)))
        [trouble] = off.all()
        failed = session.scalars(
            select(models.Delivery.webhook_id).where(models.Delivery.status == "FAILED")
        )
        assert set(failed) == {trouble.id}
    assert trouble.disabled_reason
    assert trouble.failing_since is not None
    assert trouble.failing_since + DISABLE_AFTER < shop.clock.now()
    assert trouble.last_failure.startswith("402 Payment Required")
    assert trouble.last_failure_at is not None
    assert trouble.failing_since < trouble.last_failure_at < trouble.failing_since + DISABLE_AFTER


def test_new_demo_shop_has_nothing_to_send(own_shop: Ports) -> None:
    assert fan_out_events(own_shop, WORKER) == 0
    assert lease_due_deliveries(own_shop, WORKER) == ()
    create_product(own_shop, OPERATOR, ProductInput(name="A new bowl"))
    assert fan_out_events(own_shop, WORKER) == 1
    assert len(lease_due_deliveries(own_shop, WORKER)) == 1


def test_every_target_uses_a_reserved_name(shop: Ports) -> None:
    with shop.database.reading() as session:
        targets = session.scalars(select(models.Webhook.target_url)).all()
    assert all(target.split("/")[2].endswith(".example") for target in targets)


def test_demo_shop_has_traffic_blocked_addresses_and_logins(shop: Ports) -> None:
    traffic = count_traffic(shop, OPERATOR, timedelta(days=1))
    assert all(traffic[kind] for kind in TrafficKind)
    [blocked] = list_block_details(shop, OPERATOR)
    assert blocked.until > shop.clock.now() + timedelta(seconds=60)
    seen = [user.last_login for user in list_users(shop, OPERATOR, EVERYTHING).items]
    assert sum(moment is not None for moment in seen) > len(seen) / 2
    successful, *failed = (
        tuple(export_sign_ins(shop, OPERATOR, expected))
        for expected in (
            SignInFilter(result=SignInResult.SUCCESSFUL),
            SignInFilter(reason=SignInReason.INCORRECT_PASSWORD),
            SignInFilter(reason=SignInReason.UNKNOWN_EMAIL),
        )
    )
    assert all(failed)
    logged = {(attempt.user_id, attempt.at) for attempt in successful}
    people = list_users(shop, OPERATOR, EVERYTHING).items
    assert {(user.id, user.last_login) for user in people if user.last_login} <= logged


def test_second_run_adds_nothing_and_shows_no_password(own_shop: Ports) -> None:
    before = list_users(own_shop, OPERATOR, EVERYTHING).items
    assert fill_demo(own_shop) == []
    assert demo_rows(own_shop) == DEMO_ROWS
    assert list_users(own_shop, OPERATOR, EVERYTHING).items == before
