"""What may be asked of the outside: small Protocols, one file each, gathered in ``Ports``.

The file's name is the adapter's name and the fake's name.
"""

from app.ports.activity import Activity, SignInLog
from app.ports.clock import Clock
from app.ports.configuration import Configuration
from app.ports.database import Database, NamedRow, ReadSession, Replica, Snapshots, Subject
from app.ports.http import Http
from app.ports.identity_provider import IdentityProvider
from app.ports.images import Images
from app.ports.keys import Encryption, KeyStore, SignatureCheck
from app.ports.mail import EmailTemplates, Mailer, OwnTemplates
from app.ports.metrics import Metrics
from app.ports.passwords import PasswordHasher, PasswordStrength
from app.ports.payloads import Payloads
from app.ports.ports import Ports
from app.ports.private_files import PrivateFiles
from app.ports.process_cache import ProcessCache
from app.ports.queue import Queue
from app.ports.randomness import Randomness
from app.ports.schema import Schema
from app.ports.second_factors import AuthenticatorApps, Passkeys
from app.ports.security_log import SecurityLog
from app.ports.throttle import RateLimiter, Throttle
from app.ports.traces import Traces

__all__ = [
    "Activity",
    "AuthenticatorApps",
    "Clock",
    "Configuration",
    "Database",
    "EmailTemplates",
    "Encryption",
    "Http",
    "IdentityProvider",
    "Images",
    "KeyStore",
    "Mailer",
    "Metrics",
    "NamedRow",
    "OwnTemplates",
    "Passkeys",
    "PasswordHasher",
    "PasswordStrength",
    "Payloads",
    "Ports",
    "PrivateFiles",
    "ProcessCache",
    "Queue",
    "Randomness",
    "RateLimiter",
    "ReadSession",
    "Replica",
    "Schema",
    "SecurityLog",
    "SignInLog",
    "SignatureCheck",
    "Snapshots",
    "Subject",
    "Throttle",
    "Traces",
]
