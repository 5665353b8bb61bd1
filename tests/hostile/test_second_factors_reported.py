"""A stranger adds a second factor, and its owner reports it by the link "This wasn't me"."""

from dataclasses import replace
from itertools import count
from urllib.parse import parse_qs, urlsplit

import pytest

from app.domain.authorization.actor import OPERATOR, Actor
from app.domain.mails.mail import MailKind
from app.domain.second_factors import SECRET_BYTES
from app.domain.values.errors import Refused
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.services.accounts.account_securing import (
    SecuredAccount,
    secure_account,
    show_reported_notice,
)
from app.services.accounts.authenticator_apps import (
    confirm_app_setup,
    show_app_setup,
    start_app_setup,
)
from app.services.accounts.passkeys import add_passkey, begin_passkey, list_passkeys
from app.services.accounts.password_changes import set_password
from app.services.identity.identify import identify
from app.services.operations.stored_secrets import count_secrets
from app.services.people.user_status import reset_second_factors
from app.services.second_factors.challenges import SecondFactorRequired
from app.services.second_factors.stored_factors import read_factors
from app.services.sign_in.second_factor_sign_in import challenge_passkey, verify_passkey
from tests.builders.audit import trail
from tests.builders.outbox import mails
from tests.builders.passkeys import SoftwareAuthenticator, make_passkey
from tests.builders.people import NOBODY, make_staff, sessions_of, sign_in, visit
from tests.builders.second_factors import (
    make_authenticator_app,
    make_recovery_codes,
    one_time_code,
)
from tests.fakes.clock import FakeClock
from tests.fakes.interrupted_database import InterruptedDatabase
from tests.services.logins import log_in
from tests.services.sign_in.second_factors import challenged, refusal_of_code, verify

STAFF = "staff@example.com"
NEW = "nine lazy Störche by the sea"
HOME = replace(NOBODY, address="192.0.2.1")
AWAY = replace(NOBODY, address="198.51.100.66", user_agent="curl/8.5")
WRONG = ("code", "INVALID_SECOND_FACTOR")


def token_of(ports: Ports, kind: MailKind) -> str:
    """Return the token of the link in the newest mail of a kind."""
    link = mails(ports, kind)[-1].values["not_me"]
    return parse_qs(urlsplit(link).query)["token"][0]


def report(ports: Ports, kind: MailKind) -> SecuredAccount:
    return secure_account(ports, NOBODY, token=token_of(ports, kind))


def person(ports: Ports, user_id: int) -> Actor:
    """Return whoever is signed in with a second factor, or with a password and no factor yet."""
    amr = ("hwk", "mfa") if is_active(ports, user_id) else ()
    return identify(ports, visit(sign_in(ports, user_id, amr=amr).access)).actor


def enrol_passkey(ports: Ports, user_id: int) -> tuple[SoftwareAuthenticator, tuple[str, ...]]:
    """Add a passkey as its person does in the console; return its first recovery codes as well."""
    authenticator, actor = SoftwareAuthenticator(), person(ports, user_id)
    begun = begin_passkey(ports, actor)
    credential = authenticator.create(begun.options)
    added = add_passkey(
        ports, actor, challenge=begun.challenge, credential=credential, name="Laptop"
    )
    return authenticator, added.recovery_codes


def enrol_app(ports: Ports, user_id: int) -> str:
    """Turn on an authenticator app as its person does in the console; return its secret."""
    actor = person(ports, user_id)
    start_app_setup(ports, actor)
    setup = show_app_setup(ports, actor)
    assert setup is not None
    secret = setup.key.replace(" ", "")
    assert len(secret) == SECRET_BYTES * 8 / 5
    confirm_app_setup(ports, actor, code=one_time_code(ports, secret))
    return secret


_hosts = count(1)


def from_anywhere() -> Actor:
    """Return a caller whose IP address has no failures yet."""
    return replace(NOBODY, address=f"203.0.113.{next(_hosts)}")


def use_passkey(
    ports: Ports, authenticator: SoftwareAuthenticator, challenge: str | None = None
) -> None:
    caller = from_anywhere()
    asked = challenge_passkey(ports, caller, challenge=challenge)
    credential = authenticator.get(asked.options)
    verify_passkey(ports, caller, challenge=asked.token, credential=credential)


def is_passkey_refused(
    ports: Ports, authenticator: SoftwareAuthenticator, challenge: str | None = None
) -> bool:
    with pytest.raises(Refused) as refused:
        use_passkey(ports, authenticator, challenge)
    [problem] = refused.value.problems
    return (problem.field, problem.code) == ("credential", "INVALID_SECOND_FACTOR")


def is_active(ports: Ports, user_id: int) -> bool:
    with ports.database.reading() as session:
        return read_factors(session, user_id).is_active


@pytest.fixture
def staff(ports: Ports) -> int:
    """A staff member who signed in from home once."""
    user_id = make_staff(ports, STAFF)
    log_in(ports, STAFF, actor=HOME)
    return user_id


