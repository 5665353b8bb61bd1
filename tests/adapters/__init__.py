"""One conformance suite a port, run on everything that stands behind it."""
