"""Files that are made to break what reads them: every one is imported or refused in a sentence."""

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial, reduce
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.domain.authorization.actor import OPERATOR
from app.domain.imports.runs import Finding
from app.domain.imports.user_files import COLUMNS, FileRow, read_people
from app.domain.values.errors import Refused
from app.ports import Ports
from app.services.imports.export_reading import ExportFileOptions, import_export
from app.services.imports.exports import export_installation
from app.services.imports.user_files import UserFileOptions, import_users
from tests.fakes.clock import FakeClock
from tests.fixtures.engines import close_sqlite_connections
from tests.fixtures.ports import fake_ports
from tests.imports.sample_installation import fill_sample

pytestmark = pytest.mark.first

NOW = datetime(2026, 3, 1, tzinfo=UTC)
NAMES = [*COLUMNS, "enabled", "emailVerified", "banned_until", "status", "requiredActions", ""]
TEXTS = st.text(max_size=12) | st.sampled_from(
    [
        *("ann@example.com", "9999-12-31T23:59", "0001-01-01", "1e999", "\0", "\ud800", '"'),
        *("a\r\nb", "true", "-1", "99999999999999999999", "{", "[]", "null", "x" * 400),
    ]
)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([2**31, 2**63, -(2**63) - 1, 10**400])
    | st.floats()
    | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
ROWS = st.lists(st.dictionaries(st.sampled_from(NAMES) | TEXTS, JSON, max_size=6), max_size=4)
CELLS = st.lists(st.lists(TEXTS, max_size=5), max_size=5)
PIECES = st.lists(
    st.sampled_from(
        [
            *("email", "enabled", "a@b.example", "sep=;", '{"email": "a@b.example"}', "true", " "),
            *(",", ";", '"', "\n", "\r", "\t", "\ufeff", "\0", "{", "}", ":", "[", "é", "\u2028"),
        ]
    ),
    max_size=40,
).map("".join)


def ignore(*_: object) -> None:
    """Take what a run reports."""


def utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def as_lines(rows: Iterable[object]) -> bytes:
    return "".join(f"{json.dumps(row)}\n" for row in rows).encode()


def as_csv(rows: list[list[str]]) -> bytes:
    return utf8("".join(",".join(row) + "\n" for row in [["email", "enabled", "note"], *rows]))


FILES = st.binary(max_size=200) | PIECES.map(utf8) | ROWS.map(as_lines) | CELLS.map(as_csv)


def read(data: bytes) -> list[FileRow] | None:
    try:
        return [*read_people("file", [data], NOW)]
    except Refused:
        return None


@given(FILES)
def test_any_file_of_people_is_read_or_refused(data: bytes) -> None:
    read(data)


@given(
    st.lists(
        st.tuples(st.sampled_from(["a", "b c", '"quoted"', '"a, b"', ""]), st.booleans()),
        min_size=1,
        max_size=6,
    )
)
def test_every_line_of_csv_is_a_row_or_a_finding(rows: list[tuple[str, bool]]) -> None:
    lines = ["email,first_name,enabled"]
    lines += [f"p{place}@example.com,{name},{on}" for place, (name, on) in enumerate(rows)]
    found = read("\n".join(lines).encode())
    assert found is not None
    assert [row.line for row in found if row.is_row] == [*range(2, len(rows) + 2)]


@given(FILES)
@settings(suppress_health_check=[HealthCheck.too_slow])
def _import_people(ports: Ports, data: bytes) -> None:
    options = UserFileOptions("people", with_staff=True)
    with suppress(Refused):
        import_users(ports, OPERATOR, lambda: [data], options, ignore, ignore)


def test_any_file_of_people_is_imported_or_refused(ports: Ports) -> None:
    _import_people(ports)


@dataclass(frozen=True, slots=True)
class _Change:
    """What is done to a line of an export; ``name`` is picked from its fields."""

    line: int
    name: int
    value: object

    def apply(self, lines: Sequence[bytes]) -> list[bytes]:
        changed = [*lines]
        place = self.line % len(lines)
        fields = json.loads(lines[place])
        fields[[*fields][self.name % len(fields)]] = self.value
        changed[place] = json.dumps(fields).encode() + b"\n"
        return changed


CHANGES = st.builds(_Change, st.integers(0, 99), st.integers(0, 99), JSON)


@pytest.fixture(scope="module")
def empty(_migrated_file: Path) -> bytes:
    """The file of an installation without rows."""
    return _migrated_file.read_bytes()


@pytest.fixture(scope="module")
def exported(empty: bytes, tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, ...]:
    """An export of another installation."""
    file = tmp_path_factory.mktemp("there") / "there.sqlite3"
    file.write_bytes(empty)
    there = fake_ports(f"sqlite:///{file}", FakeClock())
    fill_sample(there)
    lines = [line.encode() for line in export_installation(there, OPERATOR, with_secrets=True)]
    there.database.close()
    return tuple(lines)


def test_any_change_of_an_export_is_imported_or_refused(
    exported: tuple[bytes, ...], empty: bytes, clock: FakeClock, tmp_path: Path
) -> None:
    # Always the same, so that its engine keeps the statements that it has compiled.
    file = tmp_path / "here.sqlite3"

    @given(st.lists(CHANGES, max_size=3))
    @settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
    def every_change(changes: list[_Change]) -> None:
        lines = reduce(lambda changed, change: change.apply(changed), changes, [*exported])
        file.write_bytes(empty)
        there = fake_ports(f"sqlite:///{file}", clock)
        options = ExportFileOptions("shop.jsonl")
        try:
            with suppress(*([Refused] if changes else [])):
                import_export(there, OPERATOR, lambda: lines, options, ignore, ignore)
        finally:
            there.database.close()
            close_sqlite_connections()

    every_change()


UNSTORABLE: list[dict[tuple[str, str], object]] = [
    {
        ("user", "id"): 2**63,
        ("settings", "second_factor_grace_days"): 2**31,
        ("webhook", "custom_headers"): [],
    },
    {("user", "id"): -1, ("settings", "storefront_opens_at"): "9999-12-31T23:59:00+00:00"},
    {("user", "id"): True},
    {("user", "date_joined"): "9999-12-31T23:59:59+00:00"},
    {("user", "date_joined"): "0001-01-01T00:00:00"},
    {("avatar", "size"): 2**40, ("group_member", "user_id"): 2**70},
]
"""What is changed in an export: a field of a kind of lines that don't need each other."""


def test_number_or_date_that_can_not_be_stored_is_no_fault(
    exported: tuple[bytes, ...], ports: Ports
) -> None:
    options = ExportFileOptions("shop.jsonl", dry_run=True)
    for changes in UNSTORABLE:
        lines = []
        for text in exported:
            fields = json.loads(text)
            for (line, field), value in changes.items():
                if fields["type"] == line:
                    fields[field] = value
            lines.append(json.dumps(fields).encode())
        found: list[Finding] = []

        import_export(ports, OPERATOR, partial(list, lines), options, found.append, ignore)

        invalid = {str(each.key).split()[-1] for each in found if each.code == "VALUE_INVALID"}
        assert invalid >= {f"({line})" for line, _ in changes}, changes
