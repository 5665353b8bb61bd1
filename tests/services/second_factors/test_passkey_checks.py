"""Questions for a passkey, and the answers that are right."""

import json
from dataclasses import replace

import pytest
from sqlalchemy import select

from app import models
from app.domain.authorization.actor import Actor
from app.domain.mails.mail import MailKind
from app.domain.second_factors import CHALLENGE_LIFETIME, AuthenticationMethod, ChallengePurpose
from app.domain.values.errors import Refused
from app.ports import Ports
from app.services.second_factors.challenges import CHALLENGE_ENDED, ask
from app.services.second_factors.factor_checks import (
    NO_PASSKEYS,
    UsedPasskey,
    check_passkey,
    passkey_options,
)
from tests.builders.outbox import mails
from tests.builders.passkeys import (
    SYNCABLE,
    USER_PRESENT,
    VERIFIED,
    SoftwareAuthenticator,
    encoded,
    make_passkey,
)
from tests.builders.people import NOBODY, make_user
from tests.fakes.clock import FakeClock

SIGN_IN, ALONE = ChallengePurpose.SIGN_IN, ChallengePurpose.PASSKEY_SIGN_IN


def begin(ports: Ports, purpose: ChallengePurpose, user_id: int | None = None) -> str:
    with ports.database.transaction() as session:
        return ask(ports, session, purpose, user_id=user_id).token


def options_of(
    ports: Ports, token: str, purpose: ChallengePurpose = ALONE, actor: Actor = NOBODY
) -> str:
    with ports.database.transaction() as session:
        return passkey_options(ports, actor, session, purpose, token)


def question(ports: Ports) -> models.SecondFactorChallenge:
    """Return the newest challenge."""
    record = models.SecondFactorChallenge
    with ports.database.reading() as session:
        return session.scalars(select(record).order_by(record.id.desc()).limit(1)).one()


def answer(
    ports: Ports, authenticator: SoftwareAuthenticator, user_id: int | None = None
) -> UsedPasskey | None:
    """Ask anew, and check what the authenticator answers."""
    purpose = ALONE if user_id is None else SIGN_IN
    options = options_of(ports, begin(ports, purpose, user_id), purpose)
    return check_passkey(ports, NOBODY, question(ports), authenticator.get(options))


@pytest.mark.parametrize(
    ("flags", "method"),
    [
        (VERIFIED, AuthenticationMethod.HARDWARE_KEY),
        (VERIFIED | SYNCABLE, AuthenticationMethod.SOFTWARE_KEY),
    ],
)
def test_passkey_alone_says_who_it_is(
    ports: Ports, clock: FakeClock, flags: int, method: AuthenticationMethod
) -> None:
    user_id = make_user(ports)
    authenticator = SoftwareAuthenticator(flags=flags)
    key = make_passkey(ports, user_id, authenticator)
    clock.pass_(seconds=60)

    assert answer(ports, authenticator) == UsedPasskey(key, user_id, method)

    with ports.database.reading() as session:
        stored = session.get_one(models.Passkey, key)
    assert (stored.sign_count, stored.last_used_at) == (2, clock.now())


def test_options_of_a_sign_in_name_the_passkeys_of_its_account(ports: Ports) -> None:
    user_id, other = make_user(ports), make_user(ports, "other@example.com")
    mine = SoftwareAuthenticator()
    make_passkey(ports, user_id, mine)
    make_passkey(ports, other, SoftwareAuthenticator())

    named = json.loads(options_of(ports, begin(ports, SIGN_IN, user_id), SIGN_IN))
    alone = json.loads(options_of(ports, begin(ports, ALONE)))

    assert [known["id"] for known in named["allowCredentials"]] == [encoded(mine.credential_id)]
    assert alone["allowCredentials"] == []


def test_second_factor_is_a_passkey_of_the_account(ports: Ports) -> None:
    user_id, other = make_user(ports), make_user(ports, "other@example.com")
    mine, theirs = SoftwareAuthenticator(), SoftwareAuthenticator()
    make_passkey(ports, user_id, mine)
    make_passkey(ports, other, theirs)

    assert answer(ports, theirs, user_id) is None
    used = answer(ports, mine, user_id)
    assert used is not None
    assert used.user_id == user_id


def test_user_handle_can_be_missing_only_when_the_account_is_known(ports: Ports) -> None:
    user_id = make_user(ports)
    authenticator = SoftwareAuthenticator()
    make_passkey(ports, user_id, authenticator)
    handle, authenticator.user_handle = authenticator.user_handle, ""

    assert answer(ports, authenticator) is None
    assert answer(ports, authenticator, user_id) is not None
    authenticator.user_handle = handle[::-1]
    assert answer(ports, authenticator, user_id) is None
    authenticator.user_handle = handle
    assert answer(ports, authenticator) is not None


