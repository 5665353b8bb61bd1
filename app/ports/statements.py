"""SQLAlchemy's types that the database port speaks of.

In a module of their own, so that whoever only names them need not load that library.
"""

from sqlalchemy import Select
from sqlalchemy.orm import Session

__all__ = ["Select", "Session"]
