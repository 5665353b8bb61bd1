from .activity import Activity
from .clock import Clock
from .configuration import Configuration
from .database import Database, NamedRow
from .encryption import Encryption
from .http import Http
from .identity_provider import IdentityProvider
from .images import Images
from .keys import KeyStore, SignatureCheck
from .mail import EmailTemplates, Mailer
from .passwords import PasswordHasher
from .payloads import Payloads
from .ports import Ports
from .process_cache import ProcessCache
from .queue import Queue
from .randomness import Randomness
from .rate_limiter import RateLimiter
from .schema import Schema
from .throttle import Throttle

__all__ = [
    "Activity",
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
    "NamedRow",
    "PasswordHasher",
    "Payloads",
    "Ports",
    "ProcessCache",
    "Queue",
    "Randomness",
    "RateLimiter",
    "Schema",
    "SignatureCheck",
    "Throttle",
]
