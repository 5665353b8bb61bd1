"""The demo shop for the browser tests: filled once a run, copied for each test."""

import shutil
import sqlite3
from pathlib import Path

from sqlalchemy import select, update

from app import models
from app.adapters.system import SystemClock
from app.domain.authorization.actor import OPERATOR
from app.ports import Ports
from app.services.demo.shop import fill_shop
from tests.builders.oauth import make_client
from tests.builders.people import PASSWORD
from tests.fixtures.ports import fake_ports
from tests.servers.run import once

STAFF = "support@example.com"


def demo_file(run_directory: Path, migrated: Path) -> Path:
    """The database of a demo shop in which everybody's password is the tests' own."""
    file = run_directory / "demo.sqlite3"

    def fill() -> str:
        shutil.copy(migrated, file)
        # The shop that runs on a copy makes other keys than those that this one stores.
        ports = fake_ports(f"sqlite:///{file}", SystemClock(), first_key=2)
        fill_shop(ports, OPERATOR, lambda _made: None)
        make_client(ports, "Glazebook")
        hashed = ports.passwords.hash(PASSWORD)
        with ports.database.transaction() as session:
            session.execute(update(models.User).values(password_hash=hashed))
        ports.database.close()
        with sqlite3.connect(file) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.close()
        return str(file)

    return Path(once(run_directory, "demo-shop", fill))


def customer_key(ports: Ports) -> int:
    """The key of a customer of that shop."""
    with ports.database.reading() as session:
        customers = select(models.User.id).where(models.User.is_staff.is_(False))
        return session.scalars(customers.limit(1)).one()
