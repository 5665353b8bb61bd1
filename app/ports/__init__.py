"""What may be asked of the outside: small Protocols, one file each, gathered in ``Ports``.

The file's name is the adapter's name and the fake's name.
"""

from dataclasses import dataclass

from app.ports.activity import Activity
from app.ports.clock import Clock
from app.ports.configuration import Configuration
from app.ports.database import Database
from app.ports.http import Http
from app.ports.identity_provider import IdentityProvider
from app.ports.keys import KeyStore, SignatureCheck
from app.ports.mail import Letters, Post
from app.ports.passwords import PasswordHasher
from app.ports.payloads import Payloads
from app.ports.pictures import Pictures
from app.ports.queue import Queue
from app.ports.randomness import Randomness
from app.ports.remembered import Remembered
from app.ports.schema import Schema
from app.ports.sealing import Sealing
from app.ports.throttle import Throttle

__all__ = [
    "Activity",
    "Clock",
    "Configuration",
    "Database",
    "Http",
    "IdentityProvider",
    "KeyStore",
    "Letters",
    "PasswordHasher",
    "Payloads",
    "Pictures",
    "Ports",
    "Post",
    "Queue",
    "Randomness",
    "Remembered",
    "Schema",
    "Sealing",
    "SignatureCheck",
    "Throttle",
]


@dataclass(frozen=True, slots=True)
class Ports:
    """Everything a use case may reach beside its input."""

    configuration: Configuration
    clock: Clock
    randomness: Randomness
    database: Database
    keys: KeyStore
    signatures: SignatureCheck
    passwords: PasswordHasher
    throttle: Throttle
    sealing: Sealing
    letters: Letters
    post: Post
    http: Http
    payloads: Payloads
    pictures: Pictures
    queue: Queue
    identity_provider: IdentityProvider
    schema: Schema
    activity: Activity
    remembered: Remembered
