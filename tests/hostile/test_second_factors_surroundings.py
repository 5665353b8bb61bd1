"""Attacks on what surrounds second factors: notices, reports, resets and the mail log."""

from collections.abc import Callable
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest

from app.domain.accounts.email_links import LinkPurpose
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.mails.mail import MailKind
from app.domain.mails.values import passkey_values
from app.domain.sign_in.login_throttle import MAX_GUESSES
from app.domain.values.errors import PermissionDenied, Refused
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.services.accounts.account_securing import secure_account
from app.services.accounts.password_changes import set_password
from app.services.outbox.security_notices import notify
from app.services.people.user_status import reset_second_factors
from app.services.second_factors.challenges import SecondFactorRequired
from tests.builders.apps import make_extension_app
from tests.builders.links import link_for
from tests.builders.outbox import mails
from tests.builders.people import NOBODY, actor_of, make_staff, make_user
from tests.builders.second_factors import make_recovery_codes, one_time_code
from tests.servers.own_provider import OwnProvider
from tests.services.extension_setup import acts, token_for
from tests.services.logins import log_in
from tests.services.provider_bearers import who
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


def set_new_password(ports: Ports, user_id: int) -> None:
    token = link_for(ports, user_id, LinkPurpose.SET_PASSWORD)
    set_password(ports, NOBODY, email=STAFF, password=NEW, token=token)


def use_recovery_code(ports: Ports, user: Protected, actor: Actor) -> None:
    code = make_recovery_codes(ports, user.id)[0]
    verify(ports, challenged(ports, STAFF, actor=actor).token, code, actor)


def set_password_by_link(ports: Ports, user: Protected, actor: Actor) -> None:
    token = link_for(ports, user.id, LinkPurpose.SET_PASSWORD)
    with pytest.raises(SecondFactorRequired):
        set_password(ports, actor, email=STAFF, password=NEW, token=token)


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
    ports: Ports, act: Callable[[Ports, Protected, Actor], None], kind: MailKind
) -> None:
    stranger = actor_of(ports, make_user(ports, STRANGER))
    user = make_protected(ports, STAFF, is_staff=True)

    act(ports, user, replace(stranger, address=STRANGERS_ADDRESS, user_agent="curl/8.5"))

    [mail] = mails(ports, kind)
    assert mail.recipient == STAFF
    assert mail.values["address"].startswith("198.51.")
    assert mail.values["device"] == "curl 8.5"
    assert "/console/not-me?token=" in mail.values["not_me"]


@pytest.mark.parametrize(
    ("user_agent", "shown"),
    [
        ("www.shop-support.example/2.1 (call us)", "www shop-support example 2.1"),
        ("curl/8.5", "curl 8.5"),
    ],
)
def test_program_that_signs_in_puts_no_link_into_the_notice(
    ports: Ports, user_agent: str, shown: str
) -> None:
    user_id = make_staff(ports, STAFF)
    log_in(ports, STAFF)
    stranger = replace(NOBODY, address=STRANGERS_ADDRESS, user_agent=user_agent)
    log_in(ports, STAFF, actor=stranger)
    [mail] = mails(ports, MailKind.NEW_DEVICE)
    assert mail.values["device"] == shown
    token = parse_qs(urlsplit(mail.values["not_me"]).query)["token"][0]
    secure_account(ports, NOBODY, token=token)
    set_new_password(ports, user_id)
    log_in(ports, STAFF, NEW, stranger)
    assert len(mails(ports, MailKind.NEW_DEVICE)) == 2  # the program was forgotten, and is new


def test_name_of_a_passkey_puts_no_link_into_the_notice(ports: Ports) -> None:
    user_id = make_staff(ports, STAFF)
    actor = actor_of(ports, user_id)
    for name, shown in (
        ("Verify at https://evil.example now", "Verify at https evil example now"),
        ("YubiKey 5.4", "YubiKey 5.4"),
    ):
        with ports.database.transaction() as session:
            kind, values = MailKind.SECOND_FACTOR_ADDED, passkey_values(name)
            notify(ports, actor, session, user_id, kind, values)
        mail = mails(ports, kind)[-1]
        assert mail.values["factor"] == f'Passkey "{shown}"'
        assert mail.values["factor_name"] == shown


def test_provider_that_changes_an_email_is_told_to_the_old_one(
    ports: Ports, provider: OwnProvider
) -> None:
    def sign_in_as(email: str, token_id: str) -> int | None:
        token = provider.sign(provider.claims("kim", jti=token_id))
        provider.known(token, "kim", email=email, email_verified=True)
        return who(ports, token).actor.user_id

    user_id = sign_in_as("kim@sso.example", "1")
    assert mails(ports) == []
    assert sign_in_as("moved@sso.example", "2") == user_id
    [mail] = mails(ports, MailKind.EMAIL_CHANGED)
    assert mail.recipient == "kim@sso.example"
    assert mail.values["new_email"] == "moved@sso.example"
    assert mail.values["not_me"] == ""


def test_extension_resets_nobody_in_the_name_of_its_user(ports: Ports) -> None:
    """An app in the dashboard would open accounts to whoever has their passwords."""
    rights = Permission.MANAGE_STAFF, Permission.MANAGE_USERS
    boss = actor_of(ports, make_staff(ports, "boss@example.com", *rights))
    app = make_extension_app(ports, "extension", *rights)
    extension = acts(ports, token_for(ports, boss, app))
    assert all(extension.holds(right) for right in rights)
    for told, user in enumerate(
        (make_protected(ports, STAFF, is_staff=True), make_protected(ports, STRANGER))
    ):
        key = to_global_id("User", user.id)
        with pytest.raises(PermissionDenied):
            reset_second_factors(ports, extension, key)
        assert len(mails(ports, MailKind.SECOND_FACTORS_RESET)) == told
        reset_second_factors(ports, boss, key)
        assert len(mails(ports, MailKind.SECOND_FACTORS_RESET)) == told + 1
