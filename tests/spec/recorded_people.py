"""The people, groups and apps of the installation that the exchanges were recorded against."""

from dataclasses import dataclass

from app.domain.authorization.permissions import Permission

GROUPS = {
    "Full Access": tuple(Permission),
    "Peer managers": (
        Permission.MANAGE_APPS,
        Permission.MANAGE_PRODUCTS,
        Permission.MANAGE_SETTINGS,
    ),
}


@dataclass(frozen=True, slots=True)
class Person:
    """The user ``NAME@example.com``."""

    first_name: str
    last_name: str
    groups: tuple[str, ...] = ()
    is_staff: bool = False
    is_superuser: bool = False
    is_active: bool = True
    has_password: bool = True


PEOPLE = {
    "staff": Person("Super", "Staff", ("Full Access",), is_staff=True, is_superuser=True),
    "manager": Person("Mana", "Ger", ("Peer managers",), is_staff=True),
    "noperm": Person("No", "Perm", is_staff=True),
    "customer": Person("Cus", "Tomer"),
    "customer2": Person("Cus", "Tomertoo"),
    "inactive": Person("In", "Active", is_active=False),
    "reset": Person("Re", "Set"),
    "throttle": Person("Thro", "Ttle"),
    "sso": Person("S", "So", has_password=False),
}
APPS = {
    "PRODUCTS": (Permission.MANAGE_PRODUCTS,),
    "NOPERM": (),
    "APPS": (Permission.MANAGE_APPS,),
    "SETTINGS": (Permission.MANAGE_SETTINGS,),
    "INACTIVE": (Permission.MANAGE_PRODUCTS,),
}
