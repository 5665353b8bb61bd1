"""Webhooks whose secret was kept under a SECRET_KEY that nobody has any more."""

from dataclasses import replace

import pytest

from app import models
from app.adapters.keys.encryption import AesEncryption
from app.domain.authorization.actor import OPERATOR
from app.domain.values.errors import Refused
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.services.deliveries.sending import endpoint_of
from app.services.webhooks.changes import WebhookInput, delete_webhook, update_webhook
from app.services.webhooks.lists import show_webhook, webhooks_of_apps
from tests.builders.apps import make_app
from tests.builders.webhooks import make_webhook


@pytest.fixture
def other(ports: Ports) -> Ports:
    """The same installation after its SECRET_KEY was replaced."""
    return replace(ports, encryption=AesEncryption("another secret of this installation"))


@pytest.fixture
def lost(ports: Ports) -> int:
    """A webhook whose secret was sealed before that."""
    return make_webhook(ports, make_app(ports, "owner")[0], secret="whsec_of_yesterday")


def test_other_fields_are_still_in_the_payload(other: Ports, lost: int) -> None:
    found = show_webhook(other, OPERATOR, lost)
    assert found is not None
    assert (found.name, found.has_secret) == ("hook", True)
    assert webhooks_of_apps(other, OPERATOR, [found.app_id]) == {found.app_id: (found,)}
    with pytest.raises(Refused) as refused:
        found.reveal()
    (problem,) = refused.value.problems
    assert (problem.field, problem.code) == ("secretKey", "INVALID")
    assert "SECRET_KEY" in problem.message


def test_webhook_with_an_unreadable_secret_can_be_changed_and_deleted(
    other: Ports, lost: int
) -> None:
    name = to_global_id("Webhook", lost)
    changed = update_webhook(other, OPERATOR, name, "", WebhookInput(is_active=False))
    assert (changed.is_active, changed.has_secret) == (False, True)
    delete_webhook(other, OPERATOR, name)
    assert show_webhook(other, OPERATOR, lost) is None


@pytest.mark.parametrize(("secret", "secrets"), [("a new one", ("a new one",)), ("", ())])
def test_new_secret_repairs_the_webhook(
    other: Ports, lost: int, secret: str, secrets: tuple[str, ...]
) -> None:
    name = to_global_id("Webhook", lost)
    changed = update_webhook(other, OPERATOR, name, "", WebhookInput(secret_key=secret))
    assert changed.has_secret == bool(secret)
    with other.database.reading() as session:
        stored = session.get(models.Webhook, lost)
        assert stored is not None
        assert endpoint_of(other, stored).secrets == secrets
