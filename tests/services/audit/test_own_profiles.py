"""What customers change of their own profile: kept for a time, and outside the list."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import orjson
import pytest

from app.domain.accounts.addresses import AddressChange, AddressKind
from app.domain.audit import AuditFilter
from app.domain.authorization.actor import OPERATOR, Actor
from app.domain.authorization.permissions import Permission
from app.domain.values.errors import Refused
from app.domain.values.ids import to_global_id
from app.domain.values.metadata import MetadataChange
from app.domain.values.pages import PageRequest
from app.ports import Ports
from app.services.accounts.account_details import Details, update_account, update_avatar
from app.services.accounts.addresses import (
    create_address,
    delete_address,
    set_default_address,
    update_address,
)
from app.services.accounts.password_changes import change_password
from app.services.audit.entries import list_entries, prune_entries
from app.services.console.home import show_overview
from app.services.metadata import change_address_metadata, change_user_metadata
from tests.builders.images import picture
from tests.builders.people import PASSWORD, actor_of, make_staff, make_user
from tests.commands.shell import run
from tests.fakes.clock import FakeClock

PAGE = PageRequest(50)


def change_own_profile(ports: Ports, actor: Actor) -> None:
    key = to_global_id("User", actor.user_id or 0)
    update_account(ports, actor, Details(first_name="Eve", language_code="FR"))
    update_avatar(ports, actor, picture())
    home = AddressChange(street_address_1="Tęczowa 7", city="Wrocław", country="PL")
    added = create_address(ports, actor, replace(home, postal_code="53-601", last_name="Lee"))
    address = to_global_id("Address", added.address.id)
    update_address(ports, actor, address, AddressChange(first_name="Eva", country="PL"))
    set_default_address(ports, actor, address, AddressKind.BILLING)
    change_address_metadata(ports, actor, address, MetadataChange(values=(("door", "blue"),)))
    delete_address(ports, actor, address)
    change_user_metadata(ports, actor, key, MetadataChange(values=(("size", "M"),)))


def listed(ports: Ports, **conditions: object) -> list[str]:
    found = list_entries(ports, OPERATOR, PAGE, AuditFilter(**conditions))  # type: ignore[arg-type]
    return [entry.action for entry in found.items if entry.actor_name != "operator"]


def test_customers_own_profile_changes_are_listed_only_where_asked_for(ports: Ports) -> None:
    eve = actor_of(ports, make_user(ports, "eve@example.com"))
    change_own_profile(ports, eve)
    change_password(ports, eve, old_password=PASSWORD, new_password="another long password")
    assert listed(ports) == ["password.set"]
    everything = listed(ports, own_profile=True)
    assert set(everything) == {
        "account.avatar",
        "account.update",
        "address.create",
        "address.delete",
        "address.set_default",
        "address.update",
        "address.update_metadata",
        "password.set",
        "user.update_metadata",
    }
    assert listed(ports, subject_type="User", subject_id=str(eve.user_id)) == everything
    assert listed(ports, user_id=eve.user_id) == everything


def test_changes_by_staff_stay_in_the_log(ports: Ports) -> None:
    eve = make_user(ports, "eve@example.com")
    manager = actor_of(ports, make_staff(ports, "ann@example.com", Permission.MANAGE_USERS))
    update_account(ports, manager, Details(first_name="Ann"))
    values = MetadataChange(values=(("tier", "gold"),))
    change_user_metadata(ports, manager, to_global_id("User", eve), values)
    assert listed(ports) == ["user.update_metadata", "account.update"]


def test_home_shows_no_customers_own_profile_changes(ports: Ports) -> None:
    admin = actor_of(ports, make_staff(ports, "ann@example.com", Permission.MANAGE_STAFF))
    update_account(ports, admin, Details(first_name="Ann"))
    eve = actor_of(ports, make_user(ports, "eve@example.com"))
    for number in range(6):
        update_account(ports, eve, Details(first_name=f"Eve {number}"))
    shown = show_overview(ports, admin).last_changes
    assert shown is not None
    assert {entry.actor_user_id for entry in shown if entry.action == "account.update"} == {
        admin.user_id
    }


def test_pruned_entries_are_in_the_file_and_the_log_notes_them(
    ports: Ports, clock: FakeClock, tmp_path: Path
) -> None:
    eve = actor_of(ports, make_user(ports, "eve@example.com"))
    update_account(ports, eve, Details(first_name="Eve"))
    clock.pass_(hours=30 * 24)
    update_account(ports, eve, Details(first_name="Eva"))
    clock.pass_(hours=25)
    moment = clock.now().replace(microsecond=0)
    clock.pass_(hours=24 * 20)
    update_account(ports, eve, Details(first_name="Evy"))
    file = tmp_path / "audit.jsonl"
    before = len(list_entries(ports, OPERATOR, PAGE, AuditFilter(own_profile=True)).items)
    pruned = prune_entries(ports, OPERATOR, moment, file)
    lines = [orjson.loads(line) for line in file.read_text().splitlines()]
    assert [line["after"] for line in lines if line["action"] == "account.update"] == [
        {"first_name": "Eve"},
        {"first_name": "Eva"},
    ]
    assert pruned.entries == len(lines) == before - 1
    assert pruned.exported == file.stat().st_size
    assert file.stat().st_mode & 0o077 == 0
    note, kept = list_entries(ports, OPERATOR, PAGE, AuditFilter(own_profile=True)).items
    assert (note.action, note.after["entries"], note.after["exported"]) == (
        "audit.prune",
        len(lines),
        True,
    )
    assert kept.after == {"first_name": "Evy"}


def test_an_older_export_and_the_last_day_are_never_lost(
    ports: Ports, clock: FakeClock, tmp_path: Path
) -> None:
    eve = actor_of(ports, make_user(ports, "eve@example.com"))
    update_account(ports, eve, Details(first_name="Eve"))
    clock.pass_(hours=48)
    file = tmp_path / "audit.jsonl"
    file.write_text("kept")
    for moment, code in (
        (clock.now(), "INVALID"),
        (clock.now() - timedelta(hours=25), "ALREADY_EXISTS"),
    ):
        with pytest.raises(Refused) as refused:
            prune_entries(ports, OPERATOR, moment, file)
        assert [problem.code for problem in refused.value.problems] == [code]
    assert file.read_text() == "kept"
    assert prune_entries(ports, OPERATOR, clock.now() - timedelta(hours=25), None).entries == 1


def test_prune_asks_about_one_entry_or_several(ports: Ports, clock: FakeClock) -> None:
    eve = actor_of(ports, make_user(ports, "eve@example.com"))
    for name, asked in (("Eve", "Delete 1 entry of"), ("Eva", "Delete 2 entries of")):
        update_account(ports, eve, Details(first_name=name))
        clock.pass_(hours=48)
        result = run(ports, "audit", "prune", "--before", "25h", "--no-export")
        assert result.exit_code == 2
        assert asked in result.stderr
