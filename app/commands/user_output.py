"""People on the command line: how they are shown."""

from app.commands.terminal.output import Column, Displayable
from app.domain.accounts.users import User
from app.services.people.user_sessions import Person

COLUMNS = (
    Column[User]("id", "ID", lambda user: user.id),
    Column[User]("email", "Email", lambda user: user.email, short=True),
    Column[User]("firstName", "First name", lambda user: user.first_name),
    Column[User]("lastName", "Last name", lambda user: user.last_name),
    Column[User]("isStaff", "Staff", lambda user: user.is_staff),
    Column[User]("isSuperuser", "Superuser", lambda user: user.is_superuser),
    Column[User]("isActive", "Active", lambda user: user.is_active),
    Column[User]("groups", "Groups", lambda user: [group.name for group in user.groups]),
    Column[User]("lastLogin", "Last login", lambda user: user.last_login),
)
ALL_COLUMNS = (
    *COLUMNS,
    Column[User]("permissions", "Permissions", lambda user: sorted(user.permissions)),
    Column[User]("dateJoined", "Joined", lambda user: user.date_joined),
)


def _column_of_person(column: Column[User]) -> Column[Person]:
    return Column[Person](
        column.name, column.title, lambda person: column.read(person.user), column.short
    )


def _origin(person: Person, name: str) -> Displayable:
    return None if person.origin is None else getattr(person.origin, name)


PERSON_COLUMNS = (
    *map(_column_of_person, ALL_COLUMNS),
    Column[Person](
        "directPermissions", "Direct permissions", lambda person: sorted(person.direct_permissions)
    ),
    Column[Person](
        "secondFactors",
        "Second factors",
        lambda person: [kind.value for kind in person.factors.types],
    ),
    Column[Person]("importedFrom", "Imported from", lambda person: _origin(person, "source")),
    Column[Person]("importedAt", "Imported", lambda person: _origin(person, "imported_at")),
    Column[Person](
        "importedPassword", "Imported password", lambda person: _origin(person, "password")
    ),
    Column[Person](
        "passwordReplacedAt", "Password replaced", lambda person: _origin(person, "replaced_at")
    ),
)
"""The columns of one person, with where an imported account came from."""
