"""The records: SQLAlchemy 2 declarative, one file a noun; services and adapters alone use them.

Nothing loads lazily (``lazy="raise"``): a use case names what it reads. Each record is mapped when
it is first asked for, which takes a hundredth of a second for all and which a command that reads
two of them need not wait for; ``whole`` knows them all. Their names stand in ``__init__.pyi``.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
