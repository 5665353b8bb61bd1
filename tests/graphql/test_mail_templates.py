"""The shop's own email templates in the API."""

from typing import Any

import pytest

from app.domain.authorization.permissions import Permission
from app.ports import Ports
from tests.builders.apps import make_app
from tests.builders.people import make_staff, sign_in
from tests.fixtures.cases import cases
from tests.graphql.shop_client import ApiClient

SAVE = """
mutation Save($input: MailTemplateInput!) {
  mailTemplateSave(input: $input) {
    template { version subject html text fault versions { version isCurrent savedBy } }
    errors { field message code lines }
  }
}
"""
LIST = "{ mailTemplates { kind languageCode version savedBy fault } }"
SHOW = """
query Show($version: Int) {
  mailTemplate(kind: PASSWORD_RESET, languageCode: DE, version: $version) {
    version subject html text
  }
}
"""
RESET = """
mutation {
  mailTemplateReset(kind: PASSWORD_RESET, languageCode: DE) {
    template { version versions { version isCurrent } }
    errors { code }
  }
}
"""
GOOD = {
    "kind": "PASSWORD_RESET",
    "languageCode": "DE",
    "subject": "Neues Passwort",
    "html": '<p>Hallo\r\n<a href="{{ link }}">weiter</a></p>',
    "text": "{{ link }}",
    "basedOn": 0,
}


@pytest.fixture
def api(ports: Ports) -> ApiClient:
    return ApiClient(ports)


@pytest.fixture
def manager(ports: Ports) -> str:
    staff = make_staff(ports, "manager@example.com", Permission.MANAGE_SETTINGS)
    return sign_in(ports, staff).access


def test_template_is_saved_shown_and_reset(api: ApiClient, manager: str) -> None:
    assert api.run(LIST, manager) == []
    default = api.run(SHOW, manager)
    assert default["version"] == 0
    assert "{{ link }}" in default["text"]
    saved = api.run(SAVE, manager, input=GOOD)
    assert saved["errors"] == []
    versions = saved["template"].pop("versions")
    assert saved["template"] == {
        "version": 1,
        "subject": "Neues Passwort",
        "html": '<p>Hallo\n<a href="{{ link }}">weiter</a></p>',
        "text": "{{ link }}",
        "fault": None,
    }
    assert versions == [{"version": 1, "isCurrent": True, "savedBy": "manager@example.com"}]
    [listed] = api.run(LIST, manager)
    assert listed == {
        "kind": "PASSWORD_RESET",
        "languageCode": "DE",
        "version": 1,
        "savedBy": "manager@example.com",
        "fault": None,
    }
    assert api.run(SHOW, manager)["subject"] == "Neues Passwort"
    assert api.run(SHOW, manager, version=7) is None
    assert api.run(RESET, manager) == {
        "template": {"version": 0, "versions": [{"version": 1, "isCurrent": False}]},
        "errors": [],
    }


@cases(
    ("changed", "error"),
    [
        ({"html": "<p>\n{{ gone }}</p>"}, ("html", "INVALID", [2])),
        ({"subject": " "}, ("subject", "REQUIRED", [1])),
        ({"languageCode": "PT_BR"}, ("languageCode", "INVALID", None)),
        ({"basedOn": 3}, (None, "INVALID", None)),
    ],
)
def test_bad_template_is_refused(
    api: ApiClient, manager: str, changed: dict[str, Any], error: tuple[object, ...]
) -> None:
    answer = api.run(SAVE, manager, input={**GOOD, **changed})
    assert answer["template"] is None
    [found] = answer["errors"]
    assert (found["field"], found["code"], found["lines"]) == error
    assert api.run(LIST, manager) == []


def test_apps_and_other_staff_read_and_save_no_template(api: ApiClient, ports: Ports) -> None:
    other = sign_in(ports, make_staff(ports, "other@example.com", Permission.MANAGE_APPS)).access
    _, app = make_app(ports, "Mailer", Permission.MANAGE_SETTINGS)
    for credential in (app, other, None):
        assert api.code(SAVE, credential, input=GOOD) == "PermissionDenied"
        assert api.code(LIST, credential) == "PermissionDenied"
        assert api.code(SHOW, credential) == "PermissionDenied"
        assert api.code(RESET, credential) == "PermissionDenied"
