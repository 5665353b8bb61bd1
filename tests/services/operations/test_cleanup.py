"""Forgetting what nobody will look at again."""

from dataclasses import fields, replace
from datetime import timedelta

import pytest
from sqlalchemy import func, insert, select

from app import models
from app.domain.audit import AuditFilter
from app.domain.authorization.actor import OPERATOR, WORKER, anonymous
from app.domain.events import EventType, ProductUpdated
from app.domain.mails.mail import Mail, MailKind
from app.domain.second_factors import ChallengePurpose
from app.domain.shop.settings import ShopUpdate
from app.domain.values.errors import PermissionDenied
from app.domain.values.pages import PageRequest
from app.domain.webhooks import TEMPORARY_URL
from app.ports import Ports
from app.services.accounts.account_details import Details, update_account
from app.services.apps.app_tokens import TokenOptions, create_app_token, list_app_tokens
from app.services.audit.entries import list_entries
from app.services.commerce.checkouts import show_checkout, update_checkout_email
from app.services.commerce.orders import show_order
from app.services.mails.sending import send_due_mail
from app.services.operations.cleanup import CleanupResult, clean_up
from app.services.outbox.publisher import add_event, add_mail
from app.services.second_factors.challenges import ask
from app.services.shop.settings import update_shop
from tests.builders.apps import make_app
from tests.builders.orders import checkout_id, make_cart, make_order, order_id
from tests.builders.people import NOBODY, actor_of, make_staff, make_user, sessions_of, sign_in
from tests.builders.sign_in_events import stored_sign_ins
from tests.builders.webhooks import change_delivery, make_delivery, make_webhook
from tests.fakes.clock import FakeClock
from tests.services.logins import log_in

MANY = 2500


def test_only_expired_sessions_are_deleted(ports: Ports, clock: FakeClock) -> None:
    ann = make_user(ports, "ann@example.com")
    sign_in(ports, ann)
    clock.pass_(hours=24)
    sign_in(ports, ann)
    clock.pass_(hours=29 * 24)
    assert clean_up(ports, WORKER).sessions == 1
    assert len(sessions_of(ports, ann)) == 1
    clock.pass_(hours=24)
    assert clean_up(ports, WORKER).sessions == 1
    assert sessions_of(ports, ann) == []


def test_many_rows_are_deleted_in_one_round(ports: Ports, clock: FakeClock) -> None:
    ann = make_user(ports, "ann@example.com")
    rows = [
        {
            "token": f"old-{number}",
            "user_id": ann,
            "origin": "password",
            "created_at": clock.now(),
            "expires_at": clock.now(),
        }
        for number in range(MANY)
    ]
    with ports.database.transaction() as session:
        session.execute(insert(models.Session), rows)
    sign_in(ports, ann)
    assert clean_up(ports, WORKER).sessions == MANY
    with ports.database.reading() as session:
        assert session.scalar(select(func.count()).select_from(models.Session)) == 1


def test_expired_login_failures_are_deleted(ports: Ports, clock: FakeClock) -> None:
    ann = make_user(ports, "ann@example.com")
    attempt = ports.throttle.begin("203.0.113.9", clock.timestamp())
    ports.throttle.fail("203.0.113.9", attempt.lease, ann, clock.timestamp())
    assert clean_up(ports, WORKER).throttle_counters == 0
    clock.pass_(hours=3)
    assert clean_up(ports, WORKER).throttle_counters > 0
    assert ports.throttle.find("203.0.113.9", clock.timestamp()) is None


