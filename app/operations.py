"""What runs without console and API: the background worker, and the listener on OPERATIONS_PORT.

``flask worker`` and ``flask operations`` run it. The modules of console and API would take a tenth
of their memory.
"""

from dataclasses import replace
from threading import Event

from app import worker
from app.settings import load_settings, shared_metrics_folder
from app.web.logs import set_up_logs
from app.web.operations_server import serving_operations
from app.wiring import connect, make_metrics, make_traces


def run_worker(stop: Event) -> None:
    """Do the background work of the installation that the environment describes."""
    settings = load_settings()
    set_up_logs(level=settings.log_level, development=settings.development)
    ports = connect(settings, metrics=make_metrics(settings), traces=make_traces())
    if not settings.operations_port or shared_metrics_folder():
        worker.run(ports, stop)
        return
    with serving_operations(ports, settings.operations_host, settings.operations_port):
        worker.run(ports, stop)


def run_operations(stop: Event) -> None:
    """Serve health and metrics of the installation that the environment describes."""
    settings = load_settings()
    set_up_logs(level=settings.log_level, development=settings.development)
    ports = replace(connect(settings), metrics=make_metrics(settings))
    with serving_operations(ports, settings.operations_host, settings.operations_port):
        stop.wait()
