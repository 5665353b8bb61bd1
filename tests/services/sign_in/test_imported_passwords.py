"""Passwords that were imported work, and are replaced at the first sign-in."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier

import pytest
from argon2 import PasswordHasher
from sqlalchemy import update
from typing_extensions import override

from app import models
from app.adapters.keys.passwords import Argon2Hasher
from app.domain.authorization.actor import OPERATOR, Actor
from app.domain.imports.runs import digest_of_text
from app.domain.passwords.imported_hashes import parse_hash
from app.domain.values.errors import Refused
from app.ports import Ports
from app.ports.passwords import Match
from app.services.accounts.email_changes import request_email_change
from app.services.accounts.password_changes import change_password, set_password
from app.services.accounts.password_resets import answer_reset_requests, request_password_reset
from app.services.accounts.registration import NewAccount, register_account
from app.services.console.console_sessions import confirm_password_again
from app.services.people.staff import NewStaff, create_staff
from app.services.sign_in.reauthentication import imported_seconds
from tests.builders.imports import make_imported_user
from tests.builders.outbox import mails, token_in
from tests.builders.people import NOBODY, PASSWORD, actor_of, make_user
from tests.fakes.clock import FakeClock
from tests.fakes.passwords import FakeHasher
from tests.fixtures.foreign_hashes import FOREIGN
from tests.graphql.shop_client import ApiClient
from tests.services.logins import code_of, log_in, refusal_of

CHEAP = PasswordHasher(1, 8, 1)
[QUICK] = [foreign for foreign in FOREIGN if foreign.hash.startswith("pbkdf2_sha1$")]
[DEARER] = [foreign for foreign in FOREIGN if foreign.hash.startswith("pbkdf2_sha256$36000$")]
LOGIN = """mutation Login($email: String!, $password: String!) {
  tokenCreate(email: $email, password: $password) { token user { email } errors { field code } }
}"""
WAIT = 30


@pytest.fixture
def real(ports: Ports) -> Ports:
    """Return ports with a real hasher, which is cheap for hashes of ours."""
    return replace(ports, passwords=Argon2Hasher(CHEAP))


def stored_of(ports: Ports, user_id: int) -> tuple[str | None, models.ImportedPassword]:
    with ports.database.reading() as session:
        user = session.get_one(models.User, user_id)
        return user.password_hash, session.get_one(models.ImportedPassword, user_id)


def assert_replaced(ports: Ports, user_id: int, password: str) -> None:
    stored, imported = stored_of(ports, user_id)
    assert stored is not None
    assert CHEAP.verify(stored, password)
    assert imported.state == "REPLACED"
    assert imported.written_digest == digest_of_text(stored or "")
    assert imported.replaced_at is not None


def assert_untouched(ports: Ports, user_id: int) -> None:
    stored, imported = stored_of(ports, user_id)
    assert stored == QUICK.hash
    assert imported.state == "IMPORTED"
    assert imported.written_digest == digest_of_text(stored or "")
    assert imported.replaced_at is None


@pytest.mark.first
def test_every_format_signs_in_through_the_api_and_is_replaced(real: Ports) -> None:
    cheap = [foreign for foreign in FOREIGN if parse_hash(foreign.hash).seconds < 0.1]
    assert {type(parse_hash(foreign.hash)) for foreign in cheap} == {
        type(parse_hash(foreign.hash)) for foreign in FOREIGN
    }
    people = [
        make_imported_user(real, foreign.hash, f"person-{number}@example.com")
        for number, foreign in enumerate(cheap)
    ]
    api = ApiClient(real)
    for number, foreign in enumerate(cheap):
        email = f"person-{number}@example.com"
        answer = api.ask(LOGIN, email=email, password=foreign.password)["data"]["tokenCreate"]
        assert answer["errors"] == [], foreign.name
        assert answer["user"] == {"email": email}
        assert_replaced(real, people[number], foreign.password)
    again = api.ask(LOGIN, email="person-0@example.com", password=cheap[0].password)
    assert again["data"]["tokenCreate"]["errors"] == []


def test_incorrect_password_replaces_nothing(real: Ports, clock: FakeClock) -> None:
    user = make_imported_user(real, QUICK.hash)
    assert refusal_of(real, password=f"{QUICK.password}.") == ("email", "INVALID_CREDENTIALS")
    assert_untouched(real, user)

    assert code_of(real, password=QUICK.password) == "LOGIN_ATTEMPT_DELAYED"
    assert_untouched(real, user)

    clock.pass_(seconds=1)
    log_in(real, password=QUICK.password)
    assert_replaced(real, user, QUICK.password)


@pytest.mark.parametrize(
    ("is_active", "code"), [(False, "INACTIVE"), (True, "ACCOUNT_NOT_CONFIRMED")]
)
def test_refused_account_keeps_the_imported_hash(
    real: Ports, *, is_active: bool, code: str
) -> None:
    user = make_imported_user(real, QUICK.hash, is_active=is_active, is_confirmed=not is_active)
    assert code_of(real, password=QUICK.password) == code
    assert_untouched(real, user)


def test_account_whose_password_was_not_imported_is_refused_like_any_without_one(
    real: Ports,
) -> None:
    for number, stored in enumerate(("md5$salt$5f4dcc3b5aa765d61d8327deb882cf99", "!", "")):
        email, stranger = f"{number}@example.com", replace(NOBODY, address=f"198.51.100.{number}")
        make_imported_user(real, stored, email)
        refusal = refusal_of(real, email, "password", stranger)
        assert refusal == ("email", "INVALID_CREDENTIALS"), stored


@pytest.mark.both_databases
def test_two_first_sign_ins_at_once_succeed(real: Ports) -> None:
    both_compared = Barrier(2, timeout=60)

    class WaitingHasher(Argon2Hasher):
        """Two sign-ins compare the same hash before either goes on."""

        @override
        def verify_sign_in(
            self, password_hash: str | None, password: str, imported_seconds: float = 0
        ) -> Match:
            verified = super().verify_sign_in(password_hash, password, imported_seconds)
            if password_hash == QUICK.hash:
                both_compared.wait(WAIT)
            return verified

    user = make_imported_user(real, QUICK.hash)
    ports = replace(real, passwords=WaitingHasher(CHEAP))
    actors = [NOBODY, replace(NOBODY, address="198.51.100.1")]

    with ThreadPoolExecutor(2) as threads:
        sign_ins = [
            threads.submit(log_in, ports, password=QUICK.password, actor=actor) for actor in actors
        ]
        assert [sign_in.result(WAIT).user.id for sign_in in sign_ins] == [user, user]
    assert_replaced(real, user, QUICK.password)


def test_sign_in_during_the_replacement_by_another_succeeds(real: Ports) -> None:
    """The hash is another when the session is made, but of the same password."""

    class OvertakenHasher(Argon2Hasher):
        @override
        def verify_sign_in(
            self, password_hash: str | None, password: str, imported_seconds: float = 0
        ) -> Match:
            verified = super().verify_sign_in(password_hash, password, imported_seconds)
            if password_hash == QUICK.hash:
                log_in(real, password=QUICK.password, actor=elsewhere)
            return verified

    user = make_imported_user(real, QUICK.hash)
    elsewhere = replace(NOBODY, address="198.51.100.1")
    overtaken = replace(real, passwords=OvertakenHasher(CHEAP))

    assert log_in(overtaken, password=QUICK.password).user.id == user
    assert_replaced(real, user, QUICK.password)


def confirm_again(ports: Ports, actor: Actor) -> None:
    confirm_password_again(ports, actor, password=QUICK.password)


def change_email(ports: Ports, actor: Actor) -> None:
    request_email_change(
        ports,
        actor,
        new_email="new@example.com",
        password=QUICK.password,
        redirect_url="http://localhost:3000/",
    )


@pytest.mark.parametrize("confirm", [confirm_again, change_email])
def test_password_that_is_confirmed_is_replaced_too(real: Ports, confirm: object) -> None:
    """Someone who signed in with SSO since the import confirms with the imported password."""
    user = make_imported_user(real, QUICK.hash, is_staff=True)
    actor = actor_of(real, user)
    with pytest.raises(Refused):
        confirm_password_again(real, actor, password="wrong")
    assert_untouched(real, user)

    confirm(real, actor)  # type: ignore[operator]

    assert_replaced(real, user, QUICK.password)


def test_later_rehash_keeps_the_digest_in_step(real: Ports, clock: FakeClock) -> None:
    user = make_imported_user(real, QUICK.hash)
    log_in(real, password=QUICK.password)
    first = stored_of(real, user)[1].replaced_at
    clock.pass_(seconds=60)
    dearer = replace(real, passwords=Argon2Hasher(PasswordHasher(2, 8, 1)))

    log_in(dearer, password=QUICK.password)

    stored, imported = stored_of(real, user)
    assert imported.state == "REPLACED"
    assert imported.written_digest == digest_of_text(stored or "")
    assert imported.replaced_at == first


@pytest.mark.parametrize("signs_in_first", [False, True])
def test_password_that_was_changed_here_counts_as_edited(
    real: Ports, *, signs_in_first: bool
) -> None:
    user = make_imported_user(real, QUICK.hash)
    if signs_in_first:
        log_in(real, password=QUICK.password)
    written = stored_of(real, user)[1].written_digest
    change_password(real, actor_of(real, user), old_password=QUICK.password, new_password=PASSWORD)
    stored, imported = stored_of(real, user)
    assert imported.state == "CHANGED"
    assert imported.written_digest == written != digest_of_text(stored or "")

    dearer = replace(real, passwords=Argon2Hasher(PasswordHasher(2, 8, 1)))
    log_in(dearer, password=PASSWORD)
    assert stored_of(real, user)[1].written_digest == written


def test_cost_is_that_of_the_dearest_waiting_hash(real: Ports, clock: FakeClock) -> None:
    assert imported_seconds(real) == 0
    clock.pass_(seconds=60)
    for number, foreign in enumerate((QUICK, DEARER, QUICK)):
        make_imported_user(real, foreign.hash, f"{number}@example.com")
    assert imported_seconds(real) == parse_hash(DEARER.hash).seconds

    log_in(real, "1@example.com", DEARER.password)
    assert imported_seconds(real) == parse_hash(DEARER.hash).seconds, "as last read"
    clock.pass_(seconds=60)
    assert imported_seconds(real) == parse_hash(QUICK.hash).seconds


def test_hash_of_absurd_cost_in_the_database_is_no_cost(real: Ports) -> None:
    user = make_imported_user(real, QUICK.hash)
    absurd = QUICK.hash.replace("$10000$", "$999999999$")
    with real.database.transaction() as session:
        session.execute(
            update(models.User).where(models.User.id == user).values(password_hash=absurd)
        )
    assert imported_seconds(real) == 0
    assert code_of(real, password=QUICK.password) == "INVALID_CREDENTIALS"


def test_strangers_wait_as_long_for_every_email(ports: Ports, hasher: FakeHasher) -> None:
    make_user(ports, "sso@example.com", password=None)
    make_user(ports, "own@example.com")
    make_imported_user(ports, QUICK.hash, "imported@example.com")
    seconds = parse_hash(QUICK.hash).seconds
    for number, email in enumerate(("nobody@example.com", "sso@example.com", "own@example.com")):
        stranger = replace(NOBODY, address=f"198.51.100.{number}")
        hasher.imported_seconds = 0
        refusal_of(ports, email, "wrong", stranger)
        assert hasher.imported_seconds == seconds, email

        hasher.imported_seconds = 0
        new = NewAccount(email, PASSWORD, redirect_url="http://localhost:3000/")
        register_account(ports, stranger, new)
        assert hasher.imported_seconds == seconds, email


def test_removed_password_counts_as_edited(real: Ports) -> None:
    user = make_imported_user(real, QUICK.hash, is_confirmed=False)
    manager = actor_of(real, make_user(real, "boss@example.com", is_superuser=True))
    create_staff(real, manager, NewStaff("customer@example.com"))
    stored, imported = stored_of(real, user)
    assert stored is None
    assert imported.state == "CHANGED"


def test_password_that_was_not_imported_is_set_by_mail(real: Ports) -> None:
    user = make_imported_user(real, "md5$salt$5f4dcc3b5aa765d61d8327deb882cf99")
    request_password_reset(
        real, NOBODY, email="customer@example.com", redirect_url="http://localhost:3000/"
    )
    answer_reset_requests(real, OPERATOR)
    [mail] = mails(real)
    token = token_in(mail)

    set_password(real, NOBODY, email="customer@example.com", password=PASSWORD, token=token)

    assert stored_of(real, user)[1].state == "CHANGED"
    assert log_in(real, password=PASSWORD).user.id == user
