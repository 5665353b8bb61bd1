"""The use cases: one function each, ``(ports, actor, input) -> value``, declared in ``access``.

A use case says above itself who may call it, opens its own transaction, and is the only place
where the thing happens. What it returns is a plain value.
"""
