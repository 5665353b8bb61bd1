"""Every permission belongs to one area."""

from app.domain.authorization.permissions import AREAS, Permission


def test_every_permission_is_in_one_area() -> None:
    listed = [permission for area in AREAS.values() for permission in area]
    assert sorted(listed) == sorted(Permission)
