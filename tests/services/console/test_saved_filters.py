"""Saved filters: a person's own, bounded, deleted with the account."""

import pytest

from app import models
from app.domain.authorization.actor import OPERATOR, Actor
from app.domain.values.errors import PermissionDenied, Refused
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.services.console import saved_filters
from app.services.console.saved_filters import (
    delete_filter,
    rename_filter,
    save_filter,
    show_badges,
)
from app.services.people.staff import delete_staff
from tests.builders.people import actor_of, make_staff, make_user
from tests.fixtures.cases import cases
from tests.fixtures.statements import recorded_statements, selects
from tests.services.error_codes import codes

LIST = "deliveries"


@pytest.fixture
def ada(ports: Ports) -> Actor:
    return actor_of(ports, make_staff(ports, "ada@example.com"))


def names(ports: Ports, actor: Actor, list_name: str = LIST) -> list[str]:
    return [one.name for one in show_badges(ports, actor, list_name).saved_filters]


@pytest.mark.both_databases
def test_filters_are_listed_by_name_for_their_person_and_list(ports: Ports, ada: Actor) -> None:
    ben = actor_of(ports, make_staff(ports, "ben@example.com"))
    assert names(ports, ada) == []
    save_filter(ports, ada, LIST, " stock feed ", "webhook=2")
    save_filter(ports, ada, LIST, "Failed “today”, ö", "status=failed&q=a%26b")
    save_filter(ports, ada, "audit", "Keys", "kind=keys")
    save_filter(ports, ben, LIST, "Waiting", "status=waiting")
    with recorded_statements() as statements:
        (failed, stock) = show_badges(ports, ada, LIST).saved_filters
    assert len(selects(statements)) == 1
    assert (failed.name, failed.query) == ("Failed “today”, ö", "status=failed&q=a%26b")
    assert (stock.name, stock.query) == ("stock feed", "webhook=2")
    assert names(ports, ada, "audit") == ["Keys"]
    assert names(ports, ben) == ["Waiting"]
    assert show_badges(ports, ada).saved_filters == ()


def test_filter_is_renamed_and_deleted_by_its_person_only(ports: Ports, ada: Actor) -> None:
    ben = actor_of(ports, make_staff(ports, "ben@example.com"))
    save_filter(ports, ada, LIST, "Failed", "status=failed")
    (saved,) = show_badges(ports, ada, LIST).saved_filters
    with pytest.raises(Refused) as refused:
        rename_filter(ports, ben, saved.id, "Mine")
    assert codes(refused) == [("id", "NOT_FOUND")]
    with pytest.raises(Refused) as refused:
        delete_filter(ports, ben, saved.id)
    assert codes(refused) == [("id", "NOT_FOUND")]
    with pytest.raises(Refused) as refused:
        rename_filter(ports, ada, saved.id + 1, "Mine")
    assert codes(refused) == [("id", "NOT_FOUND")]
    rename_filter(ports, ada, saved.id, "Failed today")
    assert names(ports, ada) == ["Failed today"]
    delete_filter(ports, ada, saved.id)
    assert names(ports, ada) == []


def test_invalid_filters_are_refused(ports: Ports, ada: Actor) -> None:
    save_filter(ports, ada, LIST, "Taken", "status=waiting")

    @cases(
        ("name", "query", "error"),
        [
            ("", "status=failed", ("name", "REQUIRED")),
            ("  ", "status=failed", ("name", "REQUIRED")),
            ("x" * 41, "status=failed", ("name", "INVALID")),
            ("two\nlines", "status=failed", ("name", "INVALID")),
            ("Taken", "status=failed", ("name", "UNIQUE")),
            ("Empty", "", ("query", "INVALID")),
            ("Long", "q" * 2001, ("query", "INVALID")),
        ],
    )
    def check(name: str, query: str, error: tuple[str, str]) -> None:
        with pytest.raises(Refused) as refused:
            save_filter(ports, ada, LIST, name, query)
        assert codes(refused) == [error]
        assert names(ports, ada) == ["Taken"]

    check()


def test_name_of_another_filter_is_refused(ports: Ports, ada: Actor) -> None:
    save_filter(ports, ada, LIST, "Failed", "status=failed")
    save_filter(ports, ada, LIST, "Waiting", "status=waiting")
    failed, _ = show_badges(ports, ada, LIST).saved_filters
    with pytest.raises(Refused) as refused:
        rename_filter(ports, ada, failed.id, "Waiting")
    assert codes(refused) == [("name", "UNIQUE")]
    assert names(ports, ada) == ["Failed", "Waiting"]


def test_filters_of_a_list_are_limited(
    ports: Ports, ada: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saved_filters, "MAX_SAVED", 2)
    save_filter(ports, ada, LIST, "One", "q=1")
    save_filter(ports, ada, LIST, "Two", "q=2")
    with pytest.raises(Refused) as refused:
        save_filter(ports, ada, LIST, "Three", "q=3")
    assert str(refused.value) == "You can save 2 filters per list. Delete one first."
    save_filter(ports, ada, "audit", "Three", "q=3")


def test_filters_are_deleted_with_the_account(ports: Ports, ada: Actor) -> None:
    save_filter(ports, ada, LIST, "Failed", "status=failed")
    delete_staff(ports, OPERATOR, to_global_id("User", ada.user_id or 0))
    assert names(ports, ada_after(ports)) == []
    with ports.database.reading() as session:
        assert session.query(models.SavedFilter).count() == 0


def ada_after(ports: Ports) -> Actor:
    """Another person with the same email."""
    return actor_of(ports, make_staff(ports, "ada@example.com"))


def test_customers_save_nothing(ports: Ports) -> None:
    customer = actor_of(ports, make_user(ports, "clara@example.com"))
    with pytest.raises(PermissionDenied):
        save_filter(ports, customer, LIST, "Failed", "status=failed")
