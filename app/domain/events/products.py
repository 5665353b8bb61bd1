"""Product events."""

from dataclasses import dataclass

from app.domain.authorization.permissions import Permission
from app.domain.events.event import Deletion, Event, EventType

_PRODUCT = "product { id name slug isPublished price { amount currency } created updatedAt }"


@dataclass(frozen=True, slots=True)
class ProductCreated(Event):
    type = EventType.PRODUCT_CREATED
    subject = "Product"
    permission = Permission.MANAGE_PRODUCTS
    description = "A product is added."
    selection = _PRODUCT


@dataclass(frozen=True, slots=True)
class ProductUpdated(Event):
    type = EventType.PRODUCT_UPDATED
    subject = "Product"
    permission = Permission.MANAGE_PRODUCTS
    description = "A product changes, or is published or unpublished."
    selection = _PRODUCT


@dataclass(frozen=True, slots=True)
class ProductDeleted(Deletion):
    type = EventType.PRODUCT_DELETED
    subject = "Product"
    permission = Permission.MANAGE_PRODUCTS
    description = "A product is deleted."
    selection = _PRODUCT
