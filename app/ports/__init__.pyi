from .activity import Activity
from .clock import Clock
from .configuration import Configuration
from .database import Database
from .http import Http
from .identity_provider import IdentityProvider
from .keys import KeyStore, SignatureCheck
from .mail import Letters, Post
from .passwords import PasswordHasher
from .payloads import Payloads
from .pictures import Pictures
from .ports import Ports
from .queue import Queue
from .randomness import Randomness
from .rate_limiter import RateLimiter
from .remembered import Remembered
from .schema import Schema
from .sealing import Sealing
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
