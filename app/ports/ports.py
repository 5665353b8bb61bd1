"""Everything that use cases may ask of the outside, gathered."""

from __future__ import annotations

from dataclasses import dataclass

from app import ports


@dataclass(frozen=True, slots=True)
class Ports:
    """Everything a use case can use besides its input."""

    configuration: ports.Configuration
    clock: ports.Clock
    randomness: ports.Randomness
    database: ports.Database
    keys: ports.KeyStore
    signatures: ports.SignatureCheck
    passwords: ports.PasswordHasher
    throttle: ports.Throttle
    rate_limiter: ports.RateLimiter
    encryption: ports.Encryption
    email_templates: ports.EmailTemplates
    mailer: ports.Mailer
    http: ports.Http
    payloads: ports.Payloads
    images: ports.Images
    queue: ports.Queue
    identity_provider: ports.IdentityProvider
    schema: ports.Schema
    activity: ports.Activity
    cache: ports.ProcessCache
