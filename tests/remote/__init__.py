"""Another instance over its API: what it may answer, and how a login goes on."""