@pytest.mark.parametrize("kind", [MailKind.NEW_DEVICE, MailKind.SECOND_FACTOR_ADDED])
def test_strangers_passkey_and_codes_stop_with_the_report(
    ports: Ports, clock: FakeClock, staff: int, kind: MailKind
) -> None:
    log_in(ports, STAFF, actor=AWAY)
    clock.pass_(minutes=30)
    passkey, codes = enrol_passkey(ports, staff)
    use_passkey(ports, passkey)

    token = token_of(ports, kind)
    shown = show_reported_notice(ports, NOBODY, token=token)
    assert shown.stops == ('Passkey "Laptop"', "Recovery codes")
    secured = secure_account(ports, NOBODY, token=token)

    assert secured.stopped == shown.stops
    assert trail(ports, "account.secure")[-1].after["stopped"] == list(shown.stops)
    assert is_passkey_refused(ports, passkey)
    with pytest.raises(SecondFactorRequired) as required:
        set_password(ports, HOME, email=STAFF, password=NEW, token=secured.password_token)
    assert is_passkey_refused(ports, passkey, required.value.challenge.token)
    challenge = challenged(ports, STAFF, NEW, from_anywhere())
    caller = from_anywhere()
    assert refusal_of_code(ports, challenge.token, codes[0], caller) == WRONG
    assert sessions_of(ports, staff) == []


def test_strangers_app_stops_with_the_report(ports: Ports, clock: FakeClock, staff: int) -> None:
    secret = enrol_app(ports, staff)
    secured = report(ports, MailKind.SECOND_FACTOR_ADDED)
    assert secured.stopped == ("Authenticator app", "Recovery codes")
    clock.pass_(seconds=60)
    with pytest.raises(SecondFactorRequired) as required:
        set_password(ports, NOBODY, email=STAFF, password=NEW, token=secured.password_token)
    challenge = required.value.challenge
    assert refusal_of_code(ports, challenge.token, one_time_code(ports, secret)) == WRONG
    assert sum(found.unreadable for found in count_secrets(ports, OPERATOR)) == 0


def test_stopped_factors_still_keep_the_mailbox_out_until_they_are_reset(
    ports: Ports, staff: int
) -> None:
    """The owner added it, and a stranger in the mailbox reports it."""
    enrol_passkey(ports, staff)
    secured = report(ports, MailKind.SECOND_FACTOR_ADDED)
    assert is_active(ports, staff)
    with pytest.raises(SecondFactorRequired):
        set_password(ports, NOBODY, email=STAFF, password=NEW, token=secured.password_token)
    assert sessions_of(ports, staff) == []
    reset_second_factors(ports, OPERATOR, to_global_id("User", staff))
    log_in(ports, STAFF, NEW, HOME)
    assert len(sessions_of(ports, staff)) == 1


def test_owners_older_factors_go_on_and_remove_the_strangers(
    ports: Ports, clock: FakeClock, staff: int
) -> None:
    secret, codes = make_authenticator_app(ports, staff), make_recovery_codes(ports, staff)
    clock.pass_(minutes=2)
    passkey, _ = enrol_passkey(ports, staff)
    secured = report(ports, MailKind.SECOND_FACTOR_ADDED)
    assert secured.stopped == ('Passkey "Laptop"',)
    with pytest.raises(SecondFactorRequired):
        set_password(ports, HOME, email=STAFF, password=NEW, token=secured.password_token)
    for code in (one_time_code(ports, secret), codes[0]):
        challenge = challenged(ports, STAFF, NEW, HOME)
        verify(ports, challenge.token, code, HOME)
    [listed] = list_passkeys(ports, person(ports, staff))
    assert listed.is_reported
    assert is_passkey_refused(ports, passkey)


def test_report_of_a_later_mail_stops_no_older_factor(
    ports: Ports, clock: FakeClock, staff: int
) -> None:
    passkey, codes = enrol_passkey(ports, staff)
    clock.pass_(hours=1)
    use_passkey(ports, passkey)
    challenge = challenged(ports, STAFF, actor=HOME)
    verify(ports, challenge.token, codes[0], HOME)
    clock.pass_(hours=1)
    secured = report(ports, MailKind.RECOVERY_CODE_USED)
    assert secured.stopped == ()
    use_passkey(ports, passkey)


def test_copied_passkey_stops_with_the_report(ports: Ports, clock: FakeClock, staff: int) -> None:
    first, second = SoftwareAuthenticator(), SoftwareAuthenticator()
    make_passkey(ports, staff, first, "Copied")
    make_passkey(ports, staff, second, "Other")
    clock.pass_(hours=24 * 30)
    copy = replace(first)
    for _ in range(3):
        use_passkey(ports, first)
    assert is_passkey_refused(ports, copy)
    assert report(ports, MailKind.PASSKEY_COPIED).stopped == ('Passkey "Copied"',)
    copy.sign_count = 1000
    assert is_passkey_refused(ports, copy)
    use_passkey(ports, second)


def test_passkey_that_is_reported_while_it_is_checked_opens_no_session(
    ports: Ports, staff: int
) -> None:
    passkey, _ = enrol_passkey(ports, staff)
    database = InterruptedDatabase(ports.database)
    asked = challenge_passkey(ports, NOBODY, challenge=None)
    credential = passkey.get(asked.options)
    after_check = 2
    database.after[after_check] = lambda: report(ports, MailKind.SECOND_FACTOR_ADDED)
    through = replace(ports, database=database)
    with pytest.raises(Refused, match="expired or was already used"):
        verify_passkey(through, NOBODY, challenge=asked.token, credential=credential)
    assert sessions_of(ports, staff) == []
