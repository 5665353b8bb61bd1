"""The setup checklist follows what exists, until it is dismissed for everyone."""

from dataclasses import replace

import pytest

from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import Permission
from app.domain.values.errors import PermissionDenied
from app.ports import Ports
from app.services.console.home import Setup, dismiss_setup, show_overview
from tests.builders.apps import make_app
from tests.builders.audit import trail
from tests.builders.people import actor_of, make_staff
from tests.builders.provider_records import make_provider
from tests.builders.webhooks import make_webhook


def setup(ports: Ports) -> Setup | None:
    return show_overview(ports, OPERATOR).setup


def test_steps_are_done_when_their_things_exist(ports: Ports) -> None:
    new = replace(ports, configuration=replace(ports.configuration, sends_mail=False))
    make_staff(new, "first@example.com")
    assert setup(new) == Setup(
        sends_mail=False, has_staff=False, has_sign_on=False, has_app=False, has_webhook=False
    )
    make_staff(new, "second@example.com")
    make_provider(new, active=False)
    app, _ = make_app(new)
    assert setup(new) == Setup(
        sends_mail=False, has_staff=True, has_sign_on=False, has_app=True, has_webhook=False
    )
    make_provider(new)
    make_webhook(new, app)
    configuration = replace(ports.configuration, sends_mail=True)
    done = setup(replace(ports, configuration=configuration))
    assert done is not None
    assert done.is_done


def test_dismissing_is_for_everyone_and_in_the_audit_log_once(ports: Ports) -> None:
    managers = [
        actor_of(ports, make_staff(ports, email, Permission.MANAGE_SETTINGS))
        for email in ("a@example.com", "b@example.com")
    ]
    assert all(show_overview(ports, manager).setup for manager in managers)
    for manager in managers:
        dismiss_setup(ports, manager)
    assert not any(show_overview(ports, manager).setup for manager in managers)
    assert len(trail(ports, "shop.dismiss_setup")) == 1


def test_checklist_needs_manage_settings(ports: Ports) -> None:
    other = actor_of(ports, make_staff(ports, "s@example.com", Permission.MANAGE_STAFF))
    assert show_overview(ports, other).setup is None
    with pytest.raises(PermissionDenied):
        dismiss_setup(ports, other)
