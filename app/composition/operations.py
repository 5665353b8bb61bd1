"""What runs without console and API: the background worker, and the listener on OPERATIONS_PORT.

``flask worker`` and ``flask operations`` run it. The modules of console and API would take a tenth
of their memory.
"""

from collections.abc import Callable
from dataclasses import replace
from threading import Event

from app.composition.settings import load_settings
from app.composition.wiring import connect, make_metrics, make_traces
from app.web.logs import set_up_logs
from app.web.operations_server import offering_operations, serve_operations
from app.worker.tasks import run_tasks


def run_worker(
    stop: Event, *, serves_operations: bool, each_tick: Callable[[], None] | None = None
) -> None:
    """Do the background work of the installation that the environment describes.

    ``serves_operations`` is whether no other process of this start serves health and metrics.
    ``each_tick`` is called twice a second while the work goes on.
    """
    settings = load_settings()
    set_up_logs(level=settings.log_level, development=settings.development)
    ports = connect(settings, metrics=make_metrics(settings), traces=make_traces())
    if not settings.operations_port or not serves_operations:
        run_tasks(ports, stop, each_tick=each_tick)
        return
    with offering_operations(ports, settings.operations_host, settings.operations_port):
        run_tasks(ports, stop, each_tick=each_tick)


def run_operations(
    stop: Event, *, port_is_required: bool, each_tick: Callable[[], None] = lambda: None
) -> None:
    """Serve health and metrics of the installation that the environment describes.

    Raises ``PortUnavailable`` if the port is required and another program has it.
    """
    settings = load_settings()
    set_up_logs(level=settings.log_level, development=settings.development)
    ports = replace(connect(settings), metrics=make_metrics(settings))
    serve_operations(
        ports,
        settings.operations_host,
        settings.operations_port,
        stop,
        port_is_required=port_is_required,
        each_tick=each_tick,
    )
