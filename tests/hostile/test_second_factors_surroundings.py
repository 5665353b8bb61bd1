"""Attacks on what surrounds second factors: notices, reports, resets and the mail log."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from app.domain.authorization.actor import Actor
from app.domain.mails.mail import MailKind
from app.domain.passwords.email_links import LinkPurpose
from app.domain.sign_in.login_throttle import MAX_GUESSES
from app.domain.values.errors import Refused
from app.ports import Ports
from app.services.accounts.password_changes import set_password
from app.services.second_factors.challenges import SecondFactorRequired
from tests.builders.links import link_for
from tests.builders.outbox import mails
from tests.builders.people import NOBODY, actor_of, make_user
from tests.builders.second_factors import make_recovery_codes, one_time_code
from tests.services.sign_in.second_factors import (
    WRONG_CODE,
    Protected,
    challenged,
    make_protected,
    verify,
)

STAFF = "staff@example.com"
STRANGER = "stranger@example.com"
STRANGERS_ADDRESS = "198.51.100.66"
NEW = "nine lazy Störche by the sea"


def sign_in_anew(ports: Ports, user: Protected, actor: Actor) -> None:
    """Sign in from a device that is new; the first one isn't mailed."""
    verify(ports, challenged(ports, STAFF).token, one_time_code(ports, user.secret))
    code = one_time_code(ports, user.secret, steps=1)
    verify(ports, challenged(ports, STAFF, actor=actor).token, code, actor)


def guess_codes(ports: Ports, user: Protected, actor: Actor) -> None:
    for number in range(MAX_GUESSES):
        caller = replace(actor, address=f"198.51.{number}.66")
        challenge = challenged(ports, STAFF, actor=caller)
        with pytest.raises(Refused):
            verify(ports, challenge.token, WRONG_CODE, caller)


def use_recovery_code(ports: Ports, user: Protected, actor: Actor) -> None:
    code = make_recovery_codes(ports, user.id)[0]
    verify(ports, challenged(ports, STAFF, actor=actor).token, code, actor)


def set_password_by_link(ports: Ports, user: Protected, actor: Actor) -> None:
    token = link_for(ports, user.id, LinkPurpose.SET_PASSWORD)
    with pytest.raises(SecondFactorRequired):
        set_password(ports, actor, email=STAFF, password=NEW, token=token)


@pytest.mark.parametrize("is_signed_in", [False, True])
@pytest.mark.parametrize(
    ("act", "kind"),
    [
        (sign_in_anew, MailKind.NEW_DEVICE),
        (guess_codes, MailKind.INCORRECT_CODES),
        (use_recovery_code, MailKind.RECOVERY_CODE_USED),
        (set_password_by_link, MailKind.PASSWORD_CHANGED),
    ],
)
def test_strangers_own_token_takes_no_link_and_address_from_a_notice(
    ports: Ports,
    act: Callable[[Ports, Protected, Actor], None],
    kind: MailKind,
    is_signed_in: bool,
) -> None:
    stranger = actor_of(ports, make_user(ports, STRANGER)) if is_signed_in else NOBODY
    user = make_protected(ports, STAFF, is_staff=True)

    act(ports, user, replace(stranger, address=STRANGERS_ADDRESS, user_agent="curl/8.5"))

    [mail] = mails(ports, kind)
    assert mail.recipient == STAFF
    assert mail.values["address"].startswith("198.51.")
    assert mail.values["device"] == "curl 8.5"
    assert "/console/not-me?token=" in mail.values["not_me"]
