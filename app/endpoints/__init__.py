"""EDGE: small HTTP endpoints that are neither API nor pages.

``public`` has the key set, pictures, health checks and the providers' logout; ``forward_auth``
answers a proxy; ``demo_provider`` is the demo shop's identity provider, in development.
"""
