"""Submitted forms: created once, their secret taken once, and only by their session."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from sqlalchemy import delete, func, select

from app import models
from app.domain.authorization.actor import WORKER, Actor
from app.ports import Ports
from app.services.operations.cleanup import clean_up
from app.services.submissions import (
    KEY_LENGTH,
    LIFETIME,
    claim_submission,
    find_created_page,
    find_entered,
    finish_submission,
    keep_entered,
    release_submission,
    take_created_secret,
)
from tests.builders.people import actor_of, make_staff
from tests.fakes.clock import FakeClock

KEY = "k" * KEY_LENGTH
PAGE = "/console/apps/1?created=" + KEY


@pytest.fixture
def staff(ports: Ports) -> Actor:
    return actor_of(ports, make_staff(ports))


def test_form_is_claimed_once(ports: Ports, staff: Actor) -> None:
    assert claim_submission(ports, staff, KEY)
    assert not claim_submission(ports, staff, KEY)
    assert find_created_page(ports, staff, KEY) == ""
    finish_submission(ports, staff, KEY, PAGE)
    assert not claim_submission(ports, staff, KEY)
    assert find_created_page(ports, staff, KEY) == PAGE


@pytest.mark.both_databases
def test_of_concurrent_claims_one_succeeds(ports: Ports, staff: Actor) -> None:
    together = Barrier(4, timeout=60)

    def claim(_: int) -> bool:
        together.wait()
        return claim_submission(ports, staff, KEY)

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(claim, range(4))) == [False, False, False, True]


def test_released_form_can_be_sent_again(ports: Ports, staff: Actor) -> None:
    assert claim_submission(ports, staff, KEY)
    release_submission(ports, staff, KEY)
    assert find_created_page(ports, staff, KEY) is None
    assert claim_submission(ports, staff, KEY)


def test_form_whose_process_died_can_be_sent_again_after_a_minute(
    ports: Ports, staff: Actor, clock: FakeClock
) -> None:
    assert claim_submission(ports, staff, KEY)
    clock.pass_(seconds=59)
    assert not claim_submission(ports, staff, KEY)
    clock.pass_(seconds=1)
    assert find_created_page(ports, staff, KEY) is None
    assert claim_submission(ports, staff, KEY)


def test_creation_that_outlasts_its_claim_is_stored(
    ports: Ports, staff: Actor, clock: FakeClock
) -> None:
    claim_submission(ports, staff, KEY)
    clock.pass_(seconds=61)
    clean_up(ports, WORKER)
    finish_submission(ports, staff, KEY, PAGE, "lkapp_secret")
    assert find_created_page(ports, staff, KEY) == PAGE
    assert take_created_secret(ports, staff, KEY) == "lkapp_secret"


def test_secret_is_stored_encrypted_and_taken_once(ports: Ports, staff: Actor) -> None:
    claim_submission(ports, staff, KEY)
    finish_submission(ports, staff, KEY, PAGE, "lkapp_secret")
    with ports.database.reading() as session:
        (stored,) = session.scalars(select(models.FormSubmission))
    assert "lkapp_secret" not in stored.encrypted_secret
    assert take_created_secret(ports, staff, KEY) == "lkapp_secret"
    assert take_created_secret(ports, staff, KEY) == ""
    with ports.database.reading() as session:
        assert session.scalar(select(models.FormSubmission.encrypted_secret)) == ""


def test_another_session_gets_neither_page_nor_secret(ports: Ports, staff: Actor) -> None:
    claim_submission(ports, staff, KEY)
    finish_submission(ports, staff, KEY, PAGE, "lkapp_secret")
    assert staff.user_id is not None
    same_person = actor_of(ports, staff.user_id)
    assert find_created_page(ports, same_person, KEY) is None
    assert take_created_secret(ports, same_person, KEY) == ""
    release_submission(ports, same_person, KEY)
    assert take_created_secret(ports, staff, KEY) == "lkapp_secret"


def test_submission_expires_and_is_deleted(ports: Ports, staff: Actor, clock: FakeClock) -> None:
    claim_submission(ports, staff, KEY)
    finish_submission(ports, staff, KEY, PAGE, "lkapp_secret")
    clock.pass_(seconds=LIFETIME.total_seconds())
    assert find_created_page(ports, staff, KEY) is None
    assert take_created_secret(ports, staff, KEY) == ""
    assert clean_up(ports, WORKER).form_submissions == 1


def test_next_form_of_the_session_deletes_expired_ones(
    ports: Ports, staff: Actor, clock: FakeClock
) -> None:
    claim_submission(ports, staff, KEY)
    clock.pass_(seconds=LIFETIME.total_seconds())
    assert claim_submission(ports, staff, KEY)


def test_submission_ends_with_its_session(ports: Ports, staff: Actor) -> None:
    claim_submission(ports, staff, KEY)
    with ports.database.transaction() as session:
        session.execute(delete(models.Session))
    with ports.database.reading() as session:
        assert session.scalar(select(func.count()).select_from(models.FormSubmission)) == 0


def test_entered_values_are_kept_for_their_session_and_time(
    ports: Ports, staff: Actor, clock: FakeClock
) -> None:
    keep_entered(ports, staff, KEY, "a header: secret")
    with ports.database.reading() as session:
        assert (
            "secret" not in session.scalars(select(models.FormSubmission.encrypted_secret)).one()
        )
    assert find_entered(ports, staff, KEY) == "a header: secret"
    other = actor_of(ports, make_staff(ports, "other@example.com"))
    assert find_entered(ports, other, KEY) == ""
    clock.pass_(minutes=10)
    assert find_entered(ports, staff, KEY) == ""
    keep_entered(ports, staff, "m" * KEY_LENGTH, "more")
    with ports.database.reading() as session:
        assert session.scalar(select(func.count()).select_from(models.FormSubmission)) == 1
