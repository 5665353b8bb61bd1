"""The shop's logo: drawn anew, in its emails, under a new name with each change."""

from dataclasses import replace
from io import BytesIO

import pytest
from PIL import Image

from app.adapters.mail.mailer import SmtpMailer
from app.domain.authorization.actor import OPERATOR, WORKER, Actor
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission
from app.domain.mails.design import MAX_LOGO_SIZE, Logo
from app.domain.mails.mail import Mail, MailKind
from app.domain.values.errors import PermissionDenied, Refused
from app.domain.values.inputs import Upload
from app.ports import Ports
from app.services.mails.sending import send_due_mail
from app.services.outbox.publisher import add_mail
from app.services.shop.settings import (
    delete_logo,
    read_logo,
    show_logo,
    show_settings,
    update_logo,
)
from tests.builders.audit import trail
from tests.builders.images import png
from tests.builders.people import NOBODY, actor_of, make_staff
from tests.servers.smtp import smtp_server
from tests.services.error_codes import codes


def upload(width: int = 960, height: int = 200) -> Upload:
    return Upload("logo.png", "image/png", png(width, height))


def stored(ports: Ports) -> Logo | None:
    name = show_settings(ports, OPERATOR).logo
    with ports.database.reading() as session:
        return read_logo(session, name)


def manager(ports: Ports, *permissions: Permission) -> Actor:
    return actor_of(ports, make_staff(ports, "manager@example.com", *permissions))


def test_logo_is_scaled_down_as_png_under_a_new_name(ports: Ports) -> None:
    actor = manager(ports, Permission.MANAGE_SETTINGS)
    first = update_logo(ports, actor, upload()).logo
    logo = stored(ports)
    assert logo is not None
    assert (logo.name, logo.width, logo.height) == (first, 480, 100)
    assert logo.shown_size == (240, 50)
    with Image.open(BytesIO(logo.data)) as image:
        assert (image.format, image.size) == ("PNG", (480, 100))
    assert show_logo(ports, NOBODY, first) == logo.data
    second = update_logo(ports, actor, upload(40, 20)).logo
    small = stored(ports)
    assert small is not None
    assert (small.name, small.shown_size) == (second, (40, 20))
    assert show_logo(ports, NOBODY, first) is None
    assert delete_logo(ports, actor).logo == ""
    assert show_logo(ports, NOBODY, second) is None
    delete_logo(ports, actor)
    changes = [(row.before, row.after) for row in trail(ports, "shop.logo")]
    assert changes == [
        ({"logo": False}, {"logo": True}),
        ({"logo": True}, {"logo": True}),
        ({"logo": True}, {"logo": False}),
    ]


def test_logo_needs_the_permission(ports: Ports) -> None:
    others = ALL_PERMISSIONS - {Permission.MANAGE_SETTINGS}
    for caller in (NOBODY, manager(ports, *others)):
        with pytest.raises(PermissionDenied):
            update_logo(ports, caller, upload())
        with pytest.raises(PermissionDenied):
            delete_logo(ports, caller)
    assert stored(ports) is None


def test_what_is_no_image_changes_nothing(ports: Ports) -> None:
    update_logo(ports, OPERATOR, upload())
    before = stored(ports)
    for data, code in (
        (b"<svg onload='alert(1)'/>", "INVALID"),
        (b"", "INVALID"),
        (b"\0" * (MAX_LOGO_SIZE + 1), "FILE_SIZE_LIMIT_EXCEEDED"),
    ):
        with pytest.raises(Refused) as refused:
            update_logo(ports, OPERATOR, Upload("logo.png", "image/png", data))
        assert codes(refused) == [("image", code)]
        assert stored(ports) == before


def test_emails_show_the_logo_of_when_they_are_sent(ports: Ports) -> None:
    values = {"link": "https://shop.example.com/?token=sesame", "lifetime": "1 hour"}
    with smtp_server() as (mailbox, host):
        posting = replace(ports, mailer=SmtpMailer(f"smtp://{host}", "noreply@example.com"))
        for has_logo in (True, False):
            with ports.database.transaction() as session:
                add_mail(ports, session, Mail(MailKind.PASSWORD_RESET, "a@example.com", values))
            update_logo(ports, OPERATOR, upload()) if has_logo else delete_logo(ports, OPERATOR)
            send_due_mail(posting, WORKER)
    with_logo, without = mailbox.messages
    images = [part for part in with_logo.walk() if part.get_content_type() == "image/png"]
    assert [image["Content-ID"] for image in images] == ["<logo@mail>"]
    assert "cid:logo@mail" in with_logo.get_body(("html",)).get_content()  # type: ignore[union-attr]
    assert not [part for part in without.walk() if part.get_content_maintype() == "image"]
    assert "cid:" not in without.get_body(("html",)).get_content()  # type: ignore[union-attr]
