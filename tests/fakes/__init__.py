"""Stand-ins for ports: deterministic, quick, and strict about what the real ones forbid."""
