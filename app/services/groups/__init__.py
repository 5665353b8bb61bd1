"""Permission groups, their members, and who holds or can grant a permission.

Use cases: ``lists`` and ``changes``. ``permission_holders`` guards that no permission is left
without anyone to manage it.
"""
