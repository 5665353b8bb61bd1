"""``flask serve`` of a server that waits an hour for a body.

If others are answered beside slow clients, then not because a deadline ended those.
"""

from flask.cli import main

from app.web.bodies import DEADLINES

PATIENT_SERVER = "tests.hostile.patient_server"
"""This module."""

HOUR = 3600.0

if __name__ == "__main__":
    for name in ("whole", "silence"):
        object.__setattr__(DEADLINES, name, HOUR)
    main()
