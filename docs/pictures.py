"""``python -m docs.pictures``: the README's pictures of the console, of a new demo shop."""

import io
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from app import models
from app.adapters.database.migrations import upgrade
from app.adapters.system import SystemClock
from app.domain.authorization.actor import OPERATOR, SessionOrigin
from app.services.demo.shop import fill_shop
from tests.browser.chromium import chromium_path, switches
from tests.browser.console import ADMIN, PROVIDER, RunningShop, running
from tests.builders.people import PASSWORD
from tests.builders.provider_records import link_identity, make_provider
from tests.fixtures.ports import fake_ports

FOLDER = Path(__file__).parent / "pictures"
WIDTH, HEIGHT = 1440, 900
LARGEST = 150_000
_LINKED_STAFF = 3
_COLOURS = 256
_PLAIN = Image.Dither.NONE
_THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


def _home(page: Page, url: str) -> None:
    page.goto(f"{url}/console/")


def _access_dialog(page: Page, url: str) -> None:
    page.goto(f"{url}/console/access/")
    page.get_by_role("radio", name="Customers only").check()
    page.get_by_role("button", name="Review change").first.click()
    page.get_by_role("dialog").wait_for()


def _dry_run(page: Page, url: str) -> None:
    page.goto(f"{url}/console/dry-run/")
    page.get_by_role("textbox", name="Subscription query").press("Control+Enter")
    page.get_by_role("region", name="Payload").wait_for()


def _deliveries(page: Page, url: str) -> None:
    page.goto(f"{url}/console/deliveries/")


PICTURES: dict[str, Callable[[Page, str], None]] = {
    "home": _home,
    "access-dialog": _access_dialog,
    "dry-run": _dry_run,
    "deliveries": _deliveries,
}
"""The navigation to what each picture shows."""


def main() -> None:
    """Write every picture, in both themes."""
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        url = f"sqlite:///{folder}/shop.sqlite3"
        upgrade(url)
        ports = fake_ports(url, SystemClock())
        fill_shop(ports, OPERATOR, lambda _made: None)
        make_provider(ports, name=PROVIDER)
        hashed = ports.passwords.hash(PASSWORD)
        with ports.database.transaction() as session:
            admin = session.query(models.User).filter_by(email=ADMIN).one()
            admin.password_hash = hashed
            staff = session.query(models.User.id).filter_by(is_staff=True).order_by(models.User.id)
            linked = [key for (key,) in staff.limit(_LINKED_STAFF)]
        for key in linked:
            link_identity(ports, key, subject=f"staff-{key}")
        with running(ports) as shop, sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=chromium_path(folder), args=switches()
            )
            for theme in _THEMES:
                _take(browser, shop, theme)
            browser.close()
        ports.database.close()


def _take(browser: Browser, shop: RunningShop, theme: Literal["light", "dark"]) -> None:
    context = browser.new_context(
        color_scheme=theme,
        viewport={"width": WIDTH, "height": HEIGHT},
        reduced_motion="reduce",
        timezone_id="UTC",
    )
    shop.sign_in(context, ADMIN, SessionOrigin.OIDC)
    page = context.new_page()
    for name, go in PICTURES.items():
        go(page, shop.url)
        picture = _small(page.screenshot())
        if len(picture) > LARGEST:
            raise RuntimeError(f"{name}: {len(picture)} bytes are more than {LARGEST}")
        (FOLDER / f"{name}-{theme}.png").write_bytes(picture)
        sys.stdout.write(f"{name}-{theme}.png: {len(picture):,} bytes\n")
    context.close()


def _small(picture: bytes) -> bytes:
    """The same picture with its most telling colours, rare ones among them."""
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    few = image.quantize(_COLOURS, Image.Quantize.MAXCOVERAGE, kmeans=1, dither=_PLAIN)
    packed = io.BytesIO()
    few.save(packed, "PNG", optimize=True)
    return packed.getvalue()


if __name__ == "__main__":
    main()
