"""The rows of a SQLite file, put back after each change."""

import sqlite3

_CHANGES = ("INSERT", "UPDATE", "DELETE")


class KeptRows:
    """What tables contain, and which of them were changed meanwhile: triggers note it.

    Most changes are of two or three tables. Reading all of them takes longer than the change.
    """

    def __init__(self, file: sqlite3.Connection) -> None:
        self._file = file
        self._rows: dict[str, list[tuple[object, ...]]] = {}
        tables = file.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
        ).fetchall()
        file.execute("CREATE TABLE changed_tables (name TEXT NOT NULL)")
        for (name,) in tables:
            self._rows[name] = self._found(name)
            for change in _CHANGES:
                note = f"INSERT INTO changed_tables VALUES ('{name}')"  # noqa: S608
                when = f'AFTER {change} ON "{name}"'
                file.execute(f'CREATE TRIGGER "{name}_{change}" {when} BEGIN {note}; END')
        self._numbers = self._found("sqlite_sequence")

    def keep(self) -> None:
        """Keep what the tables contain now."""
        for name in self._changed():
            self._rows[name] = self._found(name)
        self._numbers = self._found("sqlite_sequence")
        self._file.execute("DELETE FROM changed_tables")

    def have_changed(self) -> bool:
        """Return whether any row is another one, whatever numbers were used meanwhile."""
        return any(self._found(name) != self._rows[name] for name in self._changed())

    def put_back(self) -> None:
        """Give the changed tables their rows again."""
        self._file.execute("PRAGMA foreign_keys=OFF")
        self._file.execute("BEGIN IMMEDIATE")
        for name in self._changed():
            self._fill(name, self._rows[name])
        if self._found("sqlite_sequence") != self._numbers:
            self._fill("sqlite_sequence", self._numbers)
        self._file.execute("DELETE FROM changed_tables")
        self._file.execute("COMMIT")
        self._file.execute("PRAGMA foreign_keys=ON")

    def _changed(self) -> list[str]:
        found = self._file.execute("SELECT DISTINCT name FROM changed_tables")
        return [name for (name,) in found]

    def _found(self, table: str) -> list[tuple[object, ...]]:
        return self._file.execute(f'SELECT * FROM "{table}"').fetchall()  # noqa: S608

    def _fill(self, table: str, rows: list[tuple[object, ...]]) -> None:
        self._file.execute(f'DELETE FROM "{table}"')  # noqa: S608
        if rows:
            values = ", ".join("?" * len(rows[0]))
            self._file.executemany(f'INSERT INTO "{table}" VALUES ({values})', rows)  # noqa: S608
