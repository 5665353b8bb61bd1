"""A program ``flask`` for shells of the tests, which starts as quickly as a forked command."""

import os
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.servers.forked_commands import receive_request, send_request

_PROGRAM = """\
#!{python} -IS
import _signal as signal, _socket as socket, array, marshal, os, sys

reports, report = os.pipe()
umask = os.umask(0)
os.umask(umask)
request = marshal.dumps(("flask", sys.argv[1:], os.getcwd(), dict(os.environ), umask))
door = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
door.connect({door!r})
files = array.array("i", [0, 1, 2, report])
door.sendmsg([request], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, files)])
door.close()
os.close(report)
with os.fdopen(reports) as answers:
    pid = int(answers.readline())
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, frame: os.kill(pid, number))
    code = int(answers.readline())
sys.exit(code if code >= 0 else 128 - code)
"""


@contextmanager
def flask_program(folder: Path) -> Iterator[Path]:
    """Put ``flask`` into a new folder below ``folder``, which is to be in ``PATH``."""
    programs = folder / "bin"
    programs.mkdir()
    door = folder / "flask.socket"
    program = programs / "flask"
    program.write_text(_PROGRAM.format(python=sys.executable, door=str(door)))
    program.chmod(0o700)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(str(door))
        listener.listen()
        forwarding = threading.Thread(target=_forward, args=[listener])
        forwarding.start()
        try:
            yield programs
        finally:
            listener.shutdown(socket.SHUT_RDWR)  # which ends a waiting accept()
            forwarding.join(180)


def _forward(listener: socket.socket) -> None:
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        with connection:
            request, files = receive_request(connection)
        if request:
            send_request(request, files)
        for file in files:
            os.close(file)
