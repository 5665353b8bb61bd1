"""Names and IDs on TAB, as the shells' scripts ask for them."""

import socket
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from app.commands.name_completion import MAX_ITEMS
from app.composition.settings import Settings
from app.composition.wiring import connect
from app.domain.events import EventType
from app.domain.values.ids import to_global_id
from app.ports import Ports
from tests.builders.apps import make_app
from tests.builders.people import make_group, make_staff, make_user
from tests.builders.webhooks import make_webhook
from tests.commands.shell import completion_items
from tests.fixtures.cases import cases


def offered(ports: Ports, line: str) -> list[str]:
    return [item.value for item in completion_items(ports, line)]


@pytest.fixture
def furnished(ports: Ports) -> Ports:
    warehouse, _ = make_app(ports, "Warehouse")
    make_app(ports, "Parcel Post")
    make_webhook(ports, warehouse, EventType.ORDER_PAID)
    make_user(ports, "ann@example.com", first_name="Ann", last_name="Lee")
    make_staff(ports, "amy@example.com")
    make_group(ports, "Support")
    return ports


HOOK = to_global_id("Webhook", 1)


@cases(
    ("line", "values"),
    [
        ("flask app show Wa", ["Warehouse"]),
        ("flask app show Parcel", ["Parcel Post"]),
        ("flask app token list 2", ["2"]),
        ("flask webhook show h", ["hook"]),
        (f"flask webhook edit {HOOK[:6]}", [HOOK]),
        ("flask webhook listen --webhook ho", ["hook"]),
        ("flask webhook list --app W", ["Warehouse"]),
        (f"flask webhook create --app {to_global_id('App', 2)}", [to_global_id("App", 2)]),
        ("flask user show an", ["ann@example.com"]),
        ("flask user update ann@example.com --add-group Su", ["Support"]),
        ("flask group update Support --add-user a", ["amy@example.com"]),
        ("flask group delete S", ["Support"]),
        ("flask oidc show --provider de", ["default"]),
        ("flask shop set password-l", ["password-login-mode"]),
        ("flask webhook trigger hook --event order-pai", ["ORDER_PAID"]),
        ("flask webhook list --fields na", ["name"]),
        ("flask webhook list --fields id,na", ["id,name"]),
        ("flask app show nothing", []),
        ("flask webhook show h\x00", []),
    ],
)
def test_names_and_ids_are_completed(furnished: Ports, line: str, values: list[str]) -> None:
    assert offered(furnished, line) == values


def test_name_of_several_is_completed_by_its_ids(ports: Ports) -> None:
    for _ in range(2):
        make_app(ports, "Warehouse")
    assert [(item.value, item.help) for item in completion_items(ports, "flask app show W")] == [
        ("1", "Warehouse"),
        ("2", "Warehouse"),
    ]


def test_people_are_shown_with_their_names(furnished: Ports) -> None:
    [ann] = completion_items(furnished, "flask user deactivate ann")
    assert (ann.value, ann.help) == ("ann@example.com", "Ann Lee")


def test_number_of_matches_is_bounded(ports: Ports) -> None:
    for number in range(MAX_ITEMS + 10):
        make_app(ports, f"app {number:02}")
        make_user(ports, f"person{number:02}@example.com")
    assert len(offered(ports, "flask app show app")) == MAX_ITEMS
    assert len(offered(ports, "flask user show person")) == MAX_ITEMS


def test_nothing_is_completed_for_another_instance(furnished: Ports) -> None:
    assert offered(furnished, "flask webhook list --url https://shop.example.com --app W") == []
    assert offered(furnished, "flask webhook list -u http://127.0.0.1:1 --event X") == []


def test_missing_database_is_not_created(
    tmp_path: Path, sqlite_url: str, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "instance" / "shop.sqlite3"
    missing = connect(Settings(database_url=f"sqlite:///{file}"))
    assert offered(missing, "flask app show W") == []
    assert capfd.readouterr() == ("", "")
    assert list(tmp_path.iterdir()) == []
    file.parent.mkdir()
    with (
        closing(sqlite3.connect(sqlite_url.removeprefix("sqlite:///"))) as whole,
        closing(sqlite3.connect(file)) as copy,
    ):
        whole.backup(copy)
    make_app(missing, "Warehouse")
    assert offered(missing, "flask app show W") == ["Warehouse"]
    missing.database.close()


@pytest.fixture
def silent_port() -> Iterator[int]:
    """A port that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.mark.first
def test_database_that_is_gone_or_hangs_completes_nothing(
    ports: Ports, silent_port: int, capfd: pytest.CaptureFixture[str]
) -> None:
    # A completion that waits for an answer never returns.
    for port in (1, silent_port):
        url = f"postgresql://nobody:secret@127.0.0.1:{port}/nowhere"
        lost = replace(ports, database=connect(Settings(database_url=url)).database)
        assert offered(lost, "flask app show W") == []
    assert capfd.readouterr() == ("", "")
