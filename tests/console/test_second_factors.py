"""The page "Sign-in and security": authenticator app and recovery codes."""

import html
import re
from datetime import timedelta
from urllib.parse import unquote

from app.domain.authorization.permissions import Permission
from app.domain.second_factors import RECOVERY_CODES, SecondFactorType
from app.ports import Ports
from app.services.second_factors.factor_checks import check_code
from app.services.second_factors.stored_factors import read_factors
from tests.builders.people import NOBODY, PASSWORD, sessions_of, sign_in
from tests.builders.second_factor_rule import require_second_factor
from tests.builders.second_factors import one_time_code
from tests.builders.shop import configure_shop
from tests.console.conftest import StaffConsole
from tests.console.staff_client import ConsoleClient, Page
from tests.fakes.clock import FakeClock

URL = "/console/account/security/"
OWN_KEY = 1
_KEY = re.compile(r'id="setup-key"[^>]*value="([^"]+)"')
_SUBMISSION = re.compile(r'name="submission"[^>]*value="([^"]+)"')
_CODE = re.compile(r"<li>([0-9a-z]{4}-[0-9a-z]{4})</li>")


def begin(console: ConsoleClient) -> Page:
    """Begin to set up an app; return the page that shows it."""
    assert console.send(f"{URL}app", seen_at=URL).status == 303
    return console.open(URL)


def secret_on(page: Page) -> str:
    return str(_KEY.findall(page.html)[0]).replace(" ", "")


def confirm(console: ConsoleClient, shop: Ports, page: Page) -> Page:
    """Send the code of the app that ``page`` sets up; return the answer."""
    values = {
        "code": one_time_code(shop, secret_on(page)),
        "submission": _SUBMISSION.findall(page.html)[0],
    }
    return console.send(f"{URL}app/confirm", values, seen_at=URL)


def has_app(shop: Ports) -> bool:
    with shop.database.reading() as session:
        return read_factors(session, OWN_KEY).has_authenticator_app


def test_account_without_factors_can_set_up_an_app(staff_console: StaffConsole) -> None:
    page = staff_console().open(URL)
    assert "Set up authenticator app" in page.text
    assert "You get recovery codes when you add a second factor." in page.text
    assert "lk-qr" not in page.html


def test_app_is_turned_on_and_codes_are_shown_once(
    staff_console: StaffConsole, shop: Ports
) -> None:
    console = staff_console()
    sign_in(shop, OWN_KEY)
    setup = begin(console)
    assert "Setup not finished" in setup.text
    answer = confirm(console, shop, setup)
    assert answer.status == 303
    shown = console.follow(answer)
    codes = _CODE.findall(shown.html)
    assert len(codes) == RECOVERY_CODES
    assert "Authenticator app turned on. 1 other session stays signed in." in shown.text
    assert shown.response.headers["Cache-Control"] == "no-store"
    assert check_code(shop, NOBODY, OWN_KEY, codes[0]) is SecondFactorType.RECOVERY_CODES
    assert sessions_of(shop, OWN_KEY)[0].amr == "pwd otp mfa"

    again = console.follow(answer)
    assert not _CODE.findall(again.html)
    assert "already shown" in again.text
    assert "9 of 10 left" in again.text


def test_codes_can_be_saved_as_a_file_without_script(
    staff_console: StaffConsole, shop: Ports
) -> None:
    console = staff_console()
    shown = console.follow(confirm(console, shop, begin(console)))
    (data,) = re.findall(r'href="data:text/plain;charset=utf-8,([^"]+)"', shown.html)
    saved = unquote(html.unescape(data))
    assert saved.splitlines()[-RECOVERY_CODES:] == _CODE.findall(shown.html)
    assert "staff@example.com" in saved
    (copied,) = re.findall(r'data-copy-text="([^"]+)"', shown.html)
    assert copied.split() == _CODE.findall(shown.html)


def test_form_sent_twice_leads_to_the_same_page(staff_console: StaffConsole, shop: Ports) -> None:
    console = staff_console()
    setup = begin(console)
    values = {
        "code": one_time_code(shop, secret_on(setup)),
        "submission": _SUBMISSION.findall(setup.html)[0],
    }
    answers = console.send_twice(f"{URL}app/confirm", values, seen_at=URL)
    assert [answer.status for answer in answers] == [303, 303]
    shown = console.follow(answers[1])
    assert len(_CODE.findall(shown.html)) == RECOVERY_CODES


def test_confirmed_secret_is_on_no_page(staff_console: StaffConsole, shop: Ports) -> None:
    console = staff_console()
    setup = begin(console)
    secret = secret_on(setup)
    shown = console.follow(confirm(console, shop, setup))
    for page in (shown, console.open(URL), console.open(f"{URL}?ask=off"), begin(console)):
        assert secret not in page.html.replace(" ", "")


