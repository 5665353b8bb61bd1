"""Permissions as statements select them: one JSON text for a row, and how it is read."""

import json
from functools import lru_cache

from sqlalchemy import select

from app.domain.authorization.permissions import Permission, known
from app.models import AppPermissionRecord, AppRecord, GroupPermissionRecord, GroupRecord
from app.models.json_arrays import JsonArray, json_array_text
from app.services.authorization.declarations import part

APP_PERMISSIONS = (
    select(json_array_text(AppPermissionRecord.permission))
    .where(AppPermissionRecord.app_id == AppRecord.id)
    .scalar_subquery()
)
"""What the app of a row was granted."""

GROUP_PERMISSIONS = (
    select(json_array_text(GroupPermissionRecord.permission))
    .where(GroupPermissionRecord.group_id == GroupRecord.id)
    .scalar_subquery()
)
"""What the group of a row gives to its members."""

NESTED_GROUP_PERMISSIONS = (
    select(JsonArray(GroupPermissionRecord.permission))
    .where(GroupPermissionRecord.group_id == GroupRecord.id)
    .scalar_subquery()
)
"""The same as a part of other JSON."""


@part
def read_permissions(text: str) -> frozenset[Permission]:
    """Return the permissions in the JSON text of an array of their names."""
    return _read(text)


# Few combinations exist, and every request reads one or more of them.
@lru_cache(maxsize=1024)
def _read(text: str) -> frozenset[Permission]:
    return known(json.loads(text))