def test_deliveries_and_processed_events_are_deleted_after_fourteen_days(
    ports: Ports, clock: FakeClock
) -> None:
    webhook = make_webhook(ports, make_app(ports, "warehouse")[0])
    made, tried_again = make_delivery(ports, webhook), make_delivery(ports, webhook)
    change_delivery(ports, made, status="SUCCESS", next_attempt_at=None)
    with ports.database.transaction() as session:
        add_event(ports, WORKER, session, ProductUpdated(1))
        add_event(ports, WORKER, session, ProductUpdated(2))
        session.flush()
        session.scalars(select(models.OutboxEvent)).first().closed_at = clock.now()  # type: ignore[union-attr]
    clock.pass_(hours=13 * 24)
    assert (clean_up(ports, WORKER).deliveries, clean_up(ports, WORKER).events) == (0, 0)
    clock.pass_(hours=25)
    cleaned = clean_up(ports, WORKER)
    assert (cleaned.deliveries, cleaned.events) == (1, 1)

    change_delivery(ports, tried_again, status="FAILED", next_attempt_at=None)
    assert clean_up(ports, WORKER).deliveries == 1


def test_carts_are_deleted_after_90_days_and_orders_kept(ports: Ports, clock: FakeClock) -> None:
    order, cart = make_order(ports), make_cart(ports)
    make_cart(ports)
    clock.pass_(hours=1)
    update_checkout_email(ports, NOBODY, checkout_id(cart), "late@example.com")
    clock.pass_(hours=90 * 24 - 1)
    assert clean_up(ports, WORKER).carts == 2
    assert show_checkout(ports, NOBODY, checkout_id(cart)) is not None
    assert show_order(ports, OPERATOR, order_id(order)) is not None
    clock.pass_(hours=1)
    assert clean_up(ports, WORKER).carts == 1


def test_expired_app_token_is_kept_for_a_month(ports: Ports, clock: FakeClock) -> None:
    app_id, _ = make_app(ports, "warehouse")
    end = clock.now() + timedelta(hours=1)
    create_app_token(ports, OPERATOR, app_id, TokenOptions("nightly", end))
    clock.pass_(hours=30 * 24)
    assert clean_up(ports, WORKER).app_tokens == 0
    assert [token.name for token in list_app_tokens(ports, OPERATOR, app_id)] == ["", "nightly"]
    clock.pass_(hours=1)
    assert clean_up(ports, WORKER).app_tokens == 1
    assert [token.name for token in list_app_tokens(ports, OPERATOR, app_id)] == [""]


def test_expired_challenge_is_deleted(ports: Ports, clock: FakeClock) -> None:
    ann = make_user(ports, "ann@example.com")
    with ports.database.transaction() as session:
        ask(ports, session, ChallengePurpose.SIGN_IN, user_id=ann)
    clock.pass_(minutes=4)
    assert clean_up(ports, WORKER).challenges == 0
    clock.pass_(minutes=1)
    assert clean_up(ports, WORKER).challenges == 1


def test_unused_device_is_forgotten_after_a_year_but_the_last_one_stays(
    ports: Ports, clock: FakeClock
) -> None:
    ann, bob = make_staff(ports, "ann@example.com"), make_staff(ports, "bob@example.com")
    phone, laptop = (replace(NOBODY, user_agent=name) for name in ("phone", "laptop"))
    log_in(ports, "ann@example.com", actor=phone)
    log_in(ports, "bob@example.com", actor=phone)
    clock.pass_(hours=1)
    log_in(ports, "ann@example.com", actor=laptop)
    clock.pass_(hours=365 * 24 - 2)
    assert clean_up(ports, WORKER).known_devices == 0
    clock.pass_(hours=3)
    assert clean_up(ports, WORKER).known_devices == 1
    with ports.database.reading() as session:
        kept = session.execute(select(models.KnownDevice.user_id, models.KnownDevice.device)).all()
    assert sorted(map(tuple, kept)) == [(ann, "laptop"), (bob, "phone")]


def test_sign_in_log_is_kept_as_long_as_the_setting_says(ports: Ports, clock: FakeClock) -> None:
    configuration = replace(ports.configuration, sign_in_log_days=7)
    chosen = replace(ports, configuration=configuration)
    make_user(ports, "customer@example.com")
    log_in(ports)
    clock.pass_(hours=1)
    log_in(ports)
    clock.pass_(hours=7 * 24 - 1)
    assert clean_up(chosen, WORKER).sign_in_events == 1
    assert len(stored_sign_ins(ports)) == 1


