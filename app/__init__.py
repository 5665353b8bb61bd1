"""Latchkey, the front door of a commerce platform.

The layers, top to bottom; each may use those below it and none above it or next to it:

- ``composition``  what a process is made of: the Flask application, the adapters behind the
  ports, the settings
- edges         ``graphql``, ``console``, ``hosted``, ``endpoints``, ``oauth``, ``remote``,
  ``worker``, ``commands``: read the input, call one use case, show
  the result; and ``adapters``: the outside world
- ``web``       what the HTTP edges share: who calls, from where, and the headers of an answer
- ``services``  the use cases, one function each: ``(ports, actor, input) -> value``
- ``models``    the records (SQLAlchemy), next to ``ports``, what may be asked of the outside
- ``domain``    the rules: plain values and pure functions

``lint-imports`` holds them to it. ARCHITECTURE.md walks one request through them.
"""

from importlib import import_module
from typing import Any

_MODULES = {
    "create_app": "app.composition.factory",
    "create_server": "app.composition.factory",
    "run_worker": "app.composition.operations",
    "run_operations": "app.composition.operations",
    "connect_installation": "app.composition.wiring",
    "connect_remote_access": "app.composition.wiring",
    "choose_installation": "app.composition.settings",
    "prepare_trial": "app.composition.settings",
    "leave_settings_to_files": "app.composition.settings",
    "load_application_from": "app.composition.settings",
    "load_settings": "app.composition.settings",
    "log_wrong_settings": "app.web.logs",
    "service_manager": "app.composition.settings",
    "unexpected_settings_files": "app.composition.settings",
}


def __getattr__(name: str) -> Any:
    """Import what builds the whole when it is asked for: the rules alone need none of it."""
    if name in _MODULES:
        return getattr(import_module(_MODULES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
