"""One conformance suite per port, run on each of its adapters."""
