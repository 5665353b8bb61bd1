"""Fakes of ports: deterministic, fast, and strict about what the real adapters forbid."""
