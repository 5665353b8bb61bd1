"""The part of the guide to permissions that is printed: what each permission allows."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from app.domain.authorization.permissions import AREAS, Permission
from docs.api_subjects import SUBJECTS
from docs.parts import table, with_printed_parts
from tests.graphql.matrix.mutations import EVENT_HOLDERS, MUTATIONS
from tests.graphql.matrix.queries import FIELDS, QUERIES
from tests.graphql.matrix.rules import Row

PAGE = Path(__file__).parent / "guides" / "permissions.md"
_HOMES = {name: page for page, subject in SUBJECTS.items() for name in subject.operations}


def printed_permissions() -> str:
    """The page with what each permission allows, as the permission tests call it."""
    unused = (f"`{one}`" for one in Permission if not _allowed(one))
    text = (
        f"{table(('area', 'permission', 'allows'), _rows())}\n"
        "These are part of the platform's interface, so that apps and clients can name them. Here "
        f"no operation needs them: {', '.join(unused)}."
    )
    return with_printed_parts(PAGE, {"permissions": f"{text}\n"})


def _rows() -> Iterator[tuple[str, str, str]]:
    for area, permissions in AREAS.items():
        for permission in permissions:
            allowed = _allowed(permission)
            if allowed:
                yield area, f"`{permission}`", ", ".join(allowed)


def _allowed(permission: Permission) -> list[str]:
    """Return links to the operations that ``permission`` allows, then the fields of types."""
    called = _named({**QUERIES, **MUTATIONS}, permission)
    links = [
        f"[`{name}`](../reference/graphql/{page}.md#{name.lower()})"
        for name, page in _HOMES.items()
        if name in called
    ]
    return [*links, *(f"`{name}`" for name in _named(FIELDS, permission))]


def _named(rows: Mapping[str, Row], permission: Permission) -> dict[str, None]:
    # What a sample event needs says nothing about other events.
    return dict.fromkeys(
        name.split()[0]
        for name, row in rows.items()
        if permission in row.permissions and row.rule is not EVENT_HOLDERS
    )
