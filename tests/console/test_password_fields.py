"""Password managers can fill and save every password, and anything can be pasted."""

import re
from pathlib import Path

from app.domain.accounts.email_links import LinkPurpose
from app.ports import Ports
from tests.builders.links import link_for
from tests.builders.people import make_staff
from tests.console.conftest import StaffConsole
from tests.console.staff_client import ConsoleClient

_PASSWORDS = re.compile(r'<input(?=[^>]*name="(?:\w+_)?password")[^>]*>')
_FILLED = ('autocomplete="current-password"', 'autocomplete="new-password"')
_SCRIPTS = Path(__file__).parents[2] / "app" / "static" / "console"


def test_password_fields_are_masked_and_have_autocomplete(
    anonymous_console: ConsoleClient, staff_console: StaffConsole, shop: Ports
) -> None:
    token = link_for(shop, make_staff(shop, "new@example.com"), LinkPurpose.SET_PASSWORD)
    sign_in = anonymous_console.open("/console/sign-in")
    anonymous_console.open(f"/console/set-password?email=new%40example.com&token={token}")
    reset, account = (
        anonymous_console.open("/console/new-password"),
        staff_console().open("/console/account/"),
    )

    for page, count in ((sign_in, 1), (reset, 1), (account, 2)):
        fields = _PASSWORDS.findall(page.html)
        assert len(fields) >= count
        for field in fields:
            assert 'type="password"' in field
            assert any(attribute in field for attribute in _FILLED), field
            assert "maxlength" not in field


def test_nothing_keeps_anybody_from_pasting(anonymous_console: ConsoleClient) -> None:
    scripts = [file.read_text() for file in _SCRIPTS.glob("*.js")]
    assert scripts
    assert not [text for text in scripts if re.search(r"onpaste|['\"]paste['\"]", text)]
    assert "onpaste" not in anonymous_console.open("/console/sign-in").html
