"""Words of pages that were untrue once: what they say, where, and in which language."""

import re

from sqlalchemy import update

from app import models
from app.domain.authorization.permissions import Permission
from app.ports import Ports
from tests.builders.apps import make_app
from tests.builders.provider_records import make_provider
from tests.console.conftest import StaffConsole
from tests.console.staff_client import ConsoleClient


def test_shop_without_apps_leads_from_a_webhook_to_its_app(
    staff_console: StaffConsole, shop: Ports
) -> None:
    console = staff_console(Permission.MANAGE_APPS)
    new = console.open("/console/webhooks/new")
    assert "Create an app first" in new.text
    assert 'href="/console/apps/connect"' in new.html
    assert 'name="target_url"' not in new.html
    make_app(shop, "Labels")
    assert 'name="target_url"' in console.open("/console/webhooks/new").html


def test_logs_say_what_their_filters_are_and_when_they_are_late(admin: ConsoleClient) -> None:
    mails = admin.open("/console/emails/log/").text
    assert "From date" in mails
    assert "To date" in mails
    assert "Failed attempts appear within a minute." in admin.open("/console/sign-ins/").text
    adding = admin.open("/console/single-sign-on/new").html
    [example] = re.findall(r'name="issuer"[^>]*placeholder="([^"]*)"', adding) or re.findall(
        r'placeholder="([^"]*)"[^>]*name="issuer"', adding
    )
    assert example == "https://id.example.com", "an issuer, no URL of keys"


def test_subject_of_a_token_is_no_subject_of_a_letter(admin: ConsoleClient, shop: Ports) -> None:
    make_provider(shop)
    with shop.database.transaction() as session:
        session.execute(update(models.User).values(language_code="DE"))
    page = admin.open("/console/single-sign-on/default/edit").text
    assert "Betreff" not in page
    assert "Subject" in page or "Subjekt" in page


def test_moments_follow_no_second_preposition(admin: ConsoleClient, shop: Ports) -> None:
    """German had "seit: vor 25 min"."""
    make_app(shop, "Labels")
    for code, doubled in (
        ("DE", r"seit:? vor"),
        ("FR", r"depuis :? ?il y a"),
        ("ES", "desde:? hace"),
    ):
        with shop.database.transaction() as session:
            session.execute(update(models.User).values(language_code=code))
        for path in ("/console/", "/console/access", "/console/apps/1", "/console/account/"):
            assert not re.search(doubled, admin.open(path).text), (code, path)
