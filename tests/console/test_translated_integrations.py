"""Apps and webhooks in each language of the console: pages, refused forms, what is said after."""

from collections.abc import Mapping
from functools import cache

import pytest
from babel.messages.catalog import Catalog
from sqlalchemy import update

from app import models
from app.domain.accounts.languages import CONSOLE_TAGS, ENGLISH
from app.domain.authorization.actor import WORKER
from app.domain.authorization.permissions import Permission
from app.ports import Ports
from app.services.apps.installation_worker import install_next_app
from app.services.deliveries.attempt_results import FAILING_REASON
from app.services.webhooks.failing_webhooks import disable_webhook
from tests.builders.apps import make_app
from tests.builders.webhooks import change_webhook, make_webhook
from tests.console.conftest import StaffConsole
from tests.console.staff_client import ConsoleClient, Page
from tests.servers.apps import app_server
from tests.servers.http import Reply
from translations.catalogues import read

pytestmark = pytest.mark.one_of("reader")

MAY = (Permission.MANAGE_APPS, Permission.MANAGE_PRODUCTS)
TARGET = "https://hooks.example.com/in"
TRANSLATED = tuple(tag for tag in CONSOLE_TAGS if tag != ENGLISH)


@cache
def catalogue(language: str) -> Catalog:
    """Return the sentences of a language; reading them takes a second."""
    return read(language)


class Reader:
    """A person at the console who reads another language than English."""

    def __init__(self, console: ConsoleClient, language: str) -> None:
        self._console = console
        with console.ports.database.transaction() as session:
            session.execute(update(models.User).values(language_code=language.upper()))
        self._catalogue = catalogue(language)
        self._english = [
            str(message.id)
            for message in self._catalogue
            if isinstance(message.id, str) and message.id.count(" ") > 1
        ]

    def word(self, english: str) -> str:
        """Return a sentence in the person's language."""
        message = self._catalogue.get(english)
        assert message is not None
        assert message.string != english
        return str(message.string)

    def open(self, path: str) -> Page:
        return self.read(self._console.open(f"/console/{path}"))

    def send(self, path: str, data: Mapping[str, object], *, seen_at: str = "") -> Page:
        """Send a form, and return the page that it leads to."""
        where = f"/console/{seen_at or path}"
        page = self._console.send(f"/console/{path}", dict(data), seen_at=where)
        return self.read(self._console.follow(page) if page.leads_to else page)

    def read(self, page: Page) -> Page:
        """Fail if the page says a sentence of ours in English."""
        shown = page.text
        assert [english for english in self._english if english in shown] == []
        return page


@pytest.fixture(params=TRANSLATED)
def reader(request: pytest.FixtureRequest, staff_console: StaffConsole) -> Reader:
    return Reader(staff_console(*MAY), request.param)


def test_app_and_its_tokens(reader: Reader, shop: Ports) -> None:
    make_app(shop, "Labels", Permission.MANAGE_PRODUCTS)
    assert reader.word("Enter a name.") in reader.send("apps/connect", {"name": ""}).text
    made = reader.send("apps/connect", {"name": "Till", "identifier": "example.till"})
    assert reader.word("Permissions") in made.text
    taken = reader.send("apps/connect", {"name": "Other", "identifier": "example.till"})
    assert reader.word("This identifier is already in use.") in taken.text
    for question in ("deactivate", "remove", "rotate&token=2", "revoke&token=2"):
        assert "lk-dialog" in reader.open(f"apps/2?ask={question}").html
    token = {"name": "Second", "life": "30", "permissions": ["MANAGE_PRODUCTS"]}
    assert "Second" in reader.send("apps/1/tokens/new", token).text
    saved = reader.send("apps/1/details", {"name": "Printer"}, seen_at="apps/1?view=settings")
    assert reader.word("{app} was saved.").format(app="Printer") in saved.text
    reader.open("apps/?q=nothing-like-this&sort=newest&status=active&kind=never")


def test_installed_app(reader: Reader, shop: Ports) -> None:
    refused = reader.send("apps/install/", {"url": "nonsense"})
    message = "Must be an http or https URL, such as https://app.example.com/api/manifest."
    assert reader.word(message) in refused.text
    with app_server() as app:
        asked = reader.open(f"apps/install/?url={app.manifest_url}")
        assert reader.word("It gets these permissions and an API token.") in asked.text
        agreed = {"url": app.manifest_url, "activate": "y"}
        reader.send("apps/install/agree", agreed, seen_at=f"apps/install/?url={app.manifest_url}")
        app.decide = lambda _told: Reply(503)
        assert install_next_app(shop, WORKER) == 1
    failed = reader.open("apps/").text
    assert reader.word("{name} could not be installed.").format(name="An app") in failed
    assert reader.word("The app rejected its token: HTTP {status}.").format(status=503) in failed


def test_webhook_and_its_query(reader: Reader, shop: Ports) -> None:
    app_id, _ = make_app(shop, "Labels")
    filled = {"app": str(app_id), "name": "Stock", "target_url": TARGET}
    for entered, message in (
        ({"target_url": "ftp://x"}, "Use a full URL: https://app.example.com/hook"),
        ({"custom_headers": "Host: evil"}, ""),
        (
            {"query": "{ shop { name } }"},
            "This isn't a subscription query: subscription { event … }.",
        ),
    ):
        refused = reader.send("webhooks/new", {**filled, **entered})
        assert refused.status == 422
        assert not message or reader.word(message) in refused.text
    warned = reader.send("webhooks/new", {**filled, "events": ["PRODUCT_CREATED"]})
    assert "lk-note is-warn" in warned.html
    made = reader.send("webhooks/new", {**filled, "events": ["PRODUCT_CREATED"], "warned": "yes"})
    assert "Stock" in made.text
    for question in ("test", "pause", "delete"):
        assert "lk-dialog" in reader.open(f"webhooks/1?ask={question}").html
    paused = reader.send("webhooks/1/disable", {}, seen_at="webhooks/1")
    assert reader.word("“{webhook}” disabled.").format(webhook="Stock") in paused.text
    reader.open("webhooks/?q=nothing-like-this&state=never")


def test_webhook_that_fails_and_is_disabled(reader: Reader, shop: Ports) -> None:
    app_id, _ = make_app(shop, "Labels", Permission.MANAGE_PRODUCTS)
    hook = make_webhook(shop, app_id)
    reason = "Can't connect to {host}."
    last = reason.format(host="hooks.example.com")
    now = shop.clock.now()
    change_webhook(shop, hook, failing_since=now, last_failure_at=now, last_failure=last)
    for path in ("webhooks/", f"webhooks/{hook}?chart=day"):
        page = reader.open(path)
        assert reader.word(reason).format(host="hooks.example.com") in page.text
    with shop.database.transaction() as session:
        disable_webhook(shop, session, session.get_one(models.Webhook, hook), FAILING_REASON)
    assert reader.word(FAILING_REASON) in reader.open(f"webhooks/{hook}").text
