"""The use cases: one function each, ``(ports, actor, input) -> value``, in a package per subject.

A use case declares above itself who can call it (``authorization``), opens its own transaction,
and returns a plain value. The packages form an order without circles, held by import-linter.
"""
