"""Customers, staff and permission groups, as those manage them who may."""

from dataclasses import dataclass

from app.domain.authorization.permissions import Permission
from app.domain.events.event import Deletion, Event, EventType, LinkRequested

_USER = "user { id email firstName lastName isActive isConfirmed }"
_GROUP = "permissionGroup { id name }"


@dataclass(frozen=True, slots=True)
class CustomerCreated(Event):
    type = EventType.CUSTOMER_CREATED
    subject = "User"
    of_staff = False
    permission = Permission.MANAGE_USERS
    description = "A customer account is created."
    selection = _USER


@dataclass(frozen=True, slots=True)
class CustomerUpdated(Event):
    type = EventType.CUSTOMER_UPDATED
    subject = "User"
    of_staff = False
    permission = Permission.MANAGE_USERS
    description = "A customer's details change."
    selection = _USER


@dataclass(frozen=True, slots=True)
class CustomerDeleted(Deletion):
    type = EventType.CUSTOMER_DELETED
    subject = "User"
    of_staff = False
    permission = Permission.MANAGE_USERS
    description = "A customer account is deleted."
    selection = _USER


@dataclass(frozen=True, slots=True)
class StaffCreated(Event):
    type = EventType.STAFF_CREATED
    subject = "User"
    of_staff = True
    permission = Permission.MANAGE_STAFF
    description = "A staff member is added."
    selection = _USER


@dataclass(frozen=True, slots=True)
class StaffUpdated(Event):
    type = EventType.STAFF_UPDATED
    subject = "User"
    of_staff = True
    permission = Permission.MANAGE_STAFF
    description = "A staff member's details change."
    selection = _USER


@dataclass(frozen=True, slots=True)
class StaffDeleted(Deletion):
    type = EventType.STAFF_DELETED
    subject = "User"
    of_staff = True
    permission = Permission.MANAGE_STAFF
    description = "A staff member is removed."
    selection = _USER


@dataclass(frozen=True, slots=True)
class StaffSetPasswordRequested(LinkRequested):
    type = EventType.STAFF_SET_PASSWORD_REQUESTED
    subject = "User"
    of_staff = True
    permission = Permission.MANAGE_STAFF
    description = "A staff member is sent a link to set a password."
    selection = f"{_USER} token redirectUrl"


@dataclass(frozen=True, slots=True)
class PermissionGroupCreated(Event):
    type = EventType.PERMISSION_GROUP_CREATED
    subject = "Group"
    permission = Permission.MANAGE_STAFF
    description = "A permission group is created."
    selection = _GROUP


@dataclass(frozen=True, slots=True)
class PermissionGroupUpdated(Event):
    type = EventType.PERMISSION_GROUP_UPDATED
    subject = "Group"
    permission = Permission.MANAGE_STAFF
    description = "A permission group's name, permissions or members change."
    selection = _GROUP


@dataclass(frozen=True, slots=True)
class PermissionGroupDeleted(Deletion):
    type = EventType.PERMISSION_GROUP_DELETED
    subject = "Group"
    permission = Permission.MANAGE_STAFF
    description = "A permission group is deleted."
    selection = _GROUP
