"""Everything that use cases may ask of the outside, gathered."""

from __future__ import annotations

from dataclasses import dataclass

from app import ports


@dataclass(frozen=True, slots=True)
class Ports:
    """Everything a use case may reach beside its input."""

    configuration: ports.Configuration
    clock: ports.Clock
    randomness: ports.Randomness
    database: ports.Database
    keys: ports.KeyStore
    signatures: ports.SignatureCheck
    passwords: ports.PasswordHasher
    throttle: ports.Throttle
    rate_limiter: ports.RateLimiter
    sealing: ports.Sealing
    letters: ports.Letters
    post: ports.Post
    http: ports.Http
    payloads: ports.Payloads
    pictures: ports.Pictures
    queue: ports.Queue
    identity_provider: ports.IdentityProvider
    schema: ports.Schema
    activity: ports.Activity
    remembered: ports.Remembered