def test_unknown_or_malformed_answer_is_wrong(ports: Ports) -> None:
    user_id = make_user(ports)
    make_passkey(ports, user_id, SoftwareAuthenticator())

    assert answer(ports, SoftwareAuthenticator(user_handle="h" * 64)) is None
    for malformed in ("", "null", "{}", '{"id": "\ud800", "response": {}}'):
        assert check_passkey(ports, NOBODY, question(ports), malformed) is None


def test_passkey_without_verification_of_the_person_is_refused(ports: Ports) -> None:
    authenticator = SoftwareAuthenticator()
    make_passkey(ports, make_user(ports), authenticator)

    authenticator.flags = USER_PRESENT
    assert answer(ports, authenticator) is None
    authenticator.flags = VERIFIED
    assert answer(ports, authenticator) is not None


def test_answer_to_earlier_options_is_wrong(ports: Ports) -> None:
    authenticator = SoftwareAuthenticator()
    make_passkey(ports, make_user(ports), authenticator)
    token = begin(ports, ALONE)
    earlier, later = options_of(ports, token), options_of(ports, token)

    old = authenticator.get(earlier)
    assert check_passkey(ports, NOBODY, question(ports), old) is None
    new = authenticator.get(later)
    assert check_passkey(ports, NOBODY, question(ports), new) is not None


def test_challenge_without_options_has_no_answer(ports: Ports) -> None:
    authenticator = SoftwareAuthenticator()
    make_passkey(ports, make_user(ports), authenticator)
    begin(ports, ALONE)

    empty = json.dumps({"challenge": "", "rpId": "localhost"})
    assert check_passkey(ports, NOBODY, question(ports), authenticator.get(empty)) is None


@pytest.mark.parametrize("step", [0, -1])
def test_counter_that_does_not_grow_is_a_cloned_passkey(ports: Ports, step: int) -> None:
    user_id = make_user(ports)
    authenticator = SoftwareAuthenticator(sign_count=7)
    make_passkey(ports, user_id, authenticator, name="Office key")
    clone = replace(authenticator, step=step)

    assert answer(ports, clone) is None
    with ports.database.reading() as session:
        entry = session.scalars(select(models.AuditEntry)).one()
    assert (entry.action, entry.subject_id, entry.after) == (
        "second_factor.cloned",
        str(user_id),
        {"passkey": "Office key"},
    )
    assert len(mails(ports, MailKind.PASSKEY_COPIED)) == 1
    assert answer(ports, authenticator) is not None


def test_forged_counter_reports_no_clone(ports: Ports) -> None:
    authenticator = SoftwareAuthenticator(sign_count=7)
    make_passkey(ports, make_user(ports), authenticator)
    forged = SoftwareAuthenticator(
        credential_id=authenticator.credential_id, user_handle=authenticator.user_handle
    )

    assert answer(ports, forged) is None
    with ports.database.reading() as session:
        assert session.scalars(select(models.AuditEntry)).all() == []
    assert mails(ports, MailKind.PASSKEY_COPIED) == []


def test_authenticator_without_a_counter_is_used_again(ports: Ports) -> None:
    authenticator = SoftwareAuthenticator(sign_count=0, step=0)
    make_passkey(ports, make_user(ports), authenticator)

    assert answer(ports, authenticator) is not None
    assert answer(ports, authenticator) is not None
    authenticator.step = 1
    assert answer(ports, authenticator) is not None
    authenticator.sign_count, authenticator.step = 0, 0
    assert answer(ports, authenticator) is None


def test_passkey_never_becomes_synced(ports: Ports) -> None:
    authenticator = SoftwareAuthenticator()
    make_passkey(ports, make_user(ports), authenticator)

    authenticator.flags = VERIFIED | SYNCABLE
    assert answer(ports, authenticator) is None


def test_passkeys_of_an_ip_address_are_refused(ports: Ports) -> None:
    authenticator = SoftwareAuthenticator()
    make_passkey(ports, make_user(ports), authenticator)
    options = options_of(ports, begin(ports, ALONE))
    by_ip = replace(NOBODY, issuer="http://127.0.0.1:8000/graphql/")

    answered = authenticator.get(options)
    assert check_passkey(ports, by_ip, question(ports), answered) is None
    with pytest.raises(Refused) as refused:
        options_of(ports, begin(ports, ALONE), actor=by_ip)
    assert refused.value.problems == (NO_PASSKEYS,)


def test_options_need_a_challenge_that_can_still_be_answered(
    ports: Ports, clock: FakeClock
) -> None:
    token = begin(ports, ALONE)
    for purpose, text in ((SIGN_IN, token), (ALONE, "x" * 43), (ALONE, "\ud800")):
        with pytest.raises(Refused) as refused:
            options_of(ports, text, purpose)
        assert refused.value.problems == (CHALLENGE_ENDED,)
    clock.pass_(seconds=CHALLENGE_LIFETIME.total_seconds())
    with pytest.raises(Refused):
        options_of(ports, token)
