"""Latchkey, the front door of a commerce platform.

The layers, top to bottom; each may use those below it and none above it or next to it:

- ``factory``   builds the Flask application out of ports and settings; ``operations`` runs the
  worker and the listener for health and metrics
- ``wiring``    the one place that chooses which adapter stands behind each port
- ``settings``  the only reader of the environment; ``setting_values`` says what its texts mean
- edges         ``graphql``, ``console``, ``endpoints``, ``forward_auth``, ``remote``,
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
    "create_app": "app.factory",
    "create_server": "app.factory",
    "run_worker": "app.operations",
    "run_operations": "app.operations",
    "connect_installation": "app.wiring",
    "connect_remote_access": "app.wiring",
    "choose_installation": "app.settings",
    "prepare_trial": "app.settings",
    "leave_settings_to_files": "app.settings",
    "load_application_from": "app.settings",
    "load_settings": "app.settings",
    "log_wrong_settings": "app.web.logs",
    "service_manager": "app.settings",
    "unexpected_settings_files": "app.settings",
}


def __getattr__(name: str) -> Any:
    """Import what builds the whole when it is asked for: the rules alone need none of it."""
    if name in _MODULES:
        return getattr(import_module(_MODULES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
