"""The language and the time zone of a mail are its reader's, else the shop's, else English."""

import pytest
from sqlalchemy import select, update

from app import models
from app.domain.authorization.actor import OPERATOR
from app.domain.mails.mail import Mail, MailKind
from app.ports import Ports
from app.services.outbox.publisher import add_mail
from app.services.people.users import NewUser, create_user
from tests.builders.outbox import mails
from tests.builders.people import make_user
from tests.builders.shop import configure_shop
from tests.fixtures.cases import cases

MAIL = Mail(MailKind.PASSWORD_CHANGED, "customer@example.com", {"when": "now"})


def language_of_mail(ports: Ports, user_id: int | None) -> str:
    with ports.database.transaction() as session:
        add_mail(ports, session, MAIL, user_id=user_id)
    with ports.database.reading() as session:
        newest = select(models.OutboxMail.language_code).order_by(models.OutboxMail.id.desc())
        return session.scalars(newest.limit(1)).one()


def change_user(ports: Ports, user_id: int, **values: object) -> None:
    with ports.database.transaction() as session:
        session.execute(update(models.User).where(models.User.id == user_id).values(**values))


def test_mail_is_in_the_readers_language(ports: Ports) -> None:
    user_id = make_user(ports)
    for persons, shops, language in (
        ("DE", "FR", "DE"),
        ("DE_AT", "FR", "DE_AT"),
        ("EN", "FR", "EN"),
        ("AR", "EN", "AR"),
        ("NL", "FR", "FR"),
        ("NL", "EN", "EN"),
        ("NL", "SV", ""),
    ):
        configure_shop(ports, default_language=shops)
        change_user(ports, user_id, language_code=persons)
        assert language_of_mail(ports, user_id) == language, (persons, shops)


@cases(("shops", "language"), [("PL", "PL"), ("EN", "EN"), ("NL", "")])
def test_mail_without_an_account_is_in_the_shops_language(
    ports: Ports, shops: str, language: str
) -> None:
    configure_shop(ports, default_language=shops)
    assert language_of_mail(ports, None) == language


def test_mail_has_the_readers_time_zone(ports: Ports) -> None:
    user_id = make_user(ports)
    language_of_mail(ports, user_id)
    assert "time_zone" not in mails(ports)[-1].values
    change_user(ports, user_id, time_zone="Europe/Paris")
    with ports.database.transaction() as session:
        add_mail(ports, session, MAIL, user_id=user_id)
    assert mails(ports)[-1].values == {"when": "now", "time_zone": "Europe/Paris"}


@pytest.mark.parametrize(("asked", "language"), [("", "FR"), ("PL", "PL")])
def test_new_person_has_the_shops_language_unless_another_is_chosen(
    ports: Ports, asked: str, language: str
) -> None:
    configure_shop(ports, default_language="FR")
    new = NewUser("ines@example.com", language_code=asked)
    assert create_user(ports, OPERATOR, new).language_code == language
