"""Mails lead to pages of our own console, and nothing can be written behind their address."""

from dataclasses import replace

import pytest

from app.domain.authorization.actor import WORKER
from app.domain.values.errors import Refused
from app.ports import Ports
from app.services.accounts.password_resets import answer_reset_requests, request_password_reset
from tests.builders.outbox import mails
from tests.builders.people import NOBODY, make_user

OWN = "https://shop.example/console/set-password"


@pytest.fixture
def served(ports: Ports) -> Ports:
    configured = replace(ports.configuration, public_url="https://shop.example", development=False)
    return replace(ports, configuration=configured)


def ask(ports: Ports, redirect_url: str) -> None:
    request_password_reset(ports, NOBODY, email="customer@example.com", redirect_url=redirect_url)


def test_console_url_is_allowed_in_mails_without_a_listed_host(served: Ports) -> None:
    make_user(served)
    ask(served, OWN)
    answer_reset_requests(served, WORKER)
    (mail,) = mails(served)
    assert mail.values["link"].startswith(f"{OWN}?email=customer%40example.com&token=")


def test_console_url_in_mails_cannot_be_extended(served: Ports) -> None:
    """The secret of the link would stand in whatever comes last."""
    make_user(served)
    for behind in (
        " https://evil.example/",
        "\nYour account was closed: https://evil.example/",
        "\u2028https://evil.example/",
        "\u00a0https://evil.example/",
        '"> <a href="https://evil.example/',
        "\\evil",
        "a" * 2048,
    ):
        with pytest.raises(Refused) as refused:
            ask(served, f"{OWN}{behind}")
        assert [(problem.field, problem.code) for problem in refused.value.problems] == [
            ("redirectUrl", "INVALID")
        ], behind
    answer_reset_requests(served, WORKER)
    assert mails(served) == []