def test_wrong_code_is_refused_at_its_field(staff_console: StaffConsole, shop: Ports) -> None:
    console = staff_console()
    secret = secret_on(begin(console))
    wrong = (("", "Enter the 6-digit code from the app."), ("12345x", "Incorrect code."))
    for code, message in wrong:
        refused = console.send(f"{URL}app/confirm", {"code": code}, seen_at=URL)
        assert refused.status == 422, message
        error = refused.html.split('id="code-error"')[1].split("</div>")[0]
        assert message in html.unescape(error)
        assert secret_on(refused) == secret, message
        assert 'value="12345x"' not in refused.html
    assert not has_app(shop)


def test_setup_is_canceled(staff_console: StaffConsole, shop: Ports) -> None:
    console = staff_console()
    setup = begin(console)
    console.send(f"{URL}app/cancel", seen_at=URL)
    assert "Set up authenticator app" in console.open(URL).text
    refused = console.send(
        f"{URL}app/confirm", {"code": one_time_code(shop, secret_on(setup))}, seen_at=URL
    )
    assert refused.status == 422
    assert "This setup was canceled or replaced." in refused.text


def test_secret_of_a_setup_is_hidden_once_the_proof_is_old(
    staff_console: StaffConsole, clock: FakeClock
) -> None:
    console = staff_console()
    secret = secret_on(begin(console))
    clock.pass_(minutes=6)
    page = console.open(URL)
    assert not _KEY.findall(page.html)
    assert "Continue setup" in page.text
    asked = console.send(f"{URL}app", seen_at=URL)
    assert asked.status == 403
    assert "You're about to set up an authenticator app." in asked.text
    proved = console.send(f"{URL}app", {"proof_password": PASSWORD}, seen_at=URL)
    assert proved.status == 303
    assert secret_on(console.open(URL)) == secret


def test_app_moves_to_a_new_phone(
    staff_console: StaffConsole, shop: Ports, clock: FakeClock
) -> None:
    console = staff_console()
    confirm(console, shop, begin(console))
    moving = begin(console)
    assert "Codes of your current phone work until you confirm the new one." in moving.text
    clock.pass_(seconds=60)
    moved = console.follow(confirm(console, shop, moving))
    assert "Authenticator app moved to the new phone." in moved.text
    assert not _CODE.findall(moved.html)
    assert not _KEY.findall(moved.html)


def test_app_is_turned_off_after_a_question(staff_console: StaffConsole, shop: Ports) -> None:
    console = staff_console()
    confirm(console, shop, begin(console))
    assert "Turn off \N{HORIZONTAL ELLIPSIS}" in console.open(URL).text
    asked = console.open(f"{URL}?ask=off").text
    assert "Turn off your authenticator app?" in asked
    assert "You sign in without a second factor from then on." in asked
    off = console.follow(console.send(f"{URL}app/turn-off", seen_at=URL))
    assert "Authenticator app turned off." in off.text
    assert not has_app(shop)


def test_required_factor_cannot_be_turned_off(
    staff_console: StaffConsole, shop: Ports, clock: FakeClock
) -> None:
    console = staff_console()
    begins = clock.now() + timedelta(days=14)
    configure_shop(shop, staff_second_factor="REQUIRED", second_factor_from=begins)
    assert "Staff need a second factor from 15 Mar 2026" in console.open(URL).text
    confirm(console, shop, begin(console))
    assert "Turn off" not in console.open(f"{URL}?ask=off").text
    refused = console.follow(console.send(f"{URL}app/turn-off", seen_at=URL)).text
    assert "This shop requires a second factor for staff." in refused
    assert has_app(shop)


def test_recovery_codes_are_replaced_after_a_question(
    staff_console: StaffConsole, shop: Ports
) -> None:
    console = staff_console()
    old = _CODE.findall(console.follow(confirm(console, shop, begin(console))).html)
    asked = console.open(f"{URL}?ask=codes")
    assert "Your current recovery codes stop working." in asked.text
    values = {"submission": _SUBMISSION.findall(asked.html)[-1]}
    answer = console.send(f"{URL}codes", values, seen_at=URL)
    new = _CODE.findall(console.follow(answer).html)
    assert len(new) == RECOVERY_CODES
    assert not set(new) & set(old)
    assert console.follow(console.send(f"{URL}codes", values, seen_at=URL)).status == 303
    assert check_code(shop, NOBODY, OWN_KEY, old[0]) is None
    assert check_code(shop, NOBODY, OWN_KEY, new[0]) is SecondFactorType.RECOVERY_CODES


def test_recovery_codes_without_a_factor_are_refused(staff_console: StaffConsole) -> None:
    console = staff_console()
    assert "Generate new recovery codes?" not in console.open(f"{URL}?ask=codes").text
    refused = console.follow(console.send(f"{URL}codes", seen_at=URL)).text
    assert "Recovery codes need a second factor." in refused


def test_staff_get_their_rights_back_by_setting_up_an_app(
    staff_console: StaffConsole, shop: Ports
) -> None:
    console = staff_console(Permission.MANAGE_SETTINGS)
    require_second_factor(shop)
    assert "/second-factor" in console.open("/console/settings/").leads_to
    shown = console.follow(confirm(console, shop, begin(console)))
    assert shown.status == 200
    assert len(_CODE.findall(shown.html)) == RECOVERY_CODES
    assert "Staff need a second factor. You have one." in shown.text
    assert console.open("/console/settings/").status == 200
