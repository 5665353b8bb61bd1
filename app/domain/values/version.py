"""The version of Latchkey and the level of the interface that it speaks."""

VERSION = "0.1.0"
SCHEMA_VERSION = "3.23"
"""``Shop.schemaVersion`` (contract, "Credentials, precisely", 9)."""

INTERFACE_VERSION = f"{SCHEMA_VERSION}+{VERSION}"
"""``Shop.version``: the level of the interface, with our own version behind a plus."""
