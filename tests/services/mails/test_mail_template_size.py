"""Own email templates: how large an email can be, and how long it takes."""

import pytest

from app.domain.authorization.actor import OPERATOR
from app.domain.mails.mail import MailKind
from app.domain.mails.own_templates import OwnTemplate
from app.domain.values.errors import Refused
from app.ports import Ports
from app.services.mails.mail_templates import preview_template, save_template
from tests.hostile.cpu import BOUND, slowest

KIND = MailKind.PASSWORD_RESET
LINK = '<p>Bonjour {{ recipient }}, <a href="{{ link }}">choisir</a></p>'


def template(html: str) -> OwnTemplate:
    return OwnTemplate("Nouveau mot de passe", LINK + html, "Bonjour\n\n{{ link }}\n")


def test_whole_email_has_a_limit_after_its_styles_are_written_into_the_tags(ports: Ports) -> None:
    style = "".join(f"--a{number}: {'b' * 40};" for number in range(100))
    large = template(f"<style>p {{ {style} }}</style>" + "<p>a</p>" * 300)
    with pytest.raises(Refused, match="larger than 256 kB"):
        save_template(ports, OPERATOR, KIND, "", large, based_on=0)


def test_largest_email_is_rendered_within_bounded_time(ports: Ports) -> None:
    selectors = "* * * * * * p, :not(:not(p)) b, " * 99 + "p, b { color: red }"
    html = f"<style>{selectors}</style>" + "<b>" * 39 + "<p>a</p>" * 650 + "</b>" * 39
    large = template(html)
    assert slowest(lambda: preview_template(ports, OPERATOR, KIND, "", large)) < BOUND
