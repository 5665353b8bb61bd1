"""The one place where code is loaded by its dotted name, on first use.

Loading everything takes about a second; a command's help shall not wait for the database's
library, nor a migration for GraphQL.
"""

import importlib


def load(target: str) -> object:
    """What ``target`` names, as ``module:name``; the module is loaded when it was not yet."""
    module, _, name = target.partition(":")
    found: object = getattr(importlib.import_module(module), name)
    return found
