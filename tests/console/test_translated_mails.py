"""Emails in each language of the console: what the log and the editor of templates explain."""

import pytest

from app import models
from app.domain.authorization.permissions import Permission
from app.ports import Ports
from tests.builders.mails import make_mail
from tests.console.conftest import StaffConsole
from tests.console.test_mail_templates import EDITOR, LIST, SOURCES
from tests.console.test_translated_integrations import TRANSLATED, Reader

pytestmark = pytest.mark.one_of("reader")

MAY = (Permission.MANAGE_SETTINGS, Permission.MANAGE_USERS, Permission.MANAGE_STAFF)
REJECTED = "550: 5.1.1 Mailbox does not exist"


@pytest.fixture(params=TRANSLATED)
def reader(request: pytest.FixtureRequest, staff_console: StaffConsole) -> Reader:
    return Reader(staff_console(*MAY), request.param)


def test_rejected_email_and_faulty_template(reader: Reader, shop: Ports) -> None:
    last_error = f"The mail server rejected the recipient with {REJECTED}."
    mail = make_mail(shop, sent_at=None, last_error=last_error)
    rejected = reader.word("The mail server rejected the recipient with {answer}.")
    for path in ("emails/log/?result=FAILED", f"emails/log/{mail}"):
        assert rejected.format(answer=REJECTED) in reader.open(path).text

    html = "<p>Hello</p>\n<p>{{ gone }}</p>"
    template = models.MailTemplate(
        kind="password_reset",
        language_code="",
        version=1,
        is_current=True,
        subject="Hello Ada",
        html=html,
        text="{{ link }}",
        fault="html, line 2: There is no value gone in this email.",
        saved_at=shop.clock.now(),
        saved_by="hannah@example.com",
    )
    with shop.database.transaction() as session:
        session.add(template)
    fault = reader.word("There is no value {name} in this email.").format(name="gone")
    for path in (LIST, EDITOR):
        assert fault in reader.open(path.removeprefix("/console/")).text
    line = reader.word("Line {line}").format(line=2)
    refused = reader.send(
        f"{EDITOR.removeprefix('/console/')}/save",
        {**SOURCES, "html": html, "language": ""},
        seen_at=EDITOR.removeprefix("/console/"),
    )
    assert f"{line}: {fault}" in refused.text
