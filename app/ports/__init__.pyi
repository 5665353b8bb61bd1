from .activity import Activity
from .clock import Clock
from .configuration import Configuration
from .database import Database
from .encryption import Sealing
from .http import Http
from .identity_provider import IdentityProvider
from .images import Pictures
from .keys import KeyStore, SignatureCheck
from .mail import Letters, Post
from .passwords import PasswordHasher
from .payloads import Payloads
from .ports import Ports
from .process_cache import Remembered
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
    "RateLimiter",
    "Remembered",
    "Schema",
    "Sealing",
    "SignatureCheck",
    "Throttle",
]
