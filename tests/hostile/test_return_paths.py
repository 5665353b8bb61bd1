"""Sign-in leads back to pages of the console only, however the path is spelled."""

import pytest

from app.console.frame.page_layout import own_path
from app.ports import Ports
from tests.builders.people import PASSWORD, make_staff
from tests.console.staff_client import ConsoleClient
from tests.fixtures.kept_application import AppOn

FOREIGN_PATHS = [
    "/console/../..",
    "/console/../graphql/",
    "/console/..",
    "/console/./../media/x",
    "/console/%2e%2e/graphql/",
    "/console/%2E./graphql/",
    "/console/.%2e/.%2e//evil.example/",
    "/console/..//evil.example/",
    "/console/people/../../graphql/",
    "/console/..\\..\\evil.example/",
    "/console/\\..\\..",
    "/console/\t../x",
    "/.//evil.example/console/",
    "//evil.example/console/",
    "/\\evil.example/console/",
    "https://evil.example/console/",
    "/console",
    "/consolex/",
    "/console/./sign-in",
    "/console/people/../sign-in?next=/console/",
    "/console/%2e/sign-out/../sign-in",
    "/console/\u202e",
    "",
    None,
]
OWN = {
    "/console/": "/console/",
    "/console/people?page=2&q=..": "/console/people?page=2&q=..",
    "/console/./people/../apps/1": "/console/apps/1",
    "/console/audit?next=/../x": "/console/audit?next=/../x",
    "/console/people/../": "/console/",
    "/console/people/?q=Größe": "/console/people/?q=Größe",
}

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


def test_path_outside_the_console_is_replaced_by_its_first_page(
    ports: Ports, app_on: AppOn
) -> None:
    with app_on(ports).test_request_context():
        assert [path for path in FOREIGN_PATHS if own_path(path) != "/console/"] == []


def test_path_inside_the_console_is_kept(ports: Ports, app_on: AppOn) -> None:
    with app_on(ports).test_request_context():
        assert {path: own_path(path) for path in OWN} == OWN


def test_sign_in_never_leads_outside_the_console(ports: Ports, app_on: AppOn) -> None:
    make_staff(ports)
    form = {"email": "staff@example.com", "password": PASSWORD}
    for path, led in (("/console/../../x", "/console/"), ("/console/./apps/", "/console/apps/")):
        console = ConsoleClient(app_on(ports).test_client(), ports)
        assert console.send(f"/console/sign-in?next={path}", form).leads_to == led
