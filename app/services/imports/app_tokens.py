"""Import the tokens of the platform's apps."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from sqlalchemy import delete, select
from sqlalchemy.orm import Session
from typing_extensions import override

from app.domain.imports.apps import TOKENS, convert_token
from app.domain.imports.runs import Converted, Part
from app.domain.passwords.imported_hashes import ImportedPasswordState, classify
from app.models import AppTokenRecord
from app.ports.import_source import TableRow
from app.services.imports.app_references import SourceApps, find_source_apps
from app.services.imports.bulk import insert_rows
from app.services.imports.row_updates import update_rows
from app.services.imports.sections import Row, Run, Section, State
from app.services.imports.source_permissions import number

_MAX_HASH_LENGTH = 255
_VERIFIABLE = (ImportedPasswordState.IMPORTED, ImportedPasswordState.REPLACED)


class AppTokens(Section):
    """Tokens by their password hashes; the first use of one here replaces its hash.

    The source doesn't know when a token was created, so it counts as created when it is imported.
    """

    part = Part.APPS
    kind = "app_token"
    title = "App tokens"
    table = TOKENS
    required = ("app_id", "auth_token", "token_last_4")
    optional = ("name",)
    record = AppTokenRecord

    def __init__(self) -> None:
        self._apps = SourceApps()

    @override
    def prepare(self, run: Run) -> None:
        self._apps = find_source_apps(run)

    @override
    def convert(self, run: Run, rows: Sequence[TableRow]) -> Iterable[Converted[Row]]:
        for row in rows:
            if not self._apps.has(run, number(row["app_id"])):
                yield self._apps.left_out(TOKENS, row)
                continue
            converted = convert_token(row, _is_verifiable)
            token = converted.value
            if token is None:
                yield Converted(None, converted.findings)
                continue
            state = {"app_id": token.app_id, "name": token.name, "last_four": token.last_four}
            extra = {"imported_hash": token.imported_hash}
            yield Converted(Row(token.id, state, extra), converted.findings)

    @override
    def current(self, run: Run, session: Session, keys: Collection[int]) -> Mapping[int, State]:
        """Return tokens as they are here; that one was used doesn't count as a change."""
        columns = (AppTokenRecord.app_id, AppTokenRecord.name, AppTokenRecord.last_four)
        query = select(AppTokenRecord.id, *columns).where(AppTokenRecord.id.in_(keys))
        return {
            row.id: {"app_id": row.app_id, "name": row.name, "last_four": row.last_four}
            for row in session.execute(query)
            if self._apps.has(run, row.app_id)
        }

    @override
    def insert(self, run: Run, session: Session, rows: Sequence[Row]) -> None:
        now = run.ports.clock.now()
        values = [
            {
                "id": row.key,
                "digest": f"imported-{row.key}",
                "created_at": now,
                **row.state,
                **row.extra,
            }
            for row in rows
        ]
        insert_rows(session, AppTokenRecord, values)

    @override
    def update(self, run: Run, session: Session, rows: Sequence[Row]) -> None:
        """Write names; a token keeps its hash, or the SHA-256 that replaced it."""
        names: dict[int, State] = {row.key: {"name": row.state["name"]} for row in rows}
        update_rows(session, AppTokenRecord, names)

    @override
    def remove(self, run: Run, session: Session, keys: Collection[int]) -> None:
        """Revoke tokens."""
        session.execute(delete(AppTokenRecord).where(AppTokenRecord.id.in_(keys)))


def _is_verifiable(encoded: str) -> bool:
    return len(encoded) <= _MAX_HASH_LENGTH and classify(encoded).state in _VERIFIABLE
