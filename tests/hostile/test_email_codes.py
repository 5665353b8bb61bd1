"""Attacks on codes by email: guessing, enumeration, accounts of strangers, reuse, other places."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier

import pytest
from sqlalchemy import select, update

from app import models
from app.domain.authorization.actor import WORKER, Actor
from app.domain.mails.mail import MailKind
from app.domain.shop.settings import PasswordLoginMode
from app.domain.sign_in.sign_in_log import SignInPlace
from app.domain.values.errors import Refused, TrafficClosed
from app.ports import Ports
from app.services.accounts.password_resets import answer_reset_requests
from app.services.hosted import ask_for_hosted_code, verify_hosted_code
from app.services.second_factors.challenges import SecondFactorRequired
from app.services.sign_in.email_codes import (
    MAX_CODES_AN_HOUR,
    MAX_FAILURES,
    MAX_FAILURES_A_DAY,
    AccountByCode,
    request_email_code,
    sign_in_with_code,
    verify_email_code,
)
from app.services.sign_in.second_factor_sign_in import verify_second_factor
from app.services.sign_in.tokens import TokenPair
from tests.builders.oauth import grant, make_client
from tests.builders.outbox import mails
from tests.builders.passkeys import SoftwareAuthenticator, make_passkey
from tests.builders.people import NOBODY, PASSWORD, make_user, sign_in, user_as_stored
from tests.builders.second_factors import one_time_code
from tests.builders.shop import close_storefront, configure_shop, set_mode
from tests.fakes.clock import FakeClock
from tests.services.logins import log_in
from tests.services.sign_in.second_factors import make_protected

ANN = "ann@example.com"


@pytest.fixture(autouse=True)
def on(ports: Ports) -> None:
    configure_shop(ports, email_code_login=True, hosted_pages=True)


def visitor(number: int) -> Actor:
    """Return a caller from an address of their own."""
    return replace(NOBODY, address=f"198.51.100.{number}")


def ask(ports: Ports, email: str = ANN, actor: Actor = NOBODY) -> str:
    challenge = request_email_code(ports, actor, email=email).token
    answer_reset_requests(ports, WORKER)
    return challenge


def code_in_mail(ports: Ports) -> str:
    return mails(ports, MailKind.SIGN_IN_CODE)[-1].values["code"]


def wrong(code: str) -> str:
    return f"{(int(code) + 1) % 1_000_000:06d}"


def verify(ports: Ports, challenge: str, code: str, actor: Actor = NOBODY) -> TokenPair:
    return verify_email_code(ports, actor, challenge=challenge, code=code)


def refusal(ports: Ports, challenge: str, code: str, actor: Actor = NOBODY) -> tuple[str, str]:
    with pytest.raises(Refused) as refused:
        verify(ports, challenge, code, actor)
    [problem] = refused.value.problems
    return problem.code, problem.field or ""


def test_code_signs_in_once_within_ten_minutes(ports: Ports, clock: FakeClock) -> None:
    key = make_user(ports, ANN)
    first = ask(ports)
    code = code_in_mail(ports)
    assert verify(ports, first, f"{code[:3]} {code[3:]}").user.id == key
    assert refusal(ports, first, code) == ("INVALID", "challenge")
    late = ask(ports)
    clock.pass_(minutes=10)
    assert refusal(ports, late, code_in_mail(ports)) == ("INVALID", "challenge")
    with ports.database.reading() as session:
        assert user_as_stored(ports, key).password_hash
        assert session.scalars(select(models.Session.amr)).all() == ["otp"]


def test_code_is_worthless_in_another_browser_or_place(ports: Ports) -> None:
    make_user(ports, ANN)
    own, other = ask(ports), ask(ports, "bob@example.com")
    code = code_in_mail(ports)
    assert refusal(ports, other, code) == ("INVALID", "code")
    assert refusal(ports, "invented", code, visitor(1)) == ("INVALID", "challenge")
    with pytest.raises(Refused):
        sign_in_with_code(ports, visitor(2), own, code, SignInPlace.HOSTED)
    hosted = ask_for_hosted_code(ports, NOBODY, email=ANN).token
    answer_reset_requests(ports, WORKER)
    hosted_code = code_in_mail(ports)
    assert refusal(ports, hosted, hosted_code, visitor(3)) == ("INVALID", "challenge")
    verify_hosted_code(ports, visitor(4), challenge=hosted, code=hosted_code)
    assert verify(ports, own, code, visitor(5)).access


def test_unknown_email_gets_the_same_answers(ports: Ports) -> None:
    make_user(ports, ANN)
    make_user(ports, "gone@example.com", is_active=False)
    for start, email in enumerate((ANN, "nobody@example.com", "gone@example.com")):
        challenge = ask(ports, email)
        answers = [refusal(ports, challenge, "0", visitor(start * 20 + n)) for n in range(6)]
        assert answers == [*[("INVALID", "code")] * MAX_FAILURES, ("INVALID", "challenge")]
    assert [mail.recipient for mail in mails(ports, MailKind.SIGN_IN_CODE)] == [ANN]


def register(ports: Ports, email: str = ANN, actor: Actor = NOBODY) -> str:
    asked = ask_for_hosted_code(ports, actor, email=email, account=AccountByCode("Ann"))
    answer_reset_requests(ports, WORKER)
    return asked.token


def accounts(ports: Ports) -> list[tuple[str, bool]]:
    with ports.database.reading() as session:
        found = session.execute(select(models.User.email, models.User.is_confirmed))
        return [(email, is_confirmed) for email, is_confirmed in found]


def hosted_refusal(ports: Ports, challenge: str, code: str, actor: Actor) -> tuple[str, str]:
    with pytest.raises(Refused) as refused:
        verify_hosted_code(ports, actor, challenge=challenge, code=code)
    [problem] = refused.value.problems
    return problem.code, problem.field or ""


def test_registration_by_code_tells_nothing_about_an_email(ports: Ports) -> None:
    make_user(ports, ANN)
    make_user(ports, "gone@example.com", is_active=False)
    for start, email in enumerate((ANN, "nobody@example.com", "gone@example.com")):
        challenge = register(ports, email)
        visitors = [visitor(start * 20 + number) for number in range(6)]
        answers = [hosted_refusal(ports, challenge, "0", each) for each in visitors]
        assert answers == [*[("INVALID", "code")] * MAX_FAILURES, ("INVALID", "challenge")]
    sent = [mail.recipient for mail in mails(ports, MailKind.SIGN_IN_CODE)]
    assert sent == [ANN, "nobody@example.com"]
    # No account without the code from the mail.
    assert ("nobody@example.com", False) not in accounts(ports)
    challenge = register(ports, "bob@example.com")
    verify_hosted_code(ports, visitor(90), challenge=challenge, code=code_in_mail(ports))
    assert ("bob@example.com", True) in accounts(ports)


def test_code_to_sign_in_makes_no_account(ports: Ports) -> None:
    ask(ports, ANN)
    ask_for_hosted_code(ports, NOBODY, email=ANN)
    answer_reset_requests(ports, WORKER)
    assert mails(ports, MailKind.SIGN_IN_CODE) == []
    register(ports)
    assert len(mails(ports, MailKind.SIGN_IN_CODE)) == 1


def test_account_that_came_first_is_kept_from_a_code_that_registers(ports: Ports) -> None:
    challenge = register(ports)
    code = code_in_mail(ports)
    make_user(ports, ANN, is_confirmed=False)
    assert hosted_refusal(ports, challenge, code, visitor(1)) == ("INVALID", "challenge")
    assert accounts(ports) == [(ANN, False)]
    # Another code signs in to it, as its owner: the password of whoever came first is dropped.
    opened = verify_hosted_code(
        ports, visitor(2), challenge=register(ports), code=code_in_mail(ports)
    )
    assert user_as_stored(ports, opened.user_id).password_hash is None


def test_one_account_is_registered_by_parallel_codes(ports: Ports) -> None:
    challenges = [register(ports) for _ in range(2)]
    codes = [mail.values["code"] for mail in mails(ports, MailKind.SIGN_IN_CODE)]
    ready = Barrier(4, timeout=30)

    def use(number: int) -> bool:
        ready.wait()
        try:
            which = number % 2
            verify_hosted_code(
                ports, visitor(number), challenge=challenges[which], code=codes[which]
            )
        except Refused:
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(use, range(4), timeout=60)).count(True) == 1
    assert accounts(ports) == [(ANN, True)]


def test_five_wrong_codes_end_it_for_parallel_answers_too(ports: Ports) -> None:
    make_user(ports, ANN)
    challenge = ask(ports)
    code = code_in_mail(ports)
    ready = Barrier(2 * MAX_FAILURES, timeout=30)

    def guess(number: int) -> str:
        ready.wait()
        return refusal(ports, challenge, wrong(code), visitor(number))[1]

    with ThreadPoolExecutor(2 * MAX_FAILURES) as pool:
        fields = list(pool.map(guess, range(2 * MAX_FAILURES), timeout=60))
    assert fields.count("code") == MAX_FAILURES
    assert refusal(ports, challenge, code, visitor(99)) == ("INVALID", "challenge")


def test_right_code_used_twice_at_once_signs_in_once(ports: Ports) -> None:
    """The second use ends after the first was counted and before it opens its session."""
    make_user(ports, ANN)
    challenge = ask(ports)
    code = code_in_mail(ports)
    second: list[TokenPair] = []

    class Slow:
        def decrypt(self, purpose: str, encrypted: str) -> str:
            if not second:
                second.append(verify(ports, challenge, code, visitor(2)))
            return ports.encryption.decrypt(purpose, encrypted)

        def __getattr__(self, name: str) -> object:
            return getattr(ports.encryption, name)

    first = replace(ports, encryption=Slow())  # type: ignore[arg-type]
    assert refusal(first, challenge, code, visitor(1)) == ("INVALID", "challenge")
    [opened] = second
    assert opened.access
    with ports.database.reading() as session:
        assert len(session.scalars(select(models.Session.id)).all()) == 1


def test_guesses_at_one_email_count_over_all_addresses(ports: Ports, clock: FakeClock) -> None:
    make_user(ports, ANN)
    tried = 0
    for round_ in range(MAX_FAILURES_A_DAY // MAX_FAILURES):
        challenge = ask(ports)
        for each in range(MAX_FAILURES):
            tried += 1
            answer = refusal(ports, challenge, wrong(code_in_mail(ports)), visitor(tried))
            assert answer == ("INVALID", "code"), (round_, each)
        clock.pass_(minutes=30)
    challenge = ask(ports)
    answer = refusal(ports, challenge, code_in_mail(ports), visitor(200))
    assert answer == ("LOGIN_ATTEMPT_DELAYED", "")
    clock.pass_(hours=24)
    challenge = ask(ports)
    assert verify(ports, challenge, code_in_mail(ports), visitor(201)).access


def test_one_address_is_slowed_over_many_emails(ports: Ports) -> None:
    answers = []
    for number in range(3):
        challenge = ask(ports, f"user{number}@example.com")
        answers += [refusal(ports, challenge, "123456") for _ in range(MAX_FAILURES)]
    assert ("LOGIN_ATTEMPT_DELAYED", "") in answers
    assert refusal(ports, ask(ports, "other@example.com"), "1", visitor(9)) == ("INVALID", "code")


def test_mailbox_is_not_flooded(ports: Ports, clock: FakeClock) -> None:
    make_user(ports, ANN)
    for _ in range(MAX_CODES_AN_HOUR + 3):
        ask(ports)
    assert len(mails(ports, MailKind.SIGN_IN_CODE)) == MAX_CODES_AN_HOUR
    clock.pass_(hours=1)
    assert verify(ports, ask(ports), code_in_mail(ports)).access


def test_second_factor_is_asked_for_as_after_a_password(ports: Ports) -> None:
    ann = make_protected(ports, ANN)
    with pytest.raises(SecondFactorRequired) as required:
        verify(ports, ask(ports), code_in_mail(ports))
    token = required.value.challenge.token
    code = one_time_code(ports, ann.secret)
    assert verify_second_factor(ports, NOBODY, challenge=token, code=code).user.id == ann.id
    with ports.database.reading() as session:
        assert session.scalars(select(models.Session.amr)).all() == ["otp otp mfa"]


def test_account_that_a_stranger_registered_loses_what_they_set(ports: Ports) -> None:
    stranger = make_user(ports, ANN, is_confirmed=False)
    sign_in(ports, stranger)
    forum = make_client(ports).client
    grant(ports, forum, stranger)
    make_passkey(ports, stranger, SoftwareAuthenticator())
    verify(ports, ask(ports), code_in_mail(ports))
    stored = user_as_stored(ports, stranger)
    assert (stored.is_confirmed, stored.password_hash) == (True, None)
    with ports.database.reading() as session:
        assert session.scalars(select(models.Passkey.id)).all() == []
        assert len(session.scalars(select(models.Session.id)).all()) == 1
        assert session.scalars(select(models.OAuthConsent.client_id)).all() == []
    with pytest.raises(Refused):
        log_in(ports, ANN, PASSWORD)
    # A confirmed account keeps its password, and what it allowed.
    grant(ports, forum, make_user(ports, "bob@example.com"))
    verify(ports, ask(ports, "bob@example.com"), code_in_mail(ports), visitor(1))
    log_in(ports, "bob@example.com", PASSWORD, visitor(2))
    with ports.database.reading() as session:
        assert session.scalars(select(models.OAuthConsent.client_id)).all() == [forum.id]


@pytest.mark.parametrize("mode", list(PasswordLoginMode))
def test_login_mode_rules(ports: Ports, mode: PasswordLoginMode) -> None:
    make_user(ports, ANN, is_staff=True)
    challenge = ask(ports)
    code = code_in_mail(ports)
    set_mode(ports, mode)
    if mode is PasswordLoginMode.DISABLED:
        assert refusal(ports, challenge, code) == ("DISABLED_AUTHENTICATION_METHOD", "")
        with pytest.raises(Refused):
            request_email_code(ports, NOBODY, email=ANN)
        return
    assert verify(ports, challenge, code).user.is_staff is (mode is PasswordLoginMode.ENABLED)


def test_codes_of_an_account_end_with_what_they_were_for(ports: Ports) -> None:
    key = make_user(ports, ANN)
    for change in ({"email": "new@example.com"}, {"is_active": False}):
        challenge = ask(ports)
        code = code_in_mail(ports)
        with ports.database.transaction() as session:
            session.execute(update(models.User).where(models.User.id == key).values(**change))
        assert refusal(ports, challenge, code)[0] in ("INVALID", "INACTIVE")
        with ports.database.transaction() as session:
            back = {"email": ANN, "is_active": True}
            session.execute(update(models.User).where(models.User.id == key).values(**back))
    challenge = ask(ports)
    configure_shop(ports, email_code_login=False)
    assert refusal(ports, challenge, code_in_mail(ports))[0] == "DISABLED_AUTHENTICATION_METHOD"
    with ports.database.reading() as session:
        codes = session.scalars(select(models.EmailCode.sealed)).all()
    assert not any(code_in_mail(ports) in sealed for sealed in codes)


def test_closed_storefront_refuses_hosted_codes(ports: Ports) -> None:
    make_user(ports, ANN)
    hosted = ask_for_hosted_code(ports, NOBODY, email=ANN).token
    answer_reset_requests(ports, WORKER)
    close_storefront(ports)
    for challenge in (hosted, "invented"):
        with pytest.raises(TrafficClosed):
            verify_hosted_code(ports, NOBODY, challenge=challenge, code=code_in_mail(ports))
