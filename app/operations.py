"""The listener on OPERATIONS_PORT alone, without console and API: ``flask operations``."""

from dataclasses import replace
from threading import Event

from app.settings import load_settings
from app.web.logs import set_up_logs
from app.web.operations_server import serving_operations
from app.wiring import connect, make_metrics


def run_operations(stop: Event) -> None:
    """Serve health and metrics of the installation that the environment describes."""
    settings = load_settings()
    set_up_logs(level=settings.log_level, development=settings.development)
    ports = replace(connect(settings), metrics=make_metrics(settings))
    with serving_operations(ports, settings.operations_host, settings.operations_port):
        stop.wait()
