"""What may be asked of the outside: small Protocols, one file each, gathered in ``Ports``.

The file's name is the adapter's name and the fake's name. Each is loaded when it is first asked
for: a command need not wait for those that it does not use. Their names stand in ``__init__.pyi``.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
