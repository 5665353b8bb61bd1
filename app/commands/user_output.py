"""People on the command line: how they are shown."""

from app.commands.terminal.output import Column
from app.domain.accounts.users import User

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
