"""Import people's avatars from the source's media folder."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session
from typing_extensions import override

from app.domain.accounts.users import AVATAR_NAME_LENGTH, AVATAR_SIZES, MAX_AVATAR_SIZE
from app.domain.imports.people import USERS
from app.domain.imports.runs import Converted, Finding, Outcome, Part
from app.models import AvatarRecord, UserRecord
from app.ports.images import InvalidImage
from app.ports.import_source import MediaFolder, TableRow, UnreadableFile
from app.services.imports.bulk import insert_rows
from app.services.imports.sections import Row, Run, Section, State
from app.services.imports.source_permissions import number
from app.services.imports.users import wanted_staff

_BATCH = 100
"""Avatars in one transaction: their pictures are in memory until then."""

_PURPOSE = "imported avatar"

Pictures = Mapping[int, bytes]


class Avatars(Section):
    """Avatars by their owner's ID; their names here are made from the file's, keyed and new."""

    part = Part.PEOPLE
    kind = "avatar"
    title = "Avatars"
    table = USERS
    required = ("id",)
    optional = ("avatar", "is_staff")
    removes_left_out = False

    def __init__(self) -> None:
        self._folder: MediaFolder | None = None

    @override
    def is_wanted(self, parts: Collection[Part]) -> bool:
        return Part.PEOPLE in parts or Part.STAFF in parts

    @override
    def prepare(self, run: Run) -> None:
        if run.options.media is not None:
            self._folder = run.ports.import_sources.open_media(run.options.media)
            return
        count = run.source.count_filled(USERS, "avatar")
        if count:
            template = "{count} people have avatars. Pass --media to import them."
            values = {"count": count}
            run.report(Finding(USERS, "", "AVATARS_SKIPPED", template, Outcome.LEFT_OUT, values))

    @override
    def batches(self, run: Run) -> Iterator[Sequence[TableRow]]:
        if self._folder is None:
            return
        wanted = wanted_staff(run)
        found: list[TableRow] = []
        for rows in super().batches(run):
            found += [row for row in rows if row.get("avatar") and bool(row["is_staff"]) in wanted]
            while len(found) >= _BATCH:
                yield found[:_BATCH]
                found = found[_BATCH:]
        if found:
            yield found

    @override
    def convert(self, run: Run, rows: Sequence[TableRow]) -> Iterable[Converted[Row]]:
        with run.ports.database.reading() as session:
            here = self.current(run, session, [number(row["id"]) for row in rows])
        for row in rows:
            key = number(row["id"])
            if run.is_left_out("user", key):
                yield Converted(None)
            else:
                yield self._convert(run, key, str(row["avatar"]), here.get(key, {}))

    @override
    def keys_at_source(self, run: Run, keys: Collection[int]) -> set[int]:
        if self._folder is None:
            return set(keys)
        rows = run.source.matching(USERS, ("avatar",), "id", keys)
        return {number(row["id"]) for row in rows if row.get("avatar")}

    @override
    def current(self, run: Run, session: Session, keys: Collection[int]) -> Mapping[int, State]:
        query = select(UserRecord.id, UserRecord.avatar).where(UserRecord.id.in_(keys))
        return {row.id: {"avatar": row.avatar} for row in session.execute(query)}

    @override
    def insert(self, run: Run, session: Session, rows: Sequence[Row]) -> None:
        _write(session, rows)

    @override
    def update(self, run: Run, session: Session, rows: Sequence[Row]) -> None:
        _write(session, rows)

    @override
    def remove(self, run: Run, session: Session, keys: Collection[int]) -> None:
        session.execute(delete(AvatarRecord).where(AvatarRecord.user_id.in_(keys)))
        session.execute(update(UserRecord).where(UserRecord.id.in_(keys)).values(avatar=""))

    @override
    def conflicts(self, run: Run, session: Session, rows: Sequence[Row]) -> Mapping[int, Finding]:
        """Return those whose owner has chosen an avatar here before the first import of it."""
        known = self.known_keys(run, session, [row.key for row in rows])
        here = self.current(run, session, [row.key for row in rows if row.key not in known])
        template = "An avatar was set here before. Ours was kept."
        return {
            key: Finding(USERS, key, "AVATAR_SET_HERE", template, Outcome.KEPT)
            for key, state in here.items()
            if state["avatar"]
        }

    def _convert(self, run: Run, key: int, path: str, here: State) -> Converted[Row]:
        if self._folder is None:
            return Converted(None)
        try:
            version = self._folder.version(path)
            text = f"{key}\n{path}\n{version}"
            name = run.ports.encryption.fingerprint(_PURPOSE, text)[:AVATAR_NAME_LENGTH]
            pictures: Pictures = {}
            if here.get("avatar") != name:
                data = self._folder.read(path, MAX_AVATAR_SIZE)
                pictures = run.ports.images.crop_squares(data, AVATAR_SIZES)
        except (UnreadableFile, InvalidImage) as error:
            template = "The avatar {path} can't be used: {reason}"
            values = {"path": path[:200], "reason": str(error)}
            finding = Finding(USERS, key, "AVATAR_UNUSABLE", template, Outcome.LEFT_OUT, values)
            return Converted(None, (finding,))
        return Converted(Row(key, {"avatar": name}, value=pictures))


def _write(session: Session, rows: Sequence[Row]) -> None:
    keys = [row.key for row in rows]
    session.execute(delete(AvatarRecord).where(AvatarRecord.user_id.in_(keys)))
    for row in rows:
        change = update(UserRecord).where(UserRecord.id == row.key)
        session.execute(change.values(avatar=row.state["avatar"]))
    insert_rows(
        session,
        AvatarRecord,
        [
            {"name": row.state["avatar"], "size": size, "user_id": row.key, "data": data}
            for row in rows
            if isinstance(row.value, Mapping)
            for size, data in row.value.items()
        ],
    )
