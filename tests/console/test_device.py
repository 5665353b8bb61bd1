"""Staff let in ``flask login`` by its code, also while the storefront is closed."""

from app.domain.authorization.actor import PROOF_LASTS
from app.domain.authorization.permissions import Permission
from app.domain.oauth import COMMAND_LINE
from app.ports import Ports
from app.services.oauth.devices import begin_device, find_device, use_device
from app.services.oauth.grants import find_client
from tests.builders.oauth import make_client
from tests.builders.people import NOBODY, PASSWORD
from tests.builders.shop import close_storefront
from tests.console.conftest import StaffConsole
from tests.fakes.clock import FakeClock

URL = "/console/device"


def test_staff_let_in_a_device_that_is_in_front_of_them(
    staff_console: StaffConsole, shop: Ports, clock: FakeClock
) -> None:
    console = staff_console(Permission.MANAGE_ORDERS)
    close_storefront(shop)
    client = find_client(shop, NOBODY, COMMAND_LINE)
    assert client is not None
    codes = begin_device(shop, NOBODY, client, client.scopes)

    def decision() -> bool | None:
        found = find_device(shop, NOBODY, codes.device_code)
        return None if found is None else found.is_allowed

    asked = console.open(f"{URL}?user_code={codes.user_code}")
    assert "Did someone send you this code?" in asked.text
    assert f'value="{codes.user_code}"' not in asked.html, "a link fills in no code here"
    shown = console.send(URL, {"user_code": codes.user_code})
    for words in (
        "Let Latchkey command line sign in as you?",
        f"{codes.user_code[:4]}-{codes.user_code[4:]}",
        "203.0.113.7",
        "Do everything that you can do here",
    ):
        assert words in shown.text, words
    clock.pass_(seconds=PROOF_LASTS.total_seconds() + 1)
    allow = {"user_code": codes.user_code, "decision": "allow", "proof": shown.proof}
    question = console.send(URL, allow)
    assert "You're about to let a device act with your rights." in question.text
    assert decision() is None
    done = console.send(URL, {**allow, "proof_password": PASSWORD})
    assert done.leads_to == "/console/account/"
    assert decision() is True
    assert "is signed in as you" in console.follow(done).text


def test_wrong_code_is_asked_for_again_and_a_refused_device_stays_out(
    staff_console: StaffConsole, shop: Ports
) -> None:
    console = staff_console()
    client = find_client(shop, NOBODY, COMMAND_LINE)
    assert client is not None
    codes = begin_device(shop, NOBODY, client, client.scopes)
    for code, words in (("", "Enter the code"), ("BBBB-BBBB", "This code is unknown")):
        answer = console.send(URL, {"user_code": code})
        assert answer.status == 422
        assert words in answer.text
    console.send(URL, {"user_code": codes.user_code, "decision": "deny"})
    found = find_device(shop, NOBODY, codes.device_code)
    assert found is not None
    assert found.is_allowed is False


def test_device_is_told_when_its_person_proved_who_they_are(
    staff_console: StaffConsole, shop: Ports, clock: FakeClock
) -> None:
    """Not when they let it in; control: a proof at the moment of the decision."""
    console = staff_console()
    since = clock.now()
    clock.pass_(seconds=PROOF_LASTS.total_seconds() + 1)
    kiosk = make_client(shop, "Kiosk", allows_devices=True).client
    command_line = find_client(shop, NOBODY, COMMAND_LINE)
    assert command_line is not None
    for client, proof, expected in (
        (kiosk, {}, since),
        (command_line, {"proof_password": PASSWORD}, clock.now()),
    ):
        codes = begin_device(shop, NOBODY, client, client.scopes)
        code = {"user_code": codes.user_code}
        shown = console.send(URL, code).proof
        allow = {**code, "decision": "allow", "proof": shown, **proof}
        assert console.send(URL, allow).leads_to == "/console/account/"
        found = find_device(shop, NOBODY, codes.device_code)
        assert found is not None
        granted = use_device(shop, NOBODY, client, found.id)
        assert granted is not None
        assert granted.authenticated_at == expected, client.name