def test_own_profile_changes_are_kept_as_long_as_the_setting_says(
    ports: Ports, clock: FakeClock
) -> None:
    chosen = replace(ports, configuration=replace(ports.configuration, profile_changes_days=10))
    ann = make_user(ports, "ann@example.com")
    update_account(ports, actor_of(ports, ann), Details(first_name="Ann"))
    rename(ports)
    clock.pass_(hours=10 * 24 - 1)
    assert clean_up(chosen, WORKER).profile_changes == 0
    clock.pass_(hours=1)
    cleaned = clean_up(chosen, WORKER)
    assert (cleaned.profile_changes, cleaned.audit_entries) == (1, 0)
    everything = list_entries(ports, OPERATOR, PageRequest(9), AuditFilter(own_profile=True))
    assert "shop.update" in [entry.action for entry in everything.items]


def test_audit_log_is_kept_forever_unless_the_setting_says_how_long(
    ports: Ports, clock: FakeClock
) -> None:
    rename(ports)
    clock.pass_(hours=400 * 24)
    assert clean_up(ports, WORKER).audit_entries == 0
    chosen = replace(ports, configuration=replace(ports.configuration, audit_log_days=400))
    assert clean_up(chosen, WORKER).audit_entries == 0
    clock.pass_(hours=1)
    assert clean_up(chosen, WORKER).audit_entries == 1


def rename(ports: Ports) -> None:
    update_shop(ports, OPERATOR, ShopUpdate(name="Northlight"))


def test_cleanup_without_expired_rows_deletes_nothing(ports: Ports) -> None:
    assert clean_up(ports, WORKER) == CleanupResult(*(0 for _ in fields(CleanupResult)))


def test_only_internal_callers_start_the_cleanup(ports: Ports) -> None:
    with pytest.raises(PermissionDenied):
        clean_up(ports, anonymous())


def test_temporary_endpoints_are_deleted_with_their_apps_after_a_day(
    ports: Ports, clock: FakeClock
) -> None:
    kept, _ = make_app(ports, "Warehouse")
    name = "flask webhook listen (temporary, 0123abcd-4567)"
    made, _ = make_app(ports, name)
    make_webhook(ports, kept, EventType.ORDER_PAID, target_url=TEMPORARY_URL)
    make_webhook(ports, kept, EventType.ORDER_PAID)
    make_webhook(ports, made, EventType.ORDER_PAID, target_url=TEMPORARY_URL, name=name)
    clock.pass_(hours=23)
    assert clean_up(ports, WORKER).temporary_endpoints == 0
    clock.pass_(hours=1)
    assert clean_up(ports, WORKER).temporary_endpoints == 2
    with ports.database.reading() as session:
        assert session.scalars(select(models.App.id)).all() == [kept]
        assert session.scalars(select(models.Webhook.target_url)).all() == [
            "https://app.example.com/hook"
        ]


def test_mail_log_is_kept_for_the_days_of_the_setting_and_waiting_mail_longer(
    ports: Ports, clock: FakeClock
) -> None:
    mail = Mail(MailKind.ACCOUNT_EXISTS, "ann@example.com")
    with ports.database.transaction() as session:
        add_mail(ports, session, mail)
    send_due_mail(ports, WORKER)
    with ports.database.transaction() as session:
        add_mail(ports, session, mail)
    chosen = replace(ports, configuration=replace(ports.configuration, mail_log_days=10))
    clock.pass_(hours=10 * 24, seconds=-1)
    assert clean_up(chosen, WORKER).mails == 0
    clock.pass_(seconds=1)
    assert clean_up(chosen, WORKER).mails == 1
    with ports.database.reading() as session:
        [waiting] = session.scalars(select(models.OutboxMail)).all()
    assert waiting.next_attempt_at is not None
