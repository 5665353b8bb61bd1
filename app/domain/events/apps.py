"""Apps, as those manage them who may."""

from dataclasses import dataclass

from app.domain.authorization.permissions import Permission
from app.domain.events.event import Deletion, Event, EventType

_APP = "app { id name type isActive }"


@dataclass(frozen=True, slots=True)
class AppInstalled(Event):
    type = EventType.APP_INSTALLED
    subject = "App"
    permission = Permission.MANAGE_APPS
    description = "An app is created or installed."
    selection = _APP


@dataclass(frozen=True, slots=True)
class AppUpdated(Event):
    type = EventType.APP_UPDATED
    subject = "App"
    permission = Permission.MANAGE_APPS
    description = "An app's name or permissions change."
    selection = _APP


@dataclass(frozen=True, slots=True)
class AppDeleted(Deletion):
    type = EventType.APP_DELETED
    subject = "App"
    permission = Permission.MANAGE_APPS
    description = "An app is deleted."
    selection = _APP


@dataclass(frozen=True, slots=True)
class AppStatusChanged(Event):
    type = EventType.APP_STATUS_CHANGED
    subject = "App"
    permission = Permission.MANAGE_APPS
    description = "An app is activated or deactivated."
    selection = _APP
