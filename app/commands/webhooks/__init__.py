"""``flask webhook``: one file a noun, joined in ``group``.

Every command is written once, against the port ``Instance``: ``here`` is this installation through
its use cases, another one comes in by ``instances``.
"""
